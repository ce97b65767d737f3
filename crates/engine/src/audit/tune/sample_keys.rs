//! Stored keys, drawn so that each entry of all tables has the same chance.
//!
//! Offsets in the files are drawn evenly. A weight makes up for blocks with fewer or more entries per byte.

use std::collections::BTreeMap;

use filterblock::Result;
use filterblock::table::{BlockHandle, ReadAt, Table};

use super::input::Input;
use crate::report::Fault;
use crate::run::map;
use crate::{audit::key_encoding::KeyEncoding, audit::rates::SplitMix, audit::reading::decode_limit_of};

/// Longer keys are left out: thousands of them would take too much memory.
pub(super) const MAX_KEY: usize = 4096;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct DrawnKey {
    pub(super) key: Vec<u8>,
    /// The next different key of the data block that is not too long.
    pub(super) next: Option<Vec<u8>>,
    pub(super) table: u32,
}

type KeyAndNext = (Vec<u8>, Option<Vec<u8>>);

/// Draws at most `count` keys. Adds the tables that could not be read to `faults`.
pub(super) fn draw(input: &Input<'_>, count: u64, faults: &mut BTreeMap<usize, Fault>) -> Vec<DrawnKey> {
    let places = places(input, count).into_iter().enumerate();
    let drawn =
        map(input.jobs, places.filter(|(_, places)| !places.is_empty()).collect(), |(table, places)| {
            let opened = input.open(table);
            (table, opened.and_then(|opened| Ok(of_table(&opened, table, &places, input.encoding)?)))
        });
    let mut weighted = Vec::new();
    for (table, result) in drawn {
        match result {
            Ok(of_table) => weighted.extend(of_table),
            Err(error) => _ = faults.insert(table, error),
        }
    }
    resample(&weighted)
}

/// Draws one offset in each of `count` equal parts of all files, and returns them by table, ascending.
fn places(input: &Input<'_>, count: u64) -> Vec<Vec<u64>> {
    let total = input.tables.iter().fold(0_u64, |sum, table| sum.saturating_add(table.size));
    let mut random = SplitMix(2);
    let drawn = (0..count).map(|part| {
        let at = |part: u64| (u128::from(total) * u128::from(part) / u128::from(count.max(1))) as u64;
        let (start, end) = (at(part), at(part + 1));
        start + random.next() % (end - start).max(1)
    });
    let (mut drawn, mut start) = (drawn.peekable(), 0_u64);
    let of_table = |size: u64| {
        let (before, end) = (start, start.saturating_add(size));
        start = end;
        std::iter::from_fn(|| drawn.next_if(|at| *at < end)).map(|at| at - before).collect()
    };
    input.tables.iter().map(|table| table.size).map(of_table).collect()
}

/// Keys of the data blocks at `places`, each with its weight. `number`: of the table.
fn of_table<R: ReadAt>(
    table: &Table<R>,
    number: usize,
    places: &[u64],
    encoding: KeyEncoding,
) -> Result<Vec<(DrawnKey, f64)>> {
    let mut handles: Vec<BlockHandle> = table.data_blocks().collect::<Result<_>>()?;
    handles.sort_by_key(|handle| handle.offset);
    let mut random = SplitMix(number as u64);
    let mut left = decode_limit_of(table);
    let mut drawn = Vec::with_capacity(places.len());
    let mut places = places.iter().peekable();
    while let Some(&place) = places.next() {
        let after = handles.partition_point(|handle| handle.offset <= place);
        let Some(&handle) = after.checked_sub(1).and_then(|at| handles.get(at)) else { continue };
        let end = handle.end().unwrap_or(u64::MAX);
        // Filters, metaindex and index hold no entries.
        if place >= end || left == 0 {
            continue;
        }
        let others = std::iter::from_fn(|| places.next_if(|&&place| place < end)).count();
        let (count, decoded) = count(table, handle)?;
        left = left.saturating_sub(decoded);
        let mut chosen: Vec<u64> = (0..=others).map(|_| random.next() % count.max(1)).collect();
        chosen.sort_unstable();
        let weight = count as f64 / handle.size.saturating_add(5) as f64;
        let keys = of_block(table, handle, &chosen, encoding)?.into_iter();
        drawn.extend(keys.map(|(key, next)| (DrawnKey { key, next, table: number as u32 }, weight)));
    }
    Ok(drawn)
}

/// Returns the number of entries, and of bytes decoded to read them twice.
fn count<R: ReadAt>(table: &Table<R>, handle: BlockHandle) -> Result<(u64, u64)> {
    let mut entries = table.block_cursor(handle)?;
    let (mut count, mut decoded) = (0, 2 * entries.size() as u64);
    while entries.next()? {
        count += 1;
        decoded = decoded.saturating_add(entries.key().len() as u64);
    }
    Ok((count, decoded))
}

/// Returns the keys of the chosen entries, which are ascending numbers, each with the next different key.
fn of_block<R: ReadAt>(
    table: &Table<R>,
    handle: BlockHandle,
    chosen: &[u64],
    encoding: KeyEncoding,
) -> Result<Vec<KeyAndNext>> {
    let mut entries = table.block_cursor(handle)?;
    let mut chosen = chosen.iter().peekable();
    let mut drawn: Vec<KeyAndNext> = Vec::new();
    let (mut at, mut with_next) = (0, 0);
    while entries.next()? {
        let Some(key) = encoding.filtered(entries.key()) else { break };
        let without_next = drawn.get_mut(with_next..).unwrap_or_default();
        // Versions of one key follow each other.
        if key.len() <= MAX_KEY && without_next.iter().any(|(one, _)| one != key) {
            without_next.iter_mut().for_each(|(_, next)| *next = Some(key.to_vec()));
            with_next = drawn.len();
        }
        if chosen.peek().is_none() && with_next == drawn.len() {
            break;
        }
        while chosen.next_if(|&&number| number == at).is_some() {
            if key.len() <= MAX_KEY {
                drawn.push((key.to_vec(), None));
            }
        }
        at += 1;
    }
    Ok(drawn)
}

/// Draws the same number of keys again, each in proportion to its weight.
fn resample(drawn: &[(DrawnKey, f64)]) -> Vec<DrawnKey> {
    let total: f64 = drawn.iter().map(|(_, weight)| weight).sum();
    let step = total / drawn.len() as f64;
    let (mut sum, mut due) = (0.0, step / 2.0);
    let mut resampled = Vec::with_capacity(drawn.len());
    for (one, weight) in drawn {
        sum += weight;
        while due < sum {
            resampled.push(one.clone());
            due += step;
        }
    }
    resampled
}

#[cfg(test)]
mod tests {
    use filterblock::table::{ReadOptions, TableBuilder, WriteOptions};

    use super::*;
    use crate::audit::order::KeyOrder;
    use crate::audit::reading::read_options;
    use crate::audit::tune::input::TableInfo;

    /// Writes the tables to files.
    fn write(dir: &tempfile::TempDir, tables: &[Vec<u8>]) -> Vec<TableInfo> {
        let write = |(number, table): (usize, &Vec<u8>)| {
            let path = dir.path().join(number.to_string());
            std::fs::write(&path, table).unwrap();
            TableInfo { path, level: Some(1), size: table.len() as u64, missing: None }
        };
        tables.iter().enumerate().map(write).collect()
    }

    fn input(tables: Vec<TableInfo>, read: &ReadOptions) -> Input<'_> {
        Input {
            tables,
            storage: &crate::walk::LocalStorage,
            read,
            jobs: None,
            manifest: None,
            order: KeyOrder::Bytewise,
            encoding: KeyEncoding::Whole,
            is_goleveldb: false,
        }
    }

    /// A table of 1,000 small entries and then 100 large ones, and a table of 900 entries of medium size.
    fn tables() -> Vec<Vec<u8>> {
        let table = |entries: &[(char, u32, usize)]| {
            let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default().block_size(1024));
            for &(letter, count, len) in entries {
                for number in 0..count {
                    builder.add(format!("{letter}{number:05}").as_bytes(), &vec![7; len]).unwrap();
                }
            }
            builder.finish().unwrap().0
        };
        vec![table(&[('a', 1000, 4), ('b', 100, 3000)]), table(&[('c', 900, 100)])]
    }

    #[test]
    fn each_entry_has_the_same_chance() {
        let (dir, read) = (tempfile::tempdir().unwrap(), read_options());
        let mut faults = BTreeMap::new();
        let drawn = draw(&input(write(&dir, &tables()), &read), 20_000, &mut faults);
        assert!(faults.is_empty() && drawn.len() > 18_000, "{}", drawn.len());
        for (letter, entries) in [(b'a', 1000.0), (b'b', 100.0), (b'c', 900.0)] {
            let of_letter: Vec<_> = drawn.iter().filter(|one| one.key[0] == letter).collect();
            let share = of_letter.len() as f64 / drawn.len() as f64 / (entries / 2000.0);
            assert!((share - 1.0).abs() < 0.15, "{}: {share}", char::from(letter));
            assert!(of_letter.iter().all(|one| one.table == u32::from(letter == b'c')));
            // The keys drawn are spread from the first to the last.
            let number = |key: &[u8]| String::from_utf8(key[1..].to_vec()).unwrap().parse::<f64>().unwrap();
            let mean = of_letter.iter().map(|one| number(&one.key)).sum::<f64>() / of_letter.len() as f64;
            assert!((mean / entries - 0.5).abs() < 0.05, "{}: {mean}", char::from(letter));
        }
        let seen: std::collections::BTreeSet<_> = drawn.iter().map(|one| &one.key).collect();
        assert!(seen.len() > 1500, "{}", seen.len());
    }

    #[test]
    fn keys_too_long_to_keep_are_left_out_and_tables_that_do_not_open_are_named() {
        let (dir, read) = (tempfile::tempdir().unwrap(), read_options());
        let mut tables = tables();
        tables[1].truncate(40);
        let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default());
        builder.add(&[1; MAX_KEY], b"").unwrap();
        builder.add(&[2; MAX_KEY + 1], b"").unwrap();
        tables[0] = builder.finish().unwrap().0;
        let mut tables = write(&dir, &tables);
        tables[1].size = 20_000;
        let mut faults = BTreeMap::new();
        let drawn = draw(&input(tables, &read), 1000, &mut faults);
        assert!(!drawn.is_empty() && drawn.iter().all(|one| one.key == [1; MAX_KEY]));
        assert_eq!(faults.into_keys().collect::<Vec<_>>(), [1]);
    }
}
