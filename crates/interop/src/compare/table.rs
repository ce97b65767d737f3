//! Tables: the bytes that both builders write, and what both readers find in them.

use std::fmt;

use anyhow::{Context, Result, ensure};
use filterblock::BloomFilterPolicy;
use filterblock::table::{ReadOptions, Table, TableBuilder, WriteOptions};

use super::table_case::TableCase;
use crate::leveldb::{self, Compression, Entries, TableOptions, build_table};
use crate::random::Random;

const LOOKUPS_PER_TABLE: u64 = 30;
/// Approximate number of stored keys that are looked up in each table.
const GETS_PER_TABLE: usize = 200;

/// The counts of a comparison without differences.
#[derive(Debug, Default)]
pub struct Report {
    /// The seed of the cases.
    pub seed: u64,
    /// Tables written by both builders without compression, with the same bytes.
    pub tables: u64,
    /// Tables with internal keys.
    pub internal: u64,
    /// Tables without filters.
    pub unfiltered: u64,
    /// Tables without entries.
    pub empty: u64,
    /// Entries of the [`tables`](Self::tables).
    pub entries: u64,
    /// Data blocks of the [`tables`](Self::tables).
    pub data_blocks: u64,
    /// Bytes of the [`tables`](Self::tables).
    pub bytes: u64,
    /// Tables written with Snappy by each builder and read in full by both readers, with checksums.
    pub compressed: u64,
    /// Lookups with the same result in both readers.
    pub lookups: u64,
    /// Lookups for which LevelDB asked the filter.
    pub asked: u64,
    /// Lookups that the filter denied.
    pub denied: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "tables, seed {}: {} written by both, all bytes equal", self.seed, self.tables)?;
        writeln!(
            f,
            "  {} with internal keys, {} without filters, {} without entries",
            self.internal, self.unfiltered, self.empty
        )?;
        writeln!(f, "  {} entries, {} data blocks, {} bytes", self.entries, self.data_blocks, self.bytes)?;
        writeln!(
            f,
            "  {} written with Snappy by each and read by the other, all entries equal",
            self.compressed
        )?;
        write!(
            f,
            "  {} lookups in three tables of each, all alike; {} asked the filter, {} were denied",
            self.lookups, self.asked, self.denied
        )
    }
}

/// Compares `tables` random tables.
pub fn run(tables: u64, seed: u64) -> Result<Report> {
    let mut report = Report { seed, ..Report::default() };
    for case in 0..tables {
        let mut random = Random::for_case(seed, case);
        compare(&mut random, &mut report).with_context(|| format!("case {case} of seed {seed}"))?;
    }
    Ok(report)
}

/// Compares tables of one data block with 65,537 or 131,075 entries, at restart intervals of 1 and
/// around those at which a counter of 8 or 16 bits would wrap.
pub fn run_long_blocks() -> Result<Report> {
    let mut report = Report::default();
    for restart_interval in [1, 255, 256, 257, 65_535, 65_536, 65_537] {
        for count in [65_537, 131_075] {
            let case = TableCase::one_block(restart_interval, count);
            let mut random = Random::for_case(u64::from(restart_interval), u64::from(count));
            compare_case(&case, &mut random, &mut report)
                .with_context(|| format!("{count} entries, a restart every {restart_interval}"))?;
        }
    }
    Ok(report)
}

fn compare(random: &mut Random, report: &mut Report) -> Result<()> {
    let case = TableCase::new(random);
    compare_case(&case, random, report)
}

fn compare_case(case: &TableCase, random: &mut Random, report: &mut Report) -> Result<()> {
    let entries: Entries = case.entries.iter().map(|(key, value)| (key, value)).collect();

    let same = write(case, case.same(), report)?;
    ensure!(same == build_table(&case.options, &entries)?, "bytes differ, {:?}", case.options);
    read_both(case, &same, random, report).context("uncompressed")?;
    report.tables += 1;
    report.internal += u64::from(case.options.internal_keys);
    report.unfiltered += u64::from(case.options.bits_per_key.is_none());
    report.empty += u64::from(case.entries.is_empty());
    report.bytes += same.len() as u64;

    let ours = write(case, case.other(), &mut Report::default())?;
    read_both(case, &ours, random, report).context("ours, with Snappy")?;
    let snappy = TableOptions { compression: Compression::Snappy, ..case.options };
    read_both(case, &build_table(&snappy, &entries)?, random, report).context("LevelDB's, with Snappy")?;
    report.compressed += 1;
    Ok(())
}

fn write(case: &TableCase, options: WriteOptions, report: &mut Report) -> Result<Vec<u8>> {
    let mut builder = TableBuilder::new(Vec::new(), options);
    for (key, value) in &case.entries {
        builder.add(key, value)?;
    }
    let (file, summary) = builder.finish()?;
    ensure!(summary.file_size == file.len() as u64, "the summary's size is {}", summary.file_size);
    ensure!(summary.num_entries == case.entries.len() as u64, "it counts {}", summary.num_entries);
    report.entries += summary.num_entries;
    report.data_blocks += summary.data_blocks;
    Ok(file)
}

/// Checks that both readers find all entries, and the same for random keys.
fn read_both(case: &TableCase, file: &[u8], random: &mut Random, report: &mut Report) -> Result<()> {
    // The filters hold their number of probes; for reading, any number of bits will do.
    let options = TableOptions { bits_per_key: Some(10), ..case.options };
    let theirs = leveldb::Table::open(&options, file)?;
    ensure!(theirs.entries()? == case.entries, "LevelDB finds other entries");

    // LevelDB looks only for this policy; by default, our reader knows more policies.
    let options = ReadOptions::default()
        .filter_policy(BloomFilterPolicy::new(10))
        .internal_keys(case.options.internal_keys);
    let ours = Table::open(file, &options)?;
    let found: Vec<_> = ours.iter().collect::<filterblock::Result<_>>()?;
    ensure!(
        found.iter().map(|(key, value)| (&key[..], &value[..])).eq(case.entries.iter().map(pair)),
        "we find other entries"
    );
    let filtered = case.options.bits_per_key.is_some();
    // A table may have filters of the second policy alone, which are named and not used.
    let is_other = !filtered && case.second_policy && ours.filter_name().is_some();
    ensure!(ours.filter().is_some() == filtered, "filter: {ours:?}");
    ensure!(ours.filter_error().is_some() == is_other, "filter: {ours:?}");

    let mut cursor = ours.cursor();
    for _ in 0..LOOKUPS_PER_TABLE {
        let key = case.some_key(random);
        let (asked_before, denied_before) = theirs.filter_counts();
        let expected = theirs.internal_get(&key)?;
        let (asked, denied) = theirs.filter_counts();
        let (asked, denied) = (asked > asked_before, denied > denied_before);

        let found = ours.get_entry(&key)?;
        let same = found.as_ref().map(|(key, value)| (&key[..], &value[..])) == expected.as_ref().map(pair);
        ensure!(same, "{key:x?}: LevelDB's InternalGet finds {expected:x?}, we {found:x?}");
        // If there is a filter and it is not asked, the key is after the last index key.
        let may_contain = ours.may_contain(&key)?;
        ensure!(!filtered || may_contain == (asked && !denied), "{key:x?}: may_contain is {may_contain}");

        let expected = theirs.seek(&key)?;
        let found = cursor.seek(&key)?.then(|| (cursor.key(), cursor.value()));
        ensure!(
            found == expected.as_ref().map(pair),
            "{key:x?}: an iterator finds {expected:x?}, ours {found:x?}"
        );
        report.lookups += 1;
        report.asked += u64::from(asked);
        report.denied += u64::from(denied);
    }
    // Stored keys are never denied. Each lookup reads a block, which may be the whole table.
    let step = (case.entries.len() / GETS_PER_TABLE).max(1);
    for (number, (key, value)) in case.entries.iter().enumerate() {
        ensure!(ours.may_contain(key)?, "{key:x?} is stored and denied");
        ensure!(number % step != 0 || ours.get(key)?.as_deref() == Some(value), "{key:x?} is stored");
    }
    Ok(())
}

fn pair(entry: &(Vec<u8>, Vec<u8>)) -> (&[u8], &[u8]) {
    (&entry.0, &entry.1)
}
