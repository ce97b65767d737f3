//! The filter block: what LevelDB writes and answers, and what is done here where LevelDB leaves things undefined.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use filterblock::hash;
use filterblock::{
    BloomFilterPolicy, Error, FilterBlockBuilder, FilterBlockReader, FilterPolicy, InternalFilterPolicy,
    KeyBuf, KeyHash, Keys, Result,
};

use crate::interpreted::fewer;

/// A policy whose filter is a list of hashes, so that its bytes show what is in it (the policy of LevelDB's
/// `table/filter_block_test.cc`).
struct HashList;

impl FilterPolicy for HashList {
    fn name(&self) -> &str {
        "test.HashList"
    }
    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        dst.extend(keys.iter().flat_map(|key| hash::leveldb(key, 1).to_le_bytes()));
        Ok(())
    }
    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        filter.chunks(4).any(|word| word == hash::leveldb(key, 1).to_le_bytes())
    }
}

/// A policy that refuses the key `bad`.
struct Picky;

impl FilterPolicy for Picky {
    fn name(&self) -> &str {
        "test.Picky"
    }
    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        dst.extend_from_slice(b"half a filter");
        if keys.iter().any(|key| key == b"bad") {
            return Err(Error::policy("a bad key"));
        }
        Ok(())
    }
    fn key_may_match(&self, _: &[u8], _: &[u8]) -> bool {
        true
    }
}

/// Builds a filter block. Each data block is given by its offset and its keys.
fn build<P: FilterPolicy>(policy: P, base_lg: u8, blocks: &[(u64, &[&str])]) -> Vec<u8> {
    let mut builder = FilterBlockBuilder::with_base_lg(policy, base_lg).unwrap();
    for (offset, keys) in blocks {
        builder.start_block(*offset).unwrap();
        keys.iter().for_each(|key| builder.add_key(key.as_bytes()));
    }
    builder.finish().unwrap().to_vec()
}

// --- The counterparts of LevelDB's filter_block_test.cc ---

#[test]
fn empty_builder() {
    let block = FilterBlockBuilder::new(HashList).finish().unwrap();
    assert_eq!(block[..], [0, 0, 0, 0, 11]);
    let reader = FilterBlockReader::new(HashList, block);
    assert!(reader.key_may_match(0, b"foo"));
    assert!(reader.key_may_match(100_000, b"foo"));
    reader.check().unwrap();
}

#[test]
fn single_range() {
    let block = build(HashList, 11, &[(100, &["foo", "bar", "box"]), (200, &["box"]), (300, &["hello"])]);
    let reader = FilterBlockReader::new(HashList, &block[..]);
    for key in ["foo", "bar", "box", "hello"] {
        assert!(reader.key_may_match(100, key.as_bytes()), "{key}");
    }
    assert!(!reader.key_may_match(100, b"missing"));
    assert!(!reader.key_may_match(100, b"other"));
    assert_eq!(reader.filter(0).unwrap().len(), 5 * 4, "repetitions are kept");
}

#[test]
fn several_ranges() {
    let block = build(
        HashList,
        11,
        &[
            (0, &["foo"]),
            (2000, &["bar"]),
            (3100, &["box"]), // the second range
            // the third and the fourth are empty
            (9000, &["box", "hello"]), // the fifth
        ],
    );
    let reader = FilterBlockReader::new(HashList, &block[..]);
    let matching =
        |offset| ["foo", "bar", "box", "hello"].map(|key| reader.key_may_match(offset, key.as_bytes()));
    assert_eq!(matching(0), [true, true, false, false]);
    assert_eq!(matching(2000), [true, true, false, false]);
    assert_eq!(matching(3100), [false, false, true, false]);
    assert_eq!(matching(4100), [false; 4], "empty filter");
    assert_eq!(matching(9000), [false, false, true, true]);
    assert_eq!(matching(10_240), [true; 4], "beyond the last filter");
    assert_eq!(reader.num_filters(), 5);
}

// --- Writing ---

/// The example in the module's documentation, byte by byte.
#[test]
fn layout() {
    let mut builder = FilterBlockBuilder::new(HashList);
    builder.start_block(0).unwrap();
    builder.add_key(b"a");
    builder.start_block(4096).unwrap();
    builder.add_key(b"b");
    builder.add_key(b"c");
    let mut expected = Vec::new();
    for word in [hash::leveldb(b"a", 1), hash::leveldb(b"b", 1), hash::leveldb(b"c", 1), 0, 4, 4, 12] {
        expected.extend(word.to_le_bytes());
    }
    expected.push(11);
    assert_eq!(builder.finish().unwrap()[..], expected);
}

#[test]
fn keys_before_any_start_block_belong_to_offset_0() {
    let mut builder = FilterBlockBuilder::new(HashList);
    builder.add_key(b"early");
    let block = builder.finish().unwrap();
    assert_eq!(block, build(HashList, 11, &[(0, &["early"])]));
}

#[test]
fn starting_further_blocks_without_keys_makes_empty_filters() {
    let block = build(HashList, 11, &[(0, &["a"]), (3 * 2048, &[])]);
    let reader = FilterBlockReader::new(HashList, &block[..]);
    let filters: Vec<usize> = reader.iter().map(|(_, filter)| filter.unwrap().len()).collect();
    assert_eq!(filters, [4, 0, 0]);
}

#[test]
fn going_back_is_legal_within_the_pending_range_only() {
    let mut builder = FilterBlockBuilder::new(HashList);
    builder.start_block(5000).unwrap();
    builder.add_key(b"one");
    builder.start_block(4096).unwrap();
    builder.add_key(b"two");
    let error = builder.start_block(4095).unwrap_err();
    assert!(
        matches!(error, Error::BlockOffsetOrder { block_offset: 4095, previous: 4096, lowest: 4096, .. }),
        "{error:?}"
    );
    builder.start_block(6000).unwrap();
    builder.add_key(b"three");
    assert_eq!(builder.finish().unwrap(), build(HashList, 11, &[(4096, &["one", "two", "three"])]));
}

#[test]
fn finish_starts_anew() {
    let mut builder = FilterBlockBuilder::new(HashList);
    let expected = build(HashList, 11, &[(0, &["a"]), (9000, &["b"])]);
    let mut twice = Vec::new();
    for _ in 0..2 {
        builder.start_block(0).unwrap();
        builder.add_key(b"a");
        builder.start_block(9000).unwrap();
        builder.add_key(b"b");
        builder.finish_into(&mut twice).unwrap();
    }
    assert_eq!(twice, [&expected[..], &expected].concat(), "appended");
    assert_eq!(builder.finish().unwrap()[..], [0, 0, 0, 0, 11]);
}

/// Errors after `finish` are about the new block, not about the one that is done.
#[test]
fn errors_after_finish_are_about_the_new_block() {
    let mut builder = FilterBlockBuilder::new(HashList).with_max_size(60);
    let fresh = format!("{builder:?}");
    for _ in 0..2 {
        let fill = |builder: &mut FilterBlockBuilder<HashList>| {
            builder.add_key(b"early");
            // Nothing has been started in this block.
            let error = builder.start_block(1 << 20).unwrap_err();
            assert!(matches!(error, Error::Limit { offset: 0, limit: 60, found: 2057, .. }), "{error:?}");
            builder.start_block(2100).unwrap();
            // An offset that was refused is not the previous one.
            assert!(builder.start_block(1 << 20).is_err());
            let error = builder.start_block(2000).unwrap_err();
            assert!(
                matches!(
                    error,
                    Error::BlockOffsetOrder { block_offset: 2000, previous: 2100, lowest: 2048, .. }
                ),
                "{error:?}"
            );
            builder.add_key(b"late");
            builder.start_block(9000).unwrap();
        };
        fill(&mut builder);
        let error = builder.start_block(1 << 20).unwrap_err();
        assert!(matches!(error, Error::Limit { offset: 9000, .. }), "{error:?}");
        let done = builder.finish().unwrap();
        assert_eq!(done, build(HashList, 11, &[(0, &["early"]), (2100, &["late"]), (9000, &[])]));
        assert_eq!(format!("{builder:?}"), fresh);

        // The same where nothing is pending, and where `finish` itself fails.
        fill(&mut builder);
        (0..20_u8).for_each(|i| builder.add_key(&[i]));
        for _ in 0..2 {
            let error = builder.finish().unwrap_err();
            assert!(matches!(error, Error::Limit { offset: 9000, limit: 60, .. }), "{error:?}");
        }
        builder = FilterBlockBuilder::new(HashList).with_max_size(60);
    }
}

#[test]
fn base_lg_above_63_is_an_error() {
    for base_lg in 0..=63 {
        assert_eq!(build(HashList, base_lg, &[(0, &["a"])]).last(), Some(&base_lg));
        assert_eq!(FilterBlockBuilder::with_base_lg(HashList, base_lg).unwrap().base_lg(), base_lg);
    }
    for base_lg in 64..=255 {
        let error = FilterBlockBuilder::with_base_lg(HashList, base_lg).unwrap_err();
        assert!(matches!(error, Error::InvalidOption { option: "base_lg", .. }));
    }
}

#[test]
fn one_filter_for_the_whole_table() {
    let block =
        build(HashList, 63, &[(0, &["a"]), (1 << 40, &["b"]), ((1 << 63) - 1, &["c"]), (1 << 63, &["d"])]);
    let reader = FilterBlockReader::new(HashList, &block[..]);
    assert_eq!(reader.num_filters(), 2);
    reader.check().unwrap();
    for offset in [0, 1 << 50, (1 << 63) - 1] {
        assert!(reader.key_may_match(offset, b"a") && reader.key_may_match(offset, b"c"));
        assert!(!reader.key_may_match(offset, b"d"));
    }
    assert!(reader.key_may_match(u64::MAX, b"d") && !reader.key_may_match(u64::MAX, b"a"));
    let ranges: Vec<_> = reader.iter().map(|(range, _)| range).collect();
    assert_eq!(ranges, [0..1 << 63, 1 << 63..u64::MAX]);
}

#[test]
fn base_lg_0() {
    let block = build(HashList, 0, &[(0, &["a"]), (1, &["b"]), (3, &["c"])]);
    let reader = FilterBlockReader::new(HashList, &block[..]);
    assert_eq!(reader.num_filters(), 4);
    assert!(
        reader.key_may_match(3, b"c") && !reader.key_may_match(1, b"c") && !reader.key_may_match(2, b"c")
    );
}

/// An offset that needs 2^30 empty filters or more is an error at once, and the builder goes on as if it had not been
/// asked.
#[test]
fn far_offsets_are_errors_that_change_nothing() {
    let mut builder = FilterBlockBuilder::new(HashList);
    builder.start_block(0).unwrap();
    builder.add_key(b"a");
    for offset in [u64::MAX, 1 << 63, 1 << 41] {
        let error = builder.start_block(offset).unwrap_err();
        assert!(matches!(error, Error::Limit { limit: 0x4000_0000, .. }), "{error:?}");
    }
    builder.add_key(b"b");
    assert_eq!(builder.finish().unwrap(), build(HashList, 11, &[(0, &["a", "b"])]));
}

/// Offsets of data blocks have 64 bits. Only the number of filters is limited.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn blocks_beyond_4_gib_and_2_to_the_40() {
    for (base_lg, offset) in
        [(11, 5 << 30), (30, 1 << 40), (40, (1 << 40) + 12_345), (63, u64::MAX), (60, u64::MAX)]
    {
        let block = build(HashList, base_lg, &[(0, &["near"]), (offset, &["far"])]);
        let reader = FilterBlockReader::new(HashList, &block[..]);
        assert!(reader.key_may_match(offset, b"far"), "base_lg {base_lg}");
        assert!(!reader.key_may_match(offset, b"near"), "base_lg {base_lg}");
        assert!(reader.key_may_match(0, b"near") && !reader.key_may_match(0, b"far"), "base_lg {base_lg}");
    }
}

#[test]
fn the_limit_counts_filters_and_offsets() {
    // One filter of 4 bytes, its offset, the array's offset and base_lg: 13 bytes.
    for (limit, fits) in [(13, true), (12, false)] {
        let mut builder = FilterBlockBuilder::new(HashList).with_max_size(limit);
        builder.add_key(b"a");
        let mut dst = b"before".to_vec();
        assert_eq!(builder.finish_into(&mut dst).is_ok(), fits);
        assert_eq!(dst.len(), if fits { 6 + 13 } else { 6 });
    }
    // A further range needs a filter and an offset more: 8 bytes.
    for (limit, fits) in [(21, true), (20, false)] {
        let mut builder = FilterBlockBuilder::new(HashList).with_max_size(limit);
        builder.add_key(b"a");
        builder.start_block(2048).unwrap();
        builder.add_key(b"b");
        let result = builder.finish();
        assert_eq!(result.is_ok(), fits);
        if let Err(error) = result {
            assert!(matches!(error, Error::Limit { limit: 20, found: 21, .. }), "{error:?}");
        }
    }
    let mut builder = FilterBlockBuilder::new(HashList).with_max_size(12);
    builder.add_key(b"a");
    assert!(matches!(builder.start_block(2048), Err(Error::Limit { found: 13, .. })));
}

#[test]
fn empty_keys_and_many_keys_in_one_range() {
    let policy = BloomFilterPolicy::new(10);
    let mut builder = FilterBlockBuilder::new(policy);
    let keys = 100_000 / fewer(1000) as u32;
    for i in 0..keys {
        builder.add_key(&i.to_le_bytes());
    }
    builder.add_key(b"");
    let block = builder.finish().unwrap();
    let reader = FilterBlockReader::new(policy, block);
    assert!((0..keys).all(|i| reader.key_may_match(0, &i.to_le_bytes())));
    assert!(reader.key_may_match(0, b""));
    assert_eq!(reader.filter(0).unwrap().len(), ((keys as usize + 1) * 10).div_ceil(8) + 1);
}

#[test]
fn bits_per_key_at_the_edges() {
    let mut builder = FilterBlockBuilder::new(BloomFilterPolicy::new(0));
    builder.add_key(b"a");
    assert_eq!(builder.finish().unwrap().len(), 9 + 4 + 5);
    let mut builder = FilterBlockBuilder::new(BloomFilterPolicy::new(u32::MAX));
    builder.add_key(b"a");
    assert!(matches!(builder.finish(), Err(Error::FilterSize { .. })));
    assert!(matches!(builder.start_block(1 << 20), Err(Error::FilterSize { .. })), "the key is still there");
}

// --- Policies that fail or misbehave ---

#[test]
fn an_error_of_the_policy_changes_nothing() {
    let mut builder = FilterBlockBuilder::new(Picky);
    builder.add_key(b"good");
    builder.start_block(2048).unwrap();
    builder.add_key(b"bad");
    for _ in 0..2 {
        let error = builder.start_block(4096).unwrap_err();
        assert_eq!(error.to_string(), "filter policy: a bad key");
        let mut dst = b"before".to_vec();
        assert!(matches!(builder.finish_into(&mut dst), Err(Error::Policy(_))));
        assert_eq!(dst, b"before");
    }
    builder.start_block(2049).unwrap();
}

#[test]
fn a_short_internal_key_fails_its_range() {
    let mut builder = FilterBlockBuilder::new(InternalFilterPolicy::new(HashList));
    builder.add_key(b"user key and 8 more");
    builder.add_key(b"short");
    let error = builder.finish().unwrap_err();
    assert!(matches!(error, Error::ShortInternalKey { index: 1, found: 5, .. }), "{error}");
}

/// A policy that changes the buffer that it should append to, when it makes the second filter.
struct Shortens(fn(&mut Vec<u8>), AtomicUsize);

impl FilterPolicy for Shortens {
    fn name(&self) -> &str {
        "test.Shortens"
    }
    fn create_filter(&self, _: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        match self.1.fetch_add(1, Relaxed) {
            1 => (self.0)(dst),
            _ => dst.extend_from_slice(b"filter"),
        }
        Ok(())
    }
    fn key_may_match(&self, _: &[u8], filter: &[u8]) -> bool {
        filter == b"filter"
    }
}

/// The filters made before are lost, so no block is made.
#[test]
fn a_policy_that_shortens_dst_is_an_error_from_then_on() {
    for misbehaviour in [Vec::clear as fn(&mut Vec<u8>), |dst| dst.truncate(5), |dst| *dst = Vec::new()] {
        let mut builder = FilterBlockBuilder::new(Shortens(misbehaviour, AtomicUsize::new(0)));
        builder.add_key(b"fine");
        builder.start_block(2048).unwrap();
        builder.add_key(b"shortened");
        for _ in 0..2 {
            assert!(matches!(builder.start_block(4096), Err(Error::PolicyContract { .. })));
            assert!(matches!(builder.finish(), Err(Error::PolicyContract { .. })));
        }
    }
}

// --- By hash ---

#[test]
fn hashes_give_the_same_block() {
    let policy = InternalFilterPolicy::new(BloomFilterPolicy::new(10));
    let keys: Vec<String> = (0..200 / fewer(10)).map(|i| format!("key{i:05}12345678")).collect();
    let mut by_key = FilterBlockBuilder::new(policy);
    let mut by_hash = FilterBlockBuilder::new(policy);
    let mut mixed = FilterBlockBuilder::new(policy);
    for (i, key) in keys.iter().enumerate() {
        let hash = policy.hash_key(key.as_bytes()).unwrap();
        for builder in [&mut by_key, &mut by_hash, &mut mixed] {
            builder.start_block(i as u64 * 100).unwrap();
        }
        by_key.add_key(key.as_bytes());
        by_hash.add_hash(hash).unwrap();
        if i % 2 == 0 { mixed.add_key(key.as_bytes()) } else { mixed.add_hash(hash).unwrap() }
    }
    let block = by_key.finish().unwrap();
    assert_eq!(block, by_hash.finish().unwrap());
    assert_eq!(block, mixed.finish().unwrap());
    let reader = FilterBlockReader::new(policy, block);
    for (i, key) in keys.iter().enumerate() {
        assert!(reader.hash_may_match(i as u64 * 100, policy.hash_key(key.as_bytes()).unwrap()));
    }
    let absent = policy.hash_key(b"absent--12345678").unwrap();
    assert!(!reader.hash_may_match(0, absent));
    mixed.add_key(b"12345678");
    mixed.add_hash(absent).unwrap();
    mixed.add_hash(absent).unwrap();
    assert!(format!("{mixed:?}").contains("pending_keys: 3"), "{mixed:?}");
}

/// A policy that returns hashes of keys, but makes no filter from them.
struct NamesHashes;

impl FilterPolicy for NamesHashes {
    fn name(&self) -> &str {
        "test.NamesHashes"
    }
    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        HashList.create_filter(keys, dst)
    }
    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        HashList.key_may_match(key, filter)
    }
    fn hash_key(&self, key: &[u8]) -> Option<KeyHash> {
        (key != b"none").then(|| KeyHash::new(1))
    }
}

/// Keys of several lengths are hashed as they come, if the policy has hashes for them.
#[test]
fn keys_of_mixed_lengths_give_the_filter_of_all_of_them() {
    let ranges: [&[&str]; 6] = [
        &["12345678", "123456789", "12345678", "", "1234567890"],
        &["", "1", "", "22", "22"],
        &["aaaaaaaa", "bbbbbbbb", "cccccccc"],
        &["none", "none", "some", "a", "none", "another"],
        &["some", "more", "a", "none", "another", "none"],
        &["1", "", "12", "1"],
    ];
    fn check<P: FilterPolicy>(policy: P, ranges: &[&[&str]]) {
        let mut builder = FilterBlockBuilder::new(&policy);
        for keys in ranges.iter().chain(ranges) {
            builder.start_block(0).unwrap();
            keys.iter().for_each(|key| builder.add_key(key.as_bytes()));
            assert!(format!("{builder:?}").contains(&format!("pending_keys: {}", keys.len())), "{builder:?}");
            builder.start_block(2048).unwrap();
            let expected = build_whole(&policy, keys);
            let block = builder.finish().unwrap();
            assert_eq!(block[..block.len() - 9], expected, "{} {keys:?}", policy.name());
        }
    }
    fn build_whole<P: FilterPolicy>(policy: &P, keys: &[&str]) -> Vec<u8> {
        let mut filter = Vec::new();
        policy.create_filter(keys.iter().collect::<KeyBuf>().as_keys(), &mut filter).unwrap();
        filter
    }
    check(BloomFilterPolicy::new(10), &ranges);
    check(HashList, &ranges);
    check(NamesHashes, &ranges);
    check(InternalFilterPolicy::new(BloomFilterPolicy::new(10)), &[&["12345678", "123456789", "1234567890"]]);
}

#[test]
fn a_short_key_among_internal_keys_of_mixed_lengths_fails_its_range() {
    let mut builder = FilterBlockBuilder::new(InternalFilterPolicy::new(BloomFilterPolicy::new(10)));
    let sound = ["a 12345678", "b 12345678", "an 12345678", "a 12345678", "another 12345678"];
    sound.iter().for_each(|key| builder.add_key(key.as_bytes()));
    builder.start_block(2048).unwrap();
    sound.iter().chain(&["short", "a 12345678"]).for_each(|key| builder.add_key(key.as_bytes()));
    for _ in 0..2 {
        let error = builder.finish().unwrap_err();
        assert!(matches!(error, Error::ShortInternalKey { index: 5, found: 5, .. }), "{error}");
    }
}

/// A policy that makes filters from hashes, except for keys that begin with `-`.
struct Partly;

impl FilterPolicy for Partly {
    fn name(&self) -> &str {
        "test.Partly"
    }
    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        HashList.create_filter(keys, dst)
    }
    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        HashList.key_may_match(key, filter)
    }
    fn takes_hashes(&self) -> bool {
        true
    }
    fn hash_key(&self, key: &[u8]) -> Option<KeyHash> {
        (!key.starts_with(b"-")).then(|| KeyHash::new(hash::leveldb(key, 1).into()))
    }
    fn create_filter_from_hashes(&self, hashes: &[KeyHash], dst: &mut Vec<u8>) -> Result<()> {
        dst.extend(hashes.iter().flat_map(|hash| (hash.get() as u32).to_le_bytes()));
        Ok(())
    }
}

/// The short key may be anywhere among keys that are hashed as they come, and among keys that are kept.
#[test]
fn a_short_internal_key_is_counted_from_the_start_of_its_range() {
    let mut builder = FilterBlockBuilder::new(InternalFilterPolicy::new(Partly));
    // Keys of one length, then hashed keys of growing lengths, then keys that have no hash: up to three of each.
    for (alike, hashed, kept) in
        (0..4).flat_map(|alike| (0..4).flat_map(move |hashed| (0..4).map(move |kept| (alike, hashed, kept))))
    {
        for finished in [false, true] {
            // Keys of another range, which do not count.
            builder.start_block(0).unwrap();
            ["a 12345678", "an 12345678", "other 12345678"]
                .iter()
                .for_each(|key| builder.add_key(key.as_bytes()));
            if finished {
                _ = builder.finish().unwrap()
            } else {
                builder.start_block(2048).unwrap()
            }

            (0..alike).for_each(|_| builder.add_key(b"a 12345678"));
            (0..hashed).for_each(|i| builder.add_key(format!("{} 12345678", "b".repeat(3 + i)).as_bytes()));
            (0..kept).for_each(|i| builder.add_key(format!("-{} 12345678", "c".repeat(i)).as_bytes()));
            builder.add_key(b"short");
            builder.add_key(b"d 12345678");
            builder.add_key(b"");
            for _ in 0..2 {
                let error = builder.finish().unwrap_err();
                let Error::ShortInternalKey { index, expected: 8, found: 5, .. } = error else {
                    panic!("{error}")
                };
                assert_eq!(
                    index,
                    (alike + hashed + kept) as u64,
                    "{alike} alike, {hashed} hashed, {kept} kept"
                );
            }
            builder = FilterBlockBuilder::new(InternalFilterPolicy::new(Partly));
        }
    }
}

/// Many keys are kept by their hashes.
#[test]
fn a_short_internal_key_behind_many_is_counted_from_the_start_of_its_range() {
    let mut builder = FilterBlockBuilder::new(InternalFilterPolicy::new(Partly));
    for offset in [0, 2048] {
        builder.start_block(offset).unwrap();
        let keys = ["a 12345678", "an 12345678", "other 12345678"].iter().cycle();
        keys.take(300).for_each(|key| builder.add_key(key.as_bytes()));
    }
    builder.add_key(b"short");
    let error = builder.finish().unwrap_err();
    assert!(matches!(error, Error::ShortInternalKey { index: 300, found: 5, .. }), "{error}");
}

#[test]
fn many_keys_at_once_come_after_those_before() {
    let many: Vec<String> = (0..300).map(|number| "k".repeat(number % 7) + &number.to_string()).collect();
    let keys: KeyBuf = many.iter().collect();
    let mut builder = FilterBlockBuilder::new(Partly);
    builder.add_key(b"first");
    builder.add_keys(keys.as_keys());
    let all: Vec<&str> = ["first"].into_iter().chain(many.iter().map(String::as_str)).collect();
    assert_eq!(builder.finish().unwrap(), build(HashList, 11, &[(0, &all)]));
}

/// The keys before the one without a hash have been hashed by then.
#[test]
fn a_key_without_a_hash_leaves_the_builder_as_it_was() {
    let mut builder = FilterBlockBuilder::new(Partly);
    builder.add_hash(KeyHash::new(1)).unwrap();
    ["a", "b", "-"].iter().for_each(|key| builder.add_key(key.as_bytes()));
    let before = format!("{builder:?}");
    assert!(before.contains("pending_keys: 4"), "{before}");
    for _ in 0..2 {
        assert!(matches!(builder.finish(), Err(Error::HashUnsupported { .. })));
        assert_eq!(format!("{builder:?}"), before);
    }
}

/// Keys that are kept beside hashes are hashed anew at each attempt to make the filter. Until an attempt succeeds, they
/// stay keys.
#[test]
fn keys_and_hashes_of_a_block_that_does_not_fit_stay_as_they_are() {
    let mut builder = FilterBlockBuilder::new(Partly).with_max_size(13);
    ["a", "b", "cc"].iter().for_each(|key| builder.add_key(key.as_bytes()));
    builder.add_hash(KeyHash::new(1)).unwrap();
    let mut beside = FilterBlockBuilder::new(Partly).with_max_size(13);
    beside.add_hash(KeyHash::new(1)).unwrap();
    ["a", "b", "c"].iter().for_each(|key| beside.add_key(key.as_bytes()));
    for builder in [&mut builder, &mut beside] {
        for _ in 0..3 {
            let error = builder.finish().unwrap_err();
            assert!(matches!(error, Error::Limit { limit: 13, found: 25, .. }), "{error:?}");
            let error = builder.start_block(4096).unwrap_err();
            assert!(matches!(error, Error::Limit { limit: 13, found: 29, .. }), "{error:?}");
            assert!(format!("{builder:?}").contains("pending_keys: 4"), "{builder:?}");
        }
    }
}

/// Leftovers of a range or a block would show in the next one's filter.
#[test]
fn no_range_leaves_anything_to_the_next() {
    let ranges: [&[&str]; 9] = [
        &["aa", "bb", "cc"],
        &["aa", "b", "ccc"],
        &[],
        &["a"],
        &["-kept", "a", "bb"],
        &["-", "--", "-"],
        &["bb", "bb"],
        &["", ""],
        &["", "a", ""],
    ];
    for (before, after) in ranges.iter().flat_map(|before| ranges.iter().map(move |after| (before, after))) {
        for finished in [false, true] {
            let mut builder = FilterBlockBuilder::new(Partly);
            before.iter().for_each(|key| builder.add_key(key.as_bytes()));
            if finished {
                _ = builder.finish().unwrap();
            } else {
                builder.start_block(2048).unwrap();
            }
            after.iter().for_each(|key| builder.add_key(key.as_bytes()));
            assert!(
                format!("{builder:?}").contains(&format!("pending_keys: {}", after.len())),
                "{builder:?}"
            );
            let expected = if finished {
                build(HashList, 11, &[(0, after)])
            } else {
                build(HashList, 11, &[(0, before), (2048, after)])
            };
            assert_eq!(builder.finish().unwrap(), expected, "{before:?}, {after:?}");
        }
    }
}

#[test]
fn a_policy_without_hashes_takes_none() {
    let mut builder = FilterBlockBuilder::new(HashList);
    let error = builder.add_hash(KeyHash::new(1)).unwrap_err();
    assert!(matches!(&error, Error::HashUnsupported { policy, .. } if policy == "test.HashList"));
    assert_eq!(builder.finish().unwrap()[..], [0, 0, 0, 0, 11]);
    let block = build(HashList, 11, &[(0, &["a"])]);
    assert!(FilterBlockReader::new(HashList, block).hash_may_match(0, KeyHash::new(1)), "in doubt");
}

#[test]
fn a_key_without_hash_among_hashes_fails_its_range() {
    let policy = InternalFilterPolicy::new(BloomFilterPolicy::new(10));
    let mut builder = FilterBlockBuilder::new(policy);
    builder.add_hash(KeyHash::new(1)).unwrap();
    builder.add_key(b"short");
    for _ in 0..2 {
        assert!(builder.finish().is_err());
    }
}

// --- Reading: each row of the table of conditions ---

/// A filter block put together by hand: filter bytes, offsets, the array's offset, base_lg.
fn block(filters: &[u8], offsets: &[u32], array_offset: u32, base_lg: u8) -> Vec<u8> {
    let mut block = filters.to_vec();
    offsets.iter().chain([&array_offset]).for_each(|offset| block.extend(offset.to_le_bytes()));
    block.push(base_lg);
    block
}

fn answers(block: &[u8], key: &str) -> Vec<bool> {
    let reader = FilterBlockReader::new(HashList, block);
    (0..4).map(|i| reader.key_may_match(i << 11, key.as_bytes())).collect()
}

#[test]
fn under_five_bytes_every_key_matches() {
    for len in 0..5 {
        let block = &[0, 0, 0, 0, 11][5 - len..];
        assert_eq!(answers(block, "a"), [true; 4]);
        let reader = FilterBlockReader::new(HashList, block);
        assert_eq!((reader.num_filters(), reader.filter(0)), (0, None));
        let error = reader.check().unwrap_err().to_string();
        assert_eq!(error, format!("filter block at offset 0: expected at least 5 bytes, found {len}"));
    }
}

#[test]
fn array_offset_beyond_the_block_every_key_matches() {
    for array_offset in [5, 6, 1 << 31, u32::MAX] {
        let block = block(&[], &[0], array_offset, 11);
        assert_eq!(answers(&block, "a"), [true; 4]);
        let error = FilterBlockReader::new(HashList, &block[..]).check().unwrap_err().to_string();
        assert!(
            error.starts_with("filter block at offset 4: expected the offset array at 0 to 4"),
            "{error}"
        );
        assert!(error.ends_with(&array_offset.to_string()), "{error}");
    }
}

#[test]
fn stray_bytes_behind_the_array_round_the_count_down() {
    // The last filter's end is read from the bytes after its entry: here three stray bytes and one of the array's
    // offset.
    let a = hash::leveldb(b"a", 1).to_le_bytes();
    let mut block = a.to_vec();
    block.extend([0, 0, 0, 0]); // filter 0 starts at 0
    block.extend([4, 0, 0]); // stray
    block.extend([4, 0, 0, 0, 11]);
    // The end read there is 04 00 00 04, far beyond the array, so that every key matches.
    let reader = FilterBlockReader::new(HashList, &block[..]);
    assert_eq!(reader.num_filters(), 1);
    assert!(reader.key_may_match(0, b"b"));
    assert!(reader.check().unwrap_err().to_string().contains("one of 7 bytes"));
}

#[test]
fn index_beyond_the_filters_matches() {
    let block = block(&hash::leveldb(b"a", 1).to_le_bytes(), &[0], 4, 11);
    assert_eq!(answers(&block, "a"), [true; 4]);
    assert_eq!(answers(&block, "b"), [false, true, true, true]);
    FilterBlockReader::new(HashList, &block[..]).check().unwrap();
}

#[test]
fn malformed_offsets_match_and_equal_ones_do_not() {
    let filters = hash::leveldb(b"a", 1).to_le_bytes();
    for (start, end, answer) in [
        (0, 4, false), // well-formed, of another key
        (4, 4, false), // empty at the very end
        (2, 2, false), // empty
        (5, 5, false), // equal, but beyond the filters
        (u32::MAX, u32::MAX, false),
        (3, 2, true), // descending
        (0, 5, true), // end beyond
        (0, u32::MAX, true),
        (9, 0, true),
    ] {
        let block = block(&filters, &[start, end], 4, 11);
        let reader = FilterBlockReader::new(HashList, &block[..]);
        assert_eq!(reader.key_may_match(0, b"b"), answer, "{start} to {end}");
        let sound = start <= end && end <= 4;
        assert_eq!(reader.filter(0).is_some(), sound, "{start} to {end}");
        assert_eq!(reader.iter().next().unwrap().1.is_ok(), sound);
        assert_eq!(reader.check().is_ok(), sound, "{start} to {end}");
        if !sound {
            let error = reader.check().unwrap_err().to_string();
            let expected =
                format!("filter offset at offset 4: expected filter 0 within 0 to 4, found {start} to {end}");
            assert_eq!(error, expected);
        }
    }
}

#[test]
fn trouble_is_named_where_it_is() {
    let damaged = block(b"filters!", &[0, 4, 9], 8, 11);
    let reader = FilterBlockReader::new(HashList, &damaged[..]);
    let error = reader.check().unwrap_err().to_string();
    assert_eq!(error, "filter offset at offset 12: expected filter 1 within 0 to 8, found 4 to 9");
    assert_eq!(reader.iter().nth(1).unwrap().1.unwrap_err().to_string(), error);
    let impossible = block(b"", &[0], 0, 64);
    let error = FilterBlockReader::new(HashList, &impossible[..]).check().unwrap_err().to_string();
    assert_eq!(error, "filter block at offset 8: expected base_lg 0 to 63, found 64");
}

#[test]
fn filters_left_are_counted() {
    let block = block(b"", &[0; 5], 0, 11);
    let reader = FilterBlockReader::new(HashList, &block[..]);
    let mut filters = reader.iter();
    for left in (0..5).rev() {
        filters.next().unwrap().1.unwrap();
        assert_eq!(filters.len(), left);
    }
    assert!(filters.next().is_none());
}

#[test]
fn every_base_lg_and_k() {
    let policy = BloomFilterPolicy::new(10);
    let mut block = build(policy, 11, &[(0, &["a"])]);
    let k_at = block.len() - 4 - 5 - 1;
    assert_eq!(block[k_at], 6);
    for base_lg in (0..=255u8).step_by(fewer(21)) {
        *block.last_mut().unwrap() = base_lg;
        let reader = FilterBlockReader::new(policy, &block[..]);
        assert_eq!(reader.base_lg(), base_lg);
        assert_eq!(reader.check().is_ok(), base_lg < 64);
        for offset in [0, 1, 2048, 1 << 40, 1 << 63, u64::MAX] {
            assert!(reader.key_may_match(offset, b"a"));
            let denied = base_lg < 64 && offset >> base_lg == 0;
            assert_eq!(
                reader.key_may_match(offset, b"absent"),
                !denied,
                "base_lg {base_lg}, offset {offset}"
            );
            // The same offset, at the beginning of a batch.
            let mut together = Vec::new();
            reader.keys_may_match(&[(offset, b"a"), (offset, b"absent")], &mut together);
            assert_eq!(together, [true, !denied], "base_lg {base_lg}, offset {offset}");
        }
        assert_eq!(reader.iter().count(), 1);
    }
    *block.last_mut().unwrap() = 11;
    for k in 0..=255u8 {
        block[k_at] = k;
        let reader = FilterBlockReader::new(policy, &block[..]);
        assert_eq!(reader.key_may_match(0, b"absent"), k == 0 || k > 30, "k = {k}");
    }
}

#[test]
fn many_queries_at_once() {
    let policy = BloomFilterPolicy::new(10);
    let mut builder = FilterBlockBuilder::new(policy);
    let filters = 1000 / fewer(20) as u64;
    for i in 0..filters {
        builder.start_block(i * 100).unwrap();
        builder.add_key(&i.to_le_bytes());
    }
    let reader = FilterBlockReader::new(policy, builder.finish().unwrap());
    let keys: Vec<[u8; 8]> = (0..2 * filters).map(u64::to_le_bytes).collect();
    let queries: Vec<(u64, &[u8])> =
        keys.iter().enumerate().map(|(i, key)| (i as u64 * 100 % (150 * filters), &key[..])).collect();
    let mut answers = vec![false; 3];
    reader.keys_may_match(&queries, &mut answers);
    let one_by_one: Vec<bool> =
        queries.iter().map(|&(offset, key)| reader.key_may_match(offset, key)).collect();
    assert_eq!(answers, one_by_one);
    assert!(answers[..filters as usize].iter().all(|&answer| answer));
    reader.keys_may_match(&[], &mut answers);
    assert!(answers.is_empty());
}

/// With this many filters, offsets are prefetched.
#[test]
fn many_queries_at_once_of_many_filters() {
    let policy = BloomFilterPolicy::new(10);
    let mut builder = FilterBlockBuilder::new(policy);
    let blocks = 40_000;
    for block in (0..blocks).step_by(9 * fewer(2000)) {
        builder.start_block(block * 2048).unwrap();
        builder.add_key(&block.to_le_bytes());
    }
    builder.start_block(blocks * 2048).unwrap();
    builder.add_key(b"last");
    let sound = builder.finish().unwrap();
    let mut damaged = sound.to_vec();
    let len = damaged.len();
    damaged[len - 2000..len - 1000].fill(0xff);
    let unreadable = [&sound[..len - 1], &[200]].concat();
    let keys: Vec<[u8; 8]> = (0..300 / fewer(5) as u64).map(|i| (i * 531 % 45_000).to_le_bytes()).collect();
    let far = [u64::MAX, 1 << 63, 1 << 62, blocks * 2048 + 4096];
    let queries: Vec<(u64, &[u8])> = keys
        .iter()
        .map(|key| (u64::from_le_bytes(*key) * 2048, &key[..]))
        .chain(far.map(|offset| (offset, &b"last"[..])))
        .collect();
    for block in [&sound[..], &damaged, &unreadable] {
        let reader = FilterBlockReader::new(policy, &block);
        assert_eq!(reader.num_filters() as u64, blocks + 1);
        let mut answers = Vec::new();
        reader.keys_may_match(&queries, &mut answers);
        let one_by_one: Vec<bool> =
            queries.iter().map(|&(offset, key)| reader.key_may_match(offset, key)).collect();
        assert_eq!(answers, one_by_one);
        assert!(answers.contains(&true));
    }
}

#[test]
fn batches_begin_with_any_offset() {
    let policy = BloomFilterPolicy::new(10);
    let block = build(policy, 0, &[(0, &["a"]), (1, &["b"])]);
    let reader = FilterBlockReader::new(policy, &block);
    // The offsets, the greatest one among them, ascend, descend and repeat.
    let offsets = [u64::MAX, u64::MAX, 0, 1, 1, 0, u64::MAX - 1, 0, 0];
    for from in 0..offsets.len() {
        let queries: Vec<(u64, &[u8])> = offsets[from..].iter().map(|offset| (*offset, &b"a"[..])).collect();
        let mut answers = Vec::new();
        reader.keys_may_match(&queries, &mut answers);
        let expected: Vec<bool> = offsets[from..].iter().map(|offset| *offset != 1).collect();
        assert_eq!(answers, expected, "from {from} on");
    }
}

// --- Around it ---

#[test]
fn reads_where_the_block_lies() {
    let policy = BloomFilterPolicy::new(10);
    let block = build(policy, 11, &[(0, &["a"])]);
    assert!(FilterBlockReader::new(&policy, &block).key_may_match(0, b"a"));
    assert!(FilterBlockReader::new(policy, block.clone().into_boxed_slice()).key_may_match(0, b"a"));
    let reader = FilterBlockReader::new(policy, bytes::Bytes::from(block.clone()));
    assert_eq!(reader.contents(), block);
    assert_eq!((&reader).into_iter().count(), 1);
    assert!(reader.memory_usage() >= block.len());
    assert_eq!(reader.policy().bits_per_key(), 10);
    assert_eq!(reader.into_inner(), block);
}

#[test]
fn policies_work_behind_pointers() {
    fn check(policy: impl FilterPolicy + Clone) {
        let hash = policy.hash_key(b"a").unwrap();
        let mut builder = FilterBlockBuilder::new(policy.clone());
        builder.add_hash(hash).unwrap();
        let reader = FilterBlockReader::new(policy, builder.finish().unwrap());
        let mut answers = Vec::new();
        reader.keys_may_match(&[(0, b"a"), (0, b"b")], &mut answers);
        assert_eq!(answers, [true, false]);
        assert!(reader.hash_may_match(0, hash));
        assert_eq!(reader.policy().name(), "leveldb.BuiltinBloomFilter2");
    }
    let policy = BloomFilterPolicy::new(10);
    check(&policy);
    check(&policy as &dyn FilterPolicy);
    check(std::sync::Arc::new(policy) as filterblock::SharedPolicy);
    let boxed: Box<dyn FilterPolicy> = Box::new(policy);
    check(&boxed);
}

#[test]
fn debug_shows_sizes_not_contents() {
    let mut builder = FilterBlockBuilder::new(HashList);
    assert!(format!("{builder:?}").contains("pending_keys: 0"));
    builder.add_key(b"secret");
    assert!(!format!("{builder:?}").contains("secret") && format!("{builder:?}").contains("pending_keys: 1"));
    let reader = FilterBlockReader::new(HashList, builder.finish().unwrap());
    assert!(format!("{reader:?}").contains("filters: 1"), "{reader:?}");
    assert!(format!("{:?}", reader.iter()).contains("left: 1"));
    let keys: KeyBuf = ["secret"].into_iter().collect();
    assert_eq!(format!("{keys:?}"), "KeyBuf { len: 1, bytes: 6 }");
    assert_eq!(format!("{:?}", keys.as_keys()), "Keys { len: 1, bytes: 6 }");
    assert_eq!(format!("{:?}", KeyHash::new(255)), "KeyHash(0xff)");
    assert!(format!("{:?}", InternalFilterPolicy::new(HashList)).contains("test.HashList"));
}

#[test]
fn send_and_sync_where_the_parts_are() {
    fn is<T: Send + Sync + 'static>() {}
    is::<FilterBlockBuilder<BloomFilterPolicy>>();
    is::<FilterBlockReader<filterblock::SharedPolicy>>();
    is::<KeyBuf>();
    is::<Keys<'static>>();
    is::<KeyHash>();
    is::<Error>();
}
