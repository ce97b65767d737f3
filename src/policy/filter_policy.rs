//! What every policy does.

use std::sync::Arc;

use super::{FilterShape, KeyHash, Origin};
use crate::{Error, Keys, Result};

/// A policy that can be shared between tables and threads.
pub type SharedPolicy = Arc<dyn FilterPolicy>;

/// Makes filters for sets of keys and asks them (LevelDB's `include/leveldb/filter_policy.h`).
///
/// A filter may say that a key is there though it is not, never the reverse: for every key
/// given to [`create_filter`](Self::create_filter), [`key_may_match`](Self::key_may_match) is
/// true on what it appended. Answers depend on nothing but the arguments.
///
/// A filter is stored under the policy's name. Once the encoding changes in a way that old readers would misread,
/// the name has to change too.
///
/// # Examples
///
/// With a comparator that ignores trailing spaces, keys that compare equal must have equal
/// answers, so the filter is made of what the comparator looks at:
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
/// A filter over a part of each key is what [`PrefixPolicy`](super::PrefixPolicy) makes.
pub trait FilterPolicy: Send + Sync {
    /// The name under which tables store this policy's filters, without `filter.` before it.
    fn name(&self) -> &str;

    /// Appends a filter for `keys` to `dst` and leaves what is there untouched.
    ///
    /// # Errors
    ///
    /// Where no filter can be made; `dst` is then as before. An error of the policy's own
    /// goes into [`Error::policy`].
    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()>;

    /// Whether `key` may be among the keys that `filter` was made for.
    ///
    /// `filter` can be any bytes when it comes from a damaged file. No answer may panic; in doubt it is `true`.
    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool;

    /// Answers many (key, filter) pairs: `answers[i]` for `probes[i]`, as
    /// [`key_may_match`](Self::key_may_match) would. Where the lengths differ, the shorter one
    /// counts, and answers beyond it stay as they are.
    ///
    /// By default one by one. A policy that waits for memory can look up several at once here.
    fn keys_may_match(&self, probes: &[(&[u8], &[u8])], answers: &mut [bool]) {
        for (&(key, filter), answer) in probes.iter().zip(answers) {
            *answer = self.key_may_match(key, filter);
        }
    }

    /// The hash through which alone this policy looks at `key`, or `None` if there is no
    /// such hash, for this key or for any (the default).
    ///
    /// A policy that returns one also has to implement
    /// [`create_filter_from_hashes`](Self::create_filter_from_hashes) and
    /// [`hash_may_match`](Self::hash_may_match), so that either way gives the same filters and answers. Then
    /// [`FilterBlockBuilder`](crate::FilterBlockBuilder) keeps hashes in place of keys where it is faster.
    #[expect(unused_variables, reason = "named for the documentation")]
    fn hash_key(&self, key: &[u8]) -> Option<KeyHash> {
        None
    }

    /// Appends the filter for the keys with these [hashes](Self::hash_key) to `dst`.
    ///
    /// # Errors
    ///
    /// As [`create_filter`](Self::create_filter), and [`Error::HashUnsupported`] by default.
    #[expect(unused_variables, reason = "named for the documentation")]
    fn create_filter_from_hashes(&self, hashes: &[KeyHash], dst: &mut Vec<u8>) -> Result<()> {
        Err(Error::HashUnsupported { policy: self.name().to_owned() })
    }

    /// Whether a key with this [hash](Self::hash_key) may be among those that `filter` was
    /// made for. By default it may.
    #[expect(unused_variables, reason = "named for the documentation")]
    fn hash_may_match(&self, hash: KeyHash, filter: &[u8]) -> bool {
        true
    }

    /// Measures a filter: its bits, how many are set, the probes of a key, and the rate of false positives that
    /// follows. One pass over the filter.
    ///
    /// `filter` can be any bytes when it comes from a damaged file. `None` by default, and where
    /// the bytes are no filter of this policy or say nothing of that kind.
    #[expect(unused_variables, reason = "named for the documentation")]
    fn describe(&self, filter: &[u8]) -> Option<FilterShape> {
        None
    }

    /// Whether this policy reads the filters under its name in tables of `origin`, a relative of LevelDB.
    ///
    /// This is asked where a relative gave a name of LevelDB's to another encoding: so far in tables with
    /// [Basho's mark](Origin::Basho), for filters under `leveldb.BuiltinBloomFilter2`. They are left to
    /// policies that say yes; without one, every key may match. By default a policy says no.
    #[expect(unused_variables, reason = "named for the documentation")]
    fn reads_dialect(&self, origin: Origin) -> bool {
        false
    }
}
