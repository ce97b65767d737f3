//! Crashes of `rebuild` and `repair`, at any operation. `FILTERBLOCK_CRASH_STATES` is the number of states for each run
//! of the program, `FILTERBLOCK_CRASH_DATABASES` the number of databases, and `FILTERBLOCK_CRASH_SEED` the seed of the
//! first one.

use std::path::Path;

use filterblock_interop::crash::case::Mode;
use filterblock_interop::crash::run::{Extent, Programs, run};
use filterblock_interop::goleveldb;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |number| number.parse().expect("a number"))
}

#[test]
fn nothing_is_lost_by_a_crash_at_any_operation() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let build = |name| goleveldb::build(name, folder).unwrap();
    let programs = Programs {
        filterblock: env!("CARGO_BIN_EXE_filterblock-under-test").into(),
        goleveldb: build("databases").zip(build("open")),
    };
    let extent = Extent {
        first_seed: number("FILTERBLOCK_CRASH_SEED", 0),
        databases: number("FILTERBLOCK_CRASH_DATABASES", 15),
        states: usize::try_from(number("FILTERBLOCK_CRASH_STATES", 26)).unwrap(),
        threads: 2,
    };
    let report = run(&programs, extent).unwrap_or_else(|error| panic!("{error:?}"));
    println!("{report}");
    assert!(report.failures.is_empty(), "{} failures", report.failures.values().flatten().count());
    assert!(report.refused_by_goleveldb * 4 <= extent.databases, "{report}");
    // Some databases have too few tables or steps for all states asked for; second crashes make up for them.
    let asked = extent.databases * extent.states as u64 * Mode::ALL.len() as u64;
    assert!(report.all_states() >= asked, "{report}");
}
