//! Our policy inside LevelDB, at the smaller count; `compare-database` takes larger ones.

use filterblock_interop::compare::database;

#[test]
fn our_policy_does_in_leveldb_what_its_own_does() {
    let report = database::run(60_000, 21).unwrap();
    assert!(report.overwrites > 0 && report.deletions > 0 && report.rebuilt_tables > 1);
}
