//! LevelDB's hash over keys of several lengths, side by side.

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
use super::level::{self, Chosen};
use super::portable;
use crate::hash;
use crate::lanes::{KeyPtrs, SLOT};

/// Many keys of any lengths.
pub(crate) trait AnyLenKeys: Copy {
    /// Returns `count` keys, at most N, starting with key `from`. `None` if they cannot be read side by side in
    /// place.
    fn side_by_side<const N: usize>(&self, from: usize, count: usize) -> Option<KeyPtrs<'_, N>>;

    /// Returns a key by its number.
    fn key(&self, index: usize) -> &[u8];
}

/// Hashes keys of any lengths, starting with key `from`, one for each of `hashes`. The longest key
/// of a group of 32, sixteen or four determines the number of steps for the group. Few branches
/// depend on the length of an individual key.
#[inline(never)]
pub(crate) fn hash_any_len(keys: impl AnyLenKeys, from: usize, seed: u32, hashes: &mut [u32]) {
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    match level::chosen() {
        Chosen::Portable => {}
        Chosen::Avx2(avx2) => {
            return in_groups(keys, from, seed, hashes, |keys| avx2.hash_places(keys, seed));
        }
        Chosen::Avx512(avx512) => {
            return in_groups(keys, from, seed, hashes, |keys| avx512.hash_places(keys, seed));
        }
    }
    in_groups(keys, from, seed, hashes, |keys| portable::hash_places(keys, seed));
}

/// Returns `true` if copying keys of several lengths and hashing them together takes less time than
/// hashing each one as it is added.
#[inline]
pub(crate) fn copies_short_keys() -> bool {
    super::level::current() != super::level::Level::Portable
}

/// Copies `key`, at most 64 bytes, to the start of `room`, and may change the rest of `room`. For
/// most keys, no branch depends on the length.
#[inline]
pub(crate) fn copy_short(key: &[u8], room: &mut [u8; SLOT]) {
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    match level::chosen() {
        Chosen::Avx512(avx512) => return avx512.copy_short(key, room),
        Chosen::Avx2(avx2) if key.len() >= 4 => return avx2.copy_short(key, room),
        _ => {}
    }
    portable::copy_short(key, room);
}

/// Hashes N keys at a time with `hash`.
#[inline(always)]
fn in_groups<const N: usize>(
    keys: impl AnyLenKeys,
    mut from: usize,
    seed: u32,
    hashes: &mut [u32],
    hash: impl Fn(&KeyPtrs<'_, N>) -> [u32; N],
) {
    for hashes in hashes.chunks_mut(N) {
        let places = keys.side_by_side(from, hashes.len());
        let all =
            places.map_or_else(|| hash_apart(keys, from, seed, hashes.len(), &hash), |keys| hash(&keys));
        hashes.copy_from_slice(&all[..hashes.len()]);
        from += hashes.len();
    }
}

/// Hashes `count` keys that cannot be read side by side in place.
#[inline(never)]
fn hash_apart<const N: usize>(
    keys: impl AnyLenKeys,
    from: usize,
    seed: u32,
    count: usize,
    hash: &impl Fn(&KeyPtrs<'_, N>) -> [u32; N],
) -> [u32; N] {
    let keys = std::array::from_fn(|index| if index < count { keys.key(from + index) } else { &[] });
    let mut slots = [[0; SLOT]; N];
    match copied(keys, &mut slots) {
        Some(places) => hash(&places),
        None => keys.map(|key| hash::leveldb(key, seed)),
    }
}

/// Copies the keys into `slots`. `None` if a key is longer than its slot.
#[inline(always)]
fn copied<'a, const N: usize>(keys: [&[u8]; N], slots: &'a mut [[u8; SLOT]; N]) -> Option<KeyPtrs<'a, N>> {
    for (key, slot) in keys.iter().zip(slots.iter_mut()) {
        if key.len() > SLOT {
            return None;
        }
        copy_short(key, slot);
    }
    KeyPtrs::new(slots.as_flattened(), std::array::from_fn(|index| index * SLOT), keys.map(<[u8]>::len))
}
