//! LevelDB's databases, damaged and repaired; LevelDB reads what comes of it.

#![cfg(feature = "tool")]

use filterblock_interop::compare::repaired;

#[test]
fn repair_invents_nothing_and_saves_no_less_than_leveldbs_own() {
    let report = repaired::run(6, 61).unwrap();
    assert!(report.cases == 66 && report.exact > 30 && report.right > report.right_by_leveldb, "{report}");
}
