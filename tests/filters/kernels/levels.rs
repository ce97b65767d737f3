//! Runs a test at each level, and checks which levels there are.

use std::sync::{Mutex, PoisonError};

use filterblock::kernel_level::{ALL, Level, best, current, set};

/// Held while a test needs one level. The level is the same for the whole process.
static LEVEL: Mutex<()> = Mutex::new(());

/// Prints the level at which a test has failed.
struct Running(Level);

impl Drop for Running {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("at level {:?}", self.0);
        }
    }
}

/// The levels of this CPU. Under Miri only the best: `tests/miri.sh` runs the tests once for each.
fn levels() -> impl Iterator<Item = Level> {
    ALL.into_iter().filter(|level| if cfg!(miri) { *level == best() } else { *level <= best() })
}

/// Runs `test` once at each level, while no other test that sets a level runs.
pub(super) fn at_each_level(mut test: impl FnMut()) {
    // A test that has failed leaves nothing behind but its level.
    let _alone = LEVEL.lock().unwrap_or_else(PoisonError::into_inner);
    for level in levels() {
        let _running = Running(level);
        assert!(set(level));
        test();
        assert_eq!(current(), level, "the level has changed meanwhile");
    }
    assert!(set(best()));
}

/// The levels are those that the CPU's features allow, which are looked up here independently. `KERNEL_LEVELS`, such as
/// `Portable Avx2`, says which levels a machine is expected to have.
#[test]
fn every_level_of_the_processor_runs() {
    let mut expected = vec![Level::Portable];
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx2") {
            expected.push(Level::Avx2);
            if has!("avx512f")
                && has!("avx512bw")
                && has!("avx512dq")
                && has!("avx512vl")
                && has!("avx512ifma")
            {
                expected.push(Level::Avx512);
            }
        }
    }
    if cfg!(miri) {
        expected.drain(..expected.len() - 1);
    }
    let mut ran = Vec::new();
    at_each_level(|| ran.push(current()));
    assert_eq!(ran, expected);
    assert_eq!(best(), expected[expected.len() - 1]);

    let names: Vec<String> = ran.iter().map(|level| format!("{level:?}")).collect();
    let names = names.join(" ");
    println!("levels: {names}");
    if let Some(wanted) = std::env::var_os("KERNEL_LEVELS") {
        assert_eq!(*wanted, *names, "KERNEL_LEVELS");
    }
}

/// A level that the CPU does not have cannot be set, and nothing changes.
#[test]
fn levels_above_the_best_are_refused() {
    at_each_level(|| {
        let before = current();
        for level in ALL.into_iter().filter(|level| *level > best()) {
            assert!(!set(level));
            assert_eq!(current(), before);
        }
    });
}
