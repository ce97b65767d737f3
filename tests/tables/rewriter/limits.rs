//! The costs of rewriting tables, sound and hostile ones.

use bytes::Bytes;
use filterblock::Error;
use filterblock::table::{Compression, ReadOptions, Rewriter, Table, TableBuilder, WriteOptions};

use super::{bloom, rewrite};
use crate::counting::{allocations, peak};
use crate::tables::{Crafted, entry_block, varint};

/// The block is copied once. Then its second entry in the index is refused.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn a_block_named_a_million_times_is_written_once_at_most() {
    let mut crafted = Crafted::default();
    let data = crafted.block(&entry_block(&[("key", [7; 1000])]));
    let file = crafted.with_index((0..1_000_000).map(|_| data));
    let table = Table::open(file, &ReadOptions::default()).unwrap();
    for options in [bloom(10), WriteOptions::default()] {
        let failed = Rewriter::new(&table, Vec::new(), &options).unwrap().finish().unwrap_err();
        assert!(matches!(failed.error(), Error::Unsupported { .. }), "{failed}");
        assert_eq!(failed.into_writer().len() as u64, data.1 + 5);
    }
}

/// Blocks without contents lie end to end, too, with their trailers: no more are copied than fit into the file.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn blocks_without_contents_end_with_the_file() {
    let mut crafted = Crafted::default();
    let blocks: Vec<_> = (0..1000).map(|_| crafted.block(b"")).collect();
    let file = crafted.with_index(blocks.iter().copied().chain([(5000, 1 << 30)]));
    let table = Table::open(file, &ReadOptions::default()).unwrap();
    let failed = Rewriter::new(&table, Vec::new(), &WriteOptions::default()).unwrap().finish().unwrap_err();
    assert!(matches!(failed.error(), Error::Corrupt { .. }), "{failed}");
    assert_eq!(failed.into_writer().len(), 5000);
    assert!(matches!(rewrite(&table, &bloom(10)), Err(Error::Corrupt { .. })));
}

#[test]
fn output_is_limited() {
    let contents = entry_block(&[("key", [7; 1000])]);
    let compressed = snap::raw::Encoder::new().compress_vec(&contents).unwrap();
    let mut crafted = Crafted::default();
    let blocks: Vec<_> = (0..10).map(|_| crafted.block_of_type(&compressed, 1)).collect();
    let file = crafted.with_index(blocks.into_iter());
    let limited = |limit| Table::open(file.clone(), &ReadOptions::default().max_output(limit)).unwrap();
    let all = 10 * contents.len() as u64;
    assert_eq!(rewrite(&limited(all), &bloom(10)).unwrap().1.data_blocks, 10);
    let table = limited(all - 1);
    let mut rewriter = Rewriter::new(&table, Vec::new(), &bloom(10)).unwrap();
    for _ in 0..9 {
        assert!(rewriter.copy_block().unwrap());
    }
    let error = rewriter.copy_block().unwrap_err();
    assert!(
        matches!(error, Error::Limit { limit, found, .. } if (limit, found) == (all - 1, all)),
        "{error}"
    );
    // Without policies nothing is decoded.
    assert!(rewrite(&limited(0), &WriteOptions::default()).is_ok());
}

/// A thousand entries that share a key of a thousand bytes: a block of 5 KB, a megabyte of keys.
#[test]
fn long_shared_keys_count_against_the_limit() {
    let mut contents = [&[0][..], &varint(1000), &[0], &[b'k'; 1000]].concat();
    (0..1000).for_each(|_| contents.extend([&varint(1000)[..], &[0, 0]].concat()));
    contents.extend([0, 0, 0, 0, 1, 0, 0, 0]);
    let mut crafted = Crafted::default();
    let data = crafted.block(&contents);
    let file = crafted.with_index([data].into_iter());
    let limited = |limit| Table::open(file.clone(), &ReadOptions::default().max_output(limit)).unwrap();
    let all = contents.len() as u64 + 1_000_000;
    assert!(rewrite(&limited(all), &bloom(10)).is_ok());
    let error = rewrite(&limited(all - 1), &bloom(10)).unwrap_err();
    assert!(matches!(error, Error::Limit { found, .. } if found == all), "{error}");
    let table = limited(100_000);
    let (bytes, result) = peak(|| rewrite(&table, &bloom(10)).map(drop));
    assert!(matches!(result, Err(Error::Limit { .. })) && bytes < 400_000, "{bytes}");
}

#[test]
fn a_block_over_the_limit_is_refused() {
    let contents = entry_block(&[("key", [7; 100_000])]);
    let mut crafted = Crafted::default();
    let data = crafted.block_of_type(&snap::raw::Encoder::new().compress_vec(&contents).unwrap(), 1);
    let file = crafted.with_index([data].into_iter());
    let limited = |limit| Table::open(file.clone(), &ReadOptions::default().max_block_size(limit)).unwrap();
    assert!(rewrite(&limited(contents.len()), &bloom(10)).is_ok());
    let table = limited(contents.len() - 1);
    let (bytes, result) = peak(|| rewrite(&table, &bloom(10)).map(drop));
    assert!(matches!(result, Err(Error::Limit { .. })), "{result:?}");
    assert!(bytes < 20_000, "{bytes}");
}

/// A table of 200,000 entries, without filters.
fn large() -> Vec<u8> {
    let options = WriteOptions::default().compression(Compression::None);
    let mut table = TableBuilder::new(Vec::new(), options);
    for i in 0..200_000_u32 {
        let key = format!("key{i:08}{}", "k".repeat(i as usize % 3));
        table.add(key.as_bytes(), &[0; 40]).unwrap();
    }
    table.finish().unwrap().0
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn one_block_and_the_filters_are_held() {
    const WINDOW: usize = 128 << 10;
    let file = large();
    let table = Table::open(&file[..], &ReadOptions::default()).unwrap();
    let index = table.index_handle().size as usize;
    assert!(file.len() > 6 << 20);
    let run = |options: &WriteOptions| {
        let (bytes, sizes) = peak(|| {
            let (_, summary) = Rewriter::new(&table, std::io::sink(), options).unwrap().finish().unwrap();
            summary.filters.iter().map(|filter| (filter.size, filter.filters)).collect::<Vec<_>>()
        });
        (bytes, sizes.iter().map(|&(size, filters)| size as usize + 16 * filters as usize).sum::<usize>())
    };
    let (none, _) = run(&WriteOptions::default());
    assert!(none < WINDOW + index + 20_000, "{none}");
    // The filters lie in buffers that grow, and are copied once more for the file.
    let (bytes, filters) = run(&bloom(10));
    assert!(bytes < WINDOW + index + 3 * filters + 50_000, "{bytes} for {filters}");
    assert!(bytes < file.len() / 4, "{bytes}");
    // One filter for all: 8 bytes a key while it is made, twice that while the buffer grows.
    let (bytes, filters) = run(&bloom(10).base_lg(63));
    assert!(bytes < WINDOW + index + 3 * filters + 16 * 200_000 + 50_000, "{bytes}");
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn copying_allocates_nothing_for_each_entry() {
    let file = large();
    let table = Table::open(Bytes::from(file), &ReadOptions::default()).unwrap();
    let blocks = table.data_blocks().count();
    let options = bloom(10);
    let mut rewriter = Rewriter::new(&table, std::io::sink(), &options).unwrap();
    for _ in 0..100 {
        rewriter.copy_block().unwrap();
    }
    let (count, ()) = allocations(|| while rewriter.copy_block().unwrap() {});
    assert!(count < blocks / 10, "{count} allocations for {blocks} blocks");
    let file = large();
    assert_eq!(rewrite(&table, &WriteOptions::default()).unwrap().0, file);
}
