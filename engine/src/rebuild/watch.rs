//! What watches a rebuild.

use super::failure::{Failure, Result};
use crate::run::watch::Watch as Progress;

/// What watches a rebuild, and may end it.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    pub progress: &'a dyn Progress,
    /// Tells whether a signal has asked the program to stop.
    pub is_interrupted: &'a (dyn Fn() -> bool + Sync),
}

impl Watch<'_> {
    /// Fails once a signal has asked the program to stop.
    pub(super) fn check(&self) -> Result<()> {
        if (self.is_interrupted)() { Err(Failure::Interrupted("interrupted".to_owned())) } else { Ok(()) }
    }
}
