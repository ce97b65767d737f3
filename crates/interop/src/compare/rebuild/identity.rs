//! Rebuilds whose result is known byte for byte.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, ensure};

use super::super::tool;
use super::files::{Files, copy, new_folder};
use super::plain;
use crate::leveldb::{Store, StoreFilter, StoreOptions, WriteBatch};
use crate::random::Random;

/// Writes a database with LevelDB, on several levels, with these filters.
fn write(folder: &Path, filter: StoreFilter, seed: u64) -> Result<()> {
    let options = plain(filter);
    let mut random = Random::for_case(seed, 0);
    let mut store = Store::open(folder, &options)?;
    for round in 0..12 {
        let mut batch = WriteBatch::new();
        for _ in 0..random.between(500, 3000) {
            let key = random.below(20_000).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
            let key = &key[..random.between(3, 8) as usize];
            if random.one_in(10) {
                batch.delete(key);
            } else {
                let len = random.between(0, 300) as usize;
                batch.put(key, &random.bytes(len));
            }
        }
        store.write(&batch)?;
        if round == 8 {
            store.compact(Some((&[0x20], &[0x90])));
        }
    }
    // Closes with a log that holds the last writes; the next opening makes a table of it.
    drop(store);
    drop(Store::open(folder, &options)?);
    Ok(())
}

fn tables(files: &Files) -> Vec<&str> {
    files.names().filter(|name| name.ends_with(".ldb")).collect()
}

/// Checks that the tables of two folders, in the order of their names, are the same.
/// `names_are_same`: the names have to be the same, too.
fn ensure_same_tables(was: &Files, is: &Files, names_are_same: bool) -> Result<()> {
    let (old, new) = (tables(was), tables(is));
    ensure!(old.len() == new.len() && old.len() > 3, "{old:?} and {new:?}");
    ensure!(!names_are_same || old == new, "{old:?} and {new:?}");
    for (old, new) in old.iter().zip(&new) {
        was.ensure_same_file(old, is, new)?;
    }
    Ok(())
}

fn rebuild(arguments: &[&str], database: &Path) -> Result<()> {
    let mut words = vec!["rebuild".into()];
    words.extend(arguments.iter().map(Into::into));
    words.push(database.into());
    let outcome = tool::run(&words);
    ensure!(outcome.status == 0, "{arguments:?}: {outcome:?}");
    Ok(())
}

/// Rebuilds databases with the filters that they have, without them and with them again. Returns
/// the number of tables that were the same, by the kind of filter.
pub fn run(seed: u64) -> Result<BTreeMap<String, u64>> {
    let mut same = BTreeMap::new();
    for (filter, options) in [
        (StoreFilter::BuiltIn(10), vec![]),
        (StoreFilter::BuiltIn(3), vec!["--bits-per-key", "3"]),
        (StoreFilter::BuiltIn(24), vec!["--bits-per-key", "24", "--base-lg", "11"]),
        (StoreFilter::Legacy(10), vec!["--hash", "unsigned"]),
        (StoreFilter::LegacySigned(10), vec!["--hash", "signed"]),
        // The keys of the tables reveal the hash.
        (StoreFilter::LegacySigned(12), vec!["--bits-per-key", "12"]),
        (StoreFilter::Legacy(7), vec!["--bits-per-key", "7"]),
        (StoreFilter::None, vec!["--drop"]),
    ] {
        let folder = new_folder()?;
        let database = folder.path().join("db");
        write(&database, filter.clone(), seed)?;
        let count =
            one(&database, &filter, &options).map_err(|error| error.context(format!("{filter:?}")))?;
        same.insert(format!("{filter:?}"), count);
    }
    Ok(same)
}

fn one(database: &Path, filter: &StoreFilter, options: &[&str]) -> Result<u64> {
    let before = Files::read(database)?;
    let to = database.with_extension("to");
    let to_option = to.to_string_lossy().into_owned();

    rebuild(&[options, &["--to", &to_option]].concat(), database)?;
    before.ensure_same(&Files::read(database)?)?;
    ensure_same_tables(&before, &Files::read(&to)?, true)?;

    // In place, and undone.
    rebuild(&[options, &["--in-place"]].concat(), database)?;
    let after = Files::read(database)?;
    ensure_same_tables(&before, &after, false)?;
    ensure!(tables(&before) != tables(&after), "the tables have their old numbers");
    rebuild(&["--undo"], database)?;
    before.ensure_restored(&Files::read(database)?)?;

    // Other filters, or none, and then these again; in place both times.
    let other: &[&str] = if matches!(filter, StoreFilter::None) {
        &["--bits-per-key", "9", "--policy", "leveldb.BuiltinBloomFilter2"]
    } else {
        &["--drop"]
    };
    rebuild(&[other, &["--in-place", "--no-undo"]].concat(), database)?;
    let between = Files::read(database)?;
    ensure!(ensure_same_tables(&before, &between, false).is_err(), "{other:?} changes nothing");
    let again = [options, again(filter), &["--in-place", "--no-undo"]].concat();
    rebuild(&again, database)?;
    ensure_same_tables(&before, &Files::read(database)?, false)?;

    // LevelDB opens the result, and finds what it found.
    let entries = |folder: &Path| {
        let copy = copy(folder)?;
        let options = StoreOptions { must_exist: true, ..plain(filter.clone()) };
        Store::open(copy.path(), &options)?.entries()
    };
    ensure!(entries(database)? == entries(&to)?, "LevelDB finds other entries");
    Ok(tables(&before).len() as u64)
}

/// Returns the options that name the filters, for a database in which no table has any.
fn again(filter: &StoreFilter) -> &'static [&'static str] {
    match filter {
        // The options have `--drop` already.
        StoreFilter::None => &[],
        StoreFilter::BuiltIn(_) => &["--policy", "leveldb.BuiltinBloomFilter2"],
        StoreFilter::LegacySigned(12) => &["--policy", "leveldb.BuiltinBloomFilter", "--hash", "signed"],
        StoreFilter::Legacy(7) => &["--policy", "leveldb.BuiltinBloomFilter", "--hash", "unsigned"],
        _ => &["--policy", "leveldb.BuiltinBloomFilter"],
    }
}
