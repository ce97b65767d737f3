//! The data block that the index names for each key.

use filterblock::Result;
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
) -> std::result::Result<Vec<BlockOfKey>, &'static str> {
    let index = IndexKeys::of(table).map_err(|_| "the index is damaged")?;
    if index.total_len > MAX_INDEX_KEYS {
        return Err("the keys of the index are too long altogether");
    }
    let encodings = index.encodings(format, table.origin());
    if encodings.is_empty() {
        return Err(OTHER_FORMAT);
    }
    // All possible encodings have to fit, so that a wrong one does not decide alone.
    encodings.iter().map(|&encoding| look_up_as(table, keys, encoding)).collect()
}

/// The keys of an index, measured before keys are looked up in it.
struct IndexKeys {
    total_len: u64,
    /// All keys may be internal keys, with a time if their type asks for one.
    may_be_timed: bool,
    /// All keys may be internal keys without a time.
    may_be_untimed: bool,
    /// The type of some key asks for a time.
    has_timed_types: bool,
}

impl IndexKeys {
    fn of<R>(table: &Table<R>) -> Result<Self> {
        let mut keys =
            Self { total_len: 0, may_be_timed: true, may_be_untimed: true, has_timed_types: false };
        let mut index = table.index();
        while index.next()? {
            let key = index.key();
            keys.total_len = keys.total_len.saturating_add(key.len() as u64);
            keys.may_be_timed &= KeyEncoding::Internal.filtered(key).is_some();
            keys.may_be_untimed &= KeyEncoding::Untimed.filtered(key).is_some();
            keys.has_timed_types |= key_encoding::has_timed_type(key);
        }
        Ok(keys)
    }

    fn encodings(&self, format: Option<KeyFormat>, origin: Option<Origin>) -> Vec<KeyEncoding> {
        let mut encodings = Vec::new();
        if format != Some(KeyFormat::Internal) {
            encodings.push(KeyEncoding::Whole);
        }
        if format != Some(KeyFormat::User) {
            // Only Riak's tables are known to store times. One of unknown origin may, too, if its types ask for times.
            let is_bashos = origin == Some(Origin::Basho);
            if is_bashos || (self.has_timed_types && origin.is_none()) {
                encodings.extend(self.may_be_timed.then_some(KeyEncoding::Internal));
            }
            if !is_bashos {
                encodings.extend(self.may_be_untimed.then_some(KeyEncoding::Untimed));
            }
        }
        encodings
    }
}

fn look_up_as<R>(
    table: &Table<R>,
    keys: &LookupKeys,
    encoding: KeyEncoding,
) -> std::result::Result<BlockOfKey, &'static str> {
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
