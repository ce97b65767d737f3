//! The problems of a database as a whole.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use filterblock::database::{Database, FileKind, FileState, Manifest};

use super::own_entries::{self, OpenFile};
use crate::audit::current_manifest::{current, is_goleveldbs_log};
use crate::audit::skipped::Skipped;
use crate::report::{LostRecords, StateFault, UnlistedTables};
use crate::run::{MAX_ROUNDS, Relist};
use crate::walk::{Folder, Sequential, Source};

/// The problems of the database in a folder. Reads only its MANIFEST, unless it may have missed tables. Reads a
/// database in use again: a finished table is in the MANIFEST soon after, before the files that had its entries are
/// gone.
pub(crate) fn faults(folder: &Arc<Folder>) -> Vec<StateFault> {
    faults_for(folder, None)
}

/// The problems for a lookup of `key`; `None`: all. Tables that a whole MANIFEST missed concern only keys in them.
pub(crate) fn faults_for(folder: &Arc<Folder>, key: Option<&[u8]>) -> Vec<StateFault> {
    let mut relist = Relist::new(Arc::clone(folder), MAX_ROUNDS);
    loop {
        let folder = Arc::clone(relist.folder());
        let found = faults_now(&folder, key);
        let is_doubtful = found.iter().any(|fault| matches!(fault, StateFault::Unlisted(_)));
        if !is_doubtful {
            return found;
        }
        let again = match relist.again(false) {
            Ok(Some(again)) => again,
            Ok(None) => return Vec::new(),
            Err(_) => return found,
        };
        match (folder.database().manifest(), again.database().manifest()) {
            (Ok(before), Ok(now)) if before != now => {}
            _ => return found,
        }
    }
}

fn faults_now(folder: &Folder, key: Option<&[u8]>) -> Vec<StateFault> {
    let open = |path: &Path| folder.storage().open(path);
    faults_in(folder.database(), &|| current(folder), Some(&open), key)
}

/// The problems of a database that no program changes. `open`: opens its files; `None`: they cannot be read here.
pub(crate) fn faults_of(
    database: &Database,
    manifest: &dyn Fn() -> Option<PathBuf>,
    open: Option<&OpenFile<'_>>,
) -> Vec<StateFault> {
    faults_in(database, manifest, open, None)
}

fn faults_in(
    database: &Database,
    manifest: &dyn Fn() -> Option<PathBuf>,
    open: Option<&OpenFile<'_>>,
    key: Option<&[u8]>,
) -> Vec<StateFault> {
    let Ok(records) = database.manifest() else { return Vec::new() };
    let unlisted = unlisted(database, records, manifest, open, key);
    // The lost records that list such tables name newer logs, too.
    let names_logs = unlisted.as_ref().is_none_or(|unlisted| unlisted.lost.is_none());
    let logs = database.missing_logs().filter(|log| names_logs && !is_superseded(database, *log, open));
    let logs = logs.map(|log| StateFault::LogMissing(FileKind::Log.file_name(log)));
    unlisted.map(StateFault::Unlisted).into_iter().chain(logs).collect()
}

/// Returns true if goleveldb removed the unwritten log: it begins another, and does not record it (`memCompaction`).
fn is_superseded(database: &Database, log: u64, open: Option<&OpenFile<'_>>) -> bool {
    database.logs().any(|other| other.number > log && matches!(other.file, FileState::Present(_)))
        && open.is_some_and(|open| {
            open(&database.dir().join("LOG")).is_ok_and(|messages| is_goleveldbs_log(&messages))
        })
}

fn unlisted(
    database: &Database,
    records: &Manifest,
    manifest: &dyn Fn() -> Option<PathBuf>,
    open: Option<&OpenFile<'_>>,
    key: Option<&[u8]>,
) -> Option<UnlistedTables> {
    // The MANIFEST is read for lost records only if that matters.
    let mut tables = database.files().of_kind(FileKind::Table);
    tables.find(|file| own_entries::may_be_missed(records, file, true))?;
    let path = manifest();
    let source = || open.zip(path.as_deref()).and_then(|(open, path)| open(path).ok());
    let lost = lost_records(records, source);
    let key = key.filter(|_| lost.is_none());
    let found = own_entries::find(database, records, lost.is_some(), open, key);
    let name = path.as_deref().and_then(Path::file_name).and_then(OsStr::to_str);
    (!found.names.is_empty()).then(|| UnlistedTables {
        manifest: name.unwrap_or("the MANIFEST").to_owned(),
        lost,
        tables: found.names,
        has_more: found.has_more,
        is_certain: found.is_certain,
    })
}

/// The part of a MANIFEST that is lost: it is cut off, or has zeros where records could be.
fn lost_records(records: &Manifest, source: impl FnOnce() -> Option<Box<dyn Source>>) -> Option<LostRecords> {
    if let Some(offset) = records.incomplete_tail() {
        return Some(LostRecords::End(offset));
    }
    match Skipped::zeros(Sequential::new(source()?)).ok()?? {
        Skipped::Zeros(offset) | Skipped::Length(offset) => Some(LostRecords::End(offset)),
        Skipped::Hidden(offset) => Some(LostRecords::Within(offset)),
        Skipped::Sequence(_) => None,
    }
}
