//! `rebuild` and `repair` while somebody else exchanges folders. `FILTERBLOCK_CRASH_PROGRAM` names another program
//! to run.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use filterblock_interop::crash::case::Case;
use filterblock_interop::crash::mode::Mode;
use filterblock_interop::crash::race::{Place, Setting, races};

const MODES: [Mode; 5] = [Mode::InPlace, Mode::Undo, Mode::Discard, Mode::To, Mode::Repair];

/// The seed of a database of few small tables.
const SEED: u64 = 0;

#[test]
fn nothing_else_is_changed_when_a_folder_is_exchanged() {
    let program = std::env::var_os("FILTERBLOCK_CRASH_PROGRAM")
        .map_or_else(|| env!("CARGO_BIN_EXE_filterblock-under-test").into(), PathBuf::from);
    let case = Case::new(SEED, Path::new(&program), None).unwrap();
    let mut runs = Vec::new();
    for setting in Setting::all() {
        for mode in MODES {
            runs.extend(Place::of(mode).iter().map(|place| (*setting, mode, *place)));
        }
    }
    let (next, failed, exchanged) = (AtomicUsize::new(0), Mutex::new(0), Mutex::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((setting, mode, place)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let races = races(&case, *mode, *setting, *place)
                        .unwrap_or_else(|error| panic!("{setting:?} {mode} {place:?}: {error:?}"));
                    println!("{setting:?} {mode} {place:?}: {races}");
                    *failed.lock().unwrap() += races.failures.len();
                    *exchanged.lock().unwrap() += races.exchanged;
                }
            });
        }
    });
    let (failed, exchanged) = (failed.into_inner().unwrap(), exchanged.into_inner().unwrap());
    assert_eq!(failed, 0, "of {exchanged} runs with a folder exchanged");
    assert!(exchanged > 500, "{exchanged}");
}
