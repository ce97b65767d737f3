//! Filter blocks, one or several, and internal keys.

use std::cmp::Ordering;
use std::sync::Arc;

use filterblock::table::{Comparator, TableBuilder};
use filterblock::{
    BloomFilterPolicy, Error, FilterBlockBuilder, FilterBlockReader, FilterPolicy, InternalFilterPolicy,
    SharedPolicy,
};

use super::{CountingPolicy, ONE_RESTART, block, entries, footer, uncompressed, write};

#[test]
fn restarts_of_metaindex_and_data_follow_the_option() {
    let policies: Vec<SharedPolicy> = vec![Arc::new(CountingPolicy("b")), Arc::new(CountingPolicy("a"))];
    let options = uncompressed().filter_policies(policies);
    let entries = [("k", "1"), ("k2", "2")];
    let (table, summary) = write(options.clone().restart_interval(1), entries).unwrap();
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

    // With restarts further apart, the second key and the second name share what they can.
    let (table, _) = write(options.restart_interval(2), entries).unwrap();
    assert!(table.starts_with(&block(&[&[0, 1, 1], b"k1", &[1, 1, 1], b"22", ONE_RESTART])));
    let metaindex = block(&[&[0, 8, 2], b"filter.a", &[23, 11], &[7, 1, 2], b"b", &[39, 11], ONE_RESTART]);
    assert!(table[55..].starts_with(&metaindex));
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn filters_lie_behind_the_data_as_the_filter_block_builder_makes_them() {
    for base_lg in [11, 8, 63] {
        let policy = BloomFilterPolicy::new(10);
        // Blocks of 64 bytes in an uncompressed table: an entry takes 3 bytes, key and value, and each block 8 and 5
        // more.
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
        let error = table.add(&b"zzzzzzz"[..len], b"").unwrap_err();
        assert!(
            matches!(error, Error::ShortInternalKey { index: 1, expected: 8, found, .. } if found == len)
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
