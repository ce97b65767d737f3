//! `filterblock verify` on tables that are sound or have one structure damaged, and on hostile tables and MANIFESTs.

use bytes::Bytes;
use filterblock::policy::default_read_policies;
use filterblock::table::{ReadOptions, Table};

use crate::program::{self, Most, Run};
use crate::table::{self, Made};
use filterblock_fuzz::hostile::{self, Hostile};

/// Returns the limits that `verify` promises for one file. Each byte of its blocks is read at most twice, besides the
/// reads of opening and of a sample of 16 blocks. Besides these, at most `limit` bytes are decoded.
fn most(limit: u64) -> Most {
    Most { printed_a_byte: 0, read_a_byte: 6, decoded: limit + 20 * program::BLOCK }
}

/// The tool's default limit on decoded bytes for a file of this length.
fn usual_limit(file_len: usize) -> u64 {
    (100 * file_len as u64).max(256 << 20)
}

/// Runs an input: options, then a table as for the target `table`, or, after 255, a hostile structure.
pub fn run(data: &[u8]) {
    let Some((&options, data)) = data.split_first() else { return };
    if options == 0xff {
        hostile(&hostile::make(data));
        return;
    }
    let Some(made) = table::make(data) else { return };
    let mut arguments = vec!["verify", "--jobs", "1"];
    if options & 1 != 0 {
        arguments.extend(["--comparator", "bytewise"]);
    }
    // Some tables almost fit within this limit; of others hardly anything does.
    let is_limited = options & 2 != 0;
    if is_limited {
        arguments.extend(["--max-output", "2000"]);
    }
    let limit = if is_limited { 2000 } else { usual_limit(made.file.len()) };
    let Run { status, report } = program::run(&arguments, &made.file, &most(limit));
    let problems = report["problems"].as_array().expect("a list");
    assert_eq!(status_of(&report), status, "{report}");
    assert_eq!(report["verdict"] == "fine", problems.is_empty(), "{report}");
    let (keys, hidden) = (number(&report["entries"]), number(&report["false_negatives"]));
    assert!(hidden <= keys);
    assert_eq!(hidden > 0, problems.iter().any(|problem| problem["code"] == "false-negative"), "{report}");
    if is_limited {
        return;
    }
    if made.sound {
        assert_eq!(status, 0, "{report}");
    }
    check(&made, status, keys, hidden);
}

/// Runs `verify`, which must end well on any file.
fn hostile(made: &Hostile) {
    let arguments = ["verify", "--jobs", "1"];
    let (status, lines) = match made {
        Hostile::Table(file) => {
            let Run { status, report } = program::run(&arguments, file, &most(usual_limit(file.len())));
            (status, vec![report])
        }
        Hostile::Manifest(manifest) => {
            // Each edit may be a line, for a table that does not exist.
            program::run_on_manifest(&arguments, manifest, &Most { printed_a_byte: 128, ..most(0) })
        }
    };
    let last = lines.last().expect("the folder or the table comes last");
    assert_eq!(status_of(last), status, "{lines:?}");
}

/// The exit status for the verdict of this object.
fn status_of(line: &serde_json::Value) -> u8 {
    match line["verdict"].as_str().expect("a verdict") {
        "fine" | "could-be-better" => 0,
        "false-negatives" | "damaged" => 1,
        _ => 2,
    }
}

fn number(value: &serde_json::Value) -> u64 {
    value.as_u64().expect("a number")
}

/// Compares the line with what the library reads.
fn check(made: &Made, status: u8, keys: u64, hidden: u64) {
    let open = |internal_keys| {
        let options =
            ReadOptions::default().filter_policies(default_read_policies()).internal_keys(internal_keys);
        Table::open(made.file.clone(), &options).ok()
    };
    let Some(table) = open(made.internal) else {
        assert_ne!(status, 0, "it cannot be opened");
        return;
    };
    match walk(&table) {
        None => assert_ne!(status, 0, "it cannot be read"),
        Some(walked) if status == 0 || made.data_is_intact => assert_eq!(walked, keys),
        Some(_) => {}
    }
    if made.data_is_intact {
        // Nothing tells the tool whether the filters are of user keys. If they hide keys either
        // way, it takes the way that hides fewer.
        let lost = [true, false].map(|internal_keys| lost(&open(internal_keys).expect("it can be opened")));
        assert!(lost.contains(&hidden), "{hidden} keys that a filter hides: {lost:?}");
        assert!(hidden == 0 || status != 0);
    }
}

/// Counts the keys that a filter hides, in sound data blocks.
fn lost(table: &Table<Bytes>) -> u64 {
    let Some(filters) = table.filter() else { return 0 };
    let mut lost = 0;
    for handle in table.data_blocks() {
        let handle = handle.expect("a sound index");
        let mut entries = table.block_cursor(handle).expect("a sound block");
        while entries.next().expect("a sound entry") {
            lost += u64::from(!filters.key_may_match(handle.offset, entries.key()));
        }
    }
    lost
}

/// Counts the entries. `None` if not all can be read.
fn walk(table: &Table<Bytes>) -> Option<u64> {
    let (mut cursor, mut walked) = (table.cursor(), 0);
    while cursor.next().ok()? {
        walked += 1;
    }
    Some(walked)
}
