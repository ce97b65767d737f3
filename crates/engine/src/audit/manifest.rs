//! The records of a MANIFEST, and the state that they lead to. Records after damage are shown, as they are often all
//! that is left, but are not part of the state: otherwise, tables that a lost record deleted would come back.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use filterblock::database::{FileKind, LogReader, Manifest, VersionEdit};
use filterblock::{Error, escape_path};

use super::current_manifest::{current, manifest_fault};
use super::skipped::Skipped;
use super::state;
use crate::engine::Engine;
use crate::report::{
    AddedTable, CheckNote, ErrorKind, Fault, ManifestEdit, ManifestLine, ManifestSize, ManifestState,
    Outcome, Remark, StateFault, Subject,
};
use crate::text::{error_text, path_word};
use crate::walk::{Folder, Inputs, OtherFile, Sequential, Storage, Target, open};

/// The greatest number of faults of one MANIFEST that are reported one by one.
const MAX_FAULTS: u64 = 64;

impl Engine {
    /// Gives `sink` the records and the faults of the MANIFESTs that `inputs` lead to, the tables that are live in the
    /// end, and the state. In a folder, CURRENT names the MANIFEST; a file is read as a MANIFEST.
    ///
    /// Takes memory in proportion to the longest record and to the number of live tables.
    ///
    /// # Errors
    ///
    /// Those of `sink`.
    pub fn manifest(
        &self,
        inputs: Inputs,
        sink: &mut dyn FnMut(ManifestLine<'_>) -> io::Result<()>,
    ) -> io::Result<Outcome> {
        let outcome = Outcome::default();
        let storage = &**self.files.storage();
        let mut shown = Shown { storage, sink, outcome, faults: Vec::new() };
        for found in self.targets(inputs) {
            shown.take(found)?;
        }
        Ok(shown.outcome)
    }
}

struct Shown<'a> {
    storage: &'a dyn Storage,
    sink: &'a mut dyn FnMut(ManifestLine<'_>) -> io::Result<()>,
    outcome: Outcome,
    /// The messages of the faults that were reported in the MANIFEST now being shown.
    faults: Vec<String>,
}

impl Shown<'_> {
    fn take(&mut self, found: Target) -> io::Result<()> {
        match found {
            Target::ListFailed { input, error } => self.failed(Subject::of(&input), &error),
            Target::Failed { input, path, error } => {
                self.failed(Subject { path: &path, ..Subject::of(&input) }, &error)
            }
            Target::File { input, path, folder } => {
                let subject = Subject { path: &path, ..Subject::of(&input) };
                let source = self.storage.open(&path);
                let kind = source.ok().and_then(|source| OtherFile::of(&path, &source));
                let text = match kind {
                    None | Some(OtherFile::Manifest) => return self.file(subject, folder.as_deref(), false),
                    Some(OtherFile::Log) => "a log of writes, not a MANIFEST; scan shows it",
                    Some(kind) => kind.refusal(),
                };
                self.failed(subject, &Fault::new(text, ErrorKind::Unsupported))
            }
            Target::Folder { input, path, folder } => match current(&folder) {
                Some(manifest) => {
                    self.file(Subject { path: &manifest, ..Subject::of(&input) }, Some(&folder), true)
                }
                None => self.no_current(Subject { path: &path, ..Subject::of(&input) }, &folder),
            },
        }
    }

    /// Reports a folder without a CURRENT that leads to a MANIFEST, and names the newest MANIFEST, if any.
    fn no_current(&mut self, subject: Subject<'_>, folder: &Folder) -> io::Result<()> {
        let Some(error) = folder.database().manifest().err().filter(|_| folder.is_database()) else {
            let error = Fault::new("no MANIFEST here, only tables", ErrorKind::Missing);
            return self.failed(subject, &error);
        };
        let mut message = manifest_fault(error);
        let newest = folder.database().files().of_kind(FileKind::Manifest).last().map(|file| &*file.path);
        let remarks = newest.map(|newest| {
            let name = newest.file_name().map(|name| escape_path(Path::new(name)));
            message += &name.map(|name| format!("; the folder has {name}")).unwrap_or_default();
            Remark::remedy(format_args!("to see it: filterblock manifest {}", path_word(newest)))
        });
        let remarks: Vec<_> = remarks.into_iter().collect();
        let kind = ErrorKind::of(error);
        self.fault(Subject { remarks: &remarks, ..subject }, &Fault::new(message, kind))
    }

    /// Shows the records, faults, live tables and state of a MANIFEST. `listed`: its name was found in a folder.
    fn file(&mut self, subject: Subject<'_>, folder: Option<&Folder>, listed: bool) -> io::Result<()> {
        self.faults.clear();
        let records = match self.open(subject.path, listed) {
            Ok(source) => source,
            Err(error) => return self.failed(subject, &error),
        };
        let mut faults = self.records(subject, records)?;
        let source = match self.open(subject.path, listed) {
            Ok(source) => source,
            Err(error) => return self.failed(subject, &error),
        };
        let scan = Manifest::scan(source, Manifest::DEFAULT_MEMORY_LIMIT);
        if let Some(damage) = &scan.damage
            && !self.faults.contains(&damage.to_string())
        {
            faults += 1;
            self.damage(subject, damage)?;
        }
        // The MANIFEST may be gone by now. What was read of it holds all the same.
        let zeros = match self.open(subject.path, listed) {
            Ok(source) => Skipped::zeros(source).map_err(|error| Fault::of_io(&error, listed)),
            Err(error) if matches!(error.kind, ErrorKind::Vanished | ErrorKind::Missing) => Ok(None),
            Err(error) => Err(error),
        };
        if let Err(error) = &zeros {
            self.failed(subject, error)?;
        }
        // A MANIFEST that CURRENT does not name may be a copy without the other files.
        let is_current = |folder: &&Folder| current(folder).is_some_and(|path| path == subject.path);
        let database = folder.filter(|_| scan.damage.is_none()).filter(is_current);
        let database = database.map(|folder| Arc::new(folder.with_manifest(scan.manifest.clone())));
        let mut has_unlisted = false;
        for fault in database.iter().flat_map(state::faults) {
            has_unlisted |= matches!(fault, StateFault::Unlisted(_));
            self.fault(subject, &Fault::new(fault.in_manifest(), ErrorKind::Damaged))?;
        }
        let sequence = Skipped::sequence(scan.manifest.last_sequence());
        // A file without any record is hardly a MANIFEST.
        let is_one = scan.manifest.records() > 0;
        let mut remarks = Vec::new();
        for found in zeros.ok().flatten().filter(|_| !has_unlisted).into_iter().chain(sequence) {
            match found {
                Skipped::Zeros(offset) if is_one => {
                    remarks.push(Remark::new(subject.path, CheckNote::Preallocated(offset)));
                }
                found => self.fault(subject, &found.fault())?,
            }
        }
        for table in scan.manifest.tables() {
            (self.sink)(ManifestLine::Table(subject, AddedTable::of(table)))?;
        }
        let state = ManifestState::new(&scan.manifest, faults);
        if state.torn.is_some() && is_one && !has_unlisted {
            remarks.push(Remark::new(subject.path, CheckNote::CutWrite));
        }
        if state.torn.is_some() && !is_one {
            self.outcome.count(ErrorKind::Damaged);
        }
        let len = self.storage.open(subject.path).and_then(|file| file.len()).ok();
        let huge = len.and_then(|len| state::huge(subject.path, len, &scan.manifest));
        let folder = subject.path.parent().unwrap_or(Path::new(""));
        remarks.extend(huge.as_ref().map(|huge| Remark::new(subject.path, huge.text(folder))));
        let (subject, size) = (Subject { remarks: &remarks, ..subject }, ManifestSize { len, huge });
        (self.sink)(ManifestLine::State(subject, state, size))
    }

    /// Shows the records that can be decoded, also after damage, and the first [`MAX_FAULTS`] faults. Counts all.
    fn records(&mut self, subject: Subject<'_>, source: impl Read) -> io::Result<u64> {
        let mut log = LogReader::new(source).max_record_len(Manifest::DEFAULT_MEMORY_LIMIT);
        let (mut records, mut faults) = (0_u64, 0_u64);
        loop {
            let fault = match log.read_record() {
                Ok(None) => return Ok(faults),
                Ok(Some(record)) => match VersionEdit::decode(record) {
                    Ok(edit) => {
                        records += 1;
                        let place = (record.offset, record.data.len() as u64);
                        let edit = ManifestEdit::new(records, place, &edit);
                        (self.sink)(ManifestLine::Edit(subject, edit))?;
                        continue;
                    }
                    Err(error) => error,
                },
                Err(error) => error,
            };
            faults += 1;
            if faults <= MAX_FAULTS {
                self.faults.push(fault.to_string());
                self.damage(subject, &fault)?;
            }
            if matches!(fault, Error::Io { .. }) {
                return Ok(faults);
            }
        }
    }

    fn open(&self, path: &Path, listed: bool) -> Result<impl Read + use<>, Fault> {
        open(self.storage, path, listed).map(Sequential::new)
    }

    fn damage(&mut self, subject: Subject<'_>, error: &Error) -> io::Result<()> {
        self.fault(subject, &Fault { text: error_text(error), ..error.into() })
    }

    fn failed(&mut self, subject: Subject<'_>, error: &Fault) -> io::Result<()> {
        self.fault(subject, error)
    }

    fn fault(&mut self, subject: Subject<'_>, fault: &Fault) -> io::Result<()> {
        self.outcome.count(fault.kind);
        (self.sink)(ManifestLine::Fault(subject, fault))
    }
}
