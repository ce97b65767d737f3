//! The part of a table's keys that filters are made of, told by the filters or by the keys.

use std::collections::BTreeSet;

use filterblock::Result;
use filterblock::table::{ReadAt, Table};

use super::sample::{KeyFormat, Sample};
use super::{blocks::Blocks, filters::FilterStats};
use crate::audit::key_encoding::{KeyEncoding, has_timed_type, is_internal};

/// The types of LevelDB's entries.
const TYPES: [u8; 2] = [0, 1];

/// The encoding of the keys of a table. Where filters do not tell, keys that all end like internal
/// ones are taken for these.
pub(crate) fn encoding_of<R: ReadAt>(table: &Table<R>) -> Result<KeyEncoding> {
    let filters = table.filter().cloned().map(FilterStats::new);
    let mut blocks = Blocks::list(table)?;
    let sample = Sample::take(table, &mut blocks, &BTreeSet::new(), filters.as_ref(), 0)?;
    match sample.key_format() {
        Ok(KeyFormat::Internal) => return Ok(KeyEncoding::Internal),
        Ok(KeyFormat::User) => return Ok(KeyEncoding::Whole),
        Err(_) => {}
    }
    let Some(first) = table.data_blocks().next() else { return Ok(KeyEncoding::Whole) };
    let mut entries = table.block_cursor(first?)?;
    while entries.next()? {
        let key = entries.key();
        let of_leveldb = |key: &[u8]| {
            let kind = key.len().checked_sub(8).and_then(|at| key.get(at));
            kind.is_some_and(|kind| TYPES.contains(kind))
        };
        if !is_internal(key) || !(of_leveldb(key) || has_timed_type(key)) {
            return Ok(KeyEncoding::Whole);
        }
    }
    Ok(KeyEncoding::Internal)
}
