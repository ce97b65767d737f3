//! The trait of all policies, which references and smart pointers forward, and the measures of a filter.

use std::sync::Arc;

use super::{KeyHash, Origin};
use crate::{Error, Keys, Result};

/// A policy that can be shared between tables and threads.
pub type SharedPolicy = Arc<dyn FilterPolicy>;

/// Makes filters for sets of keys and looks keys up in them (LevelDB's
/// `include/leveldb/filter_policy.h`).
///
/// An absent key may match; a stored key always does. For every key given to
/// [`create_filter`](Self::create_filter), [`key_may_match`](Self::key_may_match) returns `true` for
/// the filter that was appended. Answers depend on nothing but the arguments.
///
/// A filter is stored under the policy's name. If the encoding changes so that old readers would
/// misread it, the name has to change too.
///
/// # Examples
///
/// If the comparator ignores trailing spaces, keys that it considers equal need equal answers. So
/// the filter is made from the part of each key that the comparator reads:
///
/// ```
/// use filterblock::{BloomFilterPolicy, FilterPolicy, KeyBuf, Keys, Result};
///
/// struct IgnoreTrailingSpaces(BloomFilterPolicy);
///
/// fn trim(mut key: &[u8]) -> &[u8] {
///     while let [rest @ .., b' '] = key {
///         key = rest;
///     }
///     key
/// }
///
/// impl FilterPolicy for IgnoreTrailingSpaces {
///     fn name(&self) -> &str {
///         "example.IgnoreTrailingSpaces"
///     }
///     fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
///         let trimmed: KeyBuf = keys.iter().map(trim).collect();
///         self.0.create_filter(trimmed.as_keys(), dst)
///     }
///     fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
///         self.0.key_may_match(trim(key), filter)
///     }
/// }
///
/// let policy = IgnoreTrailingSpaces(BloomFilterPolicy::new(10));
/// let keys: KeyBuf = ["pear  "].into_iter().collect();
/// let mut filter = Vec::new();
/// policy.create_filter(keys.as_keys(), &mut filter)?;
/// assert!(policy.key_may_match(b"pear", &filter));
/// assert!(!policy.key_may_match(b"plum", &filter));
/// # Ok::<(), filterblock::Error>(())
/// ```
///
/// [`PrefixPolicy`](super::PrefixPolicy) makes filters over a prefix of each key.
pub trait FilterPolicy: Send + Sync {
    /// Returns the name under which tables store this policy's filters, without the prefix
    /// `filter.`.
    fn name(&self) -> &str;

    /// Appends a filter for `keys` to `dst` and leaves its previous contents untouched.
    ///
    /// # Errors
    ///
    /// An error if no filter can be made; `dst` is then as before. [`Error::policy`] wraps a
    /// policy's own error.
    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()>;

    /// Returns `true` if `key` may be among the keys that `filter` was made for.
    ///
    /// `filter` can be any bytes if it comes from a damaged file. The call must not panic, and
    /// returns `true` when in doubt.
    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool;

    /// Answers many (key, filter) pairs: `answers[i]` is the answer to `probes[i]`, the same as
    /// from [`key_may_match`](Self::key_may_match). If the slices differ in length, the rest of the
    /// longer slice is ignored, and answers without a probe stay as they are.
    ///
    /// By default, pairs are answered one by one. A policy whose lookups wait for memory can answer
    /// several pairs together here.
    fn keys_may_match(&self, probes: &[(&[u8], &[u8])], answers: &mut [bool]) {
        for (&(key, filter), answer) in probes.iter().zip(answers) {
            *answer = self.key_may_match(key, filter);
        }
    }

    /// Returns `true` if this policy makes filters from hashes. The default is `false`.
    ///
    /// Such a policy also implements [`hash_key`](Self::hash_key),
    /// [`create_filter_from_hashes`](Self::create_filter_from_hashes) and
    /// [`hash_may_match`](Self::hash_may_match), with the same filters and answers as by key.
    /// [`FilterBlockBuilder`](crate::FilterBlockBuilder) then keeps the hashes of many keys of several
    /// lengths, and not the keys.
    fn takes_hashes(&self) -> bool {
        false
    }

    /// Returns the hash of `key`, if this policy uses only a hash of the key. `None` (the default) if
    /// the policy has no hash for this key, or for any key.
    #[expect(unused_variables, reason = "named for the documentation")]
    fn hash_key(&self, key: &[u8]) -> Option<KeyHash> {
        None
    }

    /// Appends the [hash](Self::hash_key) of each of `keys` to `hashes`, if the policy hashes several keys
    /// together in less time than one by one. Otherwise (the default), or if a key has no hash, returns `false`
    /// and appends nothing.
    #[expect(unused_variables, reason = "named for the documentation")]
    fn hash_keys(&self, keys: Keys<'_>, hashes: &mut Vec<KeyHash>) -> bool {
        false
    }

    /// Appends the filter for the keys with these [hashes](Self::hash_key) to `dst`.
    ///
    /// # Errors
    ///
    /// The errors of [`create_filter`](Self::create_filter). By default, always
    /// [`Error::HashUnsupported`].
    #[expect(unused_variables, reason = "named for the documentation")]
    fn create_filter_from_hashes(&self, hashes: &[KeyHash], dst: &mut Vec<u8>) -> Result<()> {
        Err(Error::HashUnsupported { policy: self.name().to_owned() })
    }

    /// Returns `true` if a key with this [hash](Self::hash_key) may be among those that `filter`
    /// was made for. The default is `true`.
    #[expect(unused_variables, reason = "named for the documentation")]
    fn hash_may_match(&self, hash: KeyHash, filter: &[u8]) -> bool {
        true
    }

    /// Answers for many [hashes](Self::hash_key) whether their keys may be among those that one filter was made
    /// for: `answers[i]` is the answer to `hashes[i]`, the same as from [`hash_may_match`](Self::hash_may_match). If
    /// the slices differ in length, the rest of the longer slice is ignored.
    ///
    /// By default, hashes are checked one by one.
    fn hashes_may_match(&self, hashes: &[KeyHash], filter: &[u8], answers: &mut [bool]) {
        for (&hash, answer) in hashes.iter().zip(answers) {
            *answer = self.hash_may_match(hash, filter);
        }
    }

    /// Returns the length in bytes of a filter for `num_keys` keys, repeated keys included: the exact length,
    /// or the greatest possible length if it depends on the keys. `None` (the default) if the length is not
    /// known, or there is no filter for this number of keys.
    ///
    /// [`FilterBlockBuilder::estimated_len`](crate::FilterBlockBuilder::estimated_len) calls this, possibly
    /// after each key, so it should take hardly any time.
    #[expect(unused_variables, reason = "named for the documentation")]
    fn filter_len(&self, num_keys: usize) -> Option<usize> {
        None
    }

    /// Measures a filter: the numbers of its bits, of its set bits and of the probes for a key, and
    /// the resulting false-positive rate. This costs one pass over the filter.
    ///
    /// `filter` can be any bytes if it comes from a damaged file. `None` (the default) if the bytes
    /// are not a filter of this policy, or have no such measures.
    #[expect(unused_variables, reason = "named for the documentation")]
    fn describe(&self, filter: &[u8]) -> Option<FilterShape> {
        None
    }

    /// Returns `true` if this policy reads the filters under its name in tables of `origin`. The
    /// default is `false`.
    ///
    /// This matters if a program other than LevelDB gave one of its names to another encoding. So far, this
    /// concerns filters under `leveldb.BuiltinBloomFilter2` in tables with
    /// [Basho's mark](Origin::Basho). Only policies that return `true` read such filters. Without
    /// such a policy, every key may match.
    #[expect(unused_variables, reason = "named for the documentation")]
    fn reads_dialect(&self, origin: Origin) -> bool {
        false
    }
}

/// The measures of one filter, as returned by
/// [`FilterPolicy::describe`](super::FilterPolicy::describe).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FilterShape {
    /// The size of the bit array, in bits.
    pub bits: u64,
    /// The number of bits that are set.
    pub bits_set: u64,
    /// k, the number of bits that have to be set for a key to match.
    pub probes: u32,
    /// The false-positive rate, 0 to 1, as expected for independent hashes.
    pub expected_rate: f64,
}

impl FilterShape {
    /// Returns the measures of a Bloom filter that probes `probes` of its bits. Its false-positive
    /// rate is `(bits_set / bits)^probes`.
    ///
    /// Without bits, no key matches. With bits but without probes, every key does.
    #[must_use]
    pub fn bloom(bits: u64, bits_set: u64, probes: u32) -> Self {
        let exponent = i32::try_from(probes).unwrap_or(i32::MAX);
        let expected_rate = if bits == 0 { 0.0 } else { (bits_set as f64 / bits as f64).powi(exponent) };
        Self { bits, bits_set, probes, expected_rate }
    }

    /// Returns the same measures with another rate, for filters that rule out more or fewer keys than
    /// their bits suggest.
    #[must_use]
    pub fn with_expected_rate(self, expected_rate: f64) -> Self {
        Self { expected_rate, ..self }
    }
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<P: FilterPolicy + ?Sized> FilterPolicy for $pointer {
            #[inline]
            fn name(&self) -> &str {
                (**self).name()
            }
            #[inline]
            fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
                (**self).create_filter(keys, dst)
            }
            #[inline]
            fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
                (**self).key_may_match(key, filter)
            }
            #[inline]
            fn keys_may_match(&self, probes: &[(&[u8], &[u8])], answers: &mut [bool]) {
                (**self).keys_may_match(probes, answers);
            }
            fn takes_hashes(&self) -> bool {
                (**self).takes_hashes()
            }
            #[inline]
            fn hash_key(&self, key: &[u8]) -> Option<KeyHash> {
                (**self).hash_key(key)
            }
            fn hash_keys(&self, keys: Keys<'_>, hashes: &mut Vec<KeyHash>) -> bool {
                (**self).hash_keys(keys, hashes)
            }
            #[inline]
            fn create_filter_from_hashes(&self, hashes: &[KeyHash], dst: &mut Vec<u8>) -> Result<()> {
                (**self).create_filter_from_hashes(hashes, dst)
            }
            #[inline]
            fn hash_may_match(&self, hash: KeyHash, filter: &[u8]) -> bool {
                (**self).hash_may_match(hash, filter)
            }
            fn hashes_may_match(&self, hashes: &[KeyHash], filter: &[u8], answers: &mut [bool]) {
                (**self).hashes_may_match(hashes, filter, answers);
            }
            fn filter_len(&self, num_keys: usize) -> Option<usize> {
                (**self).filter_len(num_keys)
            }
            #[inline]
            fn describe(&self, filter: &[u8]) -> Option<FilterShape> {
                (**self).describe(filter)
            }
            fn reads_dialect(&self, origin: Origin) -> bool {
                (**self).reads_dialect(origin)
            }
        }
    )*};
}

forward!(&P, Box<P>, Arc<P>);
