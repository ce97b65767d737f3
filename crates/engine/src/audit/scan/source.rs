//! What a scan reads: files and databases, with wrong bits corrected if requested.

use std::{path::Path, sync::Arc};

use filterblock::table::{ReadAt as _, ReadOptions, Table};

use super::carve::rows::CarvedRows;
use super::range::ScanRequest;
use super::rows::{LogRows, Rows};
use super::table::{TableRows, has_internal_keys};
use crate::audit::correct::storage::CorrectedStorage;
use crate::audit::key_encoding::KeyEncoding;
use crate::audit::reading::{decode_limit, limit_walks};
use crate::audit::scan::file_type::explain;
use crate::engine::Engine;
use crate::report::{ErrorKind, Fault, FaultDetail};
use crate::text::error_text;
use crate::walk::{Files, Folder, OtherFile, Sequential, SharedFile, is_named_log, open};

pub(super) type BoxedRows = Box<dyn Rows + Send>;

/// A table, and the encoding of its keys.
pub(super) type OpenTable = (Table<SharedFile>, KeyEncoding);

pub(super) struct ScanSource {
    pub(super) engine: Engine,
    pub(super) request: Arc<ScanRequest>,
    pub(super) options: ReadOptions,
    /// Those of the engine, corrected if requested.
    pub(super) files: Files,
    correction: Option<Arc<CorrectedStorage>>,
}

impl ScanSource {
    pub(super) fn new(engine: Engine, request: ScanRequest) -> Self {
        let correction = request.corrects().then(|| Arc::new(CorrectedStorage::of(&engine)));
        Self {
            options: limit_walks(engine.read.clone(), engine.max_output),
            files: correction.clone().map_or_else(|| engine.files.clone(), |storage| Files::new(storage)),
            correction,
            engine,
            request: Arc::new(request),
        }
    }

    pub(super) fn correction(&self) -> Option<&CorrectedStorage> {
        self.correction.as_deref().filter(|_| self.request.corrects())
    }

    /// The folder with wrong bits of its MANIFEST corrected, if requested and if the MANIFEST can be used then.
    pub(super) fn corrected(&self, folder: Arc<Folder>) -> Arc<Folder> {
        let corrected = self.correction().and_then(|correction| correction.folder(&folder));
        corrected.map_or(folder, Arc::new)
    }

    pub(super) fn open(&self, path: &Path, listed: bool) -> Result<SharedFile, Fault> {
        self.files.open(path).map_err(|error| Fault::of_io(&error, listed))
    }

    /// `internal`: true if the keys are internal keys; `None`: not known.
    pub(super) fn table(&self, path: &Path, internal: Option<bool>) -> Option<OpenTable> {
        let table = Table::open(self.open(path, true).ok()?, &self.options).ok()?;
        let encoding =
            match self.request.internal_keys.or(internal).unwrap_or_else(|| has_internal_keys(&table)) {
                true => KeyEncoding::Internal,
                false => KeyEncoding::Whole,
            };
        Some((table, encoding))
    }

    /// Returns true if a folder's tables have internal keys: by the request, or if some open and all of these seem so.
    pub(super) fn has_internal_keys(&self, folder: &Folder) -> bool {
        let tables = folder.tables().filter_map(|path| self.table(path, None));
        let are_internal = tables.map(|(_, encoding)| encoding == KeyEncoding::Internal);
        self.request
            .internal_keys
            .unwrap_or_else(|| are_internal.reduce(|all, one| all && one).unwrap_or_default())
    }

    /// `in_database`: a table's keys are internal keys, unless the request says otherwise. `listed`: found in a folder.
    /// Fails with a fault if the file does not open as a table.
    pub(super) fn file(
        &self,
        path: &Path,
        in_database: bool,
        listed: bool,
    ) -> Result<Result<BoxedRows, Fault>, Fault> {
        let (request, name) = (Arc::clone(&self.request), path.to_owned());
        if is_named_log(path) {
            let log = Sequential::new(open(&**self.files.storage(), path, listed)?);
            return Ok(Ok(Box::new(LogRows::new(log, name, request))));
        }
        let file = self.open(path, listed)?;
        let internal = request.internal_keys.or(in_database.then_some(true));
        if request.carves() {
            let limit = decode_limit(self.engine.max_output, file.len().unwrap_or_default());
            let meter = Arc::clone(&self.engine.meter);
            let rows = CarvedRows::new(file, &self.options, meter, limit, name, request, internal);
            return Ok(Ok(Box::new(rows?)));
        }
        let error = match TableRows::new(file, &self.options, name, request, internal) {
            Ok(rows) => return Ok(Ok(Box::new(rows))),
            Err(error) => error,
        };
        let (file, text) = (self.open(path, listed).ok(), error_text(&error));
        let kind = file.as_ref().filter(|_| !listed).and_then(|file| OtherFile::of(path, file));
        if let Some(kind) = kind {
            let text = match kind {
                OtherFile::Log => "a log under another name: give it one that ends with .log",
                kind => kind.refusal(),
            };
            return Err(Fault::new(text, ErrorKind::Unsupported));
        }
        let meaning = match file {
            Some(file) => explain(&file, &error, text),
            None => text,
        };
        Ok(Err(Fault::from(error).with_detail(FaultDetail::Meaning(meaning))))
    }
}
