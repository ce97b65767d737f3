//! Opening the files of a scan, with wrong bits corrected if requested, and otherwise with hints at what helps.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use filterblock::table::Table;

use super::cursor::ScanCursor;
use super::hints;
use super::table::has_internal_keys;
use crate::audit::correct::storage::CorrectedStorage;
use crate::audit::key_encoding::KeyEncoding;
use crate::engine::Engine;
use crate::report::{ErrorKind, Fault};
use crate::walk::{Folder, PathError, Sequential, SharedFile, is_named_log, open};

impl Engine {
    pub(super) fn corrected_storage(&self) -> CorrectedStorage {
        CorrectedStorage::new(Arc::clone(self.files.storage()), &self.read, self.max_output)
    }
}

impl ScanCursor {
    pub(super) fn correction(&self) -> Option<&CorrectedStorage> {
        self.correction.as_deref().filter(|_| self.request.corrects())
    }

    /// The folder with wrong bits of its MANIFEST corrected, if requested and if the MANIFEST can be used then.
    pub(super) fn corrected(&self, folder: Arc<Folder>) -> Arc<Folder> {
        let corrected = self.correction().and_then(|correction| correction.folder(&folder));
        corrected.map_or(folder, Arc::new)
    }

    pub(super) fn open(&self, path: &Path, listed: bool) -> Result<SharedFile, PathError> {
        self.files.open(path).map_err(|error| PathError::of_io(&error, listed))
    }

    pub(super) fn open_log(&self, path: &Path, listed: bool) -> Result<impl Read + use<>, PathError> {
        open(&**self.files.storage(), path, listed).map(Sequential::new)
    }

    pub(super) fn meaning(&mut self, path: &Path, fault: &Fault) -> String {
        if self.request.carves() {
            return fault.message.clone();
        }
        if fault.kind != ErrorKind::Damaged || is_named_log(path) {
            return hints::meaning::<()>(fault, path, None, self.is_database)
                + &self.options_hint(path, fault, true);
        }
        // One table is kept open, as each opening reads a whole index.
        let known = self.described.take().filter(|(of, _)| of == path);
        let open = || {
            let table = Table::open(self.open(path, true).ok()?, &self.options).ok()?;
            let is_of_database = self.is_database || self.lacks_manifest;
            let internal = self.request.internal_keys.or(is_of_database.then_some(true));
            let encoding = match internal.unwrap_or_else(|| has_internal_keys(&table)) {
                true => KeyEncoding::Internal,
                false => KeyEncoding::Whole,
            };
            Some((table, encoding))
        };
        let described = known.unwrap_or_else(|| (path.to_owned(), open()));
        let text = hints::meaning(fault, path, described.1.as_ref(), self.is_database);
        let opens = described.1.is_some();
        self.described = Some(described);
        text + &self.options_hint(path, fault, opens)
    }

    /// What helps against a fault, to end its message. Each file is tried once: a try reads the whole index or log. `opens`:
    /// not a table that fails to open.
    pub(super) fn options_hint(&mut self, path: &Path, fault: &Fault, opens: bool) -> String {
        if cfg!(not(feature = "fs")) || self.request.carves() || self.request.corrects() {
            return String::new();
        }
        if fault.kind == ErrorKind::Missing {
            return self.folder.as_ref().map(|folder| hints::copy_text(folder, path)).unwrap_or_default();
        }
        if !self.hinted.insert(path.to_owned()) {
            return String::new();
        }
        let correction = self.engine.corrected_storage();
        self.folder.iter().for_each(|folder| correction.begin(folder.database()));
        let storage = &**self.engine.files.storage();
        hints::options_text(fault, path, opens, storage, &correction, &self.options)
    }
}
