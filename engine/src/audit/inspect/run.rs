//! The lines that an inspection gives.

use crate::report::folder::{Folder, Unreadable};
use crate::report::inspect::Inspected;
use crate::report::totals::Totals;
use crate::walk::folder::Folder as Listed;

/// What was found out, one after the other.
#[derive(Debug)]
pub enum Line<'a> {
    /// A folder whose tables follow.
    Folder(&'a Folder, &'a Listed),
    /// A table, or a bare filter block.
    Table(&'a mut Inspected),
    /// A path that could not be looked at.
    Unreadable(&'a Unreadable),
    /// The sums over the tables of the folder that was last.
    Totals(&'a Totals),
}
