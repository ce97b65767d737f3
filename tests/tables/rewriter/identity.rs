//! A rewritten table is the one that would have been written with these filters at first.

use std::fs;
use std::sync::Arc;

use filterblock::table::{
    BlockCursor, Codec, Compression, ReadOptions, Table, TableBuilder, TableSummary, WriteOptions,
};
use filterblock::{
    BloomFilterPolicy, FilterPolicy, LegacyBloomPolicy, LegacyHash, Murmur3BloomPolicy, SharedPolicy,
};

use super::{bloom, entry, open, rewrite, table_of};
use crate::tables::{Entry, samples, testdata};

/// Sets of no policy, of one policy and of several.
fn policy_sets() -> Vec<Vec<SharedPolicy>> {
    let bloom = |bits| -> SharedPolicy { Arc::new(BloomFilterPolicy::new(bits)) };
    vec![
        vec![],
        vec![bloom(10)],
        vec![bloom(1)],
        vec![Arc::new(Murmur3BloomPolicy::new(12)), bloom(16), Arc::new(LegacyBloomPolicy::new(10))],
    ]
}

/// A table of `count` entries, with internal keys if `internal`.
fn write(count: usize, internal: bool, options: WriteOptions) -> (Vec<u8>, TableSummary) {
    let mut table = TableBuilder::new(Vec::new(), options.internal_keys(internal));
    for (i, (key, value)) in (0..count).map(entry).enumerate() {
        let tag = ((count - i) as u64) << 8 | 1;
        let key = if internal { [key.as_bytes(), &tag.to_le_bytes()].concat() } else { key.into_bytes() };
        table.add(&key, value.as_bytes()).unwrap();
    }
    table.finish().unwrap()
}

/// The index of a table as it is stored, with its trailer.
fn stored_index<'f>(table: &Table<&[u8]>, file: &'f [u8]) -> &'f [u8] {
    let handle = table.index_handle();
    &file[handle.offset as usize..][..handle.size as usize + 5]
}

fn entries_of(block: Option<BlockCursor<'_>>) -> Vec<Entry> {
    let (mut block, mut entries) = (block.unwrap(), Vec::new());
    while block.next().unwrap() {
        entries.push((block.key().to_vec(), block.value().to_vec()));
    }
    entries
}

/// Calls `check` with tables of many shapes: number of entries, block size, compression, internal keys, range of a
/// filter.
fn each_shape(mut check: impl FnMut(usize, bool, WriteOptions)) {
    for count in [0, 1, 30, 700] {
        for (block_size, compression) in [
            (1, Compression::None),
            (300, Compression::Snappy),
            (4096, Compression::Snappy),
            (1 << 20, Compression::None),
        ] {
            for internal in [false, true] {
                for base_lg in [0, 5, 11, 63] {
                    let options = WriteOptions::default().internal_keys(internal).base_lg(base_lg);
                    check(count, internal, options.block_size(block_size).compression(compression));
                }
            }
        }
    }
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn filters_come_and_go_and_the_bytes_are_those_of_the_builder() {
    let mut shapes = 0;
    each_shape(|count, internal, options| {
        let sets: Vec<_> =
            policy_sets().into_iter().map(|set| options.clone().filter_policies(set)).collect();
        let written: Vec<_> = sets.iter().map(|options| write(count, internal, options.clone())).collect();
        for (from, _) in &written {
            let table = open(from);
            for ((expected, summary), options) in written.iter().zip(&sets) {
                let (file, rewritten) = rewrite(&table, options).unwrap();
                assert!(file == *expected, "{count} entries, {options:?}");
                assert_eq!(rewritten.file_size, summary.file_size);
                assert_eq!(rewritten.data_size, summary.data_size);
                assert_eq!(rewritten.data_blocks, summary.data_blocks);
                assert_eq!(rewritten.filters, summary.filters);
                let entries = (!summary.filters.is_empty()).then_some(count as u64);
                assert_eq!(rewritten.num_entries, entries);
                shapes += 1;
            }
        }
    });
    assert_eq!(shapes, 4 * 4 * 2 * 4 * 16);
}

/// LevelDB's tables with filters can be made from the same tables without filters, and the other way round.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn leveldbs_own_tables_come_back_byte_for_byte() {
    let mut filtered = 0;
    for sample in samples() {
        let table = sample.open();
        let internal = sample.name.starts_with("versions");
        let none = WriteOptions::default().internal_keys(internal);
        let (dropped, summary) = rewrite(&table, &none).unwrap();
        assert_eq!(summary.num_entries, None);
        assert!(dropped.starts_with(&sample.file[..summary.data_size as usize]), "{}", sample.name);
        if !sample.filtered {
            assert_eq!(dropped, sample.file, "{}", sample.name);
            continue;
        }
        filtered += 1;
        let bits = sample
            .name
            .trim_end_matches(".ldb")
            .split('-')
            .find_map(|part| part.strip_prefix("bloom"))
            .unwrap();
        let options = none.filter_policy(BloomFilterPolicy::new(bits.parse().unwrap()));
        for from in [&dropped[..], &sample.file] {
            let table = Table::open(from, &sample.options).unwrap();
            let (file, summary) = rewrite(&table, &options).unwrap();
            assert!(file == sample.file, "{}", sample.name);
            assert_eq!(summary.num_entries, Some(sample.entries.len() as u64));
        }
        // The same table as LevelDB itself wrote without filters, for samples that have one.
        let unfiltered = sample.name.replace(&format!("bloom{bits}"), "unfiltered");
        if let Ok(expected) = fs::read(testdata().join("tables").join(unfiltered)) {
            assert!(dropped == expected, "{}", sample.name);
        }
    }
    assert!(filtered >= 15);
}

/// Data, filters and index come back. goleveldb stores the metaindex with Snappy even where that saves nothing.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn goleveldbs_tables_of_any_range_come_back() {
    let mut tables = 0;
    for (folder, base_lg) in [("base-lg-11", 11), ("base-lg-19", 19)] {
        let files = fs::read_dir(testdata().join("goleveldb").join(folder)).unwrap();
        for path in files.map(|file| file.unwrap().path()) {
            if path.extension().is_none_or(|extension| extension != "ldb") {
                continue;
            }
            let file = fs::read(&path).unwrap();
            let table = Table::open(&file[..], &ReadOptions::default().internal_keys(true)).unwrap();
            let policy = LegacyBloomPolicy::new(10).with_hash(LegacyHash::Unsigned);
            let options = WriteOptions::default().filter_policy(policy).internal_keys(true).base_lg(base_lg);
            let (again, _) = rewrite(&table, &options).unwrap();
            let metaindex = table.metaindex_handle().offset as usize;
            assert!(again[..metaindex] == file[..metaindex], "{}", path.display());
            let rewritten = open(&again);
            assert_eq!(entries_of(rewritten.metaindex()), entries_of(table.metaindex()));
            let [old, new] =
                [(&table, &file), (&rewritten, &again)].map(|(table, file)| stored_index(table, file));
            assert!(old == new, "{}", path.display());
            tables += 1;
        }
    }
    assert_eq!(tables, 14);
}

/// Mojang compresses the index as well. Both data blocks and index stay as they are.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn blocks_of_other_codecs_are_copied() {
    for name in ["words-1024-bloom10-zlib.ldb", "words-1024-bloom10-deflate.ldb"] {
        let file = fs::read(testdata().join("bedrock").join(name)).unwrap();
        let table = Table::open(&file[..], &ReadOptions::default());
        assert_eq!(table.is_ok(), cfg!(feature = "zlib"), "{name}");
        let Ok(table) = table else { continue };
        let (again, summary) = rewrite(&table, &bloom(10)).unwrap();
        assert_eq!(summary.num_entries, Some(300));
        let data = summary.data_size as usize;
        assert!(again[..data] == file[..data], "{name}");
        let rewritten = open(&again);
        assert_eq!(table.filter().unwrap().contents(), rewritten.filter().unwrap().contents(), "{name}");
        assert!(stored_index(&table, &file) == stored_index(&rewritten, &again), "{name}");
    }
}

/// A policy whose name compresses well.
struct LongName;

impl FilterPolicy for LongName {
    fn name(&self) -> &str {
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    }
    fn create_filter(&self, keys: filterblock::Keys<'_>, dst: &mut Vec<u8>) -> filterblock::Result<()> {
        dst.push(keys.len() as u8);
        Ok(())
    }
    fn key_may_match(&self, _: &[u8], _: &[u8]) -> bool {
        true
    }
}

#[test]
fn the_metaindex_is_compressed_if_it_was() {
    let with = |compression| WriteOptions::default().compression(compression).filter_policy(LongName);
    for (compression, codec) in [(Compression::Snappy, Codec::Snappy), (Compression::None, Codec::None)] {
        let file = table_of(10, with(compression));
        assert_eq!(open(&file).metaindex().unwrap().codec(), codec);
        // The option is for data blocks, which are copied.
        for option in [Compression::None, Compression::Snappy] {
            assert_eq!(rewrite(&open(&file), &with(option)).unwrap().0, file);
        }
        // By LevelDB's rule, a block is not compressed if that saves nothing.
        let (short, _) = rewrite(&open(&file), &bloom(10)).unwrap();
        assert_eq!(open(&short).metaindex().unwrap().codec(), Codec::None);
        let (again, _) = rewrite(&open(&short), &with(Compression::Snappy)).unwrap();
        assert_eq!(open(&again).metaindex().unwrap().codec(), Codec::None);
    }
}

#[test]
fn restarts_of_the_metaindex_follow_the_option() {
    for interval in [1, 2, 16] {
        let sets = policy_sets().into_iter().next_back().unwrap();
        let options = WriteOptions::default().restart_interval(interval).filter_policies(sets);
        let file = table_of(50, options.clone());
        assert!(rewrite(&open(&file), &options).unwrap().0 == file, "{interval}");
    }
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn every_stored_key_passes_the_new_filters() {
    for base_lg in [0, 11, 63] {
        for policies in policy_sets().into_iter().skip(1) {
            for sample in samples() {
                let internal = sample.name.starts_with("versions");
                let options = WriteOptions::default().internal_keys(internal).base_lg(base_lg);
                let options = options.filter_policies(policies.clone());
                let (file, _) = rewrite(&sample.open(), &options).unwrap();
                let mut denied = 0;
                for policy in &policies {
                    let read = sample.options.clone().filter_policies(vec![Arc::clone(policy)]);
                    let table = Table::open(&file[..], &read).unwrap();
                    assert!(table.filter().unwrap().check().is_ok());
                    for (key, value) in &sample.entries {
                        assert_eq!(table.get(key).unwrap().unwrap(), value, "{}", sample.name);
                        let other = [&b"~"[..], key].concat();
                        denied += usize::from(!table.may_contain(&other).unwrap());
                    }
                }
                assert!(
                    denied > 0 || sample.entries.len() < 2 || sample.name.starts_with("dense"),
                    "{}",
                    sample.name
                );
            }
        }
    }
}

#[test]
fn blocks_are_copied_one_by_one_and_counted() {
    let file = table_of(300, WriteOptions::default().block_size(500));
    let table = open(&file);
    let mut rewriter = filterblock::table::Rewriter::new(&table, Vec::new(), &bloom(10)).unwrap();
    assert_eq!(rewriter.file_size(), 0);
    let mut blocks = 0;
    for handle in table.data_blocks().map(|handle| handle.unwrap()) {
        assert_eq!(rewriter.file_size(), handle.offset);
        assert!(rewriter.copy_block().unwrap());
        assert_eq!(rewriter.file_size(), handle.end().unwrap());
        blocks += 1;
    }
    assert!(blocks > 5);
    for _ in 0..3 {
        assert!(!rewriter.copy_block().unwrap());
    }
    let shown = format!("{rewriter:?}");
    assert!(shown.contains("num_entries: 300") && !shown.contains("key0"), "{shown}");
    let (file, summary) = rewriter.finish().unwrap();
    assert_eq!((summary.data_blocks, summary.num_entries), (blocks, Some(300)));
    assert_eq!(summary.file_size, file.len() as u64);
}
