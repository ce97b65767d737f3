//! Our policy and our tables inside LevelDB. `compare database` does the same with any number of
//! keys.

use filterblock_interop::compare::{database, repair};

#[test]
fn our_policy_does_in_leveldb_what_its_own_does() {
    let report = database::run(60_000, 21).unwrap();
    assert!(report.overwrites > 0 && report.deletions > 0 && report.rebuilt_tables > 1);
}

#[test]
fn leveldb_takes_in_disjoint_tables_of_ours() {
    let report = repair::run(9_000, false).unwrap();
    assert_eq!((report.keys, report.absent, report.deleted), (9_000, 9_000, 0));
}

#[test]
fn leveldb_takes_in_overlapping_tables_of_ours() {
    let report = repair::run(3_000, true).unwrap();
    assert_eq!(report.keys, 3_000);
    assert!(report.deleted > 500, "{report}");
}
