//! A progress bar on standard error, if that is a terminal.

use std::io::{self, Read, Write as _};
use std::sync::Once;
use std::time::Duration;

use filterblock_engine::Progress;
use indicatif::{ProgressDrawTarget, ProgressStyle};

use super::{console::Console, interrupt::Deferred};

const PATIENCE: Duration = Duration::from_secs(1);

const KNOWN_TOTAL: &str = "{bytes} of {total_bytes} {wide_bar} {bytes_per_sec}, {eta} left";
const GROWING_TOTAL: &str = "{bytes}, {bytes_per_sec}";
const NO_TOTAL: &str = "{bytes} {spinner} {bytes_per_sec}";

/// A bar, shown once the work has taken a second: for an input, or for files that many threads work on, not all known
/// at the beginning. It may defer signals, so that the work stops first.
pub(crate) struct ProgressBar {
    bar: indicatif::ProgressBar,
    /// Completed once the bar is shown, or from the start if no bar is wanted.
    shown: Once,
    deferred: Option<Deferred>,
}

impl ProgressBar {
    pub(crate) fn new(is_wanted: bool) -> Self {
        let bar = indicatif::ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        set_template(&bar, GROWING_TOTAL);
        let shown = Once::new();
        if !is_wanted {
            shown.call_once(|| ());
        }
        Self { bar, shown, deferred: None }
    }

    /// Like [`new`](Self::new), but also defers signals until the progress is dropped.
    pub(crate) fn deferring(is_wanted: bool) -> Result<Self, String> {
        let mut progress = Self::new(is_wanted);
        let deferred = Deferred::begin().map_err(|error| format!("waiting for signals: {error}"));
        progress.deferred = Some(deferred?);
        Ok(progress)
    }

    /// Writes results while the bar is hidden, and flushes them.
    pub(crate) fn show(
        &self,
        console: &mut Console,
        write: impl FnOnce(&mut Console) -> io::Result<()>,
    ) -> io::Result<()> {
        self.bar.suspend(|| {
            write(console)?;
            console.flush()
        })
    }

    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }

    fn show_once_it_takes_long(&self) {
        if !self.shown.is_completed() && self.bar.elapsed() >= PATIENCE {
            self.shown.call_once(|| self.bar.set_draw_target(ProgressDrawTarget::stderr()));
        }
    }
}

impl Progress for ProgressBar {
    fn expect(&self, more: u64, is_all: bool) {
        self.bar.inc_length(more);
        if is_all {
            set_template(&self.bar, KNOWN_TOTAL);
        }
    }

    fn add(&self, done: u64) {
        self.bar.inc(done);
        self.show_once_it_takes_long();
    }

    fn is_interrupted(&self) -> bool {
        self.deferred.as_ref().is_some_and(Deferred::is_requested)
    }
}

impl Drop for ProgressBar {
    fn drop(&mut self) {
        self.end();
    }
}

pub(crate) struct WatchedInput<R> {
    input: R,
    progress: ProgressBar,
}

impl<R> WatchedInput<R> {
    /// `total`: in bytes; `None`: not known.
    pub(crate) fn new(input: R, total: Option<u64>) -> Self {
        let progress = ProgressBar::new(true);
        match total {
            Some(total) => progress.expect(total, true),
            None => set_template(&progress.bar, NO_TOTAL),
        }
        Self { input, progress }
    }
}

impl<R: Read> Read for WatchedInput<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(to)?;
        self.progress.add(read as u64);
        Ok(read)
    }
}

/// Sets the bar's template. An invalid template leaves the style as it is.
fn set_template(bar: &indicatif::ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}
