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
#[cfg(feature = "fs")]
mod in_place;
#[cfg(feature = "fs")]
mod journal;
#[cfg(feature = "fs")]
mod place;
#[cfg(feature = "fs")]
mod recovery;
mod request;
mod source;
mod table;
#[cfg(all(test, unix))]
pub(crate) mod tests;
mod to_output;
#[cfg(feature = "fs")]
mod undo;
#[cfg(feature = "fs")]
mod undo_folder;
mod work;

use std::path::Path;
#[cfg(feature = "fs")]
use std::sync::Arc;

use filterblock::database::FileKind;
use filterblock::escape_path;

pub use self::request::{FilterRequest, RebuildMode, RebuildOptions};
use crate::engine::Engine;
use crate::report::{ErrorKind, RebuildReport, RebuildStatus};
#[cfg(feature = "fs")]
use crate::walk::Files;
use crate::walk::FoundFormat;
use crate::walk::folder::nothing_at;
#[cfg(feature = "fs")]
use crate::write::{DirStorage, NewFolder, NoOutput};
pub use crate::write::{Failure, Result};
use crate::write::{Input, Output};

impl Engine {
    /// Makes a second database with new filters in `output` of the one in the folder `database`, which stays as it is.
    ///
    /// # Errors
    ///
    /// After an error, there is no second database, unless only the last sync failed.
    pub fn rebuild(
        &self,
        database: &Path,
        options: &RebuildOptions,
        output: &mut dyn Output,
    ) -> Result<RebuildReport> {
        let status = if output.is_wanted() { RebuildStatus::Rebuilt } else { RebuildStatus::DryRun };
        let report = to_output::run(Input { engine: self, dir: database }, options, output);
        report.map(|report| concluded(report, status)).map_err(Failure::of_run)
    }

    /// Rebuilds the database in a folder of the local file system, which is held open and locked.
    ///
    /// # Errors
    ///
    /// After an error, the database is as it was before, and there is no second one, unless only the last sync failed.
    #[cfg(feature = "fs")]
    pub fn rebuild_folder(&self, database: &Path, mode: &RebuildMode) -> Result<RebuildReport> {
        let report = match mode {
            RebuildMode::To(target, options) => return self.rebuild_to(database, target, options),
            RebuildMode::InPlace { options, keeps_undo } => {
                in_place::run(self, database, options, *keeps_undo)
            }
            RebuildMode::Undo => undo::undo(self, database),
            RebuildMode::Discard => undo::discard(self, database),
        };
        report.map(|report| concluded(report, mode.status())).map_err(Failure::of_run)
    }

    #[cfg(feature = "fs")]
    fn rebuild_to(&self, database: &Path, target: &Path, options: &RebuildOptions) -> Result<RebuildReport> {
        // Both paths are resolved before anything is done.
        let old = DirStorage::open(database)?;
        let path = old.path().to_owned();
        let mut new = NewFolder::new(target, &old)?;
        let engine = self.clone().files(Files::new(Arc::new(old)));
        match options.dry_run {
            true => engine.rebuild(&path, options, &mut NoOutput),
            false => engine.rebuild(&path, options, &mut new),
        }
    }
}

fn concluded(mut report: RebuildReport, status: RebuildStatus) -> RebuildReport {
    if report.data.status != RebuildStatus::Finished {
        report.data.status = status;
    }
    report.conclude();
    report
}

/// Fails if the folder is not that of a database, or of one of another format.
fn check_is_database(input: Input<'_>) -> Result<()> {
    let open = |path: &Path| Some(Box::new(input.engine.files.storage().open(path).ok()?) as _);
    if let Some(found) = FoundFormat::of_database(&input.database()?, &open) {
        return Err(Failure::other_format(input.dir, &found));
    }
    let kind = |name: &String| FileKind::parse(name).map(|(kind, _)| kind);
    let kinds: Vec<FileKind> = input.names()?.iter().filter_map(kind).collect();
    if kinds.contains(&FileKind::Current) {
        return Ok(());
    }
    if kinds.iter().any(|kind| matches!(kind, FileKind::Table | FileKind::Log | FileKind::Manifest)) {
        let failure = input.refused("CURRENT is missing").of_kind(ErrorKind::Missing);
        return Err(failure.while_reading(input.dir));
    }
    let text = format!("{}: {}", escape_path(input.dir), nothing_at(input.dir));
    Err(Failure::failed(text, Some(ErrorKind::Missing)))
}
