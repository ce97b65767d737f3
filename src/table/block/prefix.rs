//! The beginnings of keys: the part that two keys have in common, the place of a key in
//! bytewise order, and the keys at a block's restarts, as a search compares them.

use crate::kernel::prefetch;

/// The length of the longest common prefix of `a` and `b`.
#[expect(clippy::arithmetic_side_effects, reason = "lengths within the shorter of both slices")]
#[inline]
pub(in crate::table) fn shared_prefix_len(a: &[u8], b: &[u8]) -> usize {
    let len = a.len().min(b.len());
    let (a, b) = (a.get(..len).unwrap_or_default(), b.get(..len).unwrap_or_default());
    let differs = |a: &[u8; 8], b: &[u8; 8]| {
        let difference = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        (difference != 0).then(|| difference.trailing_zeros() as usize / 8)
    };
    let words = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0);
    for (index, (a, b)) in words.enumerate() {
        if let Some(at) = differs(a, b) {
            return index * 8 + at;
        }
    }
    match (a.last_chunk(), b.last_chunk()) {
        // The last eight bytes overlap the words compared above, which are equal.
        (Some(a), Some(b)) => differs(a, b).map_or(len, |at| len - 8 + at),
        _ => a.iter().zip(b).take_while(|(a, b)| a == b).count(),
    }
}

/// The first eight bytes of a key as a big-endian number, with zeros after a shorter key. If two
/// starts differ, their keys compare bytewise as the starts do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Start(u64);

impl Start {
    pub(super) fn of(key: &[u8]) -> Self {
        match key.first_chunk() {
            Some(first) => Self(u64::from_be_bytes(*first)),
            None => {
                let mut first = [0; 8];
                first.iter_mut().zip(key).for_each(|(first, byte)| *first = *byte);
                Self(u64::from_be_bytes(first))
            }
        }
    }

    /// The start of a key of `len` bytes. `bytes` begins with the key, or holds its first eight
    /// bytes.
    #[inline]
    pub(super) fn of_first(bytes: [u8; 8], len: usize) -> Self {
        let behind = if len < 8 { u64::MAX.wrapping_shr((len as u32).wrapping_mul(8)) } else { 0 };
        Self(u64::from_be_bytes(bytes) & !behind)
    }

    /// The start of a key that consists of the first `shared` bytes of a key with the start `self`, and of bytes with
    /// the start `rest`.
    #[inline]
    pub(super) fn followed_by(self, shared: usize, rest: Self) -> Self {
        if shared >= 8 {
            return self;
        }
        let bits = (shared as u32).wrapping_mul(8);
        Self(self.0 & !(u64::MAX >> bits) | rest.0 >> bits)
    }
}

/// The first sixteen bytes of a key.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongStart {
    pub(super) first: Start,
    pub(super) second: Start,
}

impl LongStart {
    #[inline]
    pub(super) fn of(key: &[u8]) -> Self {
        Self { first: Start::of(key), second: Start::of(key.get(8..).unwrap_or_default()) }
    }
}

/// The keys at a block's restarts. Only the starts of these keys are read.
pub(super) struct Probes<'b> {
    pub(super) data: &'b [u8],
    /// The restarts and their number, as stored.
    pub(super) restarts: &'b [[u8; 4]],
    pub(super) entries_end: usize,
}

impl Probes<'_> {
    /// Prefetches restart `index` itself, not the entry there.
    #[inline(always)]
    pub(super) fn prefetch(&self, index: usize) {
        if let Some([first, ..]) = self.restarts.get(index) {
            prefetch(first);
        }
    }

    /// Returns true if the key at restart `index`, without its last `SUFFIX` bytes, is before keys that start like
    /// `sought`. `None` if the first 16 bytes do not decide, or the key has fewer than `SUFFIX` bytes. `None` also if
    /// the entry has an unusually long header, is damaged, or is too close to the block's end.
    #[inline(always)]
    pub(super) fn is_before<const SUFFIX: usize>(&self, index: usize, sought: LongStart) -> Option<bool> {
        let at = u32::from_le_bytes(*self.restarts.get(index)?) as usize;
        // The entries are followed by a restart and the number of restarts, so there are 11 bytes even from the start
        // of the shortest entry.
        let bytes = self.data.get(at..at.wrapping_add(11))?;
        let header = u32::from_le_bytes(*bytes.first_chunk()?);
        // In a usual header, nothing is shared, and the other lengths take a byte each.
        if header & 0x80_80ff != 0 {
            return None;
        }
        let (non_shared, value_len) = ((header >> 8 & 0x7f) as usize, (header >> 16 & 0x7f) as usize);
        let end = at.wrapping_add(3).wrapping_add(non_shared).wrapping_add(value_len);
        if end > self.entries_end {
            return None;
        }
        let len = non_shared.checked_sub(SUFFIX)?;
        let start = Start::of_first(*bytes.last_chunk()?, len);
        if start != sought.first {
            return Some(start < sought.first);
        }
        let rest = self.data.get(at.wrapping_add(11)..)?.first_chunk()?;
        let start = Start::of_first(*rest, len.saturating_sub(8));
        (start != sought.second).then_some(start < sought.second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of every length up to 17 that repeat one byte, but for one place at most. Two of them differ early, late
    /// or not at all.
    #[test]
    fn prefixes_and_starts_agree_with_a_plain_comparison() {
        let filled = |byte: u8| (0..18).map(move |len| vec![byte; len]);
        let mut keys: Vec<Vec<u8>> = [0, 1, 0xff].into_iter().flat_map(filled).collect();
        for key in keys.clone() {
            for at in 0..key.len() {
                let mut other = key.clone();
                other[at] ^= 0x80;
                keys.push(other);
            }
        }
        for a in &keys {
            for b in &keys {
                let plain = a.iter().zip(b).take_while(|(a, b)| a == b).count();
                assert_eq!(shared_prefix_len(a, b), plain, "{a:x?} {b:x?}");
                let (start, other) = (Start::of(a), Start::of(b));
                assert!(start == other || (start < other) == (a < b), "{a:x?} {b:x?}");
                let behind = Start::of(b.get(plain..).unwrap_or_default());
                assert_eq!(start.followed_by(plain, behind), other, "{a:x?} {b:x?}");
            }
            let mut behind = a.clone();
            behind.extend([0xaa; 8]);
            assert_eq!(Start::of_first(*behind.first_chunk().unwrap(), a.len()).0, Start::of(a).0, "{a:x?}");
        }
    }
}
