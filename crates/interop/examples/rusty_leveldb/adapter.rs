//! An adapter to copy: a filter policy of `filterblock` as one of `rusty-leveldb`.

use filterblock::Keys;

/// Forwards everything to `P`. `rusty-leveldb` passes it user keys, as LevelDB does.
///
/// The crate does not compare names when it looks for a table's filter: it takes the first one
/// whose name is not before the policy's. Therefore read a database only with the policy that wrote
/// it.
pub(crate) struct Policy<P> {
    policy: P,
    name: &'static str,
}

impl<P: filterblock::FilterPolicy> Policy<P> {
    pub(crate) fn new(policy: P) -> Self {
        // The crate wants a `'static` name, so each policy leaks this one short string.
        let name = policy.name().to_owned().leak();
        Self { policy, name }
    }
}

impl<P: filterblock::FilterPolicy> rusty_leveldb::FilterPolicy for Policy<P> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn create_filter(&self, keys: &[u8], key_offsets: &[usize]) -> Vec<u8> {
        let mut filter = Vec::new();
        let created =
            Keys::new(keys, key_offsets).and_then(|keys| self.policy.create_filter(keys, &mut filter));
        // The trait has no errors, and a filter that denies these keys must not be returned.
        created.unwrap_or_else(|error| panic!("making a filter of {}: {error}", self.name));
        filter
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        self.policy.key_may_match(key, filter)
    }
}
