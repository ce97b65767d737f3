//! New filters for the tables of an existing database: the work of `filterblock rebuild`.
//!
//! Data blocks and indexes are copied byte for byte, and no entry is touched. `to_folder` makes a second
//! database. `in_place` replaces the tables of the first one in these steps, any of which a crash can
//! interrupt:
//!
//! ```text
//! 1  LOCK is held; what an earlier run left is cleared away       recovery
//! 2  the MANIFEST and all live tables are looked at               source, filters
//! 3  the journal; each table anew as NNNNNN.dbtmp                 journal, table
//! 4  NNNNNN.dbtmp becomes NNNNNN.ldb (or .sst), newest first      in_place
//! 5  a new MANIFEST; the new tables are verified; what `--undo`   work, undo_folder
//!    needs is linked into a folder of its own
//! 6  CURRENT names the new MANIFEST: this commits                 in_place
//! 7  the old tables, the old MANIFEST and the journal go          recovery
//! ```
//!
//! In place, every live table gets a new number, in the order of the old numbers over all levels: on level 0,
//! LevelDB considers the table with the higher number the newer one, and `RepairDB` does so for all tables. The
//! new numbers are greater than every number that was ever used, since a table of a different size under an old
//! number counts as damage.

mod file_digest;
pub(crate) mod filters;
mod in_place;
mod journal;
pub(crate) mod place;
mod recovery;
pub(crate) mod request;
mod source;
mod table;
#[cfg(all(test, unix))]
pub(crate) mod tests;
pub(crate) mod to_folder;
mod undo;
mod undo_folder;
mod work;

use std::path::Path;

use crate::report::{RebuildStatus, Report};
use crate::run::Watch;

pub use self::request::{FilterRequest, Options, Request};
pub use crate::write::{Failure, Result};

/// Carries out a request for the database in the folder `dir`.
///
/// # Errors
///
/// After an error, the database is as it was before, and there is no second one, unless only the last sync failed.
pub fn rebuild(dir: &Path, request: &Request, watch: &dyn Watch) -> Result<Report> {
    let mut report = match request {
        Request::To(target, options) => to_folder::run(dir, options, target, watch),
        Request::InPlace { options, keeps_undo } => in_place::run(dir, options, *keeps_undo, watch),
        Request::Undo => undo::undo(dir),
        Request::Discard => undo::discard(dir),
    }
    .map_err(Failure::of_run)?;
    if report.status != RebuildStatus::Finished {
        report.status = request.status();
    }
    report.conclude();
    Ok(report)
}
