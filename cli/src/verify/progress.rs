//! How much has been gone through, on standard error if that is a terminal.

use std::io;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What takes less than this is nobody's concern.
const PATIENCE: Duration = Duration::from_secs(1);

/// A progress bar for work on many threads.
pub(super) struct Progress {
    bar: ProgressBar,
    start: Instant,
}

impl Progress {
    pub(super) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        let template = "{bytes} of {total_bytes} {wide_bar} {bytes_per_sec}, {eta} left";
        let bar = match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
        Self { bar, start: Instant::now() }
    }

    /// So many bytes more are known to come.
    pub(super) fn expect(&self, bytes: u64) {
        self.bar.inc_length(bytes);
    }

    /// So many bytes have been gone through.
    pub(super) fn add(&self, bytes: u64) {
        self.bar.inc(bytes);
        if self.bar.is_hidden() && self.start.elapsed() >= PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Writes results past the bar.
    pub(super) fn aside(&self, write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        self.bar.suspend(write)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
