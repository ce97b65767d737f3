//! Progress bars on standard error, if that is a terminal.

use std::io;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use filterblock_engine::run::watch::Watch;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::interrupt::Deferred;

/// The time to wait before a bar is shown.
const PATIENCE: Duration = Duration::from_secs(1);

const KNOWN_TOTAL: &str = "{bytes} of {total_bytes} {wide_bar} {bytes_per_sec}, {eta} left";
const GROWING_TOTAL: &str = "{bytes}, {bytes_per_sec}";
const NO_TOTAL: &str = "{bytes} {spinner} {bytes_per_sec}";
const FLEET: &str = "{pos} of {len} tables {wide_bar} {msg}, {eta} left";
const GROWING_FLEET: &str = "{pos} tables, {msg}, {per_sec}";

/// A progress bar for reading an input on one thread.
pub(crate) struct InputProgress {
    total: Option<u64>,
    start: Instant,
    bar: Option<ProgressBar>,
}

impl InputProgress {
    /// For an input of `total` bytes, if that is known.
    pub(crate) fn new(total: Option<u64>) -> Self {
        Self { total, start: Instant::now(), bar: None }
    }

    /// Moves the bar to `bytes` of the input.
    pub(crate) fn at(&mut self, bytes: u64) {
        if self.bar.is_none() && self.start.elapsed() >= PATIENCE {
            self.bar = Some(self.new_bar());
        }
        if let Some(bar) = &self.bar {
            bar.set_position(bytes);
        }
    }

    fn new_bar(&self) -> ProgressBar {
        let (bar, template) = match self.total {
            Some(total) => (ProgressBar::new(total), KNOWN_TOTAL),
            None => (ProgressBar::no_length(), NO_TOTAL),
        };
        set_template(&bar, template);
        bar
    }
}

impl Drop for InputProgress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A progress bar for many tables, of which not all are known at the beginning: on many threads, or in object storage.
/// While requests run, a signal ends the program only once the results that are there are shown.
pub(crate) struct TablesProgress {
    bar: ProgressBar,
    is_wanted: bool,
    shown: Once,
    deferred: Mutex<Option<Deferred>>,
}

impl TablesProgress {
    pub(crate) fn new(is_wanted: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        set_template(&bar, GROWING_TOTAL);
        Self { bar, is_wanted, shown: Once::new(), deferred: Mutex::default() }
    }

    /// Writes results while the bar is hidden.
    pub(crate) fn suspend(&self, write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        self.bar.suspend(write)
    }

    /// Hides the bar for good.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }

    fn show_once_it_takes_long(&self) {
        if self.is_wanted && !self.shown.is_completed() && self.bar.elapsed() >= PATIENCE {
            self.shown.call_once(|| self.bar.set_draw_target(ProgressDrawTarget::stderr()));
        }
    }

    fn deferred(&self) -> MutexGuard<'_, Option<Deferred>> {
        self.deferred.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch for TablesProgress {
    fn expect(&self, bytes: u64, is_all: bool) {
        self.bar.inc_length(bytes);
        if is_all {
            set_template(&self.bar, KNOWN_TOTAL);
        }
    }

    fn add(&self, bytes: u64) {
        self.bar.inc(bytes);
        self.show_once_it_takes_long();
    }

    fn expect_tables(&self, tables: u64) {
        self.bar.inc_length(tables);
    }

    fn all_tables_are_known(&self) {
        set_template(&self.bar, FLEET);
    }

    fn table_done(&self) {
        self.bar.inc(1);
    }

    fn fetched(&self, bytes: u64, requests: u64) {
        self.bar.set_message(format!("{}, {requests} requests", indicatif::HumanBytes(bytes)));
        self.show_once_it_takes_long();
    }

    fn is_interrupted(&self) -> bool {
        self.deferred().as_ref().is_some_and(Deferred::is_requested)
    }

    fn requests(&self, begin: bool) -> io::Result<()> {
        self.end();
        self.bar.reset();
        self.bar.set_length(0);
        set_template(&self.bar, if begin { GROWING_FLEET } else { GROWING_TOTAL });
        let deferred = if begin { Some(Deferred::begin()?) } else { None };
        // What was put off comes when this is dropped.
        let before = std::mem::replace(&mut *self.deferred(), deferred);
        drop(before);
        Ok(())
    }
}

impl Drop for TablesProgress {
    fn drop(&mut self) {
        self.end();
    }
}

/// An invalid template leaves the bar in its default style.
fn set_template(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}
