//! Tests of random databases, and of some whose result is known byte for byte.

use std::path::Path;
use std::time::Duration;

use filterblock_interop::compare::rebuild::{self, Programs, identity};

#[test]
fn rebuilt_databases_have_all_entries_and_filters_that_deny_no_key() {
    let programs = Programs::build(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    let report = rebuild::run(200, 1, Duration::from_millis(400), programs.as_ref()).unwrap();
    // The cases reach everything that is counted.
    println!("{report}");
    assert!(report.tables[..3].iter().all(|tables| *tables > 50), "{report}");
    assert!(report.several_on_level_0 > 10 && report.with_log > 15 && report.sst > 50, "{report}");
    assert!(report.compared_filters > 200 && report.repaired > 20, "{report}");
    assert!(report.refused > 20 && report.undone > 10 && report.writes > 10_000, "{report}");
    assert!(report.denied > report.asked / 4 && report.denied < report.asked * 3 / 4, "{report}");
}

#[test]
fn tables_rebuilt_with_what_they_had_are_the_same_byte_for_byte() {
    assert_eq!(identity::run(1).unwrap().len(), 8);
}
