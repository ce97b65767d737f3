//! Looking up many keys in a database, table by table: each table is searched for all keys that it may
//! hold and that have not been found before.

use std::collections::BTreeMap;

use super::super::database::{Database, DatabaseTable};
use super::super::opener::{FileOpener, Opener};
use super::may_hold;
use crate::Result;
use crate::table::{Lookup, ReadOptions};

/// A table yet to be searched, and the indices of the keys to look up in it.
struct Asked<'d> {
    table: DatabaseTable<'d>,
    keys: Vec<usize>,
}

/// The position of a table in the order in which tables are searched: by level, then by number, with the
/// highest number first on level 0.
type Rank = (u8, u64);

impl Database {
    /// Looks up the newest version of each of many keys, as [`get`](Self::get) does. The keys may be in any order.
    /// `lookups` is cleared first, and then has one result for each key, in the order of the keys.
    ///
    /// The live logs are read once. In nearly all databases, each table is opened at most once, unless opening it
    /// fails. Looks up all keys of a table in one call of [`Table::get_many_at`](crate::table::Table::get_many_at), in
    /// ascending order. From 16 keys of a table on, most keys in one data block thus share one read. Without a
    /// MANIFEST that can be used, each key takes as long as a [`get`](Self::get).
    ///
    /// Apart from the results, this first takes memory for the writes of the live logs, then a few hundred
    /// bytes for each key and one table at a time.
    ///
    /// ```
    /// use filterblock::database::Database;
    /// use filterblock::table::{Lookup, ReadOptions};
    ///
    /// let database = Database::open("testdata/databases/levels")?;
    /// let mut lookups = Vec::new();
    /// database.get_many(&[b"item/0005/595", b"jtem"], &ReadOptions::default(), &mut lookups)?;
    /// assert!(matches!(lookups[0], Ok(Lookup::Value(_))));
    /// assert!(matches!(lookups[1], Ok(Lookup::Absent)));
    /// # Ok::<(), filterblock::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`](crate::Error::InvalidOption) if the MANIFEST names a comparator other than that of the
    /// options. If the MANIFEST is used, also the first problem of any live log: it may hide newer writes of any key.
    /// In both cases `lookups` is empty. The result for a key may be any other error of [`get`](Self::get), such as
    /// damage in a table that its lookup searches, or a missing table.
    pub fn get_many(
        &self,
        user_keys: &[&[u8]],
        options: &ReadOptions,
        lookups: &mut Vec<Result<Lookup>>,
    ) -> Result<()> {
        self.get_many_with(user_keys, options, FileOpener, lookups)
    }

    /// Like [`get_many`](Self::get_many), but in files that `opener` opens, wherever they are.
    ///
    /// # Errors
    ///
    /// Those of [`get_many`](Self::get_many).
    pub fn get_many_with<O: Opener>(
        &self,
        user_keys: &[&[u8]],
        options: &ReadOptions,
        mut opener: O,
        lookups: &mut Vec<Result<Lookup>>,
    ) -> Result<()> {
        lookups.clear();
        let order = self.order(options)?;
        if self.manifest().is_err() {
            let get = |key: &&[u8]| self.get_of_all(key, options, &mut opener, &order);
            lookups.extend(user_keys.iter().map(get));
            return Ok(());
        }
        let logs = self.live_logs(&mut opener, &order)?;
        let mut found: Vec<_> = user_keys.iter().map(|key| logs.newest(key, &order).map(Ok)).collect();
        drop(logs);

        let options = options.clone().internal_keys(true);
        let tables_for = |key| self.tables_for(key).filter(|table| may_hold(table, key, &order));
        let mut ways: Vec<_> = user_keys.iter().map(|key| tables_for(key)).collect();
        let mut sorted: Vec<_> =
            (0..user_keys.len()).filter(|key| matches!(found.get(*key), Some(None))).collect();
        let user_key = |number: usize| user_keys.get(number).copied().unwrap_or_default();
        sorted.sort_by(|a, b| order.compare(user_key(*a), user_key(*b)));

        let mut asked = BTreeMap::new();
        sorted.into_iter().for_each(|key| ask_next(&mut asked, &mut ways, key));
        while let Some((_, Asked { table, keys })) = asked.pop_first() {
            for (key, lookup) in keys.iter().zip(self.ask(&table, &keys, user_keys, &options, &mut opener)) {
                match lookup {
                    Ok(Lookup::Absent) => ask_next(&mut asked, &mut ways, *key),
                    lookup => {
                        if let Some(found) = found.get_mut(*key) {
                            *found = Some(lookup);
                        }
                    }
                }
            }
        }
        lookups.extend(found.into_iter().map(|found| found.unwrap_or(Ok(Lookup::Absent))));
        Ok(())
    }

    /// Looks up the keys with these indices in a table.
    fn ask<O: Opener>(
        &self,
        table: &DatabaseTable<'_>,
        keys: &[usize],
        user_keys: &[&[u8]],
        options: &ReadOptions,
        opener: &mut O,
    ) -> Vec<Result<Lookup>> {
        let mut lookups = Vec::new();
        let keys: Vec<&[u8]> = keys.iter().filter_map(|key| user_keys.get(*key).copied()).collect();
        match self.open_table(table, options, opener) {
            Ok(opened) => opened.get_many_at(&keys, u64::MAX, &mut lookups),
            Err(error) => {
                lookups.push(Err(error));
                // An error cannot be copied, so the other keys are looked up one by one.
                let again = |key: &&[u8]| self.open_table(table, options, opener)?.get_at(key, u64::MAX);
                lookups.extend(keys.iter().skip(1).map(again));
            }
        }
        lookups
    }
}

/// Adds a key to those to be looked up in the next table that may hold it, if there is one.
fn ask_next<'d>(
    asked: &mut BTreeMap<Rank, Asked<'d>>,
    ways: &mut [impl Iterator<Item = DatabaseTable<'d>>],
    key: usize,
) {
    let Some(table) = ways.get_mut(key).and_then(Iterator::next) else { return };
    let level = table.recorded().map_or(0, |recorded| recorded.level);
    let rank = (level, if level == 0 { u64::MAX.wrapping_sub(table.number) } else { table.number });
    asked.entry(rank).or_insert_with(|| Asked { table, keys: Vec::new() }).keys.push(key);
}
