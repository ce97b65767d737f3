//! Whole databases, each with the entries of its tables and its live entries.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use filterblock_interop::leveldb::{
    Compression, Database, DatabaseOptions, Filter, Table, TableOptions, WriteBatch, tables_in,
};

use crate::{Text, hex, value_of};

pub(crate) fn write(folder: &Path) -> Result<()> {
    let options =
        DatabaseOptions { filter: Filter::BuiltIn(10), block_size: 1024, ..DatabaseOptions::default() };
    levels(&folder.join("levels"), &options)?;

    let unfiltered =
        DatabaseOptions { filter: Filter::None, compression: Compression::None, ..options.clone() };
    two_tables(&folder.join("unfiltered"), &unfiltered)?;

    let reversed = DatabaseOptions { reverse_order: true, ..options };
    two_tables(&folder.join("reversed"), &reversed)
}

fn key(index: usize) -> Vec<u8> {
    format!("item/{:04}/{}", index, index * 7919 % 1000).into_bytes()
}

/// Puts a key, with a value whose length depends on the round.
fn put(batch: &mut WriteBatch, index: usize, round: usize) {
    let key = key(index);
    let len = 12 + index % 40 + 50 * round;
    batch.put(&key, &value_of(&key, len));
}

/// Writes a table on each of the levels 0 to 2, and a log. They overwrite and delete each other's keys.
fn levels(folder: &Path, options: &DatabaseOptions) -> Result<()> {
    let mut database = Database::open(folder, options)?;
    let mut batch = WriteBatch::new();
    (0..450).for_each(|index| put(&mut batch, index, 0));
    database.write(&batch)?;
    database.compact(None);

    batch.clear();
    (0..450).step_by(3).for_each(|index| put(&mut batch, index, 1));
    (0..450).step_by(7).for_each(|index| batch.delete(&key(index)));
    database.write(&batch)?;
    // A range without keys: the memtable is written to a table, and no tables are merged.
    database.compact(Some((b"zzz", b"zzzz")));

    batch.clear();
    (0..500).step_by(5).for_each(|index| put(&mut batch, index, 2));
    (0..500).step_by(11).for_each(|index| batch.delete(&key(index)));
    database.write(&batch)?;
    // Opening again turns the log into a table on level 0.
    drop(database);
    let mut database = Database::open(folder, options)?;

    batch.clear();
    (0..500).step_by(50).for_each(|index| put(&mut batch, index, 3));
    database.write(&batch)?;
    for level in 0..3 {
        let files = database.property(&format!("leveldb.num-files-at-level{level}"));
        ensure!(files.as_deref() == Some("1"), "level {level}: {files:?} tables");
    }
    finish(folder, database)
}

/// Writes two tables, the second of which overwrites and deletes keys of the first.
fn two_tables(folder: &Path, options: &DatabaseOptions) -> Result<()> {
    let mut database = Database::open(folder, options)?;
    let mut batch = WriteBatch::new();
    (0..200).for_each(|index| put(&mut batch, index, 0));
    database.write(&batch)?;
    database.compact(None);

    batch.clear();
    (0..200).step_by(4).for_each(|index| put(&mut batch, index, 1));
    (0..200).step_by(10).for_each(|index| batch.delete(&key(index)));
    database.write(&batch)?;
    drop(database);
    finish(folder, Database::open(folder, options)?)
}

/// Lists the contents, and removes files that name this machine or change from run to run.
fn finish(folder: &Path, database: Database) -> Result<()> {
    let mut live = Text::new("<key> <length of its value>: what LevelDB finds in the database");
    database.scan(|key, value| {
        live.line(format!("{} {}", hex(key), value.len()));
        true
    })?;
    live.write(&folder.with_extension("live"))?;
    drop(database);

    for file in ["LOG", "LOG.old", "LOCK"] {
        let path = folder.join(file);
        if path.exists() {
            fs::remove_file(path)?;
        }
    }
    entries(folder)
}

fn entries(folder: &Path) -> Result<()> {
    let mut listing =
        Text::new("<table> <user key> <sequence number> <value or deletion> <length of the value>");
    let options = TableOptions { internal_keys: true, ..TableOptions::default() };
    for (name, contents) in tables_in(folder)? {
        for (key, value) in Table::open(&options, &contents)?.entries()? {
            let (user_key, suffix) = key.split_last_chunk::<8>().context("an internal key")?;
            let suffix = u64::from_le_bytes(*suffix);
            let kind = if suffix & 0xff == 1 { "value" } else { "deletion" };
            listing.line(format!("{name} {} {} {kind} {}", hex(user_key), suffix >> 8, value.len()));
        }
    }
    listing.write(&folder.with_extension("entries"))
}
