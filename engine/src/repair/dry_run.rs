//! A repair that makes no database, for files in any [`Storage`]. Operations that do not fit into memory are sorted in
//! temporary files.

use std::io;
use std::path::{Path, PathBuf};

use filterblock::table::ReadAt;

use super::decide::{SavedKey, Sink};
use super::input::{Input, LOST, Listing};
use super::request::RepairRequest;
use super::run::{decide, has_entries};
use super::survey::Survey;
use crate::rebuild::{Failure, Result};
use crate::report::{RepairReport, RepairStatus};
use crate::walk::Storage;

/// Finds out what a repair of the database in the folder `dir` of `storage` would salvage. `each` gets every key that
/// the new database would have, in ascending order. The target of the request is not looked at, and no lock is taken.
///
/// # Errors
///
/// Those of [`repair`](super::repair) when it reads the database or writes temporary files.
pub fn dry_run(
    storage: &dyn Storage,
    dir: &Path,
    request: &RepairRequest,
    each: &mut dyn FnMut(SavedKey<'_>),
) -> Result<RepairReport> {
    let input = Stored { storage, dir };
    let survey = Survey::take(&input, request, &std::env::temp_dir(), &())?;
    has_entries(&survey, dir)?;
    let mut report = RepairReport { status: RepairStatus::DryRun, ..RepairReport::default() };
    decide(&survey, &input, request, &(), &mut Each(each), &mut report)?;
    Ok(report)
}

struct Each<'e>(&'e mut dyn FnMut(SavedKey<'_>));

impl Sink for Each<'_> {
    fn put(&mut self, key: SavedKey<'_>) -> Result<()> {
        (self.0)(key);
        Ok(())
    }
}

/// A folder, and the storage that it is in.
struct Stored<'s> {
    storage: &'s dyn Storage,
    dir: &'s Path,
}

impl Input for Stored<'_> {
    fn files(&self) -> Result<Listing> {
        let listed = self.storage.list(self.dir);
        let listed = listed.map_err(|error| Failure::system("listing it", self.dir, &error))?;
        let has_lost_folder = self.storage.list(&self.dir.join(LOST)).is_ok_and(|found| found.is_some());
        let mut listing = Listing { has_lost_folder, ..Listing::default() };
        listed.unwrap_or_default().into_iter().for_each(|(name, len)| listing.add(name, len));
        listing.sort();
        Ok(listing)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn ReadAt>> {
        let file = self.storage.open(&self.dir.join(name))?;
        Ok(file)
    }

    fn path_of(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}
