//! Where entries come from.

use crate::report::{Fault, Row};

/// A source of entries.
pub(crate) trait Rows {
    /// Moves to the next entry. Returns false at the end. After an error the next call goes on
    /// behind it.
    fn advance(&mut self) -> Result<bool, Fault>;

    /// The current entry.
    fn row(&self) -> Option<Row<'_>>;

    /// Something to say at the end that is no error.
    fn note(&self) -> Option<String> {
        None
    }
}
