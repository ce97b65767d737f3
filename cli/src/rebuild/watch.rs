//! What watches a rebuild.

use super::failure::{Failure, Result};
use crate::io::interrupt::Deferred;
use crate::io::progress::TablesProgress;

/// What watches a rebuild, and may end it.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'a> {
    pub(crate) progress: &'a TablesProgress,
    pub(crate) signal: &'a Deferred,
}

impl Watch<'_> {
    /// Fails once a signal has asked the program to stop.
    pub(super) fn check(&self) -> Result<()> {
        if self.signal.is_requested() { Err(Failure::Interrupted("interrupted".to_owned())) } else { Ok(()) }
    }
}
