//! Inspection: makes the report on a table from its bytes.

use filterblock::table::{Origin, ReadAt, ReadOptions, Table};
use filterblock::{FilterBlockReader, FilterPolicy as _, SharedPolicy};

use crate::audit::rates::{FenceKeys, FilterWeights, ProbeBudget, random_rate};
use crate::audit::reading::{is_not_whole, is_unreadable, read_options};
use crate::audit::stats::{FilterStats, Reach, Summary, TableStats};
use crate::report::{Depth, Dialect, ErrorKind, FilterBlock, Filters, Inspected, TableData};
use crate::{audit::scan::file_type::explain, text::compression_names};

/// Inspects the table that `source` holds. For a table that cannot be opened, the result has the reason.
pub fn inspect_table(source: impl ReadAt, depth: Depth) -> Inspected {
    look(source, &read_options(), ProbeBudget::for_each_of(1), Reach::of_file(depth))
}

/// Reads the end of the table, and the data blocks that `reach` allows. Leaves out what these do not reveal.
pub(crate) fn look<R: ReadAt>(
    source: R,
    options: &ReadOptions,
    effort: ProbeBudget,
    reach: Reach,
) -> Inspected {
    // One kind of source, so that what follows is compiled once.
    let source: &dyn ReadAt = &source;
    match Table::open(source, options) {
        Ok(table) => opened(&table, effort, reach),
        Err(error) => {
            let is_unreadable = is_unreadable(&error);
            let is_damaged = matches!(error.without_path(), filterblock::Error::Corrupt { .. });
            let message = explain(&source, &error, error.without_path().to_string());
            let table = TableData {
                is_not_whole: is_not_whole(&error),
                unreadable: !is_damaged,
                file_size: if is_unreadable { None } else { source.len().ok() },
                ..TableData::unreadable(message, ErrorKind::of(&error))
            };
            table.into()
        }
    }
}

fn opened<R: ReadAt>(table: &Table<R>, effort: ProbeBudget, reach: Reach) -> Inspected {
    let filters = table.filter().cloned().map(FilterStats::new);
    let mut stats = TableStats::new(table, filters.as_ref(), effort.neighbours, reach);
    let offset = table.filter_handle().unwrap_or_default().offset;
    let size = table.filter_handle().unwrap_or_default().size;
    let filter = filters.as_ref().map(|filters| {
        let summary = filters.summary();
        let malformed = malformed(filters);
        let blocks = &stats.blocks.offsets;
        // Filters in an unknown encoding have no rate.
        let is_judged = !stats.filter_unsupported;
        let weights = FilterWeights::new(filters, Some(blocks));
        let estimated_fpr = weights.estimated_rate().filter(|_| is_judged);
        // Checking random keys would take longer than all other work on a tail.
        let is_asked = is_judged && reach != Reach::Tail;
        FilterBlock {
            offset,
            size,
            estimated_fpr,
            random_fpr: is_asked.then(|| random_rate(filters, &weights, effort.random_keys)).flatten(),
            similar_fpr: stats.sample.neighbour_rate(&stats.blocks).filter(|_| is_judged),
            malformed,
            unsound: stats.sample.unsound(),
            ..filter_block(filters, summary)
        }
    });
    let key_format = stats.sample.key_format();
    let damage = &stats.blocks.damage;
    let table = TableData {
        error: damage.text(),
        kind: damage.kind(),
        unreadable: damage.unreadable || stats.filter_unreadable,
        file_size: Some(stats.file_size),
        data_blocks: Some(stats.blocks.offsets.len()),
        filter_size_at_10_bits: stats.filter_size_at_10_bits(),
        entries: stats.counts.entries,
        distinct_keys: stats.counts.distinct_keys,
        seen: stats.counts.seen.take(),
        marks: FenceKeys::of(table, effort.marks),
        compression: (reach != Reach::Tail).then(|| compression_names(&stats)),
        metaindex: stats.metaindex.names(),
        key_format: key_format.as_ref().ok().copied(),
        no_key_format: key_format.err(),
        format: stats.origin.and_then(dialect),
        hash: stats.sample.fitting_hash(),
        lost: damage.lost.clone(),
        filter_error: stats.filter_error,
        filter_error_kind: stats.filter_error_kind,
        filter_unsupported: stats.filter_unsupported,
        filter,
        ..TableData::default()
    };
    let blocks = stats.blocks.offsets;
    Inspected { table, filters: filters.map(|stats| Filters { stats, blocks: Some(blocks) }) }
}

pub(crate) fn bare_block(reader: FilterBlockReader<SharedPolicy>, effort: ProbeBudget) -> Inspected {
    let stats = FilterStats::new(reader);
    let weights = FilterWeights::new(&stats, None);
    let size = stats.reader().contents().len() as u64;
    let filter = FilterBlock {
        size,
        estimated_fpr: weights.estimated_rate(),
        random_fpr: random_rate(&stats, &weights, effort.random_keys),
        malformed: malformed(&stats),
        ..filter_block(&stats, stats.summary())
    };
    let table = TableData {
        file_size: Some(size),
        compression: Some(Vec::new()),
        filter: Some(filter),
        ..TableData::default()
    };
    Inspected { table, filters: Some(Filters { stats, blocks: None }) }
}

fn filter_block(filters: &FilterStats, summary: Summary) -> FilterBlock {
    let Summary { filters: number, empty, bits, bits_set, probes } = summary;
    FilterBlock {
        policy: filters.reader().policy().name().to_owned(),
        base_lg: filters.reader().base_lg(),
        filters: number,
        empty_filters: empty,
        bits,
        bits_set,
        probes,
        ..FilterBlock::default()
    }
}

fn malformed(filters: &FilterStats) -> Option<String> {
    filters.reader().check().err().map(|error| error.to_string())
}

const fn dialect(origin: Origin) -> Option<Dialect> {
    match origin {
        Origin::Basho => Some(Dialect::Basho),
        Origin::RocksDb => Some(Dialect::Rocksdb),
        _ => None,
    }
}
