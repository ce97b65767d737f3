//! Reads sound tables: those that LevelDB wrote, entry by entry, and what reading them takes.

mod backwards;
mod entries;
mod filter_meter;
mod in_place;
mod many;
mod reads;
mod surface;

use crate::tables::Sample;

/// Keys that are not in the table: stored keys with more bytes, and stored keys with their last byte changed.
fn absent(sample: &Sample) -> Vec<Vec<u8>> {
    let changed = sample.entries.iter().flat_map(|(key, _)| {
        // Internal keys end in eight bytes of their own, which stay.
        let end = if sample.name.starts_with("versions") { key.len() - 8 } else { key.len() };
        let longer = [&key[..end], b"\x02!", &key[end..]].concat();
        let mut other = key.clone();
        if let Some(byte) = other[..end].last_mut() {
            *byte ^= 0x55;
        }
        [longer, other]
    });
    let stored = |key: &Vec<u8>| sample.entries.iter().any(|(stored, _)| stored == key);
    changed.filter(|key| !stored(key)).collect()
}
