//! A database with a damaged data block in one table.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use filterblock::database::Manifest;
use filterblock_crash_states::Tree;

use super::mode::DATABASE;
use super::plan::Plan;
use crate::leveldb::{Database, DatabaseOptions};

/// The database, and what LevelDB still finds in it.
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
