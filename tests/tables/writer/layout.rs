//! The places of blocks and entries in a table.

use std::cmp::Ordering;

use filterblock::Error;
use filterblock::table::{BytewiseComparator, Comparator, WriteOptions};

use super::{ONE_RESTART, block, entries, footer, uncompressed, write};

#[test]
fn an_empty_table_has_metaindex_index_and_footer() {
    let (table, summary) = write::<&str, &str>(uncompressed(), []).unwrap();
    // The metaindex is at 0, the index after its 8 bytes and 5 of trailer.
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
        // 24, because the first has 19 bytes and its trailer
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
    /// A comparator that returns these bytes as every separator and successor.
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
    // A separator between the keys is taken, as is the former key itself; the latter key and anything outside the two
    // are not.
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

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn a_block_ends_with_the_entry_that_fills_it() {
    // 3 bytes, a key of 1, and 8 after the entries: a value of 88 fills a block of 100.
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

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn values_larger_than_a_block_stay_whole() {
    let value = vec![b'v'; 5 << 20];
    let (table, summary) = write(uncompressed(), [(b"a", &value), (b"b", &value)]).unwrap();
    assert_eq!(summary.data_blocks, 2);
    // value_len 0x500000 as a varint.
    assert_eq!(table[..7], [0, 1, 0x80, 0x80, 0xc0, 2, b'a']);
    assert_eq!(table[7..][..value.len()], value);
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn compression_is_used_where_it_pays() {
    let repetitive = (0..100).map(|i| (format!("{i:03}"), "abcdefgh".repeat(30)));
    let (plain, _) = write(uncompressed(), repetitive.clone()).unwrap();
    let (compressed, summary) = write(WriteOptions::default(), repetitive).unwrap();
    assert!(compressed.len() < plain.len() / 4, "{} of {}", compressed.len(), plain.len());
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
