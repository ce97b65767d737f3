//! The contents of a database's folder: by LevelDB, after LevelDB's repair, with a damaged table, and by the names of its
//! files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use filterblock::database::{Database as Listed, FileKind, FileState, Manifest};
use filterblock::table::{Lookup, ReadOptions, Table};
use filterblock_crash_states::Tree;

use super::case::DATABASE;
use super::plan::{Entries, Plan};
use crate::leveldb::{Database, DatabaseOptions, repair};

/// Reads all entries by LevelDB's iterator. Looks the key of each entry up as well, and each of `keys`.
pub fn read(folder: &Path, options: &DatabaseOptions, keys: &BTreeSet<Vec<u8>>) -> Result<Entries> {
    let database = Database::open(folder, options)?;
    entries(&database, keys)
}

/// Does the same as [`read`] with a database that is open.
pub fn entries(database: &Database, keys: &BTreeSet<Vec<u8>>) -> Result<Entries> {
    let mut entries = Entries::new();
    database.scan(|key, value| {
        entries.insert(key.to_owned(), value.to_owned());
        true
    })?;
    for key in entries.keys().chain(keys) {
        let found = database.get(key)?;
        ensure!(
            found.as_ref() == entries.get(key),
            "{:?} is sought with another result",
            String::from_utf8_lossy(key)
        );
    }
    Ok(entries)
}

/// The contents of a database after LevelDB's repair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repaired {
    /// The entries that lookups find before the first compaction. All tables are on level 0, so each entry is that of
    /// the table with the highest number that has the key.
    pub sought: Entries,
    /// The entries that LevelDB's iterator shows. It goes by sequence numbers.
    pub scanned: Entries,
}

/// Has LevelDB repair a database, and looks `keys` up in its tables.
pub fn repaired(folder: &Path, options: &DatabaseOptions, keys: &BTreeSet<Vec<u8>>) -> Result<Repaired> {
    repair(folder, options).context("RepairDB")?;
    let mut repaired = Repaired::default();
    let listed = Listed::open(folder)?;
    let mut numbers: Vec<_> = listed.tables().filter(|table| table.recorded().is_some()).collect();
    numbers.sort_by_key(|table| std::cmp::Reverse(table.number));
    let read = ReadOptions::default().internal_keys(true);
    let mut tables = Vec::new();
    for table in numbers {
        let FileState::Present(file) = table.file else { bail!("table {} is missing", table.number) };
        tables.push(Table::open_path(&file.path, &read)?);
    }
    for key in keys {
        for table in &tables {
            match table.get_at(key, u64::MAX)? {
                Lookup::Absent => continue,
                Lookup::Value(value) => drop(repaired.sought.insert(key.clone(), value.to_vec())),
                _ => {}
            }
            break;
        }
    }
    let database = Database::open(folder, options)?;
    database.scan(|key, value| {
        repaired.scanned.insert(key.to_owned(), value.to_owned());
        true
    })?;
    Ok(repaired)
}

/// The files in a database's folder that the database does not use, by its CURRENT and MANIFEST.
pub fn unused_files(folder: &Path) -> Result<BTreeSet<String>> {
    let listed = Listed::open(folder)?;
    ensure!(listed.missing().next().is_none(), "tables are missing");
    let live: BTreeSet<u64> =
        listed.tables().filter(|table| table.recorded().is_some()).map(|table| table.number).collect();
    let current = fs::read_to_string(folder.join("CURRENT"))?;
    let mut unused = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().into_string().ok().context("a name of LevelDB's")?;
        let is_used = match FileKind::parse(&name) {
            Some((FileKind::Table, number)) => live.contains(&number),
            Some((FileKind::Manifest, _)) => name == current.trim_end(),
            Some((FileKind::Log | FileKind::Current | FileKind::Lock | FileKind::InfoLog, _)) => true,
            _ => false,
        };
        if !is_used {
            unused.insert(name);
        }
    }
    Ok(unused)
}

/// A database with a damaged data block in one table, and what LevelDB still finds in it.
#[derive(Debug)]
pub struct Damaged {
    /// The recorded folder.
    pub tree: Tree,
    /// The value of each key for which LevelDB reports no damage. `None`: LevelDB does not find the key.
    pub answers: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

impl Damaged {
    /// Damages a table of the database below `root`, which was made by `plan`. `None` if the database has fewer than
    /// two tables.
    pub fn new(plan: &Plan, root: &Path, options: &DatabaseOptions) -> Result<Option<Self>> {
        let folder = root.join(DATABASE);
        let manifest = Manifest::read(&folder)?;
        let tables = manifest.tables();
        if tables.len() < 2 {
            return Ok(None);
        }
        let number = tables[plan.seed as usize % tables.len()].number;
        let names = ["ldb", "sst"].map(|extension| folder.join(format!("{number:06}.{extension}")));
        for path in names.iter().filter(|path| path.exists()) {
            let mut bytes = fs::read(path)?;
            bytes[8] ^= 0x55; // In the first data block.
            fs::write(path, bytes)?;
        }
        let (tree, _) = Tree::read(root)?;
        let answers = answers(&folder, plan, options)?;
        ensure!(!answers.is_empty(), "LevelDB reads nothing any more");
        Ok(Some(Self { tree, answers }))
    }

    /// Checks that LevelDB still answers for all keys that it could read at first.
    pub fn compare(&self, folder: &Path, plan: &Plan, options: &DatabaseOptions) -> Result<()> {
        let found = answers(folder, plan, options)?;
        for (key, value) in &self.answers {
            let key_text = String::from_utf8_lossy(key);
            ensure!(found.contains_key(key), "{key_text:?} cannot be read any more");
            ensure!(found.get(key) == Some(value), "{key_text:?} has another value");
        }
        Ok(())
    }
}

fn answers(
    folder: &Path,
    plan: &Plan,
    options: &DatabaseOptions,
) -> Result<BTreeMap<Vec<u8>, Option<Vec<u8>>>> {
    // Without these checks a compaction takes the damaged keys as they are, and fails.
    ensure!(options.paranoid_checks, "expected checksums to be verified");
    let database = Database::open(folder, options)?;
    let answer = |key: &Vec<u8>| database.get(key).ok().map(|value| (key.clone(), value));
    Ok(plan.keys.iter().filter_map(answer).collect())
}
