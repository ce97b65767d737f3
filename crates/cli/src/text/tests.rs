//! Results on a terminal: with small pictures, which output elsewhere does not have.

use std::{io::Write as _, sync::Arc};

use filterblock::BloomFilterPolicy;
use filterblock::table::{Compression, TableBuilder, WriteOptions};
use filterblock_engine::inspect_table;
use filterblock_engine::report::{Depth, Inspected, Totals};

use super::list::{Listing, ListingKind};
use super::{detail, levels};
use crate::io::{Console, Screen, Signs};

/// The output of `write` to a terminal, or elsewhere if `terminal` is `None`.
fn shown(terminal: Option<(Signs, usize)>, write: impl FnOnce(&mut Console)) -> String {
    let screen = Screen::default();
    let mut console = match terminal {
        Some((signs, width)) => screen.terminal(signs, width),
        None => screen.console(),
    };
    write(&mut console);
    console.flush().unwrap();
    screen.text()
}

/// The bytes of a table of values of these lengths, with filters of ten bits a key if `is_filtered`.
fn table(lens: &[usize], is_filtered: bool) -> Vec<u8> {
    let mut options = WriteOptions::default().internal_keys(true).compression(Compression::None);
    if is_filtered {
        options = options.filter_policies(vec![Arc::new(BloomFilterPolicy::new(10))]);
    }
    let mut builder = TableBuilder::new(Vec::new(), options);
    for (number, len) in lens.iter().enumerate() {
        builder.add(&internal_key(number), &vec![b'v'; *len]).unwrap();
    }
    builder.finish().unwrap().0
}

fn internal_key(number: usize) -> Vec<u8> {
    [format!("{number:05}key").as_bytes(), &(1_u64 << 8 | 1).to_le_bytes()].concat()
}

/// A table of three data blocks, of which two are large: three filters of 25 keys, with empty filters between them.
fn large() -> Vec<u8> {
    let small = [40; 24];
    table(&[&small[..], &[63_000], &small, &[63_000], &small, &[7_000]].concat(), true)
}

fn inspected(table: Vec<u8>) -> Inspected {
    inspect_table(table, Depth::All).unwrap()
}

fn details(table: Vec<u8>, terminal: Option<(Signs, usize)>) -> Vec<String> {
    let found = inspected(table);
    let text = shown(terminal, |console| detail::write(&found, false, console).unwrap());
    text.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn a_table_has_pictures_on_a_terminal_only() {
    let plain = details(large(), None);
    // Wide enough for every line.
    let ascii = details(large(), Some((Signs::Ascii, 200)));
    let added: Vec<_> = ascii.iter().filter(|line| !plain.contains(line)).map(String::as_str).collect();
    let fill = format!("  fill by range    [-{0}-{0}-   ]", " ".repeat(30));
    assert_eq!(
        added,
        [
            "  bits             768, 43.8 % of them set  [#########           ]",
            &fill,
            "                   a filter a sign, blank: no keys",
        ]
    );
    let removed: Vec<_> = plain.iter().filter(|line| !ascii.contains(line)).map(String::as_str).collect();
    assert_eq!(removed, ["  bits             768, 43.8 % of them set"]);
    let blocks = details(large(), Some((Signs::Blocks, 100))).join("\n");
    assert!(blocks.contains("[\u{2584} ") && blocks.contains("\u{2588}\u{258a}           ]"), "{blocks}");
}

#[test]
fn the_fill_of_filters_fits_the_terminal() {
    let line = |width| {
        let lines = details(large(), Some((Signs::Ascii, width)));
        lines.into_iter().skip_while(|line| !line.contains("fill by range")).take(3).collect::<Vec<_>>()
    };
    for width in [29, 40, 80] {
        let lines = line(width);
        assert_eq!(lines[0].len(), width.min(21 + 69), "{lines:?}");
        // None of the three filters is lost, though a sign may stand for several.
        assert_eq!(lines[0].matches('-').count(), 3, "{lines:?}");
    }
    let indent = " ".repeat(19);
    assert_eq!(
        line(40)[1..],
        [format!("{indent}up to 4 filters a"), format!("{indent}sign, blank: no keys")]
    );
    assert_eq!(line(28), [""; 0], "there is no room for it");
}

#[test]
fn lines_are_broken_between_words_on_a_terminal() {
    let (plain, narrow) = (details(large(), None), details(large(), Some((Signs::Ascii, 80))));
    assert!(plain.iter().any(|line| line.len() > 80), "{plain:?}");
    assert!(narrow.len() > plain.len() && narrow.iter().all(|line| line.len() <= 80), "{narrow:?}");
    let words = |lines: &[String]| lines.join(" ").split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let (plain, narrow) = (words(&plain), words(&narrow));
    assert!(plain.iter().all(|word| narrow.contains(word)), "{narrow:?}");
}

#[test]
fn what_has_no_filters_to_show_has_no_pictures() {
    for (table, has_bits) in
        [(table(&[5], true), true), (table(&[9; 500], false), false), (table(&[], true), false)]
    {
        let text = details(table, Some((Signs::Blocks, 100))).join("\n");
        assert!(!text.contains("fill by range"), "{text}");
        assert_eq!(text.contains('['), has_bits, "{text}");
    }
}

#[test]
fn levels_have_bars_where_there_is_room() {
    let text = |terminal| {
        let mut totals = Totals::default();
        for (level, count) in [(0, 60), (1, 150), (3, 500)] {
            let table = table(&vec![100; count], true);
            let mut found = inspected(table);
            (found.table.level, found.table.live) = (Some(level), Some(true));
            totals.add(&found.table);
        }
        shown(terminal, |console| levels::write(&totals, console).unwrap())
    };
    let plain = text(None);
    assert!(plain.lines().all(|line| line.len() <= 100) && !plain.contains("+-"), "{plain}");
    let all = text(Some((Signs::Ascii, 110)));
    let wide = text(Some((Signs::Ascii, 135)));
    let ends: Vec<_> = wide.lines().skip(2).filter_map(|line| Some(&line[line.find('[')?..])).collect();
    assert_eq!(ends, ["[#           ]", "[###         ]", "[########    ]"]);
    let without: Vec<_> = wide.lines().map(|line| line.split("  [").next().unwrap().trim_end()).collect();
    assert_eq!(without, all.lines().collect::<Vec<_>>());
    assert_eq!(text(Some((Signs::Ascii, 100))), plain);
}

/// A table that could not be read need not be damaged. The totals and JSON make the same distinction.
#[test]
fn a_table_that_could_not_be_read_is_not_called_damaged() {
    let mut table = inspected(large()).table;
    table.error = Some("Input/output error".to_owned());
    for (is_unreadable, state) in [(true, "unreadable"), (false, "damaged")] {
        table.unreadable = is_unreadable;
        let text = shown(None, |console| {
            Listing::begin(ListingKind::default(), console).unwrap().write(&table, console).unwrap();
        });
        let line = text.lines().nth(1).unwrap();
        assert_eq!(line.split_whitespace().next_back(), Some(state), "{text}");
    }
}
