//! The error of a table that could not be finished.

use std::fmt;

use crate::Error;

/// The error of [`TableBuilder::finish`](crate::table::TableBuilder::finish) and
/// [`Rewriter::finish`](crate::table::Rewriter::finish), with the writer: a file can then be
/// truncated or removed, and a buffer inspected.
///
/// `?` turns it into the [`Error`] alone.
#[must_use]
pub struct FinishError<W> {
    pub(super) error: Error,
    pub(super) writer: W,
}

impl<W> FinishError<W> {
    /// Returns the error.
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// Returns the error without the writer.
    pub fn into_error(self) -> Error {
        self.error
    }

    /// Returns the writer. Its contents are not a table.
    pub fn into_writer(self) -> W {
        self.writer
    }

    /// Returns the error and the writer.
    pub fn into_parts(self) -> (Error, W) {
        (self.error, self.writer)
    }
}

impl<W> From<FinishError<W>> for Error {
    fn from(failed: FinishError<W>) -> Self {
        failed.error
    }
}

impl<W> fmt::Debug for FinishError<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FinishError").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<W> fmt::Display for FinishError<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<W> std::error::Error for FinishError<W> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}
