//! Ending the program on a signal: removes temporary files, and finishes work that must not be cut off first.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, io, thread};

static STATE: Mutex<State> = Mutex::new(State { is_watching: false, unfinished: Vec::new(), deferred: 0 });

/// The last signal that came while the end was deferred; 0: none came.
static DEFERRED: AtomicI32 = AtomicI32::new(0);

struct State {
    /// A thread waits for signals.
    is_watching: bool,
    unfinished: Vec<PathBuf>,
    /// How many guards defer the end of the program.
    deferred: usize,
}

impl State {
    /// Removes the unfinished files, and ends the program as `signal` would have done.
    fn end(&self, signal: i32) {
        for path in &self.unfinished {
            // There is nobody left to report an error to.
            let _ = fs::remove_file(path);
        }
        system::end(signal);
    }
}

fn state() -> MutexGuard<'static, State> {
    // No panic can leave the list half changed.
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state, once a thread waits for signals.
fn watched() -> io::Result<MutexGuard<'static, State>> {
    let mut state = state();
    if !state.is_watching {
        watch()?;
        state.is_watching = true;
    }
    Ok(state)
}

/// Keeps a temporary file on the list of the files that a signal removes.
pub(crate) struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    /// Makes a temporary file. No signal that is waited for leaves it behind, not even while it is created.
    pub(crate) fn create<T>(
        make: impl FnOnce() -> io::Result<T>,
        path: impl FnOnce(&T) -> &Path,
    ) -> io::Result<(T, Self)> {
        let mut state = watched()?;
        let file = make()?;
        let path = path(&file).to_owned();
        state.unfinished.push(path.clone());
        Ok((file, Self { path }))
    }

    /// Gives the file its name through `persist`. A signal ends the program before or after that, not during it.
    pub(crate) fn finish<T>(self, persist: impl FnOnce() -> T) -> T {
        let _state = state();
        persist()
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        state().unfinished.retain(|path| *path != self.path);
    }
}

/// Defers signals while a value of this type exists. The holder asks whether a signal came, stops where it can, and
/// drops the value. The signal ends the program once no value of this type is left.
pub(crate) struct Deferred(());

impl Deferred {
    /// Defers signals until the returned value is dropped.
    pub(crate) fn begin() -> io::Result<Self> {
        let mut state = watched()?;
        state.deferred += 1;
        Ok(Self(()))
    }

    #[expect(clippy::unused_self, reason = "signals are put off only while there is one")]
    pub(crate) fn is_requested(&self) -> bool {
        DEFERRED.load(Ordering::Relaxed) != 0
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        let mut state = state();
        state.deferred -= 1;
        let signal = DEFERRED.load(Ordering::Relaxed);
        if signal != 0 && state.deferred == 0 {
            state.end(signal);
        }
    }
}

/// Starts the thread that waits for signals. The first signal that is not put off ends the program.
fn watch() -> io::Result<()> {
    let mut next = system::signals()?;
    let wait = move || {
        while let Some(signal) = next() {
            // If the program ends here, the lock is held until then, so that no other file is created.
            let state = state();
            if state.deferred == 0 {
                return state.end(signal);
            }
            DEFERRED.store(signal, Ordering::Relaxed);
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop)
}

#[cfg(unix)]
mod system {
    use std::io;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    /// Returns what waits for the next signal that is not ignored.
    pub(super) fn signals() -> io::Result<impl FnMut() -> Option<i32> + Send> {
        let ignored = ignored();
        // If the system does not report ignored signals, SIGHUP is taken to be ignored: `nohup` may have done so.
        let is_ignored = |signal| ignored.map_or(signal == SIGHUP, |set| set >> (signal - 1) & 1 == 1);
        let signals = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|&signal| !is_ignored(signal));
        let mut signals = Signals::new(signals)?;
        Ok(move || signals.forever().next())
    }

    /// The ignored signals, one bit each, from signal 1 on; `None`: the system does not report them.
    fn ignored() -> Option<u64> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(mask.trim(), 16).ok()
    }

    /// Ends the program as the signal would have done.
    pub(super) fn end(signal: i32) {
        if emulate_default_handler(signal).is_err() {
            std::process::exit(128 + signal);
        }
    }
}

#[cfg(windows)]
mod system {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;
    use std::{io, thread};

    use signal_hook::consts::SIGINT;

    /// The status of a program that Ctrl-C ends.
    const STATUS_CONTROL_C_EXIT: u32 = 0xc000_013a;

    /// Returns what waits for the next signal. Polls a flag: `signal_hook` offers nothing to wait for on Windows.
    pub(super) fn signals() -> io::Result<impl FnMut() -> Option<i32> + Send> {
        let caught = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(SIGINT, Arc::clone(&caught))?;
        Ok(move || {
            while !caught.swap(false, Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(50));
            }
            Some(SIGINT)
        })
    }

    pub(super) fn end(_signal: i32) {
        std::process::exit(STATUS_CONTROL_C_EXIT.cast_signed());
    }
}
