//! The entries of a database.

use std::path::Path;
use std::sync::Arc;

use filterblock::database::{Database, EntryFile, Scan, TableStatus};
use filterblock::table::SharedComparator;
use filterblock::{Error, escape_path, quote};

use super::position::{ResumePoint, ScanPosition};
use super::range::ScanRequest;
use super::rows::{Moved, PASSED, Rows};
use super::source::ScanSource;
use crate::audit::current_manifest::contradicted;
use crate::audit::order::{KeyOrder, misordered};
use crate::audit::reading::is_not_whole;
use crate::report::{CheckNote, EntryRef, EntryTag, ErrorKind, Fault, FileRole};
use crate::text::scan_command;
use crate::walk::{Files, Folder};

/// The maximum number of incomplete tables that are named.
const MAX_NAMED: usize = 4;

pub(super) struct DatabaseRows {
    folder: Arc<Folder>,
    scan: Scan<'static, Files>,
    /// Reported first, by table number: sizes that contradict the MANIFEST, and an index or first block out of order.
    contradicted: std::vec::IntoIter<(u64, Fault)>,
    /// The order of the keys, if it is known and not bytewise. Ranges are bytewise, so no key can be skipped then.
    order: Option<SharedComparator>,
    request: Arc<ScanRequest>,
    shown: ScanPosition,
    is_resumed: bool,
    ended: bool,
}

impl DatabaseRows {
    /// `shown`: the progress so far, which is not shown again. Fails if the MANIFEST names an order that is not known.
    pub(super) fn open(
        folder: &Arc<Folder>,
        source: &ScanSource,
        shown: ScanPosition,
    ) -> Result<Box<Self>, Fault> {
        let folder = Arc::clone(folder);
        source.correction().iter().for_each(|correction| correction.begin(folder.database()));
        let (database, request, mut opener) = (folder.database(), &source.request, source.files.clone());
        let range = &request.range;
        let order = database.comparator().map_or(source.engine.order, KeyOrder::of);
        let order = order.filter(|order| *order != KeyOrder::Bytewise).map(|order| order.comparator());
        let ordered = order.clone().map(|order| source.options.clone().comparator(order));
        let options = ordered.as_ref().unwrap_or(&source.options);
        let mut contradicted = contradicted(database, &mut opener);
        // The caller gives the order of a database without a sound MANIFEST, and a range is searched in that order. A
        // scan without a range reports keys that are not in order when it comes to them.
        let has_bounds = range.start().is_some() || range.to.is_some();
        if cfg!(feature = "fs") && database.manifest().is_err() && order.is_none() && has_bounds {
            contradicted.extend(misordered(database, &mut opener, options));
        }
        contradicted.retain(|(number, _)| !shown.contradicted.contains(number));
        let scan = match request.all {
            true => database.scan_versions_with(options, opener),
            false => database.scan_with(options, opener),
        };
        // There is no other error with these options.
        let mut scan = scan.map_err(|_| unknown_order(&folder))?;
        let start = range.start().filter(|_| order.is_none());
        if let Some(start) = shown.place.as_ref().map(|place| &*place.user_key).or(start) {
            scan.seek(start);
        }
        let (contradicted, request) = (contradicted.into_iter(), Arc::clone(request));
        let is_resumed = shown.place.is_some();
        Ok(Box::new(Self { folder, scan, contradicted, order, request, shown, is_resumed, ended: false }))
    }
}

/// Why the entries of a database whose comparator is not known here cannot be shown in one order.
fn unknown_order(folder: &Folder) -> Fault {
    let name = quote(folder.comparator().unwrap_or_default()).to_string();
    let files = || folder.tables().chain(folder.logs().map(|(log, _)| &*log.path));
    let message = format!(
        "the order of keys is {name}, which is not known here, so files cannot be merged; give them one by one: {}",
        scan_command(folder.path(), files)
    );
    Fault { found: Some(name.into()), ..Fault::new(message, ErrorKind::Unsupported) }
}

/// Returns true if the error is that a table which the database does not use is incomplete.
fn is_leftover(database: &Database, error: &Error) -> bool {
    let name = error.path().and_then(|path| path.file_name()?.to_str()).filter(|_| is_not_whole(error));
    let table = name.and_then(|name| database.table_named(name));
    table.is_some_and(|table| matches!(table.status, TableStatus::Obsolete | TableStatus::Unlisted))
}

impl Rows for DatabaseRows {
    fn advance(&mut self) -> Result<Moved, Fault> {
        if let Some((number, fault)) = self.contradicted.next() {
            self.shown.contradicted.insert(number);
            return Err(fault);
        }
        for _ in 0..PASSED {
            match self.scan.next() {
                _ if self.ended => return Ok(Moved::ToEnd),
                Ok(true) => {}
                Ok(false) => return Ok(Moved::ToEnd),
                Err(error) if is_leftover(self.folder.database(), &error) => {
                    self.shown.leftovers.extend(error.path().map(Path::to_owned));
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            let Some(entry) = self.scan.entry() else { return Ok(Moved::ToEnd) };
            let key = entry.key.user_key;
            self.ended = self.order.is_none() && self.request.range.is_past(key);
            if self.is_resumed {
                let place = self.shown.place.as_ref();
                if place
                    .is_some_and(|place| place.has_passed(&entry.key, self.request.all, self.order.as_ref()))
                {
                    continue;
                }
                self.is_resumed = false;
            }
            // A table whose keys are not in order may have any key here.
            if !self.ended && self.request.range.contains(key) {
                let place = &mut self.shown.place;
                let place = place.get_or_insert_with(|| ResumePoint { user_key: Vec::new(), sequence: 0 });
                place.user_key.clear();
                place.user_key.extend_from_slice(key);
                place.sequence = entry.key.sequence;
                return Ok(Moved::ToEntry);
            }
        }
        Ok(Moved::On)
    }

    fn into_position(self: Box<Self>) -> ScanPosition {
        self.shown
    }

    fn note(&self) -> Option<String> {
        let names = || self.shown.leftovers.iter().filter_map(|path| path.file_name());
        let named = names().take(MAX_NAMED).map(|name| escape_path(Path::new(name)).to_string());
        let mut named: Vec<_> = named.collect();
        let more = names().count().saturating_sub(MAX_NAMED);
        if more > 0 {
            named.push(format!("{more} more"));
        }
        let are = if named.len() == 1 { "is" } else { "are" };
        (!named.is_empty()).then(|| format!("{} {are} {}", named.join(", "), CheckNote::Incomplete))
    }

    fn row(&self) -> Option<EntryRef<'_>> {
        self.scan.entry().map(|entry| EntryRef {
            path: entry.file.path().unwrap_or(Path::new("")),
            offset: entry.offset,
            corrected: None,
            state: Some(state(entry.file)),
            key: entry.key.user_key,
            version: Some(EntryTag { sequence: entry.key.sequence, kind: entry.key.kind }),
            value: entry.value,
        })
    }
}

const fn state(file: EntryFile<'_>) -> FileRole {
    match file {
        EntryFile::Log(log) if log.is_live => FileRole::Log,
        EntryFile::Log(_) => FileRole::Obsolete,
        EntryFile::Table(table) => match table.status {
            TableStatus::Live(_) => FileRole::Live,
            TableStatus::Obsolete => FileRole::Obsolete,
            TableStatus::Unlisted => FileRole::Unlisted,
            _ => FileRole::Unknown,
        },
    }
}

// The tests read databases of the repository.
#[cfg(in_repository)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::folder::{PathKind, resolve};
    use crate::{Engine, KeyRange};

    fn open(path: impl AsRef<Path>) -> Arc<Folder> {
        match resolve(path.as_ref(), Files::default().storage()) {
            Ok(PathKind::Folder(folder)) => folder,
            _ => panic!("a folder"),
        }
    }

    fn rows(database: &Arc<Folder>, range: &KeyRange, all: bool, before: ScanPosition) -> Box<DatabaseRows> {
        let request = ScanRequest { range: range.clone(), all, ..ScanRequest::default() };
        DatabaseRows::open(database, &ScanSource::new(Engine::new(), request), before).unwrap()
    }

    type Shown = (std::path::PathBuf, u64, Vec<u8>, u64);

    /// Up to `most` entries, and the place of the last of them.
    fn shown(
        database: &Arc<Folder>,
        range: &KeyRange,
        all: bool,
        place: Option<ResumePoint>,
        most: usize,
    ) -> (Vec<Shown>, Option<ResumePoint>) {
        let mut rows = rows(database, range, all, ScanPosition { place, ..ScanPosition::default() });
        let mut shown = Vec::new();
        while shown.len() < most {
            match rows.advance().unwrap() {
                Moved::ToEntry => {}
                Moved::On => continue,
                Moved::ToEnd => break,
            }
            let row = rows.row().unwrap();
            let sequence = row.version.unwrap().sequence;
            shown.push((row.path.to_owned(), row.offset, row.key.to_vec(), sequence));
        }
        (shown, rows.into_position().place)
    }

    #[test]
    fn what_goes_on_behind_a_place_shows_each_entry_once() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/databases/levels");
        let database = open(folder);
        let from = KeyRange { from: Some(b"item/0100".to_vec()), ..KeyRange::default() };
        for (range, all) in [(KeyRange::default(), true), (KeyRange::default(), false), (from, true)] {
            let (whole, _) = shown(&database, &range, all, None, usize::MAX);
            assert!(whole.len() > 300);
            for at in (0..whole.len()).step_by(23).chain([1, 2, 3, whole.len() - 1, whole.len()]) {
                let (before, place) = shown(&database, &range, all, None, at);
                let (behind, end) = shown(&database, &range, all, place, usize::MAX);
                assert!([before, behind].concat() == whole, "{at} of {} in {range:?}", whole.len());
                assert!(shown(&database, &range, all, end, usize::MAX).0.is_empty());
            }
            // The scan is interrupted again and again, and resumed each time.
            let (mut found, mut place) = (Vec::new(), None);
            loop {
                let (some, next) = shown(&database, &range, all, place, 37);
                place = next;
                if some.is_empty() {
                    break;
                }
                found.extend(some);
            }
            assert!(found == whole, "{} of {}", found.len(), whole.len());
        }
    }

    /// A table that was still being written when the folder was listed may have its recorded size when it is opened.
    #[test]
    fn the_size_that_counts_is_that_of_the_open_file() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/databases/levels");
        let folder = tempfile::tempdir().unwrap();
        for file in std::fs::read_dir(&source).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
        }
        let path = folder.path().join("000009.ldb");
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        let database = open(folder.path());
        let range = KeyRange::default();
        for (contents, faults) in [(&whole[..], 0), (&whole[1..], 1), (b"", 1)] {
            std::fs::write(&path, contents).unwrap();
            let mut rows = rows(&database, &range, false, ScanPosition::default());
            let first = rows.advance().err().filter(|fault| fault.text.contains(" and should have "));
            assert_eq!(first.iter().filter(|fault| fault.path.as_deref() == Some(&*path)).count(), faults);
        }
    }

    /// A table may contradict the MANIFEST from the first round on, or from a later one. It is found anew whenever the
    /// database is read again.
    #[test]
    fn each_size_that_contradicts_is_reported_once_however_often_the_scan_is_resumed() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/databases/levels");
        let folder = tempfile::tempdir().unwrap();
        for file in std::fs::read_dir(&source).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
        }
        let lengthen = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, [std::fs::read(&path).unwrap(), vec![0]].concat()).unwrap();
        };
        let range = KeyRange::default();
        let (mut before, mut found) = (ScanPosition::default(), Vec::new());
        // In some rounds an entry is shown, in some none.
        for (round, with_entry) in [false, false, true, true, false].into_iter().enumerate() {
            match round {
                0 => lengthen("000005.ldb"),
                3 => lengthen("000009.ldb"),
                _ => {}
            }
            let database = open(folder.path());
            let mut rows = rows(&database, &range, false, before);
            while rows.contradicted.len() > 0 {
                let fault = rows.advance().unwrap_err();
                assert!(fault.text.contains(" and should have "), "{fault:?}");
                found.push((round, fault.path.unwrap().file_name().unwrap().to_owned()));
            }
            while with_entry && rows.advance() != Ok(Moved::ToEntry) {}
            before = Box::new(rows).into_position();
        }
        assert_eq!(found, [(0, "000005.ldb".into()), (3, "000009.ldb".into())]);
    }

    /// The newest version of the last key is gone when the database is read again.
    #[test]
    fn a_key_does_not_come_again_with_an_older_version() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/databases/levels");
        let folder = tempfile::tempdir().unwrap();
        for name in ["CURRENT", "MANIFEST-000008", "000005.ldb", "000007.ldb", "000009.ldb"] {
            std::fs::copy(source.join(name), folder.path().join(name)).unwrap();
        }
        let (whole, older) = (open(source), open(folder.path()));
        let range = KeyRange::default();
        let (all, _) = shown(&whole, &range, false, None, usize::MAX);
        let (tables, _) = shown(&older, &range, false, None, usize::MAX);
        let mut have_older = 0;
        for (at, (.., key, sequence)) in all.iter().enumerate() {
            if !tables.iter().any(|row| row.2 == *key && row.3 < *sequence) {
                continue;
            }
            have_older += 1;
            let (_, place) = shown(&whole, &range, false, None, at + 1);
            let (behind, _) = shown(&older, &range, false, place, 1);
            assert!(behind.iter().all(|row| row.2 > *key), "{behind:?} behind {key:?}");
        }
        assert!(have_older > 0);
    }
}
