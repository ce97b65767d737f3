//! The contents of a folder after a rebuild that was cut off, and checks that they are sound.

use std::collections::{BTreeMap, BTreeSet};
use std::{fs, os::unix::fs::MetadataExt as _, path::Path};

use filterblock::database::{Database, FileKind, FileState, Manifest};
use filterblock::table::{ReadOptions, Table};

/// The name of the database's folder.
pub(crate) const DATABASE: &str = "db";
/// The name of the undo folder, next to the database's folder.
pub(crate) const UNDO_FOLDER: &str = "db.filterblock-undo";
/// The name of the second database's folder, next to the first one's.
pub(crate) const TARGET: &str = "new";

/// Live keys and their values.
pub(crate) type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

/// The contents of a database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Held {
    pub(crate) entries: Entries,
    /// The number of blocks that cannot be read.
    pub(crate) errors: usize,
    /// The entries that `RepairDB` would find: it uses every table that it can read, and considers the table with the
    /// higher number the newer one. Deleted keys have no value.
    repaired: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

impl Held {
    /// Reads the database in a folder, all of whose live tables have to be there.
    pub(crate) fn of(dir: &Path) -> Result<Self, String> {
        let text = |error: filterblock::Error| error.to_string();
        let database = Database::open(dir).map_err(text)?;
        database.manifest().map_err(ToString::to_string)?;
        for table in database.tables() {
            let Some(recorded) = table.recorded() else { continue };
            match table.file {
                FileState::Present(file) if file.len == recorded.size => {}
                found => return Err(format!("table {}: found {found:?}", table.number)),
            }
        }
        let (mut entries, mut errors) = (Entries::new(), 0);
        let mut scan = database.scan(&ReadOptions::default()).map_err(text)?;
        loop {
            match scan.next() {
                Ok(true) => {}
                Ok(false) => break,
                Err(_) => {
                    errors += 1;
                    continue;
                }
            }
            let entry = scan.entry().expect("there is a next one");
            entries.insert(entry.key.user_key.to_vec(), entry.value.to_vec());
        }
        Ok(Self { entries, errors, repaired: repaired(&database)? })
    }
}

fn repaired(database: &Database) -> Result<BTreeMap<Vec<u8>, Option<Vec<u8>>>, String> {
    let mut numbers = BTreeMap::new();
    for file in database.files().of_kind(FileKind::Table) {
        numbers.insert(file.number, &file.path);
    }
    let mut repaired = BTreeMap::new();
    for path in numbers.into_values() {
        // RepairDB leaves out tables that it cannot read.
        let Ok(table) = Table::open_path(path, &ReadOptions::default().internal_keys(true)) else { continue };
        for (key, value) in table.iter().flatten() {
            let (user_key, tag) = key.split_at(key.len() - 8);
            repaired.insert(user_key.to_vec(), (tag[0] == 1).then(|| value.to_vec()));
        }
    }
    Ok(repaired)
}

/// Makes sure that a program which opens the database writes to no file that has a second hard link: LevelDB opens
/// files of the next numbers with `O_TRUNC`.
pub(crate) fn check_next_numbers(dir: &Path) -> Result<(), String> {
    let next = Manifest::read(dir).map_err(|error| error.to_string())?.next_file_number();
    for name in names(dir) {
        let is_next = FileKind::parse(&name).is_some_and(|(_, number)| number >= next);
        if is_next && fs::symlink_metadata(dir.join(&name)).unwrap().nlink() > 1 {
            return Err(format!("{name} has another name, and the next number is {next}"));
        }
    }
    Ok(())
}

/// Makes sure that an undo folder with a record has all tables that the record names: an incomplete folder has no
/// record.
pub(crate) fn check_undo_folder(dir: &Path) -> Result<(), String> {
    let Ok(record) = fs::read(dir.join("filterblock-undo")) else { return Ok(()) };
    let record: serde_json::Value =
        serde_json::from_slice(&record).map_err(|error| format!("the record: {error}"))?;
    for table in record["original_tables"].as_array().ok_or("a record without tables")? {
        let name = table["name"].as_str().ok_or("a table without a name")?;
        let len = fs::metadata(dir.join(name)).map(|found| found.len()).ok();
        if len != table["length"].as_u64() {
            return Err(format!("the undo folder has a record, and {name} has {len:?} bytes"));
        }
    }
    Ok(())
}

/// Makes sure that nothing is left of a run: all files belong to the database.
pub(crate) fn check_nothing_left(dir: &Path) -> Result<(), String> {
    let manifest = Manifest::read(dir).map_err(|error| error.to_string())?;
    let live: BTreeSet<u64> = manifest.tables().iter().map(|table| table.number).collect();
    let current = fs::read_to_string(dir.join("CURRENT")).unwrap();
    let is_used = |name: &String| match FileKind::parse(name) {
        Some((FileKind::Table, number)) => live.contains(&number),
        Some((FileKind::Manifest, _)) => name == current.trim_end(),
        Some((FileKind::Log | FileKind::Current | FileKind::Lock, _)) => true,
        _ => false,
    };
    let left: Vec<_> = names(dir).into_iter().filter(|name| !is_used(name)).collect();
    if left.is_empty() { Ok(()) } else { Err(format!("{left:?} are left")) }
}

pub(crate) fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
