//! The choice between the kernels, made once for the process.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
use super::{avx2::Avx2, avx512::Avx512};

/// The code that runs, in ascending order of what it demands of the CPU. The results are the same at all
/// levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// The portable code.
    Portable = 1,
    /// x86-64 with AVX2.
    Avx2 = 2,
    /// x86-64 with AVX-512 F, BW, DQ, VL and IFMA, as in Intel's Ice Lake and AMD's Zen 4.
    Avx512 = 3,
}

/// All levels, in ascending order.
pub const ALL: [Level; 3] = [Level::Portable, Level::Avx2, Level::Avx512];

/// The level in use as a number, and 0 until it is chosen.
static LEVEL: AtomicU8 = AtomicU8::new(0);

/// Returns the highest level that both this CPU and this build support.
pub fn best() -> Level {
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    {
        if Avx512::is_available() {
            return Level::Avx512;
        }
        if Avx2::is_available() {
            return Level::Avx2;
        }
    }
    Level::Portable
}

/// Returns the level in use: the [`best`], unless another was [`set`].
#[inline]
pub fn current() -> Level {
    match LEVEL.load(Relaxed) {
        1 => Level::Portable,
        2 => Level::Avx2,
        3 => Level::Avx512,
        _ => choose(),
    }
}

/// Sets the level of the whole process, for tests and benchmarks. Returns `false`, and changes
/// nothing, if this CPU or this build does not support it.
#[must_use]
pub fn set(level: Level) -> bool {
    let has_it = level <= best();
    if has_it {
        LEVEL.store(level as u8, Relaxed);
    }
    has_it
}

/// Chooses the best level. Two threads may do so at once, with the same result.
#[cold]
fn choose() -> Level {
    let best = best();
    // A level that was set in the meantime stays.
    _ = LEVEL.compare_exchange(0, best as u8, Relaxed, Relaxed);
    best
}

/// The level in use, with the proof that the CPU supports it.
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
#[derive(Clone, Copy)]
pub(super) enum Chosen {
    Portable,
    Avx2(Avx2),
    Avx512(Avx512),
}

/// Returns the level in use. This costs the load of a byte.
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
#[allow(unsafe_code)]
#[inline]
pub(super) fn chosen() -> Chosen {
    match current() {
        Level::Portable => Chosen::Portable,
        // SAFETY: `LEVEL` holds what `best` returned, or less, so the CPU has AVX2.
        Level::Avx2 => Chosen::Avx2(unsafe { Avx2::assume_available() }),
        // SAFETY: this is the highest level, so `best` returned it.
        Level::Avx512 => Chosen::Avx512(unsafe { Avx512::assume_available() }),
    }
}

/// Held by tests that set the level, which all threads share.
#[cfg(test)]
pub(super) static LEVEL_IS_SET: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_up_to_the_best_can_be_set() {
        let _alone = LEVEL_IS_SET.lock().unwrap();
        let before = current();
        assert_eq!(before, best());
        for level in ALL {
            assert_eq!(set(level), level <= best(), "{level:?}");
            if level <= best() {
                assert_eq!(current(), level);
            }
        }
        assert!(set(before));
    }
}
