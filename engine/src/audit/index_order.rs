//! Tables whose indexes are not in bytewise order, so that a search in that order misses keys.

use std::path::Path;

use filterblock::database::{Database, Opener};
use filterblock::table::{ReadAt, ReadOptions, Table};

use crate::report::{ErrorKind, Fault};

/// The faults of tables whose indexes are not in bytewise order, with the tables' numbers. Opens every table and reads
/// its index.
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
        if !is_bytewise(&opened) {
            found.push((table.number, fault(path)));
        }
    }
    found
}

fn fault(path: &Path) -> Fault {
    let message = "index-order: the index is not in bytewise order, so keys of the range may be missed";
    Fault { path: Some(path.to_owned()), ..Fault::new(message.to_owned(), ErrorKind::Damaged) }
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
