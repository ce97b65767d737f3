//! Building allocates nothing once the buffers have grown, and asking never does. Memory that cannot be had is an
//! error.

use std::sync::Arc;

use filterblock::{AtomicBloomFilter, LegacyBloomPolicy, Murmur3BloomPolicy, SharedPolicy};
use filterblock::{BashoBloom2Policy, BloomFilterPolicy, CassandraBloomPolicy, Error, FilterBlockBuilder};
use filterblock::{FilterBlockReader, FilterPolicy, InternalFilterPolicy, KeyBuf, KeyHash, Keys};

use crate::counting::{allocations, held, with_at_most};

fn keys() -> Vec<Vec<u8>> {
    (0..4000u32).map(|i| i.to_be_bytes().repeat(2 + i as usize % 20)).collect()
}

fn build<P: FilterPolicy>(builder: &mut FilterBlockBuilder<P>, keys: &[Vec<u8>], block: &mut Vec<u8>) {
    for (offset, keys) in (0..).step_by(2048).zip(keys.chunks(40)) {
        builder.start_block(offset).unwrap();
        keys.iter().for_each(|key| builder.add_key(key));
    }
    builder.finish_into(block).unwrap();
}

fn policies() -> [SharedPolicy; 2] {
    let bloom = BloomFilterPolicy::new(10);
    [Arc::new(bloom), Arc::new(InternalFilterPolicy::new(bloom))]
}

#[test]
fn building_again_allocates_nothing() {
    let keys = keys();
    for policy in policies() {
        let mut builder = FilterBlockBuilder::new(policy);
        let mut block = Vec::new();
        build(&mut builder, &keys, &mut block);
        let first = std::mem::take(&mut block);
        block.reserve(first.len());
        assert_eq!(allocations(|| build(&mut builder, &keys, &mut block)).0, 0);
        assert_eq!(block, first);
    }
}

/// A policy that has no hash for the key `-`.
struct Partly(BloomFilterPolicy);

impl FilterPolicy for Partly {
    fn name(&self) -> &str {
        "test.Partly"
    }
    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> filterblock::Result<()> {
        self.0.create_filter(keys, dst)
    }
    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        self.0.key_may_match(key, filter)
    }
    fn takes_hashes(&self) -> bool {
        true
    }
    fn hash_key(&self, key: &[u8]) -> Option<KeyHash> {
        (key != b"-").then(|| self.0.hash(key))
    }
    fn create_filter_from_hashes(&self, hashes: &[KeyHash], dst: &mut Vec<u8>) -> filterblock::Result<()> {
        self.0.create_filter_from_hashes(hashes, dst)
    }
}

/// Keys of several lengths take eight bytes each, also behind a range whose keys had no hashes.
#[test]
fn many_keys_of_a_range_are_not_held() {
    let key = |number: usize| [&vec![b'k'; 1000 + number % 7][..], &number.to_be_bytes()].concat();
    for at_once in [false, true] {
        let mut builder = FilterBlockBuilder::with_base_lg(Partly(BloomFilterPolicy::new(10)), 63).unwrap();
        builder.add_key(b"-");
        (0..3000).for_each(|number| builder.add_key(&b"kk"[number % 2..]));
        builder.finish().unwrap();
        let keys: KeyBuf = (0..if at_once { 10_000 } else { 0 }).map(key).collect();
        let before = held();
        match at_once {
            true => builder.add_keys(keys.as_keys()),
            false => (0..10_000).for_each(|number| builder.add_key(&key(number))),
        }
        let now = held() - before;
        assert!(now < 2 << 20, "{now} bytes of 10 MB");
        builder.finish().unwrap();
    }
}

#[test]
fn asking_allocates_nothing() {
    let keys = keys();
    for policy in policies() {
        let mut block = Vec::new();
        build(&mut FilterBlockBuilder::new(&policy), &keys, &mut block);
        let reader = FilterBlockReader::new(&policy, &block);

        let offset = |index: usize| (index / 40) as u64 * 2048;
        let queries: Vec<(u64, &[u8])> =
            keys.iter().enumerate().map(|(index, key)| (offset(index), &key[..])).collect();
        let hashes: Vec<Option<KeyHash>> = keys.iter().map(|key| policy.hash_key(key)).collect();
        let mut answers = Vec::with_capacity(queries.len());
        let (count, ()) = allocations(|| {
            assert!(queries.iter().all(|&(offset, key)| reader.key_may_match(offset, key)));
            for (&(offset, key), hash) in queries.iter().zip(&hashes) {
                assert_eq!(policy.hash_key(key), *hash);
                assert!(hash.is_none_or(|hash| reader.hash_may_match(offset, hash)));
            }
            reader.keys_may_match(&queries, &mut answers);
            assert!(answers.iter().all(|answer| *answer));
        });
        assert_eq!(count, 0);
    }
}

/// The purpose and the size of the allocation that was refused.
fn refused<T>(result: Result<T, Error>) -> (&'static str, u64) {
    match result.err() {
        Some(Error::OutOfMemory { what, bytes, .. }) => (what, bytes),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_filter_without_memory_is_an_error_and_changes_nothing() {
    let keys: KeyBuf = keys().iter().collect();
    let policies: [SharedPolicy; 6] = [
        Arc::new(BloomFilterPolicy::new(10)),
        Arc::new(BloomFilterPolicy::new(1)),
        Arc::new(LegacyBloomPolicy::new(10)),
        Arc::new(BashoBloom2Policy::new(16)),
        Arc::new(CassandraBloomPolicy::new(10)),
        Arc::new(Murmur3BloomPolicy::new(10)),
    ];
    for policy in policies {
        let mut filter = Vec::new();
        policy.create_filter(keys.as_keys(), &mut filter).unwrap();
        let mut dst = b"before".to_vec();
        let (what, bytes) = refused(with_at_most(200, || policy.create_filter(keys.as_keys(), &mut dst)));
        assert_eq!((what, &dst[..]), ("filter", &b"before"[..]));
        assert!((filter.len() as u64..8 * filter.len() as u64).contains(&bytes), "{bytes}, {}", filter.len());
    }
}

#[test]
fn a_atomic_filter_without_memory_is_an_error() {
    for bits in [1 << 20, 1 << 34] {
        assert_eq!(refused(with_at_most(200, || AtomicBloomFilter::new(bits, 6))), ("filter", bits / 8));
    }
    let filter = AtomicBloomFilter::new(1 << 13, 6).unwrap();
    let mut dst = b"before".to_vec();
    let (what, bytes) = refused(with_at_most(200, || filter.write_filter(&mut dst)));
    assert_eq!((what, bytes, &dst[..]), ("filter", 1025, &b"before"[..]));
    filter.write_filter(&mut dst).unwrap();
    assert_eq!(refused(with_at_most(200, || AtomicBloomFilter::from_filter(&dst[6..]))), ("filter", 1024));
}

#[test]
fn a_block_without_memory_is_an_error_and_may_be_tried_again() {
    let mut builder = FilterBlockBuilder::new(BloomFilterPolicy::new(10));
    let mut block = Vec::new();
    build(&mut builder, &keys(), &mut block);
    // All buffers are there but that of the block.
    let mut again = Vec::new();
    builder.start_block(0).unwrap();
    keys()[..40].iter().for_each(|key| builder.add_key(key));
    let (what, bytes) = refused(with_at_most(20, || builder.finish_into(&mut again)));
    assert_eq!((what, again.len()), ("filter block", 0));
    builder.finish_into(&mut again).unwrap();
    assert_eq!(again.len() as u64, bytes);
}
