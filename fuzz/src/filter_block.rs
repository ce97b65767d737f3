//! Any bytes as a filter block: every answer is the model's.

use filterblock::{BloomFilterPolicy, Error, FilterBlockReader, FilterPolicy as _, InternalFilterPolicy};

use crate::cut::Input;
use crate::model::{Block, bloom_matches};

/// How many filters of a block are looked at one by one.
const MAX_FILTERS: usize = 8;

/// A key, a data block's offset, and the filter block.
pub fn run(data: &[u8]) {
    let mut input = Input(data);
    let mode = input.byte();
    let key = input.take((mode >> 1 & 0x1f).into());
    let offset = input.number() >> (mode >> 6 << 4);
    let mut contents = input.0.to_vec();
    if mode & 1 == 1 {
        // Few numbers of 32 bits lie within a block; this way all do.
        put_array_within(&mut contents);
    }
    check(&contents, offset, key);
}

fn put_array_within(contents: &mut [u8]) {
    let room = contents.len().saturating_sub(5);
    if let Some(word) = contents.get_mut(room..).and_then(|tail| tail.first_chunk_mut::<4>()) {
        *word = (u32::from_le_bytes(*word) % (room as u32 + 1)).to_le_bytes();
    }
}

fn check(contents: &[u8], offset: u64, key: &[u8]) {
    let policy = BloomFilterPolicy::new(10);
    let reader = FilterBlockReader::new(policy, contents);
    let internal = FilterBlockReader::new(InternalFilterPolicy::new(policy), contents);
    let model = Block::new(contents);

    assert_eq!(reader.num_filters(), model.entries.len());
    assert_eq!(reader.base_lg(), model.base_lg.unwrap_or_default());
    assert_eq!(reader.contents(), contents);
    match reader.check() {
        Ok(()) => assert!(model.is_sound()),
        Err(Error::Corrupt { offset, .. }) => {
            assert!(!model.is_sound() && offset <= contents.len() as u64);
        }
        Err(other) => panic!("{other}"),
    }

    let count = model.entries.len();
    let lg = model.base_lg.unwrap_or_default().min(63);
    // The offset as given, and the borders of the array.
    let mut queries = vec![(offset, key), (u64::MAX, key), (0, &[])];
    for index in [count.saturating_sub(1), count] {
        queries.push(((index as u64) << lg, key));
    }
    queries.extend((0..count.min(MAX_FILTERS)).map(|index| ((index as u64) << lg, key)));
    let mut answers = Vec::new();
    reader.keys_may_match(&queries, &mut answers);
    assert_eq!(answers.len(), queries.len());
    for (&(offset, key), &together) in queries.iter().zip(&answers) {
        let expected = model.may_match(offset, |filter| bloom_matches(key, filter));
        assert_eq!(reader.key_may_match(offset, key), expected, "key at {offset}");
        assert_eq!(together, expected, "among others, at {offset}");
        let hash = policy.hash_key(key).expect("a Bloom filter looks at hashes");
        assert_eq!(reader.hash_may_match(offset, hash), expected, "hash at {offset}");
        let user_key = key.len().checked_sub(8).map(|len| &key[..len]);
        let expected =
            model.may_match(offset, |filter| user_key.is_none_or(|user_key| bloom_matches(user_key, filter)));
        assert_eq!(internal.key_may_match(offset, key), expected, "internal key at {offset}");
    }

    let mut filters = reader.iter();
    assert_eq!(filters.len(), count);
    for (index, (range, filter)) in filters.by_ref().take(MAX_FILTERS).enumerate() {
        assert_eq!(filter.ok(), model.filter(index));
        assert_eq!(reader.filter(index), model.filter(index));
        assert_eq!((range.start, range.end), model.range(index));
    }
    assert_eq!(reader.filter(count), None);
    assert!(reader.memory_usage() >= contents.len());
    assert_eq!(reader.into_inner(), contents);
}
