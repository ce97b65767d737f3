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
    let seed = (options / 4).to_string();
    let mut arguments = vec!["verify", "--jobs", "1", "--seed", &seed];
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
    let findings = report["findings"].as_array().expect("a list");
    let expected = match status {
        0 => "sound",
        1 => "findings",
        _ => "unreadable",
    };
    assert_eq!(report["status"], expected);
    assert_eq!(status == 0, findings.is_empty(), "{report}");
    let (keys, denied) = (number(&report["entries"]), number(&report["denied"]));
    assert!(denied <= keys);
    assert_eq!(denied > 0, findings.iter().any(|finding| finding["code"] == "filter-denies-key"), "{report}");
    for rate in [&report["measured_fpr"]["rate"], &report["estimated_fpr"]] {
        assert!(rate.as_f64().is_none_or(|rate| (0.0..=1.0).contains(&rate)), "{report}");
    }
    if is_limited {
        return;
    }
    if made.sound {
        assert_eq!(status, 0, "{report}");
    }
    check(&made, status, keys, denied);
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
    let worst = lines.iter().map(|line| match line["status"].as_str().expect("a status") {
        "sound" => 0,
        "findings" => 1,
        _ => 2,
    });
    assert_eq!(worst.max().unwrap_or_default(), status, "{lines:?}");
}

fn number(value: &serde_json::Value) -> u64 {
    value.as_u64().expect("a number")
}

/// Compares the line with what the library reads.
fn check(made: &Made, status: u8, keys: u64, denied: u64) {
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
        // Nothing tells the tool whether the filters are of user keys. If they deny keys either
        // way, it takes the way that denies fewer.
        let lost = [true, false].map(|internal_keys| lost(&open(internal_keys).expect("it can be opened")));
        assert!(lost.contains(&denied), "{denied} keys that a filter denies: {lost:?}");
        assert!(denied == 0 || status != 0);
    }
}

/// Counts the keys that a filter denies, in sound data blocks.
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
