//! Opening the files of a scan, with wrong bits corrected if requested, and otherwise with hints at what helps.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use filterblock::database::FileKind;
use filterblock::table::{ReadAt, Table};

use super::super::correction::Correction;
use super::super::hints;
use super::super::openers::is_log;
use super::super::table::has_internal_keys;
use super::Scan;
use crate::audit::key_encoding::KeyEncoding;
use crate::report::{ErrorKind, Fault};
use crate::walk::{Folder, PathError, Sequential, SharedFile, open};

impl<S> Scan<'_, S> {
    pub(super) fn correction(&self) -> Option<&Correction> {
        self.correction.as_ref().filter(|_| self.request.corrects())
    }

    /// The folder with wrong bits of its MANIFEST corrected, if requested and if the MANIFEST can be used then.
    pub(super) fn corrected(&self, folder: Arc<Folder>) -> Arc<Folder> {
        let correct = || {
            let correction = self.correction()?;
            let (path, error) = folder.manifest_error()?;
            let (kind, _) = FileKind::parse(path.file_name()?.to_str()?)?;
            let is_damaged = ErrorKind::of(error) == ErrorKind::Damaged && kind == FileKind::Manifest;
            let contents = self.open_plain(path, true).ok().filter(|_| is_damaged)?;
            correction.manifest(contents, path)
        };
        correct().map_or_else(|| Arc::clone(&folder), |manifest| Arc::new(folder.with_manifest(manifest)))
    }

    pub(super) fn open_plain(&self, path: &Path, listed: bool) -> Result<SharedFile, PathError> {
        self.engine.files.open(path).map_err(|error| PathError::of_io(&error, listed))
    }

    pub(super) fn open(&self, path: &Path, listed: bool) -> Result<Box<dyn ReadAt + Send + Sync>, PathError> {
        let file = self.open_plain(path, listed)?;
        match self.correction() {
            Some(correction) => Ok(Box::new(correction.table(file, path)?)),
            None => Ok(Box::new(file)),
        }
    }

    pub(super) fn open_log(&self, path: &Path, listed: bool) -> Result<Box<dyn Read + Send>, PathError> {
        let log = Sequential::new(open(&**self.engine.files.storage(), path, listed)?);
        Ok(match self.correction() {
            Some(correction) => Box::new(correction.log(log, path)),
            None => Box::new(log),
        })
    }

    pub(super) fn meaning(&mut self, path: &Path, fault: &Fault) -> String {
        if self.request.carves() {
            return fault.message.clone();
        }
        if fault.kind != ErrorKind::Damaged || is_log(path) {
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
        let correction = Correction::new(&self.engine.read, self.engine.max_output);
        let correction = match &self.folder {
            Some(folder) => correction.of(folder.database()),
            None => correction,
        };
        let open = || self.open_plain(path, true).ok();
        hints::options_text(fault, path, opens, open, &correction, &self.options)
    }
}
