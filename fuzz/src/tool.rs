//! What `filterblock inspect` makes of tables and of bare filter blocks, sound or damaged.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use filterblock::table::{ReadAt, Table};
use filterblock::{BloomFilterPolicy, FilterBlockReader, FilterPolicy, SharedPolicy};

use crate::survey::{Census, Survey, read_options};
use crate::table;

/// Opening takes four reads at most, or two more where reading several things together fails.
const OPENING: usize = 6;
/// How many data blocks are looked into.
const SAMPLED: usize = 16;

/// A kind of input: a filter block, a file, or a table made as for the target `table`.
pub fn run(data: &[u8]) {
    let Some((kind, data)) = data.split_first() else { return };
    match kind % 4 {
        0 => {
            let policy: SharedPolicy = Arc::new(BloomFilterPolicy::new(10));
            let reader = FilterBlockReader::new(policy, Bytes::copy_from_slice(data));
            check_census(&Census::new(&reader));
        }
        1 => inspect(Bytes::copy_from_slice(data), false),
        _ => {
            if let Some(made) = table::make(data) {
                inspect(made.file, made.sound);
            }
        }
    }
}

/// Counts what is read.
struct Counting {
    file: Bytes,
    reads: AtomicUsize,
}

impl ReadAt for Counting {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.len() as u64)
    }
    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.file.read_at(offset, len)
    }
}

fn inspect(file: Bytes, sound: bool) {
    let source = Counting { file, reads: AtomicUsize::new(0) };
    let Ok(table) = Table::open(source, &read_options()) else {
        assert!(!sound);
        return;
    };
    let census = table.filter().map(Census::new);
    let survey = Survey::new(&table, census.as_ref());
    let blocks = survey.blocks.offsets.len() as usize;
    let reads = table.source().reads.load(Ordering::Relaxed);
    // Each block's trailer once, however often and wherever the index names it, and of a few blocks both again.
    let entries = table.data_blocks().count();
    assert!(blocks <= entries);
    assert!(reads <= OPENING + entries + 2 * SAMPLED.min(blocks), "{reads} reads for {entries} entries");

    if let Some(census) = &census {
        check_census(census);
        let rate = census.mean_rate(&survey.blocks.offsets);
        assert_eq!(rate.is_some(), blocks > 0);
        assert!(rate.is_none_or(is_rate) && census.covering_rates(&survey.blocks.offsets).all(is_rate));
    }
    let asked = survey.sample.key_format();
    let damage = survey.blocks.damage.text();
    if sound {
        assert_eq!((damage, survey.filter_error.clone(), survey.sample.unsound()), (None, None, None));
        assert_eq!(blocks, entries);
    }
    assert!(!survey.blocks.damage.unreadable && !survey.filter_unreadable, "bytes can always be read");
    if let Some(cost) = survey.cost() {
        assert!(census.is_none() && (!sound || cost.exact || blocks > SAMPLED));
    }
    assert!(asked.is_ok() || !asked.err().is_none_or(|reason| reason.is_empty()));
}

fn is_rate(rate: f64) -> bool {
    (0.0..=1.0).contains(&rate)
}

fn check_census<P: FilterPolicy, B: AsRef<[u8]>>(census: &Census<'_, P, B>) {
    let reader = census.reader();
    let summary = census.summary();
    assert_eq!(summary.filters, reader.num_filters() as u64);
    assert!(summary.empty <= summary.filters && summary.bits_set <= summary.bits);
    assert!(census.mean_rate_of_filters().is_none_or(is_rate));
    for (index, filter) in census.iter().enumerate().take(64) {
        assert!(is_rate(filter.rate) && filter.bits_set <= filter.bits);
        let range = census.range(index as u64);
        assert!(range.start() <= range.end());
        if let Some(bytes) = reader.filter(index)
            && filter.bits > 0
        {
            let ones: u32 = bytes[..bytes.len() - 1].iter().map(|byte| byte.count_ones()).sum();
            assert_eq!(filter.bits_set, u64::from(ones), "counted over sums, and plainly");
        }
    }
}
