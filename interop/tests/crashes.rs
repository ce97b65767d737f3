//! Crashes of `rebuild`, at any operation. `FILTERBLOCK_CRASH_STATES` is the number of states for each run of the
//! program, `FILTERBLOCK_CRASH_DATABASES` the number of databases.

use std::path::{Path, PathBuf};

use filterblock_interop::crash::run::{Extent, Programs, run};
use filterblock_interop::goleveldb;

fn programs() -> Programs {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let build = |name| goleveldb::build(name, folder).unwrap();
    Programs {
        filterblock: std::env::var_os("FILTERBLOCK_CRASH_PROGRAM")
            .map_or_else(|| env!("CARGO_BIN_EXE_filterblock-under-test").into(), PathBuf::from),
        goleveldb: build("databases").zip(build("open")),
    }
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |number| number.parse().expect("a number"))
}

#[test]
fn nothing_is_lost_by_a_crash_at_any_operation() {
    let extent = Extent {
        first_seed: number("FILTERBLOCK_CRASH_SEED", 0),
        databases: number("FILTERBLOCK_CRASH_DATABASES", 20),
        states: usize::try_from(number("FILTERBLOCK_CRASH_STATES", 24)).unwrap(),
        threads: 2,
    };
    let report = run(&programs(), extent).unwrap_or_else(|error| panic!("{error:?}"));
    println!("{report}");
    assert!(report.failures.is_empty(), "{} failures", report.failures.values().flatten().count());
    assert!(report.all_states() >= 100 * extent.databases, "{report}");
}
