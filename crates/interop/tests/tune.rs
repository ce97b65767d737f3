//! Predictions of `tune` compared with LevelDB's reads; `compare tune` takes more databases.

use filterblock_interop::compare::tune::{self, Options};

#[test]
fn leveldb_reads_what_tune_predicts() {
    let report = tune::run(&Options { quick: true, only: None, seed: 1, lookups: 50_000 }).unwrap();
    println!("{report}");
    assert_eq!(report.faults(), Vec::<String>::new());
    assert!(report.databases() >= 9 && report.compared() > 70, "{report}");
    let (held, reads) = report.held();
    assert!(held * 100 >= reads * 90, "{report}");
}

/// LevelDB counts no reads of indexes and filters, and does not compact.
#[test]
fn leveldb_counts_the_data_blocks_that_filters_let_pass() {
    assert!(tune::check_counts(true, 1, 5000).unwrap() >= 90_000);
}
