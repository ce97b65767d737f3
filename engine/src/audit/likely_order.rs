//! The order that keys are likely to be in where no MANIFEST names one.

use std::path::Path;

use filterblock::table::{IdbComparator, ReadAt, Table};

use super::order::Order;

/// The numbers of tables, and of entries at the start of each, that are looked at.
const TABLES: usize = 16;
const ENTRIES: usize = 1000;
/// The end of the name of a folder in which Chromium keeps an IndexedDB.
const INDEXED_DB: &str = ".indexeddb.leveldb";

/// The known orders that the keys of the database in `folder` may be in, by the folder's name or else by the tables.
pub(crate) fn likely_orders<R: ReadAt>(folder: &Path, tables: impl Iterator<Item = Table<R>>) -> Vec<Order> {
    if is_indexed_db(folder) {
        return vec![Order::Idb];
    }
    let mut orders = vec![Order::Bytewise, Order::Idb];
    let mut are_chromiums = true;
    for table in tables.take(TABLES) {
        let format = table.key_format();
        let mut cursor = table.into_cursor();
        let mut last: Option<Vec<u8>> = None;
        for _ in 0..ENTRIES {
            // What is damaged tells nothing.
            let Ok(true) = cursor.next() else { break };
            let Some(key) = format.user_key(cursor.key()) else { break };
            are_chromiums &= IdbComparator::is_decodable(key);
            orders.retain(|order| last.as_ref().is_none_or(|last| order.compare(last, key).is_le()));
            last = Some(key.to_vec());
        }
    }
    // Other keys are in Chromium's order, too, if they are in bytewise order.
    orders.retain(|order| *order == Order::Bytewise || are_chromiums);
    orders
}

/// Returns true if the folder has the name that Chromium gives the folder of an IndexedDB.
pub(crate) fn is_indexed_db(folder: &Path) -> bool {
    let ends = |path: &Path| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().ends_with(INDEXED_DB.as_bytes()))
    };
    ends(folder) || folder.file_name().is_none() && folder.canonicalize().is_ok_and(|folder| ends(&folder))
}
