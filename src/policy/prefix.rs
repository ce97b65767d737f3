//! Filters over a prefix of each key.

use std::borrow::Cow;
use std::fmt;

use super::{FilterPolicy, FilterShape};
use crate::{KeyBuf, Keys, Result};

/// Gives another policy only a prefix of each key. The caller's function returns the length of the
/// prefix.
///
/// Such a filter answers for whole groups of keys: "is there any key of user 7?". If groups hold
/// several keys, it is smaller than a filter over complete keys, since each group is counted once.
///
/// The function always has to return the same length for the same key. With another function, or
/// another version of it, stored keys may be hidden. So the policy has a name of its own in tables.
/// Change the name with the function.
///
/// A key without a prefix (`None`) is in no filter. Such a key may match any filter that is not
/// empty. Keys with equal prefixes have equal answers, so keys that a comparator considers equal
/// need equal prefixes.
///
/// ```
/// use filterblock::{BloomFilterPolicy, FilterPolicy, KeyBuf, PrefixPolicy};
///
/// let user = |key: &[u8]| Some(key.iter().position(|&byte| byte == b':')?);
/// let policy = PrefixPolicy::new("example.User", BloomFilterPolicy::new(10), user);
/// let keys: KeyBuf = ["ada:mail", "ada:name", "bob:mail"].into_iter().collect();
/// let mut filter = Vec::new();
/// policy.create_filter(keys.as_keys(), &mut filter)?;
/// assert!(policy.key_may_match(b"ada:phone", &filter)); // some key of ada's is there
/// assert!(!policy.key_may_match(b"eve:mail", &filter));
/// assert!(policy.prefix_may_match(b"bob", &filter));
/// assert!(policy.key_may_match(b"no colon", &filter)); // has no user
/// # Ok::<(), filterblock::Error>(())
/// ```
#[derive(Clone)]
pub struct PrefixPolicy<P, F> {
    name: Cow<'static, str>,
    policy: P,
    prefix_len: F,
}

impl<P: FilterPolicy, F: Fn(&[u8]) -> Option<usize> + Send + Sync> PrefixPolicy<P, F> {
    /// Returns a policy under the name `name`. It filters the first `prefix_len(key)` bytes of each
    /// key with `policy`.
    ///
    /// A length beyond the key means the whole key. In the tables of a database, this policy is
    /// wrapped in an [`InternalFilterPolicy`](crate::InternalFilterPolicy), so the function sees
    /// user keys.
    pub fn new(name: impl Into<Cow<'static, str>>, policy: P, prefix_len: F) -> Self {
        Self { name: name.into(), policy, prefix_len }
    }

    /// Returns the policy that sees the prefixes.
    pub const fn policy(&self) -> &P {
        &self.policy
    }

    /// Returns `true` if a key with exactly this prefix may be among those that `filter` was made
    /// for.
    pub fn prefix_may_match(&self, prefix: &[u8], filter: &[u8]) -> bool {
        self.policy.key_may_match(prefix, filter)
    }

    #[inline]
    fn prefix<'k>(&self, key: &'k [u8]) -> Option<&'k [u8]> {
        let len = (self.prefix_len)(key)?;
        Some(key.get(..len).unwrap_or(key))
    }
}

impl<P: FilterPolicy, F: Fn(&[u8]) -> Option<usize> + Send + Sync> FilterPolicy for PrefixPolicy<P, F> {
    fn name(&self) -> &str {
        &self.name
    }

    /// Counts equal prefixes once if they are neighbours, as they are among sorted keys.
    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        let (mut prefixes, mut last) = (KeyBuf::new(), None);
        for prefix in keys.iter().filter_map(|key| self.prefix(key)) {
            if last.replace(prefix) != Some(prefix) {
                prefixes.push(prefix);
            }
        }
        let before = dst.len();
        self.policy.create_filter(prefixes.as_keys(), dst)?;
        // An empty filter would stand for a range without keys, and rule out all keys.
        if dst.len() == before && !keys.is_empty() {
            dst.push(0);
        }
        Ok(())
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        match self.prefix(key) {
            Some(prefix) => self.policy.key_may_match(prefix, filter),
            None => !filter.is_empty(),
        }
    }

    fn filter_len(&self, num_keys: usize) -> Option<usize> {
        // The greatest possible length, since equal prefixes are counted once. A filter for one key or more
        // has at least one byte.
        self.policy.filter_len(num_keys).map(|len| len.max(1))
    }

    fn describe(&self, filter: &[u8]) -> Option<FilterShape> {
        self.policy.describe(filter)
    }
}

impl<P: FilterPolicy, F> fmt::Debug for PrefixPolicy<P, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrefixPolicy").field("name", &self.name).field("policy", &self.policy.name()).finish()
    }
}
