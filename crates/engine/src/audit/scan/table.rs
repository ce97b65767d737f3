//! The entries of one table.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use filterblock::table::{Cursor, ReadAt, ReadOptions, Table};
use filterblock::{Error, InternalKey, KeyFormat};

use super::range::ScanRequest;
use super::rows::{Moved, PASSED, Rows};
use crate::audit::reading::filter_trouble;
use crate::audit::stats::{Blocks, FilterStats, Metaindex, Sample, sample};
use crate::report::{EntryRef, EntryTag, ErrorKind, Fault};
use crate::walk::SharedFile;

/// The maximum number of keys looked at to tell internal keys from other keys.
const TRIED: usize = 256;
/// No database has this many writes. Keys that end in big-endian numbers look like internal keys with greater numbers.
const MAX_SEQUENCE: u64 = 1 << 48;

pub(super) struct TableRows {
    cursor: Cursor<'static, SharedFile>,
    path: PathBuf,
    versions: NewestVersions,
    /// Why the form of the keys is not certain, until it is reported.
    doubt: Option<Fault>,
}

pub(super) struct NewestVersions {
    /// The format of internal keys; `None`: the keys are not internal keys.
    pub(super) format: Option<KeyFormat>,
    request: Arc<ScanRequest>,
    /// The user key in the range that was seen last, if only the newest versions are shown.
    last: Option<Vec<u8>>,
}

impl TableRows {
    /// With `all`, shows every entry as it is stored; otherwise, the newest version of each key, unless it is a deletion.
    /// `internal`: true if the keys are internal keys; `None`: not known.
    pub(super) fn new(
        source: SharedFile,
        options: &ReadOptions,
        path: PathBuf,
        request: Arc<ScanRequest>,
        internal: Option<bool>,
    ) -> Result<Self, Error> {
        let table = Table::open(source, options)?;
        let doubt = form_doubt(&table, internal, "--key-format");
        let is_internal = internal.unwrap_or_else(|| has_internal_keys(&table));
        let format = is_internal.then(|| table.key_format());
        Ok(Self { cursor: table.into_cursor(), path, versions: NewestVersions::new(format, request), doubt })
    }
}

/// Why the form of the keys is not certain: the filters or the metaindex, which reveal it, are damaged or unreadable.
/// `internal`: true for internal keys, of which the metaindex distinguishes two forms; false if nothing is left open;
/// `None`: not known. `option`: the name of the option that gives the form, for the message.
pub fn form_doubt<R: ReadAt>(table: &Table<R>, internal: Option<bool>, option: &str) -> Option<Fault> {
    let is_sound = |fault: &Fault| fault.kind == ErrorKind::Unsupported;
    let trouble = || Some(Fault::from(filter_trouble(table)?)).filter(|fault| !is_sound(fault));
    let is_damaged = Metaindex::read(table).error.is_some();
    let entries = is_damaged.then(|| Fault::new("the metaindex is damaged", ErrorKind::Damaged));
    let riaks = || "whether the keys are Riak's is not certain".to_owned();
    let (fault, text) = match internal {
        Some(false) => return None,
        Some(true) if table.metaindex().is_some() => (entries, riaks()),
        Some(true) => (trouble(), riaks()),
        None => (entries.or_else(trouble), format!("the form of the keys is not certain: {option} gives it")),
    };
    fault.map(|fault| {
        let text = format!("{}; {text}", fault.meaning());
        Fault { text, detail: None, ..fault }
    })
}

/// Returns true if keys are internal keys, by the filters or else the first keys. Open the table as if they were not.
pub fn has_internal_keys<R: ReadAt>(table: &Table<R>) -> bool {
    let by_filters = || {
        let filters = table.filter().cloned().map(FilterStats::new);
        let mut blocks = Blocks::list(table);
        Sample::take(table, &mut blocks, &BTreeSet::new(), filters.as_ref(), 0).key_format().ok()
    };
    if let Some(format) = by_filters() {
        return format == sample::KeyFormat::Internal;
    }
    let mut trial = KeyFormGuess::new(table.key_format());
    // Each byte is read at most once, however often an index names a damaged block.
    let mut read_to = 0;
    for handle in table.data_blocks().flatten() {
        let Some(end) = handle.end().filter(|&end| handle.offset >= read_to && end <= table.file_size())
        else {
            continue;
        };
        read_to = end;
        let Ok(mut entries) = table.block_cursor(handle) else { continue };
        while let Ok(true) = entries.next() {
            if !trial.add(entries.key()) {
                return trial.is_internal();
            }
        }
        break;
    }
    trial.is_internal()
}

/// Checks whether keys can be a database's internal keys.
pub(super) struct KeyFormGuess {
    format: KeyFormat,
    tried: usize,
    fits: bool,
    before: Option<Vec<u8>>,
}

impl KeyFormGuess {
    pub(super) const fn new(format: KeyFormat) -> Self {
        Self { format, tried: 0, fits: true, before: None }
    }

    /// Adds a key. Returns false if no more keys are needed.
    pub(super) fn add(&mut self, key: &[u8]) -> bool {
        let greatest = if self.format == KeyFormat::Basho { 3 } else { 1 };
        let is_one = InternalKey::parse(key, self.format)
            .is_some_and(|key| key.kind <= greatest && key.sequence < MAX_SEQUENCE);
        // Big-endian numbers of eight bytes look like versions of an empty key, with the oldest first.
        let is_newer = self.before.as_ref().is_some_and(|before| {
            self.format.user_key(before) == self.format.user_key(key)
                && self.format.compare(before, key, Ord::cmp).is_ge()
        });
        self.fits &= is_one && !is_newer;
        self.tried += 1;
        let before = self.before.get_or_insert_default();
        before.clear();
        before.extend_from_slice(key);
        self.fits && self.tried < TRIED
    }

    pub(super) const fn is_internal(&self) -> bool {
        self.fits && self.tried > 0
    }
}

impl NewestVersions {
    pub(super) const fn new(format: Option<KeyFormat>, request: Arc<ScanRequest>) -> Self {
        Self { format, request, last: None }
    }

    /// Returns true if the entry of this stored key is shown. Call it for each key, in order. Fails, at the block's
    /// `offset`, if it is not an internal key although the table's keys are.
    pub(super) fn shows(&mut self, stored: &[u8], offset: u64) -> Result<bool, Fault> {
        let Some(format) = self.format else { return Ok(self.request.range.contains(stored)) };
        let Some(key) = InternalKey::parse(stored, format) else {
            let (expected, found) = (format.suffix_len(stored), stored.len());
            let what = format!("internal key at offset {offset}");
            let expected = format!("at least {expected} bytes");
            return Err(Fault::damage(&what, offset, expected, format!("{found} bytes")));
        };
        if !self.request.range.contains(key.user_key) {
            return Ok(false);
        }
        if self.request.all {
            return Ok(true);
        }
        if self.last.as_deref() == Some(key.user_key) {
            return Ok(false);
        }
        let last = self.last.get_or_insert_default();
        last.clear();
        last.extend_from_slice(key.user_key);
        Ok(key.kind != 0)
    }

    pub(super) fn row<'r>(
        &self,
        path: &'r Path,
        offset: u64,
        stored: &'r [u8],
        value: &'r [u8],
    ) -> EntryRef<'r> {
        let parsed = self.format.and_then(|format| InternalKey::parse(stored, format));
        EntryRef {
            path,
            offset,
            corrected: None,
            state: None,
            key: parsed.map_or(stored, |key| key.user_key),
            version: parsed.map(|key| EntryTag { sequence: key.sequence, kind: key.kind }),
            value,
        }
    }
}

impl Rows for TableRows {
    fn advance(&mut self) -> Result<Moved, Fault> {
        if let Some(doubt) = self.doubt.take() {
            return Err(doubt);
        }
        for _ in 0..PASSED {
            match self.cursor.next() {
                Ok(true) => {}
                Ok(false) => return Ok(Moved::ToEnd),
                Err(error) => {
                    self.cursor.skip_block();
                    return Err(error.into());
                }
            }
            let offset = self.cursor.block_handle().map_or(0, |handle| handle.offset);
            if self.versions.shows(self.cursor.key(), offset)? {
                return Ok(Moved::ToEntry);
            }
        }
        Ok(Moved::On)
    }

    fn row(&self) -> Option<EntryRef<'_>> {
        let offset = self.cursor.block_handle()?.offset;
        Some(self.versions.row(&self.path, offset, self.cursor.key(), self.cursor.value()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `[user key][time, for types 2 and 3][sequence << 8 | type]`
    fn key(user_key: &str, sequence: u64, kind: u8) -> Vec<u8> {
        let mut key = user_key.as_bytes().to_vec();
        key.extend(if kind > 1 { &[7; 8][..] } else { &[] });
        key.extend((sequence << 8 | u64::from(kind)).to_le_bytes());
        key
    }

    fn are_internal(format: KeyFormat, keys: &[Vec<u8>]) -> bool {
        let mut trial = KeyFormGuess::new(format);
        for key in keys {
            if !trial.add(key) {
                break;
            }
        }
        trial.is_internal()
    }

    #[test]
    fn every_key_has_a_say_in_whether_keys_are_internal() {
        let all: Vec<_> = (0..TRIED).map(|at| key(&format!("{at:04}"), 7, 1)).collect();
        for format in [KeyFormat::LevelDb, KeyFormat::Basho] {
            assert!(are_internal(format, &all));
            assert!(!are_internal(format, &[]));
            for at in [0, 1, TRIED / 2, TRIED - 1] {
                let mut keys = all.clone();
                keys[at] = b"short".to_vec();
                assert!(!are_internal(format, &keys), "{at}");
                keys[at] = key("0", 1 << 48, 1);
                assert!(!are_internal(format, &keys), "{at}");
                keys[at] = key("0", (1 << 48) - 1, 1);
                assert!(are_internal(format, &keys), "{at}");
            }
        }
        // Keys after the first `TRIED` are not looked at.
        let more = [all, vec![b"short".to_vec()]].concat();
        assert!(are_internal(KeyFormat::LevelDb, &more));
    }

    #[test]
    fn types_belong_to_their_format() {
        for kind in 0..6 {
            let keys = [key("a", 7, 1), key("b", 7, kind)];
            assert_eq!(are_internal(KeyFormat::LevelDb, &keys), kind <= 1, "{kind}");
            assert_eq!(are_internal(KeyFormat::Basho, &keys), kind <= 3, "{kind}");
        }
    }

    #[test]
    fn versions_of_a_key_come_newest_first() {
        for (first, second, fits) in [(7, 6, true), (7, 7, false), (6, 7, false)] {
            assert_eq!(are_internal(KeyFormat::LevelDb, &[key("a", first, 1), key("a", second, 1)]), fits);
            assert!(are_internal(KeyFormat::LevelDb, &[key("a", first, 1), key("b", second, 1)]));
        }
    }

    #[test]
    fn of_each_key_the_newest_version_shows_unless_it_is_a_deletion() {
        let request = |all| Arc::new(ScanRequest { all, ..ScanRequest::default() });
        for kind in 0..4 {
            let mut versions = NewestVersions::new(Some(KeyFormat::Basho), request(false));
            assert_eq!(versions.shows(&key("a", 9, kind), 0), Ok(kind != 0), "{kind}");
            assert_eq!(versions.shows(&key("a", 8, 1), 0), Ok(false));
            assert_eq!(versions.shows(&key("b", 7, 1), 0), Ok(true));
            let mut all = NewestVersions::new(Some(KeyFormat::Basho), request(true));
            assert_eq!(all.shows(&key("a", 9, kind), 0), Ok(true));
            assert_eq!(all.shows(&key("a", 8, 1), 0), Ok(true));
        }
    }
}
