//! The bit array of LevelDB's Bloom filter under construction, and lookups in the filter, of one key or of
//! many together.

use crate::hash::{self, BLOOM_SEED};
use crate::policy::KeyHash;
use crate::{Error, Result, kernel};

/// The length in bytes up to which an array is first made with a byte for each bit. Setting such a
/// bit needs no read, and the bytes are packed into bits at the end. A larger array would not fit
/// in the fastest cache.
const MAX_SPREAD: usize = 4096;

/// The number of hashes made before their bits are set.
pub(in crate::policy) const BATCH: usize = 64;

/// A bit array at the end of `dst`.
pub(in crate::policy) struct BloomArray<'a> {
    dst: &'a mut Vec<u8>,
    start: usize,
    len: usize,
    probes: u8,
}

impl<'a> BloomArray<'a> {
    /// Appends an array of `len` bytes, 1 to 2^29, in which each key is to set `probes` bits.
    pub(in crate::policy) fn new(dst: &'a mut Vec<u8>, len: usize, probes: u8) -> Result<Self> {
        let start = dst.len();
        let room = if len <= MAX_SPREAD { len * 8 } else { len };
        // One more byte is for k, which ends the filter.
        dst.try_reserve(room + 1).map_err(|_| Error::out_of_memory("filter", room + 1))?;
        dst.resize(start + room, 0);
        Ok(Self { dst, start, len, probes })
    }

    /// Sets the bits of the keys with the first `count` of these hashes, at least one. The other
    /// hashes may be overwritten.
    #[inline]
    pub(in crate::policy) fn add(&mut self, hashes: &mut [u32; BATCH], count: usize) {
        let area = &mut self.dst[self.start..];
        if self.len > MAX_SPREAD {
            kernel::set_packed(area, self.probes, &hashes[..count]);
        } else {
            kernel::set_spread(area, self.probes, hashes, count);
        }
    }

    /// Ends the array, and appends k.
    pub(in crate::policy) fn finish(self) {
        if self.len <= MAX_SPREAD {
            kernel::pack(&mut self.dst[self.start..]);
            self.dst.truncate(self.start + self.len);
        }
        self.dst.push(self.probes);
    }
}

/// The number of filters that are prefetched before the first of them is probed.
pub(crate) const PREFETCHED: usize = 128;

/// The number of keys that are hashed and looked up side by side.
const GROUP: usize = 32;

/// Answers (key, filter) pairs, with LevelDB's hash of each key.
pub(in crate::policy) fn matches_many(probes: &[(&[u8], &[u8])], answers: &mut [bool]) {
    // The code below must not see more answers than probes.
    let len = probes.len().min(answers.len());
    for (probes, answers) in probes[..len].chunks(PREFETCHED).zip(answers[..len].chunks_mut(PREFETCHED)) {
        kernel::prefetch_probes(probes);
        for (probes, answers) in probes.chunks(GROUP).zip(answers.chunks_mut(GROUP)) {
            matches_group(probes, answers);
        }
    }
}

/// Answers for many hashes whether one filter may have their keys. `of`: LevelDB's hash in a policy's hash.
pub(in crate::policy) fn matches_hashes(
    hashes: &[KeyHash],
    filter: &[u8],
    answers: &mut [bool],
    of: impl Fn(KeyHash) -> u32,
) {
    for (hashes, answers) in hashes.chunks(BATCH).zip(answers.chunks_mut(BATCH)) {
        let mut some = [0; BATCH];
        let len = hashes.len().min(answers.len());
        some.iter_mut().zip(hashes).for_each(|(h, &hash)| *h = of(hash));
        kernel::matches_all(&some[..len], filter, &mut answers[..len]);
    }
}

/// Answers at most `GROUP` probes. Both slices have to be equally long.
fn matches_group(probes: &[(&[u8], &[u8])], answers: &mut [bool]) {
    debug_assert!(probes.len() == answers.len() && probes.len() <= GROUP, "{} probes", probes.len());
    let mut hashes = [0; GROUP];
    hash_group(probes, &mut hashes);
    kernel::matches_each(probes, &hashes[..probes.len()], answers);
}

#[inline]
fn hash_group(probes: &[(&[u8], &[u8])], hashes: &mut [u32; GROUP]) {
    let (hash_eights, _) = hashes.as_chunks_mut::<8>();
    for (probes, hashes) in probes.chunks(8).zip(hash_eights) {
        let eight = probes.first_chunk::<8>();
        if !eight.is_some_and(|probes| kernel::hash_eight_of(probes, BLOOM_SEED, hashes)) {
            probes.iter().zip(hashes).for_each(|((key, _), h)| *h = hash::leveldb(key, BLOOM_SEED));
        }
    }
}
