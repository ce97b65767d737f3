//! Tables written through the public API, byte by byte and in adversity.
#![cfg(feature = "table")]

use std::cmp::Ordering;
use std::io::{self, Write};
use std::sync::Arc;

use filterblock::table::{
    BytewiseComparator, Comparator, Compression, TableBuilder, TableSummary, WriteOptions,
};
use filterblock::{
    BloomFilterPolicy, Error, FilterBlockBuilder, FilterBlockReader, FilterPolicy, InternalFilterPolicy,
    Keys, Result, SharedPolicy,
};

fn uncompressed() -> WriteOptions {
    WriteOptions::default().compression(Compression::None)
}

fn write<K: AsRef<[u8]>, V: AsRef<[u8]>>(
    options: WriteOptions,
    entries: impl IntoIterator<Item = (K, V)>,
) -> Result<(Vec<u8>, TableSummary)> {
    let mut table = TableBuilder::new(Vec::new(), options);
    for (key, value) in entries {
        table.add(key.as_ref(), value.as_ref())?;
    }
    table.finish()
}

fn entries(count: usize) -> impl Iterator<Item = (String, String)> + Clone {
    (0..count).map(|i| (format!("key{i:06}"), format!("value {i}").repeat(1 + i % 7)))
}

/// CRC-32C, bit by bit.
fn crc32c(bytes: impl Iterator<Item = u8>) -> u32 {
    !bytes.fold(!0, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 },
        )
    })
}

/// A block as it lies in an uncompressed table: the parts, type 0, and the masked checksum.
fn block(parts: &[&[u8]]) -> Vec<u8> {
    let mut block = parts.concat();
    block.push(0);
    let crc = crc32c(block.iter().copied());
    block.extend(crc.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes());
    block
}

/// The footer for handles that take one byte a number.
fn footer(handles: [u8; 4]) -> Vec<u8> {
    let mut footer = handles.to_vec();
    footer.resize(40, 0);
    footer.extend(0xdb47_7524_8b80_fb57_u64.to_le_bytes());
    footer
}

/// What ends a block with the one restart that every block has.
const ONE_RESTART: &[u8] = &[0, 0, 0, 0, 1, 0, 0, 0];

#[test]
fn an_empty_table_has_metaindex_index_and_footer() {
    let (table, summary) = write::<&str, &str>(uncompressed(), []).unwrap();
    // The metaindex is at 0, the index behind its 8 bytes and 5 of trailer.
    assert_eq!(table, [block(&[ONE_RESTART]), block(&[ONE_RESTART]), footer([0, 8, 13, 8])].concat());
    assert_eq!((summary.file_size, summary.num_entries, summary.data_blocks), (74, 0, 0));
    assert_eq!(summary.key_range, None);
    assert!(summary.filters.is_empty());
}

#[test]
fn a_table_of_two_blocks_byte_by_byte() {
    // With blocks of one byte, each entry has its own.
    let options = uncompressed().block_size(1);
    let (table, summary) = write(options, [("apple", "red"), ("banana", "")]).unwrap();
    let expected = [
        // 0: shared 0, non_shared 5, value_len 3
        block(&[&[0, 5, 3], b"applered", ONE_RESTART]),
        // 24, as the first has 19 bytes and its trailer
        block(&[&[0, 6, 0], b"banana", ONE_RESTART]),
        // 46: the metaindex
        block(&[ONE_RESTART]),
        // 59: the index. "apple" is followed by "banana"; "b" is not before it, so the key stays whole.
        // Nothing follows "banana", so its key is cut to "c". Restarts at every entry.
        block(&[
            &[0, 5, 2],
            b"apple",
            &[0, 19],
            &[0, 1, 2],
            b"c",
            &[24, 17],
            &[0, 0, 0, 0, 10, 0, 0, 0, 2, 0, 0, 0],
        ]),
        footer([46, 8, 59, 28]),
    ];
    assert_eq!(table, expected.concat());
    assert_eq!(
        (summary.file_size, summary.num_entries, summary.data_blocks, summary.data_size, summary.index_size),
        (table.len() as u64, 2, 2, 46, 28)
    );
    let (smallest, largest) = summary.key_range.unwrap();
    assert_eq!((&smallest[..], &largest[..]), (&b"apple"[..], &b"banana"[..]));
}

#[test]
fn an_empty_key_is_a_key() {
    let (table, summary) = write(uncompressed(), [("", "v")]).unwrap();
    let expected = [
        block(&[&[0, 0, 1], b"v", ONE_RESTART]),
        block(&[ONE_RESTART]), // at 17
        // 30: an empty key has no short successor.
        block(&[&[0, 0, 2], &[0, 12], ONE_RESTART]),
        footer([17, 8, 30, 13]),
    ];
    assert_eq!(table, expected.concat());
    assert!(summary.key_range.is_some_and(|(smallest, largest)| smallest.is_empty() && largest.is_empty()));
    assert!(matches!(write(uncompressed(), [("", "1"), ("", "2")]), Err(Error::KeyOrder { index: 1, .. })));
}

#[test]
fn separators_are_short_and_one_that_is_out_of_place_is_not_taken() {
    /// Makes of every separator and successor the bytes it was given.
    struct Fixed(&'static [u8]);
    impl Comparator for Fixed {
        fn name(&self) -> &str {
            "test.Fixed"
        }
        fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
            a.cmp(b)
        }
        fn find_shortest_separator(&self, start: &mut Vec<u8>, _: &[u8]) {
            *start = self.0.to_vec();
        }
        fn find_short_successor(&self, key: &mut Vec<u8>) {
            *key = self.0.to_vec();
        }
    }
    let index_of = |options: WriteOptions| {
        let (table, summary) = write(options.block_size(1), [("abcdef", ""), ("abzz", "")]).unwrap();
        let end = table.len() - 48 - 5;
        table[end - summary.index_size as usize..end - 12].to_vec()
    };
    let index = |first: &str, second: &str| {
        let entry = |key: &str, handle: [u8; 2]| [&[0, key.len() as u8, 2], key.as_bytes(), &handle].concat();
        [entry(first, [0, 17]), entry(second, [22, 15])].concat()
    };
    assert_eq!(index_of(uncompressed()), index("abd", "b"));
    assert_eq!(index_of(uncompressed().comparator(BytewiseComparator)), index("abd", "b"));
    // What lies between is taken, as is the last key itself; the next key and all beyond are not.
    for (made, first, second) in [
        ("abq", "abq", "abzz"),
        ("abcdef", "abcdef", "abzz"),
        ("abzz", "abcdef", "abzz"),
        ("zzz", "abcdef", "zzz"),
        ("a", "abcdef", "abzz"),
    ] {
        assert_eq!(
            index_of(uncompressed().comparator(Fixed(made.as_bytes()))),
            index(first, second),
            "{made}"
        );
    }
}

#[test]
fn restarts_of_metaindex_and_data_follow_the_option() {
    let policies: Vec<SharedPolicy> = vec![Arc::new(Named("b")), Arc::new(Named("a"))];
    let options = uncompressed().restart_interval(1).filter_policies(policies);
    let (table, summary) = write(options, [("k", "1"), ("k2", "2")]).unwrap();
    let expected = [
        block(&[&[0, 1, 1], b"k1", &[0, 2, 1], b"k22", &[0, 0, 0, 0, 5, 0, 0, 0, 2, 0, 0, 0]]),
        // 28 and 44: the filters of "a", then of "b", each one filter of two bytes.
        block(&[b"a2", &[0, 0, 0, 0, 2, 0, 0, 0, 11]]),
        block(&[b"b2", &[0, 0, 0, 0, 2, 0, 0, 0, 11]]),
        // 60: the metaindex, with a restart at every entry.
        block(&[
            &[0, 8, 2],
            b"filter.a",
            &[28, 11],
            &[0, 8, 2],
            b"filter.b",
            &[44, 11],
            &[0, 0, 0, 0, 13, 0, 0, 0, 2, 0, 0, 0],
        ]),
        // 103
        block(&[&[0, 1, 2], b"l", &[0, 23], ONE_RESTART]),
        footer([60, 38, 103, 14]),
    ];
    assert_eq!(table, expected.concat());
    let summaries = summary.filters.iter();
    let summaries =
        summaries.map(|filter| (&filter.policy[..], filter.filters, filter.empty_filters, filter.size));
    assert_eq!(summaries.collect::<Vec<_>>(), [("a", 1, 0, 11), ("b", 1, 0, 11)]);
}

/// A policy whose filters are its name and how many keys there are.
struct Named(&'static str);

impl FilterPolicy for Named {
    fn name(&self) -> &str {
        self.0
    }
    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        dst.extend(format!("{}{}", self.0, keys.len()).bytes());
        Ok(())
    }
    fn key_may_match(&self, _: &[u8], _: &[u8]) -> bool {
        true
    }
}

#[test]
fn filters_lie_behind_the_data_as_the_filter_block_builder_makes_them() {
    for base_lg in [11, 8, 63] {
        let policy = BloomFilterPolicy::new(10);
        // Blocks of 64 bytes in an uncompressed table: an entry takes 3 bytes, key and value, and each block 8 and 5 more.
        let options =
            uncompressed().block_size(64).restart_interval(1 << 20).filter_policy(policy).base_lg(base_lg);
        let (table, summary) = write(options, entries(1000)).unwrap();

        let mut builder = FilterBlockBuilder::with_base_lg(policy, base_lg).unwrap();
        let (mut offset, mut len, mut blocks, mut previous) = (0, 0, 0, String::new());
        for (key, value) in entries(1000) {
            let shared = key.bytes().zip(previous.bytes()).take_while(|(a, b)| a == b).count();
            builder.add_key(key.as_bytes());
            len += 3 + key.len() - if len == 0 { 0 } else { shared } + value.len();
            previous = key;
            if len + 8 >= 64 {
                offset += (len + 8 + 5) as u64;
                (len, blocks) = (0, blocks + 1);
                builder.start_block(offset).unwrap();
            }
        }
        if len > 0 {
            offset += (len + 8 + 5) as u64;
            blocks += 1;
            builder.start_block(offset).unwrap();
        }
        let filters = builder.finish().unwrap();
        assert_eq!((summary.data_size, summary.data_blocks), (offset, blocks));
        assert!(table[offset as usize..].starts_with(&block(&[&filters])), "base_lg {base_lg}");

        let reader = FilterBlockReader::new(policy, &filters[..]);
        let empty =
            (0..reader.num_filters()).filter(|&i| reader.filter(i).is_some_and(<[u8]>::is_empty)).count();
        let [ref written] = summary.filters[..] else { panic!("{summary:?}") };
        assert_eq!(written.policy, policy.name());
        assert_eq!(
            (written.filters, written.empty_filters, written.size),
            (reader.num_filters() as u64, empty as u64, filters.len() as u64)
        );
    }
}

#[test]
fn ranges_without_a_data_block_have_empty_filters() {
    let options = uncompressed().filter_policy(BloomFilterPolicy::new(10));
    let (_, summary) = write(options, [("a", vec![0; 10_000]), ("b", vec![0; 10_000])]).unwrap();
    // The blocks start at 0 and at 10,015 or so, in ranges 0 and 4. The latter block ends in range 9.
    assert_eq!((summary.filters[0].filters, summary.filters[0].empty_filters), (9, 7));
}

#[test]
fn internal_keys_are_ordered_and_filtered_by_their_user_keys() {
    let internal =
        |user_key: &str, sequence: u64| [user_key.as_bytes(), &(sequence << 8 | 1).to_le_bytes()].concat();
    let policy = BloomFilterPolicy::new(10);
    let options = uncompressed().block_size(1).filter_policy(policy).internal_keys(true);
    let keys = [internal("abcdef", 9), internal("abcdef", 8), internal("abzz", 300)];
    let (table, summary) = write(options.clone(), keys.iter().map(|key| (key, ""))).unwrap();

    // One range holds all three blocks, and the filter counts repetitions.
    let mut filters = FilterBlockBuilder::new(policy);
    for key in ["abcdef", "abcdef", "abzz"] {
        filters.add_key(key.as_bytes());
    }
    let filters = block(&[&filters.finish().unwrap()]);
    assert!(table[summary.data_size as usize..].starts_with(&filters));

    // Equal user keys have no shorter separator; others get the greatest sequence, as does the successor.
    let index = [
        &[0, 14, 2][..],
        &keys[0],
        &[0, 25],
        &[0, 11, 2],
        b"abd\x01\xff\xff\xff\xff\xff\xff\xff",
        &[30, 25],
        &[0, 9, 2],
        b"b\x01\xff\xff\xff\xff\xff\xff\xff",
        &[60, 23],
    ];
    let end = table.len() - 48 - 5;
    assert_eq!(table[end - summary.index_size as usize..end - 16], index.concat());

    let mut table = TableBuilder::new(Vec::new(), options.clone());
    table.add(&internal("b", 5), b"").unwrap();
    for len in 0..8 {
        let error = table.add(&[b'z'; 7][..len.min(7)], b"").unwrap_err();
        assert!(
            matches!(error, Error::ShortInternalKey { index: 1, expected: 8, found } if found == len.min(7))
        );
    }
    for late in [internal("b", 5), internal("b", 6), internal("a", 1)] {
        assert!(matches!(table.add(&late, b""), Err(Error::KeyOrder { index: 1, .. })));
    }
    table.add(&internal("b", 4), b"").unwrap();
    assert_eq!(table.finish().unwrap().1.num_entries, 2);
}

#[test]
fn internal_keys_wrap_the_comparator_given() {
    struct Reverse;
    impl Comparator for Reverse {
        fn name(&self) -> &str {
            "test.Reverse"
        }
        fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
            b.cmp(a)
        }
    }
    let keys = ["b\0\0\0\0\0\0\0\x02", "b\0\0\0\0\0\0\0\x01", "a\0\0\0\0\0\0\0\x03"].map(|key| (key, ""));
    assert!(write(uncompressed().comparator(Reverse).internal_keys(true), keys).is_ok());
    assert!(write(uncompressed().internal_keys(true), keys).is_err());
    assert!(write(uncompressed().comparator(Reverse), keys).is_ok());
    // The same bytes come from an internal-key policy given outright.
    let policy = BloomFilterPolicy::new(10);
    let wrapped = write(uncompressed().comparator(Reverse).internal_keys(true).filter_policy(policy), keys);
    let outright =
        write(uncompressed().comparator(Reverse).filter_policy(InternalFilterPolicy::new(policy)), keys);
    assert_eq!(wrapped.unwrap().1.filters, outright.unwrap().1.filters);
}

#[test]
fn keys_out_of_order_are_refused_and_the_table_goes_on() {
    let mut table = TableBuilder::new(Vec::new(), uncompressed());
    table.add(b"b", b"1").unwrap();
    for late in [&b"b"[..], b"a\xff", b""] {
        match table.add(late, b"2") {
            Err(Error::KeyOrder { index: 1, previous, key }) => {
                assert_eq!((&previous[..], &key[..]), (&b"b"[..], late))
            }
            other => panic!("{other:?}"),
        }
    }
    table.add(b"b\0", b"3").unwrap();
    assert_eq!(table.num_entries(), 2);
    let (table, _) = table.finish().unwrap();
    assert_eq!(table, write(uncompressed(), [("b", "1"), ("b\0", "3")]).unwrap().0);
}

#[test]
fn order_holds_across_blocks() {
    let mut table = TableBuilder::new(Vec::new(), uncompressed().block_size(1));
    table.add(b"b", b"").unwrap();
    assert!(table.file_size() > 0);
    assert!(matches!(table.add(b"b", b""), Err(Error::KeyOrder { .. })));
    assert!(matches!(table.add(b"a", b""), Err(Error::KeyOrder { .. })));
}

#[test]
fn a_block_ends_with_the_entry_that_fills_it() {
    // 3 bytes, a key of 1, and 8 behind the entries: a value of 88 fills a block of 100.
    for (value_len, blocks) in [(87, 1), (88, 2)] {
        let options = uncompressed().block_size(100);
        let (_, summary) = write(options, [("a", vec![0; value_len]), ("b", vec![])]).unwrap();
        assert_eq!(summary.data_blocks, blocks, "{value_len}");
    }
    let (_, summary) = write(uncompressed().block_size(usize::MAX), entries(5000)).unwrap();
    assert_eq!(summary.data_blocks, 1);
    let (_, summary) = write(uncompressed().block_size(0), entries(50)).unwrap();
    assert_eq!(summary.data_blocks, 50);
}

#[test]
fn values_larger_than_a_block_stay_whole() {
    let value = vec![b'v'; 5 << 20];
    let (table, summary) = write(uncompressed(), [(b"a", &value), (b"b", &value)]).unwrap();
    assert_eq!(summary.data_blocks, 2);
    // value_len 0x500000 as a varint.
    assert_eq!(table[..7], [0, 1, 0x80, 0x80, 0xc0, 2, b'a']);
    assert_eq!(table[7..][..value.len()], value);
}

#[cfg(target_pointer_width = "64")]
#[test]
fn entries_that_no_block_can_hold_are_refused_and_the_table_goes_on() {
    let mut table = TableBuilder::new(Vec::new(), uncompressed());
    // Zeros that are never touched take no memory.
    let value = vec![0; u32::MAX as usize];
    let error = table.add(b"a", &value).unwrap_err().to_string();
    assert_eq!(error, "data block at offset 0: expected at most 4294967295 bytes, found 4294967323");
    table.add(b"a", b"").unwrap();
    assert_eq!(table.finish().unwrap().1.num_entries, 1);
}

#[test]
fn compression_is_used_where_it_pays() {
    let repetitive = (0..100).map(|i| (format!("{i:03}"), "abcdefgh".repeat(30)));
    let (plain, _) = write(uncompressed(), repetitive.clone()).unwrap();
    let (compressed, summary) = write(WriteOptions::default(), repetitive).unwrap();
    assert!(compressed.len() < plain.len() / 4, "{} of {}", compressed.len(), plain.len());
    // The data block's length comes first, then Snappy's elements; its type stands behind it.
    assert_eq!(summary.file_size, compressed.len() as u64);

    let mut state = 1u32;
    let mut noise = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as u8
    };
    let noise = (0..100).map(|i| (format!("{i:03}"), (0..240).map(|_| noise()).collect::<Vec<_>>()));
    let noise = noise.collect::<Vec<_>>();
    let (compressed, summary) = write(WriteOptions::default(), noise.clone()).unwrap();
    let (plain, _) = write(uncompressed(), noise).unwrap();
    assert_eq!(compressed[..summary.data_size as usize], plain[..summary.data_size as usize]);
}

#[test]
fn invalid_options_are_reported_by_the_first_call() {
    let same_name =
        || -> Vec<SharedPolicy> { vec![Arc::new(Named("a")), Arc::new(Named("b")), Arc::new(Named("a"))] };
    let policy = BloomFilterPolicy::new(10);
    let cases = [
        (uncompressed().restart_interval(0), "restart_interval: expected at least 1, found 0"),
        (uncompressed().base_lg(64).filter_policy(policy), "base_lg: expected 0 to 63, found 64"),
        (
            uncompressed().filter_policies(same_name()),
            "filter_policies: expected policies of different names, found \"a\" twice",
        ),
    ];
    for (options, expected) in cases {
        let mut table = TableBuilder::new(Vec::new(), options.clone());
        assert_eq!(table.add(b"a", b"").unwrap_err().to_string(), expected);
        let abandoned = format!("table given up after an earlier error: {expected}");
        assert_eq!(table.add(b"b", b"").unwrap_err().to_string(), abandoned);
        assert_eq!(table.finish().unwrap_err().to_string(), abandoned);
        assert_eq!(TableBuilder::new(Vec::new(), options).finish().unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_filter_block_over_its_limit_ends_the_table() {
    let options =
        uncompressed().block_size(1).filter_policy(BloomFilterPolicy::new(10)).max_filter_block_size(100);
    let error = write(options.clone(), entries(1000)).unwrap_err();
    assert!(matches!(error, Error::Limit { what: "filter block", limit: 100, .. }), "{error}");
    let mut table = TableBuilder::new(Vec::new(), options);
    let failed = entries(1000).find_map(|(key, _)| table.add(key.as_bytes(), b"").err());
    assert!(matches!(failed, Some(Error::Limit { .. })), "{failed:?}");
    assert!(matches!(table.add(b"z", b""), Err(Error::TableAbandoned { .. })));
    assert!(matches!(table.finish(), Err(Error::TableAbandoned { .. })));
}

#[test]
fn a_policy_that_fails_is_heard() {
    struct Failing;
    impl FilterPolicy for Failing {
        fn name(&self) -> &str {
            "test.Failing"
        }
        fn create_filter(&self, _: Keys<'_>, _: &mut Vec<u8>) -> Result<()> {
            Err(Error::policy("no room on the shelf"))
        }
        fn key_may_match(&self, _: &[u8], _: &[u8]) -> bool {
            true
        }
    }
    let error = write(uncompressed().filter_policy(Failing), [("a", "")]).unwrap_err();
    assert_eq!(error.to_string(), "filter policy: no room on the shelf");
}

/// What a writer does when it is called.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Short(usize),
    Interrupted,
    Zero,
    TooMuch,
    Fail,
}

/// Does `step` in call number `at`, or always if that is `None`, and else takes everything.
struct Faulty {
    written: Vec<u8>,
    calls: usize,
    at: Option<usize>,
    step: Step,
}

impl Faulty {
    fn new(at: Option<usize>, step: Step) -> Self {
        Self { written: Vec::new(), calls: 0, at, step }
    }
}

impl Write for Faulty {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let call = self.calls;
        self.calls += 1;
        let len = match self.step {
            _ if self.at.is_some_and(|at| at != call) => bytes.len(),
            Step::Short(len) => len.min(bytes.len()),
            Step::Interrupted => return Err(io::ErrorKind::Interrupted.into()),
            Step::Zero => 0,
            Step::TooMuch => return Ok(bytes.len() + 1),
            Step::Fail => return Err(io::Error::new(io::ErrorKind::StorageFull, "disk full")),
        };
        self.written.extend(&bytes[..len]);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn options_for_faults() -> WriteOptions {
    uncompressed().block_size(200).filter_policy(BloomFilterPolicy::new(10))
}

#[test]
fn short_and_interrupted_writes_are_continued() {
    let (expected, _) = write(options_for_faults(), entries(100)).unwrap();
    for step in [Step::Short(1), Step::Short(7), Step::Interrupted] {
        let mut calls = 0;
        while step == Step::Interrupted || calls < 1 {
            let at = (step == Step::Interrupted).then_some(calls);
            let mut table = TableBuilder::new(Faulty::new(at, step), options_for_faults());
            entries(100).try_for_each(|(key, value)| table.add(key.as_bytes(), value.as_bytes())).unwrap();
            let (faulty, summary) = table.finish().unwrap();
            assert!(faulty.written == expected, "{step:?} {at:?}");
            assert_eq!(summary.file_size, expected.len() as u64);
            if at.is_some_and(|at| at >= faulty.calls) {
                break;
            }
            calls += 1;
        }
        assert!(calls >= 1);
    }
}

#[test]
fn each_failing_write_reaches_the_caller_and_ends_the_table() {
    let (expected, summary) = write(options_for_faults(), entries(100)).unwrap();
    // A call for each data block, then the filter block, metaindex, index and footer.
    let calls = summary.data_blocks as usize + 4;
    for (step, message) in [
        (Step::Fail, "disk full"),
        (Step::Zero, "write zero"),
        (Step::TooMuch, "the writer claims to have written"),
    ] {
        for at in 0..calls {
            let mut faulty = Faulty::new(Some(at), step);
            let mut table = TableBuilder::new(&mut faulty, options_for_faults());
            let added = entries(100).try_for_each(|(key, value)| table.add(key.as_bytes(), value.as_bytes()));
            let error = match added {
                Err(error) => {
                    assert!(at < summary.data_blocks as usize);
                    let again = table.add(b"z", b"").unwrap_err().to_string();
                    assert_eq!(again, format!("table given up after an earlier error: {error}"));
                    assert!(matches!(table.finish(), Err(Error::TableAbandoned { .. })));
                    error
                }
                Ok(()) => table.finish().map(|_| ()).expect_err("the last calls are made by finish"),
            };
            assert!(error.to_string().contains(message), "{step:?} {at}: {error}");
            let Error::Io { offset, .. } = error else { panic!("{error:?}") };
            assert_eq!(offset, faulty.written.len() as u64);
            assert_eq!(faulty.calls, at + 1, "nothing is written after a failure");
            assert!(expected.starts_with(&faulty.written));
        }
        let (faulty, _) = {
            let mut table = TableBuilder::new(Faulty::new(Some(calls), step), options_for_faults());
            entries(100).try_for_each(|(key, value)| table.add(key.as_bytes(), value.as_bytes())).unwrap();
            table.finish().unwrap()
        };
        assert_eq!(faulty.calls, calls, "every call was tried");
    }
}

#[test]
fn a_failing_flush_reaches_the_caller() {
    #[derive(Debug)]
    struct NoFlush;
    impl Write for NoFlush {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Err(io::Error::other("the cable is out"))
        }
    }
    let error = TableBuilder::new(NoFlush, uncompressed()).finish().unwrap_err();
    assert_eq!(error.to_string(), "flushing at offset 74: the cable is out");
}

#[test]
fn builders_are_send_and_shown_by_their_sizes() {
    fn send<T: Send + Sync>(_: &T) {}
    let options = uncompressed().filter_policy(BloomFilterPolicy::new(10));
    send(&options);
    assert_eq!(
        format!("{options:?}"),
        "WriteOptions { block_size: 4096, restart_interval: 16, compression: None, \
         filter_policies: [\"leveldb.BuiltinBloomFilter2\"], base_lg: 11, max_filter_block_size: None, \
         comparator: \"leveldb.BytewiseComparator\", internal_keys: false }"
    );
    let mut table = TableBuilder::new(Vec::new(), options);
    send(&table);
    table.add(b"secret", b"").unwrap();
    let shown = format!("{table:?}");
    assert!(shown.contains("num_entries: 1") && !shown.contains("secret"), "{shown}");
}
