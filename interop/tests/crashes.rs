//! Crashes of `rebuild` and `repair`, at any operation. `FILTERBLOCK_CRASH_STATES` is the number of states for each run
//! of the program, `FILTERBLOCK_CRASH_DATABASES` the number of databases, `FILTERBLOCK_CRASH_SEED` the seed of the
//! first one, and `FILTERBLOCK_CRASH_PROGRAM` another program to run.

use std::path::{Path, PathBuf};

use filterblock_interop::crash::altered::Alteration;
use filterblock_interop::crash::case::Case;
use filterblock_interop::crash::faults::{faults, signals, small_file_systems};
use filterblock_interop::crash::mode::Mode;
use filterblock_interop::crash::run::{Extent, Programs, run};
use filterblock_interop::goleveldb;
use filterblock_interop::random::Random;

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
        databases: number("FILTERBLOCK_CRASH_DATABASES", 15),
        states: usize::try_from(number("FILTERBLOCK_CRASH_STATES", 52)).unwrap(),
        threads: 2,
        alteration: None,
    };
    let report = run(&programs(), extent).unwrap_or_else(|error| panic!("{error:?}"));
    println!("{report}");
    assert!(report.failures.is_empty(), "{} failures", report.failures.values().flatten().count());
    assert!(report.refused_by_goleveldb * 4 <= extent.databases, "{report}");
    // Some databases have too few tables or steps for all states asked for; second crashes make up for them.
    let asked = extent.databases * extent.states as u64 * Mode::ALL.len() as u64;
    assert!(report.all_states() >= asked, "{report}");
}

#[test]
fn less_care_is_noticed() {
    let programs = programs();
    for alteration in Alteration::ALL {
        let extent =
            Extent { first_seed: 0, databases: 6, states: 150, threads: 2, alteration: Some(alteration) };
        let report = run(&programs, extent).unwrap_or_else(|error| panic!("{alteration:?}: {error:?}"));
        let check = alteration.noticed_by();
        let failures = report.failures.get(&(check, alteration.mode())).map_or(0, Vec::len);
        println!("{alteration:?}: {failures} of {} failed: {check}", report.all_states());
        assert!(failures > 0, "{alteration:?}: {report}");
    }
}

/// The seeds of databases of several tables: by LevelDB and goleveldb, with filters and without, with tables named
/// `.ldb` and `.sst`.
const SEEDS: [u64; 3] = [0, 1, 11];

/// Calls `what` for each database in each mode that is disturbed, from two threads, each of which takes every second
/// pair.
fn in_cases(what: impl Fn(&Case, Mode, &mut Random) + Sync) {
    let programs = programs();
    let writer = programs.goleveldb.as_ref().map(|(writer, _)| writer.as_path());
    let runs: Vec<_> = SEEDS.iter().flat_map(|seed| Mode::DISTURBED.map(|mode| (*seed, mode))).collect();
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (runs, programs, what) = (&runs, &programs, &what);
            scope.spawn(move || {
                for (seed, mode) in runs.iter().skip(thread).step_by(2) {
                    let case = Case::new(*seed, &programs.filterblock, writer).unwrap();
                    what(&case, *mode, &mut Random::for_case(*seed, *mode as u64));
                }
            });
        }
    });
}

#[test]
fn nothing_is_lost_when_a_system_call_fails() {
    in_cases(|case, mode, random| {
        let endings = faults(case, mode, random).unwrap_or_else(|error| panic!("{error:?}"));
        println!("{} {mode}: {endings}", case.plan.seed);
        assert!(endings.runs > 10 && endings.undone > 0, "{endings}");
    });
}

#[test]
fn nothing_is_lost_or_left_by_a_signal() {
    in_cases(|case, mode, random| {
        let endings = signals(case, mode, 16, random).unwrap_or_else(|error| panic!("{error:?}"));
        println!("{} {mode}: {endings}", case.plan.seed);
        assert!(endings.runs == 16, "{endings}");
    });
}

#[test]
fn nothing_is_lost_where_there_is_no_room() {
    in_cases(|case, mode, random| {
        let endings = small_file_systems(case, mode, random).unwrap_or_else(|error| panic!("{error:?}"));
        match endings {
            Some(endings) => println!("{} {mode}: {endings}", case.plan.seed),
            // Not by a macro: the test harness hides output of macros unless the test fails.
            None => std::io::Write::write_all(
                &mut std::io::stderr(),
                b"mounting is not permitted: only injected errors show what happens on a full file system\n",
            )
            .unwrap(),
        }
    });
}
