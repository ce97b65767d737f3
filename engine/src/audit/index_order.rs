//! Tables whose keys are not in bytewise order, so that a search in that order misses some.

use std::path::Path;

use filterblock::database::{Database, Opener};
use filterblock::table::{ReadAt, ReadOptions, Table};

use crate::report::{ErrorKind, Fault};

/// The faults of tables whose index or first block is not in bytewise order, with the tables' numbers. Opens every
/// table, and reads its index and that block.
pub(crate) fn misordered<O: Opener>(
    database: &Database,
    opener: &mut O,
    options: &ReadOptions,
) -> Vec<(u64, Fault)> {
    let mut found = Vec::new();
    for table in database.tables() {
        let Some(path) = table.file.path() else { continue };
        // A table that does not open is reported in its turn.
        let Some(opened) = opener.open_table(path).ok().and_then(|file| Table::open(file, options).ok())
        else {
            continue;
        };
        let what = if !is_bytewise(&opened) {
            "index-order: the index is"
        } else if !begins_bytewise(&opened) {
            "key-order: the keys are"
        } else {
            continue;
        };
        found.push((table.number, fault(path, what)));
    }
    found
}

fn fault(path: &Path, what: &str) -> Fault {
    let message = format!("{what} not in bytewise order, so keys of the range may be missed");
    Fault { path: Some(path.to_owned()), ..Fault::new(message, ErrorKind::Damaged) }
}

/// Returns true if the user keys of the index ascend, as far as the index can be read.
fn is_bytewise<R: ReadAt>(table: &Table<R>) -> bool {
    let format = table.key_format();
    let (mut index, mut previous) = (table.index(), Vec::new());
    while let Ok(true) = index.next() {
        let Some((key, _)) = format.split(index.key()) else { break };
        if *previous > *key {
            return false;
        }
        previous.clear();
        previous.extend_from_slice(key);
    }
    true
}

/// Returns true unless the first user key of the first block comes after the block's last one, as far as the block can
/// be read. The index of a table that has only this block does not reveal the order of keys.
fn begins_bytewise<R: ReadAt>(table: &Table<R>) -> bool {
    let first = table.data_blocks().next().and_then(Result::ok);
    let Some(mut block) = first.and_then(|first| table.block_cursor(first).ok()) else { return true };
    let Ok(true) = block.next() else { return true };
    let first = block.key().to_vec();
    let Ok(true) = block.seek_to_last() else { return true };
    let format = table.key_format();
    let ends = format.user_key(&first).zip(format.user_key(block.key()));
    ends.is_none_or(|(first, last)| first <= last)
}
