//! Results at the width of a terminal.

use std::sync::Arc;

use filterblock::BloomFilterPolicy;
use filterblock::table::{Compression, TableBuilder, WriteOptions};
use filterblock_engine::inspect_table;
use filterblock_engine::report::{Depth, ErrorKind, Fault, Inspected, TableFault};

use super::detail;
use super::list::Listing;
use crate::io::{Console, Screen};

/// The output of `write` to a terminal of this width, or elsewhere if `width` is `None`.
fn shown(width: Option<usize>, write: impl FnOnce(&mut Console)) -> String {
    let screen = Screen::default();
    let mut console = width.map_or_else(|| screen.console(), |width| screen.terminal(width));
    write(&mut console);
    std::io::Write::flush(&mut console).unwrap();
    screen.text()
}

/// A table of three data blocks with filters of 10 bits per key.
fn inspected() -> Inspected {
    let options = WriteOptions::default().internal_keys(true).compression(Compression::None);
    let options = options.filter_policies(vec![Arc::new(BloomFilterPolicy::new(10))]);
    let mut builder = TableBuilder::new(Vec::new(), options);
    for number in 0..200 {
        let key = [format!("{number:05}key").as_bytes(), &(1_u64 << 8 | 1).to_le_bytes()].concat();
        builder.add(&key, &[b'v'; 40]).unwrap();
    }
    inspect_table(builder.finish().unwrap().0, Depth::All)
}

#[test]
fn lines_are_broken_between_words_on_a_terminal() {
    let details = |width| {
        let text = shown(width, |console| detail::write(&inspected(), false, console).unwrap());
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let (plain, narrow) = (details(None), details(Some(60)));
    assert!(plain.iter().any(|line| line.len() > 60), "{plain:?}");
    assert!(narrow.len() > plain.len() && narrow.iter().all(|line| line.len() <= 60), "{narrow:?}");
    let words = |lines: &[String]| lines.join(" ").split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&plain), words(&narrow));
}

/// A table that could not be read need not be damaged. The totals and JSON make the same distinction.
#[test]
fn a_table_that_could_not_be_read_is_not_called_damaged() {
    let mut found = inspected();
    let fault = Fault::new("Input/output error", ErrorKind::Unreadable);
    found.faults.insert(TableFault::Blocks, fault);
    for (is_unreadable, state) in [(true, "unreadable"), (false, "damaged")] {
        found.is_unreadable = is_unreadable;
        let text =
            shown(None, |console| Listing::begin(10, console).unwrap().write(&found, console).unwrap());
        let line = text.lines().nth(1).unwrap();
        assert!(line.split_whitespace().any(|word| word == state), "{text}");
    }
}
