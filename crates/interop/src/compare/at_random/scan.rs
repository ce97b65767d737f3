//! Compares the entries of a database by LevelDB's own iterator and by our scan.

use std::cmp::Ordering;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use filterblock::database;
use filterblock::table::{Comparator, ReadOptions};

use super::arguments;
use super::plan::{Order, Plan};
use crate::compare::tool;
use crate::hex;
use crate::leveldb::{Database, DatabaseOptions};

/// An order with the name that it has in the MANIFEST.
struct Named {
    name: String,
    is_reversed: bool,
}

impl Comparator for Named {
    fn name(&self) -> &str {
        &self.name
    }
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        if self.is_reversed { b.cmp(a) } else { a.cmp(b) }
    }
}

/// Compares the entries that our scan finds and, if keys are in bytewise order, those that `filterblock scan` prints,
/// with LevelDB's, in order. Returns the number of entries.
///
/// LevelDB changes what it opens, so it opens a copy. LevelDB does not know the order `Renamed`: there the entries of
/// the plan are expected.
pub(super) fn check(folder: &Path, plan: &Plan) -> Result<u64> {
    let expected = match plan.order {
        Order::Renamed => plan.live.clone().into_iter().collect(),
        order => by_leveldb(folder, order == Order::Reversed)?,
    };
    let ours = database::Database::open(folder)?;
    let name = String::from_utf8(ours.comparator().context("a comparator")?.to_vec())?;
    let order = Named { name, is_reversed: plan.order == Order::Reversed };
    let mut scan = ours.scan(&ReadOptions::default().comparator(order))?;
    for (key, value) in &expected {
        ensure!(scan.next()?, "scan ends before {}", hex(key));
        let entry = scan.entry().context("an entry")?;
        let same = entry.key.user_key == key && entry.value == value;
        ensure!(same, "scan: {} instead of {}", hex(entry.key.user_key), hex(key));
    }
    ensure!(!scan.next()?, "scan goes on behind the last key");
    if plan.order == Order::Bytewise {
        let outcome = tool::run(&arguments(&["scan", "--hex"], folder));
        ensure!(outcome.status == 0 && outcome.messages.is_empty(), "scan: {}", outcome.messages);
        let lines: String =
            expected.iter().map(|(key, value)| format!("{}\t{}\n", hex(key), hex(value))).collect();
        ensure!(outcome.out == lines, "scan prints something else");
    }
    Ok(expected.len() as u64)
}

fn by_leveldb(folder: &Path, reverse_order: bool) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let copy = tempfile::tempdir()?;
    for file in fs::read_dir(folder)? {
        let file = file?;
        fs::copy(file.path(), copy.path().join(file.file_name()))?;
    }
    let database =
        Database::open(copy.path(), &DatabaseOptions { reverse_order, ..DatabaseOptions::default() })?;
    let mut entries = Vec::new();
    database.scan(|key, value| {
        entries.push((key.to_vec(), value.to_vec()));
        true
    })?;
    Ok(entries)
}
