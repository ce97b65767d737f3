//! Tables that are not written again, since something in them would be lost.

use std::fs;

use bytes::Bytes;
use filterblock::table::{Compression, ReadAt, ReadOptions, RewriteSummary, Rewriter, Table, WriteOptions};
use filterblock::{Error, Result, Structure};

use super::{bloom, open, rewrite, table_of};
use crate::tables::{Crafted, Place, entry_block, handle, testdata};

const FILTER: &[u8] = b"filter.leveldb.BuiltinBloomFilter2";

/// Writes a table again, with filters and without. Either both succeed or both fail.
fn rewrite_both(file: &Bytes) -> Result<Vec<RewriteSummary>> {
    let table = Table::open(file.clone(), &ReadOptions::default()).unwrap();
    let results = [bloom(10), WriteOptions::default()].map(|options| rewrite(&table, &options));
    assert_eq!(results[0].is_ok(), results[1].is_ok());
    results.into_iter().map(|result| result.map(|(_, summary)| summary)).collect()
}

/// A table of three data blocks of one entry each. `index` returns the places that its index names.
fn three_blocks(index: impl Fn([Place; 3], &mut Crafted) -> Vec<Place>) -> Bytes {
    let mut crafted = Crafted::default();
    let blocks = ["a", "b", "c"].map(|key| crafted.entries(&[(key, "value")]));
    let index = index(blocks, &mut crafted);
    crafted.with_index(index.into_iter())
}

#[test]
fn blocks_end_to_end_are_copied() {
    let summaries = rewrite_both(&three_blocks(|blocks, _| blocks.to_vec())).unwrap();
    assert_eq!([summaries[0].data_blocks, summaries[1].data_blocks], [3, 3]);
    assert_eq!((summaries[0].num_entries, summaries[1].num_entries), (Some(3), None));
    // A block without entries is a block, and an index may leave out the last blocks.
    let with_empty = |blocks: [Place; 3], crafted: &mut Crafted| {
        let empty = crafted.entries::<&[u8], &[u8]>(&[]);
        blocks.into_iter().chain([empty]).collect()
    };
    assert_eq!(rewrite_both(&three_blocks(with_empty)).unwrap()[0].data_blocks, 4);
    let first = rewrite_both(&three_blocks(|[a, ..], _| vec![a])).unwrap();
    assert_eq!((first[0].data_blocks, first[0].num_entries, first[0].data_size), (1, Some(1), a_len()));
}

/// The length of a block of the entry `a`, `value`: 3 bytes, key and value, restarts and trailer.
fn a_len() -> u64 {
    3 + 6 + 8 + 5
}

#[test]
fn blocks_out_of_order_twice_or_with_gaps_are_refused_before_they_are_written() {
    type Index = fn([Place; 3]) -> Vec<Place>;
    let cases: [(Index, u64, u64, u64); 6] = [
        (|[_, b, c]| vec![b, c], 0, 0, 22),
        (|[a, _, c]| vec![a, c], 1, 22, 44),
        (|[a, b, c]| vec![a, c, b], 1, 22, 44),
        (|[a, b, c]| vec![a, b, b, c], 2, 44, 22),
        (|[a, b, _]| vec![a, (b.0 - 1, b.1 + 1)], 1, 22, 21),
        (|[a, b, _]| vec![a, (b.0 + 1, b.1 - 1)], 1, 22, 23),
    ];
    for (index, copied, expected, found) in cases {
        let file = three_blocks(|blocks, _| index(blocks));
        let table = Table::open(file.clone(), &ReadOptions::default()).unwrap();
        for options in [bloom(10), WriteOptions::default()] {
            let mut written = Vec::new();
            let mut rewriter = Rewriter::new(&table, &mut written, &options).unwrap();
            for _ in 0..copied {
                assert!(rewriter.copy_block().unwrap());
            }
            let error = rewriter.copy_block().unwrap_err();
            let Error::Unsupported { what: Structure::Index, offset, .. } = error else { panic!("{error}") };
            assert_eq!(offset, table.index_handle().offset);
            assert_eq!(
                error.to_string(),
                format!(
                    "index at offset {offset}: expected data blocks end to end, the next one at offset {expected}, \
                     found one at offset {found}, which is not supported"
                )
            );
            drop(rewriter);
            assert_eq!(written, file[..expected as usize]);
        }
    }
}

#[test]
fn handles_that_lead_out_of_the_file_are_damage() {
    let file = three_blocks(|[a, b, _], _| vec![a, (b.0, 1 << 40)]);
    let error = rewrite_both(&file).unwrap_err();
    assert!(matches!(error, Error::Corrupt { what: Structure::BlockHandle, .. }), "{error}");
    let table = Table::open(file, &ReadOptions::default()).unwrap();
    let mut rewriter = Rewriter::new(&table, Vec::new(), &bloom(10)).unwrap();
    assert!(rewriter.copy_block().unwrap() && rewriter.copy_block().is_err());
    // An index entry that is no handle.
    let mut crafted = Crafted::default();
    let metaindex = crafted.entries::<&[u8], &[u8]>(&[]);
    let index = crafted.entries(&[("a", [0xff; 3])]);
    let error = rewrite_both(&crafted.footer(metaindex, index)).unwrap_err();
    assert!(matches!(error, Error::Corrupt { what: Structure::BlockHandle, .. }), "{error}");
}

/// A table of one entry whose metaindex has these names. All of them lead to one block.
fn with_metaindex(names: &[&[u8]]) -> Bytes {
    let mut crafted = Crafted::default();
    let data = crafted.entries(&[("key", "value")]);
    let other = crafted.block(b"what would be lost");
    let meta: Vec<_> = names.iter().map(|&name| (name, other)).collect();
    crafted.finish(&[(b"key", data)], &meta)
}

#[test]
fn entries_of_the_metaindex_that_are_no_filters_are_refused() {
    for names in [
        &[&b"stats"[..]][..],
        &[b""],
        &[b"filter"],
        &[b"Filter.leveldb.BuiltinBloomFilter2"],
        &[FILTER, b"properties"],
        &[b"data", FILTER],
        &[b"stats.sst1"],
        &[FILTER, b"stats.sst1"],
        &[b"rocksdb.properties"],
        &[b"filter.rocksdb.BuiltinBloomFilter"],
        &[b"fullfilter.rocksdb.BuiltinBloomFilter"],
    ] {
        let file = with_metaindex(names);
        let error = rewrite_both(&file).unwrap_err();
        assert!(matches!(error, Error::Unsupported { what: Structure::Metaindex, .. }), "{names:?}: {error}");
        let offset = open(&file).metaindex_handle().offset;
        let start = format!(
            "metaindex at offset {offset}: expected only filters of LevelDB's, whose names begin with \"filter.\", \
             found \""
        );
        assert!(error.to_string().starts_with(&start), "{error}");
    }
    let error = rewrite_both(&with_metaindex(&[FILTER, b"stats.sst1"])).unwrap_err().to_string();
    assert!(error.ends_with("found \"stats.sst1\", a mark of Basho, which is not supported"), "{error}");
}

#[test]
fn filters_of_any_policy_and_any_contents_are_replaced() {
    for names in [&[][..], &[FILTER], &[b"filter."], &[b"filter.mine", FILTER], &[b"filter.b", b"filter.a"]] {
        assert!(rewrite_both(&with_metaindex(names)).is_ok(), "{names:?}");
    }
    // A handle that is none, or leads out of the file.
    for value in [vec![0xff; 3], vec![], handle((1 << 40, 1 << 40))] {
        let mut crafted = Crafted::default();
        let data = crafted.entries(&[("key", "value")]);
        let metaindex = crafted.entries(&[(FILTER, value)]);
        let index = crafted.entries(&[("key", handle(data))]);
        let file = crafted.footer(metaindex, index);
        let table = Table::open(file, &ReadOptions::default()).unwrap();
        assert!(table.filter().is_none() && table.filter_error().is_some());
        let (again, _) = rewrite(&table, &bloom(10)).unwrap();
        assert!(open(&again).filter_error().is_none() && open(&again).filter().is_some());
    }
}

#[test]
fn tables_of_relatives_are_refused() {
    let (mut tables, mut opened) = (0, 0);
    for path in fs::read_dir(testdata().join("basho")).unwrap().map(|file| file.unwrap().path()) {
        if path.extension().is_none_or(|extension| extension != "ldb") {
            continue;
        }
        tables += 1;
        let table = Table::open_path(&path, &ReadOptions::default().internal_keys(true));
        // A compressed index is compressed with LZ4, which may not be built in.
        let Ok(table) = table else { continue };
        opened += 1;
        for options in [bloom(10), WriteOptions::default()] {
            let error = Rewriter::new(&table, Vec::new(), &options).map(drop).unwrap_err();
            assert_eq!(error.path(), Some(&*path), "{error}");
            let inner = error.without_path();
            assert!(matches!(inner, Error::Unsupported { what: Structure::Metaindex, .. }), "{error}");
        }
    }
    assert!(tables >= 3 && (opened == tables || !cfg!(feature = "lz4")));
}

#[test]
fn invalid_options_are_refused_before_anything_is_read() {
    let file = table_of(5, WriteOptions::default());
    let table = open(&file);
    for options in [
        bloom(10).base_lg(64),
        bloom(10).restart_interval(0),
        WriteOptions::default().filter_policies(vec![
            std::sync::Arc::new(filterblock::BloomFilterPolicy::new(10)),
            std::sync::Arc::new(filterblock::BloomFilterPolicy::new(20)),
        ]),
    ] {
        let error = Rewriter::new(&table, Vec::new(), &options).map(drop).unwrap_err();
        assert!(matches!(error, Error::InvalidOption { .. }), "{error}");
    }
}

#[test]
fn short_internal_keys_are_refused_where_keys_are_read() {
    let mut crafted = Crafted::default();
    let data = crafted.entries(&[("k0000000", "8 bytes"), ("k000000", "7 bytes")]);
    let file = crafted.with_index([data].into_iter());
    let table = Table::open(file, &ReadOptions::default()).unwrap().with_path("the table");
    let error = rewrite(&table, &bloom(10).internal_keys(true)).unwrap_err();
    assert_eq!(error.to_string(), "the table: internal key 1: expected at least 8 bytes, found 7");
    assert!(matches!(error.without_path(), Error::ShortInternalKey { index: 1, found: 7, .. }));
    assert!(rewrite(&table, &WriteOptions::default().internal_keys(true)).is_ok());
    assert!(rewrite(&table, &bloom(10)).is_ok());
}

/// Blocks are decoded only for their keys.
#[test]
fn an_unknown_compression_is_copied_but_not_filtered() {
    let mut crafted = Crafted::default();
    let data = crafted.block_of_type(b"in a codec of the future", 9);
    let file = crafted.with_index([data].into_iter());
    let table = Table::open(file.clone(), &ReadOptions::default()).unwrap();
    let (again, summary) = rewrite(&table, &WriteOptions::default()).unwrap();
    assert_eq!((summary.data_blocks, summary.num_entries), (1, None));
    assert!(again.starts_with(&file[..summary.data_size as usize]) && summary.data_size == data.1 + 5);
    let error = rewrite(&table, &bloom(10)).unwrap_err();
    assert!(matches!(error, Error::Unsupported { what: Structure::CompressionType, .. }), "{error}");
}

#[test]
fn a_damaged_metaindex_is_replaced_like_the_filters() {
    let sound = table_of(5, bloom(10).compression(Compression::None));
    let mut file = sound.clone();
    let at = open(&file).metaindex_handle().offset as usize;
    file[at + 5] ^= 1;
    for verify in [true, false] {
        let table = Table::open(&file[..], &ReadOptions::default().verify_checksums(verify)).unwrap();
        assert!(rewrite(&table, &bloom(10)).unwrap().0 == sound);
    }
    // The metaindex's handle leads out of the file.
    let mut crafted = Crafted::default();
    let data = crafted.entries(&[("key", "value")]);
    let index = crafted.block(&entry_block(&[("key", handle(data))]));
    let file = crafted.footer((1 << 40, 10), index);
    let table = Table::open(file, &ReadOptions::default()).unwrap();
    let (again, summary) = rewrite(&table, &bloom(10)).unwrap();
    assert_eq!(summary.num_entries, Some(1));
    assert_eq!(open(&again).get(b"key").unwrap().as_deref(), Some(&b"value"[..]));
}

/// The metaindex is of an unknown compression type, or the source fails where it is.
#[test]
fn a_metaindex_that_the_source_does_not_give_is_an_error() {
    let file = table_of(5, bloom(10).compression(Compression::None));
    let (metaindex, table) = (open(&file).metaindex_handle(), open(&file));
    let mut crafted = Crafted::default();
    let data = crafted.entries(&[("key", "value")]);
    let unknown = crafted.block_of_type(b"in a codec of the future", 9);
    let index = crafted.block(&entry_block(&[("key", handle(data))]));
    let error = rewrite_both(&crafted.footer(unknown, index)).unwrap_err();
    assert!(matches!(error, Error::Unsupported { what: Structure::CompressionType, .. }), "{error}");

    let parts = (table.index_part(), table.filter_part());
    let source = Hole { file: file.clone(), hole: metaindex.offset };
    let table = Table::from_parts(source, parts.0, parts.1).unwrap();
    let error = Rewriter::new(&table, Vec::new(), &bloom(10)).map(drop).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
}

/// A source that fails if a read includes the byte at `hole`.
struct Hole {
    file: Vec<u8>,
    hole: u64,
}

impl ReadAt for Hole {
    fn len(&self) -> std::io::Result<u64> {
        ReadAt::len(&self.file)
    }

    fn read_at(&self, offset: u64, len: usize) -> std::io::Result<Bytes> {
        match (offset..offset + len as u64).contains(&self.hole) {
            true => Err(std::io::Error::other("a hole")),
            false => self.file.read_at(offset, len),
        }
    }
}
