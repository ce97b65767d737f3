//! LevelDB's databases, damaged and repaired; LevelDB, goleveldb and plyvel read what comes of it, and go on writing.

#![cfg(feature = "tool")]

use std::path::Path;
use std::time::Duration;

use filterblock_interop::compare::judges::Judge;
use filterblock_interop::compare::repaired;

/// `compare repaired` goes on for longer.
#[test]
fn repair_invents_nothing_and_saves_no_less_than_leveldbs_own() {
    let judges = Judge::all(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    let report = repaired::run(6, 61, &judges, (4, Duration::ZERO)).unwrap();
    assert!(report.cases == 66 && report.exact > 30 && report.right > report.right_by_leveldb, "{report}");
    assert_eq!(report.sessions, 24, "{report}");
}
