//! The value of one key of a database.

use std::path::Path;

use filterblock::table::{Lookup, known_comparator};

use super::reading::limit_walks;
use super::state::{faults, faults_for};
use crate::engine::Engine;
use crate::report::Fault;
use crate::walk::folder::{PathKind, resolve};

impl Engine {
    /// The faults of the database in a folder as a whole, because of which newer values may be missing: tables that its
    /// MANIFEST does not list, and logs that are missing. Empty also if there is no database with a sound MANIFEST.
    pub fn state_faults(&self, folder: &Path) -> Vec<Fault> {
        match resolve(folder, self.files.storage()) {
            Ok(PathKind::Folder(found)) => {
                let fault = |fault| Fault { path: Some(folder.into()), ..Fault::from(fault) };
                faults(&found).iter().map(fault).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Looks up the newest version of a key in the database in a folder, as
    /// [`Database::get`](filterblock::database::Database::get) does. Checks no filters. Damage elsewhere does not
    /// change the answer.
    ///
    /// `None`: the answer is uncertain. A file that the lookup needs is damaged, missing, skipped or of another size
    /// than recorded; an unlisted table or a missing log may have a newer value; or there is no database with a sound
    /// MANIFEST and a known key order. A [scan](Self::scan) gives the reasons, and the value as far as it can be found.
    pub fn look_up(&self, folder: &Path, key: &[u8]) -> Option<Lookup> {
        let PathKind::Folder(folder) = resolve(folder, self.files.storage()).ok()? else { return None };
        let database = Some(folder.database()).filter(|_| folder.skipped().is_empty())?;
        if !faults_for(&folder, Some(key)).is_empty() {
            return None;
        }
        let options = limit_walks(self.read.clone(), self.max_output).filter_policies(Vec::new());
        let options = match database.manifest().ok()?.comparator() {
            Some(name) => options.comparator(known_comparator(name)?),
            None => options,
        };
        database.get_with(key, &options, self.files.clone()).ok()
    }
}
