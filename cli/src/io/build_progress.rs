//! How far a long input has been read, on standard error if that is a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// How long to wait before the bar is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// A progress bar that appears once it has become worth looking at.
pub(crate) struct Progress {
    total: Option<u64>,
    start: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// For an input of `total` bytes, if that is known.
    pub(crate) fn new(total: Option<u64>) -> Self {
        Self { total, start: Instant::now(), bar: None }
    }

    /// `bytes` of the input have been read.
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
            Some(total) => {
                (ProgressBar::new(total), "{bytes} of {total_bytes} {wide_bar} {bytes_per_sec}, {eta} left")
            }
            None => (ProgressBar::no_length(), "{bytes} {spinner} {bytes_per_sec}"),
        };
        match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
