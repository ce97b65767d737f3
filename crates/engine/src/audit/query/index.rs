//! The data block that the index names for each key.

use filterblock::table::{Origin, Table};

use super::LookupKeys;
use crate::audit::key_encoding::{self, KeyEncoding};
use crate::audit::stats::sample::KeyFormat;

/// Indexes with more bytes of keys are not used: prefix compression lets a small file hold terabytes of keys.
const MAX_INDEX_KEYS: u64 = 256 << 20;
const OTHER_FORMAT: &str = "the index holds keys that are not internal keys";

/// For each key, the offset of the data block that may hold it; `None`: none may, or its handle cannot be read.
pub(super) type BlockOfKey = Vec<Option<u64>>;

/// Looks up the keys in the index, once for each possible encoding of its keys, and returns the blocks of each.
/// Returns a reason if the index cannot be used, such as an order other than the bytewise one.
pub(super) fn look_up<R>(
    table: &Table<R>,
    keys: &LookupKeys,
    format: Option<KeyFormat>,
) -> Result<Vec<BlockOfKey>, &'static str> {
    let (mut total_len, mut has_timed_types) = (0_u64, false);
    // All keys may be internal keys, with a time if their type asks for one, or without.
    let (mut may_be_timed, mut may_be_untimed) = (true, true);
    let mut index = table.index();
    while index.next().map_err(|_| "the index is damaged")? {
        let key = index.key();
        total_len = total_len.saturating_add(key.len() as u64);
        may_be_timed &= KeyEncoding::Internal.filtered(key).is_some();
        may_be_untimed &= KeyEncoding::Untimed.filtered(key).is_some();
        has_timed_types |= key_encoding::has_timed_type(key);
    }
    if total_len > MAX_INDEX_KEYS {
        return Err("the keys of the index are too long altogether");
    }
    let (is_bashos, is_unknown) = (table.origin() == Some(Origin::Basho), table.origin().is_none());
    // Only Riak's tables are known to store times. One of unknown origin may, too, if its types ask for times.
    may_be_timed &= is_bashos || has_timed_types && is_unknown;
    may_be_untimed &= !is_bashos;
    let possible = [
        (KeyEncoding::Whole, format != Some(KeyFormat::Internal)),
        (KeyEncoding::Internal, may_be_timed && format != Some(KeyFormat::User)),
        (KeyEncoding::Untimed, may_be_untimed && format != Some(KeyFormat::User)),
    ];
    let encodings: Vec<_> = possible.iter().filter(|(_, is_possible)| *is_possible).collect();
    if encodings.is_empty() {
        return Err(OTHER_FORMAT);
    }
    // All possible encodings have to fit, so that a wrong one does not decide alone.
    encodings.iter().map(|(encoding, _)| look_up_as(table, keys, *encoding)).collect()
}

fn look_up_as<R>(
    table: &Table<R>,
    keys: &LookupKeys,
    encoding: KeyEncoding,
) -> Result<BlockOfKey, &'static str> {
    let mut blocks = vec![None; keys.given().len()];
    let mut sought = keys.sorted().peekable();
    let mut index = table.index();
    let mut previous: Option<Vec<u8>> = None;
    while let Ok(true) = index.next() {
        let key = index.key();
        if let Some(previous) = &previous
            && encoding.compare(previous, key).is_gt()
        {
            return Err("the index is not in bytewise order");
        }
        let Some(part) = encoding.filtered(key) else { return Err(OTHER_FORMAT) };
        // A handle that cannot be read is damage, and makes every key possible anyway.
        let offset = index.handle().ok().map(|handle| handle.offset);
        while let Some((at, _)) = sought.next_if(|&(_, key)| key <= part) {
            if let Some(block) = blocks.get_mut(at) {
                *block = offset;
            }
        }
        let previous = previous.get_or_insert_default();
        previous.clear();
        previous.extend_from_slice(key);
    }
    Ok(blocks)
}
