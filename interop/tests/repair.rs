//! LevelDB's databases, damaged and repaired; LevelDB, goleveldb and plyvel read what comes of it, and go on writing.

#![cfg(feature = "tool")]

use std::path::Path;
use std::time::Duration;

use filterblock_interop::compare::judges::Judge;
use filterblock_interop::compare::repaired;

/// The variable `REPAIR_SECONDS` says for how long databases are written to; 3 if it is not set.
#[test]
fn repair_invents_nothing_and_saves_no_less_than_leveldbs_own() {
    let seconds = std::env::var("REPAIR_SECONDS").map_or(3, |seconds| seconds.parse().unwrap());
    let judges = Judge::all(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    let report = repaired::run(6, 61, &judges, Duration::from_secs(seconds)).unwrap();
    assert!(report.cases == 66 && report.exact > 30 && report.right > report.right_by_leveldb, "{report}");
    assert!(report.sessions >= 6, "{report}");
}
