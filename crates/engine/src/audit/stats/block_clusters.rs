//! Data blocks next to each other in up to three places: a sample for sources that need a request per place.

use std::{collections::BTreeSet, ops::Range};

use filterblock::table::{BlockHandle, Table};

use super::block_keys::BlockKeys;
use super::{blocks::Blocks, key_count::Counts, sample::Sample};
use crate::report::Estimate;

const PLACES: u64 = 3;
/// In all places together.
const MAX_BLOCKS: u64 = 16;
/// Of one place, unless its first block is larger.
const MAX_BYTES: u64 = 44 << 10;
/// Bytes after each block: its type and its checksum.
const TRAILER: u64 = 5;
/// Half the width of the interval: Student's t for three places and 95%.
const STANDARD_ERRORS: f64 = 4.303;

#[derive(Default, Debug)]
pub(crate) struct BlockClusters(Vec<Vec<BlockHandle>>);

impl BlockClusters {
    /// All blocks if they are few and small, else some amid each third. Together they are no larger than the file.
    pub(crate) fn choose<R>(table: &Table<R>, blocks: &Blocks) -> Self {
        let entries = blocks.entries;
        let mut room = table.file_size();
        let mut places: Vec<(Range<u64>, u64, Vec<BlockHandle>)> = (0..PLACES)
            .map(|place| {
                let third = entries * place / PLACES..entries * (place + 1) / PLACES;
                let most =
                    if entries > MAX_BLOCKS { (MAX_BLOCKS + PLACES - 1 - place) / PLACES } else { u64::MAX };
                let skipped = (third.end - third.start).saturating_sub(most) / 2;
                let start = third.start + skipped;
                (start..start.saturating_add(most).min(third.end), 0, Vec::new())
            })
            .collect();
        let mut seen = BTreeSet::new();
        for (at, handle) in (0..).zip(table.data_blocks()) {
            let place = places.iter_mut().find(|(range, ..)| range.contains(&at));
            let (Some((_, bytes, chosen)), Ok(handle)) = (place, handle) else { continue };
            let size = handle.size.saturating_add(TRAILER);
            let fits = chosen.is_empty() || bytes.saturating_add(size) <= MAX_BYTES;
            if fits && size <= room && blocks.offsets.contains(handle.offset) && seen.insert(handle.offset) {
                *bytes = bytes.saturating_add(size);
                room -= size;
                chosen.push(handle);
            }
        }
        Self(places.into_iter().map(|(.., chosen)| chosen).collect())
    }

    pub(crate) fn handles(&self) -> impl Iterator<Item = BlockHandle> {
        self.0.iter().flatten().copied()
    }

    /// Includes the trailers.
    pub(crate) fn ranges(&self, file_size: u64) -> Vec<Range<u64>> {
        let end = |handle: &BlockHandle| handle.offset.saturating_add(handle.size).saturating_add(TRAILER);
        self.handles().map(|handle| handle.offset.min(file_size)..end(&handle).min(file_size)).collect()
    }

    /// Both counts are `None` if no block of some place could be decoded, unless all blocks of the table were.
    pub(super) fn counts(&self, sample: &Sample, blocks: &Blocks) -> Counts {
        // A block has at least one entry, but all may be versions of the last key of the block before.
        let entries = self.estimate(sample, blocks, 1, |block| block.entries);
        let keys = self.estimate(sample, blocks, 0, |block| block.keys);
        let is_internal = sample.has_internal_keys(sample.keys());
        Counts::new(entries, keys, sample.keys().clone(), is_internal)
    }

    /// `None`: not all blocks were decoded, and of some place none. `least`: of one block.
    fn estimate(
        &self,
        sample: &Sample,
        blocks: &Blocks,
        least: u64,
        of: impl Fn(BlockKeys) -> u64,
    ) -> Option<Estimate<u64>> {
        let keys_of = |handle: &BlockHandle| sample.keys_of(handle.offset).flatten().map(&of);
        let decoded: Vec<Vec<u64>> =
            self.0.iter().map(|place| place.iter().filter_map(keys_of).collect()).collect();
        let number = decoded.iter().map(Vec::len).sum::<usize>() as u64;
        let sum = decoded.iter().flatten().fold(0_u64, |sum, keys| sum.saturating_add(*keys));
        let all = blocks.offsets.len();
        if number == all && blocks.are_distinct() {
            return Some(Estimate::exact(sum));
        }
        let mean = |keys: &Vec<u64>| {
            let sum: f64 = keys.iter().map(|keys| *keys as f64).sum();
            (!keys.is_empty()).then(|| sum / keys.len() as f64)
        };
        let means: Vec<f64> = decoded.iter().map(mean).collect::<Option<_>>()?;
        let places = means.len() as f64;
        let of_all = means.iter().sum::<f64>() / places;
        let spread: f64 = means.iter().map(|mean| (mean - of_all).powi(2)).sum::<f64>() / (places - 1.0);
        // A difference that no decoded block shows is assumed in fewer than one of `number` blocks.
        let error = (STANDARD_ERRORS * (spread / places).sqrt()).max(of_all / number as f64);
        let times = |mean: f64| (mean.max(0.0) * all as f64).round() as u64;
        let least = sum.saturating_add(all.saturating_sub(number).saturating_mul(least));
        let value = times(of_all).max(least);
        let (low, high) = (times(of_all - error).clamp(least, value), times(of_all + error).max(value));
        Some(Estimate { value, low, high })
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use filterblock::table::{TableBuilder, WriteOptions};

    use super::*;
    use crate::audit::reading::read_options;

    /// A table of `blocks` blocks with one key each, whose value has `value` bytes.
    fn table(blocks: u32, value: usize) -> Table<Bytes> {
        let options =
            WriteOptions::default().block_size(1).compression(filterblock::table::Compression::None);
        let mut builder = TableBuilder::new(Vec::new(), options);
        (0..blocks).for_each(|key| builder.add(&key.to_be_bytes(), &vec![7; value]).unwrap());
        Table::open(builder.finish().unwrap().0.into(), &read_options()).unwrap()
    }

    fn chosen(table: &Table<Bytes>) -> (Vec<usize>, BlockClusters) {
        let blocks = Blocks::list(table);
        let clusters = BlockClusters::choose(table, &blocks);
        let all: Vec<u64> = table.data_blocks().map(|handle| handle.unwrap().offset).collect();
        let at = |handle: BlockHandle| all.iter().position(|at| *at == handle.offset).unwrap();
        (clusters.handles().map(at).collect(), clusters)
    }

    #[test]
    fn sixteen_blocks_lie_in_the_middle_of_each_third() {
        let (places, _) = chosen(&table(300, 100));
        let expected: Vec<usize> = (47..53).chain(147..152).chain(247..252).collect();
        assert_eq!(places, expected);
        for few in [1, 2, 3, 7, 15, 16] {
            assert_eq!(chosen(&table(few, 10)).0, (0..few as usize).collect::<Vec<_>>(), "{few}");
        }
    }

    #[test]
    fn large_blocks_are_fewer() {
        let table = table(60, 20_000);
        let (places, clusters) = chosen(&table);
        assert_eq!(places.len(), 6, "{places:?}");
        let bytes: u64 = clusters.ranges(table.file_size()).iter().map(|range| range.end - range.start).sum();
        assert!(bytes <= 3 * MAX_BYTES, "{bytes}");
        let (places, _) = chosen(&self::table(9, 100_000));
        assert_eq!(places, [0, 3, 6]);
    }

    #[test]
    fn keys_are_counted_or_estimated_within_an_interval() {
        for (blocks, exact) in [(16, true), (300, false)] {
            let table = table(blocks, 10);
            let mut listed = Blocks::list(&table);
            let clusters = BlockClusters::choose(&table, &listed);
            let none = BTreeSet::new();
            let sample = Sample::of(clusters.handles(), &table, &mut listed, &none, None, 0);
            let keys = u64::from(blocks);
            let count = clusters.counts(&sample, &listed).entries.unwrap();
            assert_eq!((count.value, count.is_exact()), (keys, exact));
            assert_eq!((count.low..=count.high), if exact { keys..=keys } else { 300..=319 });
        }
    }
}
