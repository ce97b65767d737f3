//! Tables that a MANIFEST does not list, though they have entries that no file in use has. A compaction that was cut
//! off leaves such tables, too, so each entry is looked for in the files in use, with one scan in their order.

use std::cmp::Ordering;
use std::io;
use std::path::Path;
use std::sync::Arc;

use filterblock::database::{
    Database, DatabaseFile, DatabaseListing, FileKind, Manifest, Opener, Scan, TableStatus,
};
use filterblock::table::{BytewiseComparator, ReadOptions, SharedComparator, Table, known_comparator};

use crate::audit::reading::{is_not_whole, limit_walks, read_options};
use crate::walk::{Sequential, Source};

const MOST_NAMED: usize = 5;
/// The number of entries in files in use that are passed one by one before the next one is sought.
const MOST_STEPS: u32 = 32;

pub(crate) type OpenFile<'a> = dyn Fn(&Path) -> io::Result<Box<dyn Source>> + 'a;

#[derive(Clone, Copy)]
struct Files<'a>(&'a OpenFile<'a>);

impl Opener for Files<'_> {
    type Table = Box<dyn Source>;
    type Log = Sequential<Box<dyn Source>>;

    fn open_table(&mut self, path: &Path) -> io::Result<Self::Table> {
        (self.0)(path)
    }

    fn open_log(&mut self, path: &Path) -> io::Result<Self::Log> {
        (self.0)(path).map(Sequential::new)
    }
}

/// The names of tables, and whether it is known that one of them has an entry that no file in use has.
pub(super) struct Owners {
    pub(super) names: Vec<String>,
    pub(super) has_more: bool,
    pub(super) is_certain: bool,
}

/// Returns true if the MANIFEST may have missed the table: one that is newer or, if records are lost, any unlisted one.
pub(super) fn may_be_missed(manifest: &Manifest, file: &DatabaseFile, is_lost: bool) -> bool {
    let is_newer = file.number >= manifest.next_file_number();
    file.kind == FileKind::Table && (is_lost || is_newer) && manifest.table(file.number).is_none()
}

/// Finds the tables that the MANIFEST may have missed, if one has an entry that no file in use has. An incomplete table
/// has none: it was being written. A damaged part counts as one, as nothing is known of it. `is_lost`: records of the
/// MANIFEST are lost. `open`: `None` if files cannot be read here. `key`: looks only for entries of this key.
pub(super) fn find(
    database: &Database,
    manifest: &Manifest,
    is_lost: bool,
    open: Option<&OpenFile<'_>>,
    key: Option<&[u8]>,
) -> Owners {
    let candidates =
        || database.files().iter().filter(|file| !file.is_link && may_be_missed(manifest, file, is_lost));
    let order = match manifest.comparator() {
        Some(name) => known_comparator(name),
        None => Some(Arc::new(BytewiseComparator) as SharedComparator),
    };
    let Some((open, order)) = open.zip(order) else {
        // Nothing speaks against a MANIFEST that is whole.
        let names = candidates().filter(|_| is_lost).filter_map(name_of).take(MOST_NAMED + 1);
        return Owners::new(names, false);
    };
    let options = limit_walks(read_options(), None).filter_policies(Vec::new());
    let options = options.internal_keys(true).comparator(order.clone());
    let in_use = in_use(database, manifest);
    let scan = in_use.scan_versions_with(&options, Files(open));
    let Ok(scan) = scan else { return Owners::new(std::iter::empty(), true) };
    let mut in_use = InUse { scan, order, key };
    if !candidates().any(|file| in_use.lacks_an_entry(&file.path, open, &options)) {
        return Owners::new(std::iter::empty(), true);
    }
    let is_table = |file: &&DatabaseFile| match open(&file.path).map(|file| Table::open(file, &options)) {
        Ok(Err(error)) => !is_not_whole(&error),
        found => found.is_ok(),
    };
    Owners::new(candidates().filter(is_table).filter_map(name_of).take(MOST_NAMED + 1), true)
}

impl Owners {
    fn new(names: impl Iterator<Item = String>, is_certain: bool) -> Self {
        let mut names: Vec<_> = names.collect();
        let has_more = names.len() > MOST_NAMED;
        names.truncate(MOST_NAMED);
        Self { names, has_more, is_certain }
    }
}

fn name_of(file: &DatabaseFile) -> Option<String> {
    Some(file.path.file_name()?.to_str()?.to_owned())
}

/// The database without the files that are not in use.
fn in_use(database: &Database, manifest: &Manifest) -> Database {
    let files = database.files().iter().filter_map(|file| Some((file, name_of(file)?)));
    let files = files.filter(|(file, name)| match file.kind {
        FileKind::Table => {
            database.table_named(name).is_some_and(|table| matches!(table.status, TableStatus::Live(_)))
        }
        FileKind::Log => manifest.is_log_live(file.number),
        _ => false,
    });
    let listing = DatabaseListing::new(files.map(|(file, name)| (name, file.len)));
    listing.in_dir(database.dir()).into_database().with_manifest(manifest.clone())
}

struct InUse<'d, 'a> {
    scan: Scan<'d, Files<'a>>,
    order: SharedComparator,
    /// The key whose entries alone count; `None`: those of all keys.
    key: Option<&'d [u8]>,
}

impl InUse<'_, '_> {
    /// Returns true if the table at `path` has an entry that no file in use has.
    fn lacks_an_entry(&mut self, path: &Path, open: &OpenFile<'_>, options: &ReadOptions) -> bool {
        let table = open(path).map_err(|error| error.kind() == io::ErrorKind::NotFound);
        let table = table.and_then(|file| Table::open(file, options).map_err(|error| is_not_whole(&error)));
        let mut cursor = match table {
            Ok(table) => table.into_cursor(),
            // The table is gone, or is not complete.
            Err(is_no_table) => return !is_no_table,
        };
        let format = cursor.table().key_format();
        let mut last: Option<(Vec<u8>, u64)> = None;
        let mut start = self.key.map(|key| [key, &[0xff; 8]].concat());
        loop {
            let moved = match start.take() {
                Some(start) => cursor.seek(&start),
                None => cursor.next(),
            };
            match moved {
                Ok(true) => {}
                Ok(false) => return false,
                Err(_) => return true,
            }
            // A key that is too short is no entry of a database.
            let Some((user_key, tag)) = format.split(cursor.key()) else { continue };
            if self.key.is_some_and(|key| self.order.compare(user_key, key).is_ne()) {
                return false;
            }
            let sequence = tag >> 8;
            let goes_on = last.as_ref().is_some_and(|(key, number)| {
                self.order.compare(key, user_key).then(sequence.cmp(number)).is_le()
            });
            if !goes_on {
                self.scan.seek(user_key);
                self.advance();
            }
            if !self.has(user_key, sequence) {
                return true;
            }
            let (key, number) = last.get_or_insert_default();
            key.clear();
            key.extend_from_slice(user_key);
            *number = sequence;
        }
    }

    /// Goes ahead to an entry. Returns true if there is one with this key and this number.
    fn has(&mut self, user_key: &[u8], sequence: u64) -> bool {
        let mut steps = 0_u32;
        while let Some(entry) = self.scan.entry() {
            let by_key = self.order.compare(entry.key.user_key, user_key);
            match by_key.then(sequence.cmp(&entry.key.sequence)) {
                Ordering::Equal => return true,
                Ordering::Greater => return false,
                Ordering::Less => {}
            }
            steps = steps.saturating_add(1);
            if steps == MOST_STEPS && by_key.is_lt() {
                self.scan.seek(user_key);
            }
            self.advance();
        }
        false
    }

    /// Moves to the next entry. Entries that cannot be read are not there.
    fn advance(&mut self) {
        while self.scan.next().is_err() {}
    }
}
