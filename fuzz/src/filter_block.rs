//! Any bytes as a filter block: every answer equals the model's.

use std::borrow::Cow;
use std::iter;

use filterblock::{BloomFilterPolicy, Error, FilterBlockReader, FilterPolicy as _, InternalFilterPolicy};

use filterblock_fuzz::Input;
use filterblock_fuzz::model::{self, Block, bloom_matches};

/// Maximum number of filters of a block that are checked one by one. The iterator, whose errors
/// take a long time to format, is checked for fewer filters.
const MAX_FILTERS: usize = 8;
const MAX_ITERATED: usize = 2;

/// Runs an input: a key, the offset of a data block, and the filter block.
pub fn run(data: &[u8]) {
    let mut input = Input(data);
    let mode = input.byte();
    let key = input.take((mode >> 1 & 0x1f).into());
    let offset = input.number() >> (mode >> 6 << 4);
    let mut contents = Cow::from(input.0);
    if mode & 1 == 1 {
        // Few random 32-bit numbers are offsets within a block, so the array's offset is reduced to
        // one.
        put_array_within(contents.to_mut());
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

    assert_eq!(reader.num_filters(), model.count);
    assert_eq!(reader.base_lg(), model.base_lg.unwrap_or_default());
    assert_eq!(reader.contents(), contents);
    match reader.check() {
        Ok(()) => assert!(model.is_sound()),
        Err(Error::Corrupt { offset, .. }) => {
            assert!(!model.is_sound() && offset <= contents.len() as u64);
        }
        Err(other) => panic!("{other}"),
    }

    let count = model.count;
    let lg = model.base_lg.unwrap_or_default().min(63);
    // The input's offset, the greatest offset, an empty key, the offset after the last filter's,
    // and those of the first filters and of the last one.
    let mut queries = [(0, key); MAX_FILTERS + 5];
    queries[0].0 = offset;
    queries[1].0 = u64::MAX;
    queries[2].1 = &[];
    let last = Some(count.saturating_sub(1)).filter(|&last| last >= MAX_FILTERS);
    let indices = iter::once(count).chain(0..count.min(MAX_FILTERS)).chain(last);
    let mut asked = 3;
    for (query, index) in queries[asked..].iter_mut().zip(indices) {
        query.0 = (index as u64) << lg;
        asked += 1;
    }
    let queries = &queries[..asked];
    let mut answers = Vec::new();
    reader.keys_may_match(queries, &mut answers);
    assert_eq!(answers.len(), asked);

    // A key's hash does not depend on the filter.
    let taken = |key: &[u8]| {
        let user_key = key.len().checked_sub(8).map(|len| model::hash(&key[..len]));
        (policy.hash_key(key).expect("a Bloom filter looks at hashes"), model::hash(key), user_key)
    };
    let hashes = [taken(key), taken(&[])];
    for (&(offset, key), &together) in queries.iter().zip(&answers) {
        let (hash, model_hash, user_hash) = hashes[usize::from(key.is_empty())];
        let expected = model.may_match(offset, |filter| bloom_matches(model_hash, filter));
        assert_eq!(reader.key_may_match(offset, key), expected, "key at {offset}");
        assert_eq!(together, expected, "among others, at {offset}");
        assert_eq!(reader.hash_may_match(offset, hash), expected, "hash at {offset}");
        let expected =
            model.may_match(offset, |filter| user_hash.is_none_or(|hash| bloom_matches(hash, filter)));
        assert_eq!(internal.key_may_match(offset, key), expected, "internal key at {offset}");
    }

    let mut filters = reader.iter();
    assert_eq!(filters.len(), count);
    for index in 0..count.min(MAX_FILTERS) {
        assert_eq!(reader.filter(index), model.filter(index));
    }
    for (index, (range, filter)) in filters.by_ref().take(MAX_ITERATED).enumerate() {
        assert_eq!(filter.ok(), model.filter(index));
        assert_eq!((range.start, range.end), model.range(index));
    }
    assert_eq!(reader.filter(count), None);
    assert!(reader.memory_usage() >= contents.len());
    assert_eq!(reader.into_inner(), contents);
}
