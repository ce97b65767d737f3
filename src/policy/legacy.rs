//! The Bloom filter under LevelDB's old name, as goleveldb still writes it.
//!
//! The filter is that of [`BloomFilterPolicy`]; only the hash may differ. LevelDB up to 1.17 took the bytes behind a key's
//! last whole word of four as `char`: signed on x86, unsigned on ARM. goleveldb takes them as unsigned. Nothing in
//! a table says which it was.

use super::{BloomFilterPolicy, FilterPolicy, FilterShape, KeyHash, bit_array};
use crate::hash::{self, BLOOM_SEED, to_signed_tail};
use crate::kernel::MAX_PROBES;
use crate::kernel::matches;
use crate::{Error, Keys, Result};

/// goleveldb counts bits in 32 bits, and rounds them up to whole bytes there.
const MAX_BITS: u64 = (1 << 32) - 8;

/// The Bloom filter of LevelDB up to 1.17 and of goleveldb, `leveldb.BuiltinBloomFilter`.
///
/// Made for reading tables of unknown origin: unless told otherwise, a key is absent only if
/// the filter denies it by the unsigned and by the signed hash. That costs a second search for those absent keys
/// whose last one to three bytes behind whole words of four hold one from 0x80 on, and about doubles their false positives. For
/// other keys the hashes are equal.
///
/// Filters are goleveldb's, byte for byte. They take `bits_per_key` bits for each key, at least 64, and one byte.
///
/// ```
/// use filterblock::{FilterPolicy, KeyBuf, LegacyBloomPolicy};
/// let policy = LegacyBloomPolicy::new(10);
/// let keys: KeyBuf = ["hello", "world"].into_iter().collect();
/// let mut filter = Vec::new();
/// policy.create_filter(keys.as_keys(), &mut filter)?;
/// assert!(policy.key_may_match(b"hello", &filter));
/// assert!(!policy.key_may_match(b"x", &filter));
/// # Ok::<(), filterblock::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LegacyBloomPolicy {
    bloom: BloomFilterPolicy,
    hash: LegacyHash,
}

/// How the one to three bytes behind a key's last whole word of four are read: [`LegacyBloomPolicy::with_hash`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LegacyHash {
    /// Reads by both, so that no key is denied whoever wrote the table; writes by the unsigned one.
    #[default]
    Either,
    /// Reads and writes as goleveldb, and as LevelDB up to 1.17 on ARM.
    Unsigned,
    /// Reads and writes as LevelDB up to 1.17 on x86.
    Signed,
}

impl LegacyBloomPolicy {
    /// Filters of `bits_per_key` bits a key, with k = 0.69 * `bits_per_key` probes, rounded
    /// down, at least 1 and at most 30, read by [`LegacyHash::Either`].
    ///
    /// As in goleveldb, k is rounded in eight bits: from 372 bits a key on, it starts again at 1.
    pub fn new(bits_per_key: u32) -> Self {
        let probes = (u64::from(bits_per_key) * 69 / 100) as u8;
        let bloom = BloomFilterPolicy::new(bits_per_key).with_probes(probes.clamp(1, MAX_PROBES));
        Self { bloom, hash: LegacyHash::default() }
    }

    /// The same with another hash. What one of [`Unsigned`](LegacyHash::Unsigned) and [`Signed`](LegacyHash::Signed) has written, the
    /// other denies for many keys.
    #[must_use]
    pub const fn with_hash(self, hash: LegacyHash) -> Self {
        Self { hash, ..self }
    }

    /// Which hash reads and writes.
    pub const fn legacy_hash(&self) -> LegacyHash {
        self.hash
    }

    /// Bits for each key.
    pub const fn bits_per_key(&self) -> u32 {
        self.bloom.bits_per_key()
    }

    /// k: how many bits each key sets.
    pub const fn probes(&self) -> u8 {
        self.bloom.probes()
    }

    /// That a filter for so many keys is not too large.
    fn check_size(&self, keys: u64) -> Result<()> {
        let bits = bit_array::wished_bits(keys, self.bits_per_key());
        if bits > u128::from(MAX_BITS) {
            return Err(Error::FilterSize { keys, limit: MAX_BITS, bits });
        }
        Ok(())
    }

    fn create(&self, hashes: impl ExactSizeIterator<Item = KeyHash>, dst: &mut Vec<u8>) -> Result<()> {
        self.check_size(hashes.len() as u64)?;
        match self.hash {
            LegacyHash::Signed => self.bloom.create(hashes.map(|hash| hash.pair().1), dst),
            LegacyHash::Unsigned | LegacyHash::Either => {
                self.bloom.create(hashes.map(|hash| hash.pair().0), dst)
            }
        }
    }
}

/// Both hashes of a key: unsigned and signed.
fn hash_key(key: &[u8]) -> KeyHash {
    let unsigned = hash::leveldb(key, BLOOM_SEED);
    KeyHash::from_pair(unsigned, to_signed_tail(unsigned, key))
}

impl FilterPolicy for LegacyBloomPolicy {
    fn name(&self) -> &str {
        "leveldb.BuiltinBloomFilter"
    }

    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        self.create(keys.iter().map(hash_key), dst)
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        self.hash_may_match(hash_key(key), filter)
    }

    fn hash_key(&self, key: &[u8]) -> Option<KeyHash> {
        Some(hash_key(key))
    }

    fn create_filter_from_hashes(&self, hashes: &[KeyHash], dst: &mut Vec<u8>) -> Result<()> {
        self.create(hashes.iter().copied(), dst)
    }

    fn hash_may_match(&self, hash: KeyHash, filter: &[u8]) -> bool {
        let (unsigned, signed) = hash.pair();
        match self.hash {
            LegacyHash::Unsigned => matches(unsigned, filter),
            LegacyHash::Signed => matches(signed, filter),
            LegacyHash::Either => matches(unsigned, filter) || signed != unsigned && matches(signed, filter),
        }
    }

    fn describe(&self, filter: &[u8]) -> Option<FilterShape> {
        bit_array::leveldb_shape(filter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_end_at_goleveldbs_limit() {
        let policy = LegacyBloomPolicy::new(8);
        assert!(policy.check_size(MAX_BITS / 8).is_ok());
        let error = policy.check_size(MAX_BITS / 8 + 1).unwrap_err();
        assert!(matches!(error, Error::FilterSize { bits: 0x1_0000_0000, .. }), "{error}");
    }
}
