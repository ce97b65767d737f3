//! The hash of a key.

use std::fmt;

/// The hash of a key: up to 64 bits that mean something only to the policy that made them.
///
/// An LSM tree looks one key up in many tables. It can hash the key once, with
/// [`hash_key`](super::FilterPolicy::hash_key), and pass the hash to
/// [`hash_may_match`](super::FilterPolicy::hash_may_match) for each table.
///
/// # Hashes of your own
///
/// [`BloomFilterPolicy`](super::BloomFilterPolicy) can make and query filters by hashes that are not its own.
/// It promises to use only the lower 32 bits of a hash, as `h` in [its
/// encoding](super::BloomFilterPolicy#encoding). So it can make and read, bit for bit, filters of other
/// programs that set LevelDB's bits by another hash, such as mini-lsm and agatedb, whose `h` is the 32-bit
/// fingerprint of FarmHash. All keys of a filter have to be added by hash and looked up by hash; a policy
/// that wraps `BloomFilterPolicy` can take keys, and hash them itself:
///
/// ```
/// use filterblock::{BloomFilterPolicy, Error, FilterPolicy, KeyBuf, KeyHash, Keys, Result};
///
/// /// LevelDB's probes over a hash of our own.
/// struct OwnHash(BloomFilterPolicy);
///
/// /// FNV-1a, in place of yours.
/// fn hash(key: &[u8]) -> u32 {
///     key.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
/// }
///
/// impl FilterPolicy for OwnHash {
///     fn name(&self) -> &str {
///         "example.OwnHash" // another encoding, so another name
///     }
///     fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
///         let hashes: Vec<KeyHash> = keys.iter().filter_map(|key| self.hash_key(key)).collect();
///         self.create_filter_from_hashes(&hashes, dst)
///     }
///     fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
///         self.hash_may_match(KeyHash::new(hash(key).into()), filter)
///     }
///     fn takes_hashes(&self) -> bool {
///         true
///     }
///     fn hash_key(&self, key: &[u8]) -> Option<KeyHash> {
///         Some(KeyHash::new(hash(key).into()))
///     }
///     fn create_filter_from_hashes(&self, hashes: &[KeyHash], dst: &mut Vec<u8>) -> Result<()> {
///         self.0.create_filter_from_hashes(hashes, dst)
///     }
///     fn hash_may_match(&self, hash: KeyHash, filter: &[u8]) -> bool {
///         self.0.hash_may_match(hash, filter)
///     }
///     fn filter_len(&self, num_keys: usize) -> Option<usize> {
///         self.0.filter_len(num_keys)
///     }
/// }
///
/// let policy = OwnHash(BloomFilterPolicy::new(10));
/// let keys: KeyBuf = ["apple", "pear"].into_iter().collect();
/// let mut filter = Vec::new();
/// policy.create_filter(keys.as_keys(), &mut filter)?;
/// assert!(policy.key_may_match(b"pear", &filter));
/// assert!(!policy.key_may_match(b"plum", &filter));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash(u64);

impl KeyHash {
    /// Wraps the bits that a policy needs of a key. This is for policies.
    pub const fn new(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the bits given to [`new`](Self::new). This is for policies.
    pub const fn get(self) -> u64 {
        self.0
    }

    pub(super) const fn from_pair(first: u32, second: u32) -> Self {
        Self((second as u64) << 32 | first as u64)
    }

    pub(super) const fn pair(self) -> (u32, u32) {
        (self.0 as u32, (self.0 >> 32) as u32)
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyHash({:#x})", self.0)
    }
}
