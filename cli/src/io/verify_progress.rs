//! How much has been gone through, on standard error if that is a terminal.

use std::io;
use std::sync::Once;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long to wait before the bar is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// While it is not known how much there is in all, and once it is.
const OPEN: &str = "{bytes}, {bytes_per_sec}";
const COMPLETE: &str = "{bytes} of {total_bytes} {wide_bar} {bytes_per_sec}, {eta} left";

/// A progress bar for work on many threads.
pub(crate) struct Progress {
    bar: ProgressBar,
    is_wanted: bool,
    start: Instant,
    shown: Once,
}

impl Progress {
    pub(crate) fn new(is_wanted: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        let progress = Self { bar, is_wanted, start: Instant::now(), shown: Once::new() };
        progress.draw(OPEN);
        progress
    }

    fn draw(&self, template: &str) {
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
    }

    /// So many bytes more are known to come, and whether that is all.
    pub(crate) fn expect(&self, bytes: u64, is_all: bool) {
        self.bar.inc_length(bytes);
        if is_all {
            self.draw(COMPLETE);
        }
    }

    /// So many bytes have been gone through.
    pub(crate) fn add(&self, bytes: u64) {
        self.bar.inc(bytes);
        if self.is_wanted && !self.shown.is_completed() && self.start.elapsed() >= PATIENCE {
            self.shown.call_once(|| self.bar.set_draw_target(ProgressDrawTarget::stderr()));
        }
    }

    /// Writes results past the bar.
    pub(crate) fn aside(&self, write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        self.bar.suspend(write)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
