//! Filters of prefixes.

use filterblock::{
    BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterPolicy, KeyBuf, Keys, PrefixPolicy,
    Result,
};

fn user(key: &[u8]) -> Option<usize> {
    key.iter().position(|&byte| byte == b':')
}

fn policy() -> PrefixPolicy<BloomFilterPolicy, impl Fn(&[u8]) -> Option<usize> + Send + Sync> {
    PrefixPolicy::new("test.User", BloomFilterPolicy::new(20), user)
}

/// The filter is the one that the inner policy makes of the prefixes, each given once.
#[test]
fn a_filter_is_made_of_each_prefix_once() {
    let keys: KeyBuf = ["ada:1", "ada:2", "bob:1", "none", "bob:3", "eve:"].into_iter().collect();
    let (mut made, mut expected) = (vec![1], vec![1]);
    policy().create_filter(keys.as_keys(), &mut made).unwrap();
    // A key without a prefix between two of one prefix does not part them.
    let prefixes: KeyBuf = ["ada", "bob", "eve"].into_iter().collect();
    BloomFilterPolicy::new(20).create_filter(prefixes.as_keys(), &mut expected).unwrap();
    assert_eq!(made, expected);
}

#[test]
fn keys_are_asked_for_by_their_prefix() {
    let mut builder = FilterBlockBuilder::new(policy());
    builder.start_block(0).unwrap();
    for i in 0..500 {
        builder.add_key(format!("user{:03}:{i}", i / 5).as_bytes());
    }
    let block = builder.finish().unwrap();
    let reader = FilterBlockReader::new(policy(), block);
    for i in 0..100 {
        assert!(reader.key_may_match(0, format!("user{i:03}:whatever").as_bytes()));
        assert!(
            reader.policy().prefix_may_match(format!("user{i:03}").as_bytes(), reader.filter(0).unwrap())
        );
    }
    let passed = (100..1000).filter(|i| reader.key_may_match(0, format!("user{i}:1").as_bytes())).count();
    assert!(passed < 10, "{passed} of 900");
    let filter = reader.filter(0).unwrap();
    let may_match = |i: &u32| reader.policy().prefix_may_match(format!("user{i}").as_bytes(), filter);
    assert_eq!((100..1000).filter(may_match).count(), passed, "the prefixes of these keys");
    assert_eq!(reader.policy().name(), "test.User");
    assert!(reader.key_may_match(0, b"no prefix"), "in no filter, so it may be there");
    // The policy has no hashes, since it has to see the keys.
    assert_eq!(reader.policy().hash_key(b"ada:1"), None);
    assert_eq!(reader.policy().describe(reader.filter(0).unwrap()).unwrap().bits, 2000);
}

#[test]
fn a_length_beyond_the_key_is_the_whole_key() {
    let policy = PrefixPolicy::new("test.Long", BloomFilterPolicy::new(20), |_: &[u8]| Some(usize::MAX));
    let keys: KeyBuf = ["short"].into_iter().collect();
    let mut filter = Vec::new();
    policy.create_filter(keys.as_keys(), &mut filter).unwrap();
    assert!(policy.key_may_match(b"short", &filter) && !policy.key_may_match(b"shor", &filter));
    assert_eq!(
        format!("{policy:?}"),
        r#"PrefixPolicy { name: "test.Long", policy: "leveldb.BuiltinBloomFilter2" }"#
    );
}

/// A policy whose filters are the keys themselves. Without keys, a filter is empty.
struct Listed;

impl FilterPolicy for Listed {
    fn name(&self) -> &str {
        "test.Listed"
    }

    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        keys.iter().for_each(|key| dst.extend([key, b";"].concat()));
        Ok(())
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        filter.split(|&byte| byte == b';').any(|stored| stored == key)
    }
}

/// An empty filter would be taken for that of a range without keys, which denies all keys.
#[test]
fn a_range_of_keys_without_prefixes_has_a_filter() {
    let policy = || PrefixPolicy::new("test.User", Listed, user);
    let mut builder = FilterBlockBuilder::new(policy());
    for (offset, key) in [(0, "none"), (4096, "ada:1")] {
        builder.start_block(offset).unwrap();
        builder.add_key(key.as_bytes());
    }
    let reader = FilterBlockReader::new(policy(), builder.finish().unwrap());
    assert!(reader.key_may_match(0, b"none") && !reader.key_may_match(0, b"ada:1"));
    assert!(!reader.key_may_match(2048, b"none"), "a range without keys has none");
    assert!(reader.key_may_match(4096, b"ada:1") && !reader.key_may_match(4096, b"bob:1"));
}
