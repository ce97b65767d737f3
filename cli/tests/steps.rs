//! How much `filterblock inspect` reads: counted reads, not clocks.

#[path = "../../tests/common/tables.rs"]
mod tables;

use bytes::Bytes;
use filterblock::table::{TableBuilder, WriteOptions};
use filterblock_cli::survey;
use tables::{Crafted, Place, Recording, samples};

/// Opening takes four reads at most.
const OPENING: usize = 4;
/// How many data blocks are decoded.
const SAMPLED: usize = 16;

/// The reads while a table is inspected, and how many of them were longer than a block's trailer.
fn reads(file: impl Into<Bytes>) -> (usize, usize) {
    let source = Recording::new(file.into());
    survey(&source).unwrap();
    let reads = source.take();
    (reads.len(), reads.iter().filter(|(_, len)| *len > 5).count())
}

/// A table of one data block, whose index holds these handles.
fn indexed(handles: impl Iterator<Item = Place>) -> Bytes {
    let mut crafted = Crafted::default();
    crafted.entries(&[(b"key", b"value")]);
    crafted.with_index(handles)
}

#[test]
fn each_block_is_looked_at_once_and_16_are_decoded() {
    for count in [1_u32, 10, 16, 17, 1000] {
        let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default().block_size(1));
        (0..count).for_each(|number| builder.add(&number.to_be_bytes(), &[7; 50]).unwrap());
        let (all, decoded) = reads(builder.finish().unwrap().0);
        let count = count as usize;
        assert!(decoded <= OPENING + SAMPLED.min(count), "{decoded} blocks decoded of {count}");
        assert!(all <= OPENING + count + 2 * SAMPLED.min(count), "{all} reads for {count} blocks");
    }
    for sample in samples() {
        let blocks = sample.open().data_blocks().count();
        let (all, decoded) = reads(sample.file);
        assert!(decoded <= OPENING + SAMPLED.min(blocks), "{}: {decoded} of {blocks} blocks", sample.name);
        assert!(all <= OPENING + blocks + 2 * SAMPLED.min(blocks), "{}: {all} reads", sample.name);
    }
}

#[test]
fn a_block_named_150_000_times_is_looked_at_once() {
    let block = (0, tables::entry_block(&[(b"key", b"value")]).len() as u64);
    let (all, decoded) = reads(indexed((0..150_000).map(|_| block)));
    assert!(decoded <= OPENING + 1 && all <= OPENING + 3, "{all} reads, {decoded} of blocks");
}

#[test]
fn handles_that_lead_nowhere_are_not_followed() {
    let (all, _) = reads(indexed((0..200_000).map(|at| (u64::MAX - at, at))));
    assert!(all <= OPENING, "{all} reads");
}

#[test]
fn blocks_that_overlap_are_sampled_up_to_the_size_of_the_file() {
    let mut crafted = Crafted { file: vec![0; 1 << 20] };
    crafted.entries(&[(b"key", b"value")]);
    let file = crafted.with_index((0..1000).map(|at| (at, 900_000)));
    let source = Recording::new(file.clone());
    survey(&source).unwrap();
    let read: usize = source.take().iter().map(|(_, len)| len).sum();
    assert!(read <= 2 * file.len(), "{read} bytes of {}", file.len());
}
