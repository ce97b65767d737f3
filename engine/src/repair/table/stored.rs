//! The entries of blocks as they are stored.

use bytes::Bytes;
use filterblock::KeyFormat;
use filterblock::table::Codec;

use super::{Facts, Limits};
pub(super) use crate::audit::correct::stored::{TRAILER, accept, entries, is_sound, read};
use crate::repair::order::Order;

/// The greatest type that an internal key may have: that of a value.
pub(in crate::repair) const VALUE: u64 = 1;

/// The bounds of the keys of a block.
pub(super) struct Between<'b> {
    pub(super) order: &'b Order,
    /// An internal key or a separator, which all keys follow; `None`: no bound.
    pub(super) after: Option<&'b [u8]>,
    /// A separator or an internal key, which no key follows; `None`: no bound.
    pub(super) up_to: Option<&'b [u8]>,
}

/// Reads all entries of a stored block whose checksum is correct, and returns the facts about them. `None`: the
/// block cannot be decoded, its entries are not those of a database, not in order or not within the bounds, or
/// the limits are exceeded.
pub(super) fn facts(stored: &Bytes, between: &Between<'_>, limits: &Limits) -> Option<Facts> {
    if limits.budget.is_spent() {
        return None;
    }
    let mut entries = entries(stored, &limits.options)?;
    let order = between.order;
    let mut facts = Facts { block_bytes: entries.size() as u64, ..Facts::default() };
    facts.snappy_blocks = u64::from(entries.codec() == Codec::Snappy);
    let mut last = between.after.map(<[u8]>::to_vec);
    while entries.next().ok()? {
        let key = entries.key();
        limits.budget.take(key)?;
        let (user_key, tag) = KeyFormat::LevelDb.split(key)?;
        if tag & 0xff > VALUE || last.as_ref().is_some_and(|last| order.compare_internal(last, key).is_ge()) {
            return None;
        }
        facts.entries = facts.entries.saturating_add(1);
        facts.last_sequence = facts.last_sequence.max(tag >> 8);
        facts.has_ambiguous_keys |= !order.can_be_filtered(user_key);
        if facts.smallest.is_none() {
            facts.smallest = Some(key.to_vec());
        }
        let last = last.get_or_insert_default();
        last.clear();
        last.extend_from_slice(key);
    }
    facts.largest = last.filter(|_| facts.entries > 0);
    let ends = facts.largest.as_deref().zip(between.up_to);
    if ends.is_some_and(|(largest, up_to)| order.compare_internal(largest, up_to).is_gt()) {
        return None;
    }
    Some(facts)
}
