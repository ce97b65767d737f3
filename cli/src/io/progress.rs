//! Progress bars on standard error, if that is a terminal.

use std::io;
use std::sync::Once;
use std::time::{Duration, Instant};

use filterblock_engine::run::watch::Watch;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The time to wait before a bar is shown.
const PATIENCE: Duration = Duration::from_secs(1);

const KNOWN_TOTAL: &str = "{bytes} of {total_bytes} {wide_bar} {bytes_per_sec}, {eta} left";
const GROWING_TOTAL: &str = "{bytes}, {bytes_per_sec}";
const NO_TOTAL: &str = "{bytes} {spinner} {bytes_per_sec}";

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

/// A progress bar for many tables on many threads, of which not all are known at the beginning.
pub(crate) struct TablesProgress {
    bar: ProgressBar,
    is_wanted: bool,
    start: Instant,
    shown: Once,
}

impl TablesProgress {
    pub(crate) fn new(is_wanted: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        set_template(&bar, GROWING_TOTAL);
        Self { bar, is_wanted, start: Instant::now(), shown: Once::new() }
    }

    /// Writes results while the bar is hidden.
    pub(crate) fn suspend(&self, write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        self.bar.suspend(write)
    }
}

impl Watch for TablesProgress {
    /// Adds to the total. `is_all`: nothing more will be added.
    fn expect(&self, bytes: u64, is_all: bool) {
        self.bar.inc_length(bytes);
        if is_all {
            set_template(&self.bar, KNOWN_TOTAL);
        }
    }

    /// Moves the bar by `bytes`.
    fn add(&self, bytes: u64) {
        self.bar.inc(bytes);
        if self.is_wanted && !self.shown.is_completed() && self.start.elapsed() >= PATIENCE {
            self.shown.call_once(|| self.bar.set_draw_target(ProgressDrawTarget::stderr()));
        }
    }
}

impl Drop for TablesProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// An invalid template leaves the bar in its default style.
fn set_template(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}

#[cfg(feature = "remote")]
const FLEET: &str = "{pos} of {len} tables {wide_bar} {msg}, {eta} left";
#[cfg(feature = "remote")]
const GROWING_FLEET: &str = "{pos} tables, {msg}, {per_sec}";

/// A progress bar for many tables in object storage.
#[cfg(feature = "remote")]
pub(crate) struct FleetProgress {
    bar: ProgressBar,
    is_wanted: bool,
    start: Instant,
    shown: Once,
}

#[cfg(feature = "remote")]
impl FleetProgress {
    pub(crate) fn new(is_wanted: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        set_template(&bar, GROWING_FLEET);
        Self { bar, is_wanted, start: Instant::now(), shown: Once::new() }
    }

    /// Writes results while the bar is hidden.
    pub(crate) fn suspend(&self, write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        self.bar.suspend(write)
    }
}

#[cfg(feature = "remote")]
impl filterblock_engine::run::progress::FleetProgress for FleetProgress {
    /// Adds to the number of tables.
    fn expect(&self, tables: u64) {
        self.bar.inc_length(tables);
    }

    /// No tables will be added any more.
    fn all_are_known(&self) {
        set_template(&self.bar, FLEET);
    }

    /// A table is done.
    fn done(&self) {
        self.bar.inc(1);
    }

    /// Shows how many bytes were received, and with how many requests.
    fn at(&self, bytes: u64, requests: u64) {
        self.bar.set_message(format!("{}, {requests} requests", indicatif::HumanBytes(bytes)));
        if self.is_wanted && !self.shown.is_completed() && self.start.elapsed() >= PATIENCE {
            self.shown.call_once(|| self.bar.set_draw_target(ProgressDrawTarget::stderr()));
        }
    }
}

#[cfg(feature = "remote")]
impl Drop for FleetProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
