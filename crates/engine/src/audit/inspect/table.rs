//! Inspection: makes the report on a table from its bytes.

use filterblock::table::{Origin, ReadAt, ReadOptions, Table};
use filterblock::{FilterBlockReader, FilterPolicy as _, SharedPolicy};

use crate::audit::rates::{FenceKeys, FilterWeights, ProbeBudget, random_rate};
use crate::audit::reading::{is_not_whole, is_unreadable, read_options};
use crate::audit::stats::{FilterStats, Reach, Summary, TableStats};
use crate::report::{
    Depth, Dialect, ErrorKind, Fault, FilterBlock, Filters, Inspected, Name, TableData, TableFault,
};
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
            let mut found = Inspected::unopened(Fault::new(message, ErrorKind::of(&error)), !is_damaged);
            found.is_incomplete = is_not_whole(&error);
            found.table.file_size = if is_unreadable { None } else { source.len().ok() };
            found
        }
    }
}

fn opened<R: ReadAt>(table: &Table<R>, effort: ProbeBudget, reach: Reach) -> Inspected {
    let filters = table.filter().cloned().map(FilterStats::new);
    let stats = TableStats::new(table, filters.as_ref(), effort.neighbours, reach);
    let offset = table.filter_handle().unwrap_or_default().offset;
    let size = table.filter_handle().unwrap_or_default().size;
    let filter = filters.as_ref().map(|filters| {
        let summary = filters.summary();
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
            ..filter_block(filters, summary)
        }
    });
    let key_format = stats.sample.key_format();
    let damage = &stats.blocks.damage;
    let data = TableData {
        file_size: Some(stats.file_size),
        data_blocks: Some(stats.blocks.offsets.len()),
        filter_size_at_10_bits: stats.filter_size_at_10_bits(),
        entries: stats.counts.entries,
        distinct_keys: stats.counts.distinct_keys,
        compression: (reach != Reach::Tail).then(|| compression_names(&stats)),
        filter_policies: stats.metaindex.filter_names().map(Name::cut).collect(),
        key_format: key_format.as_ref().ok().copied(),
        format: stats.origin.and_then(dialect),
        hash: stats.sample.fitting_hash(),
        lost: damage.lost.clone(),
        filter,
        ..TableData::default()
    };
    let of_filters = if stats.filter_unsupported { TableFault::Encoding } else { TableFault::Filters };
    let faults = [
        (TableFault::Blocks, damage.fault()),
        (of_filters, stats.filter_error),
        (TableFault::Malformed, filters.as_ref().and_then(malformed)),
        (TableFault::FalseNegatives, stats.sample.false_negatives()),
    ];
    let is_unreadable = damage.unreadable || stats.filter_unreadable;
    let blocks = stats.blocks.offsets;
    Inspected {
        table: data,
        filters: filters.map(|stats| Filters { stats, blocks: Some(blocks) }),
        faults: faults.into_iter().filter_map(|(what, fault)| Some((what, fault?))).collect(),
        is_unreadable,
        metaindex: stats.metaindex.names(),
        no_key_format: key_format.err(),
        seen: stats.counts.seen,
        marks: FenceKeys::of(table, effort.marks),
        ..Inspected::default()
    }
}

pub(crate) fn bare_block(reader: FilterBlockReader<SharedPolicy>, effort: ProbeBudget) -> Inspected {
    let stats = FilterStats::new(reader);
    let weights = FilterWeights::new(&stats, None);
    let size = stats.reader().contents().len() as u64;
    let filter = FilterBlock {
        size,
        estimated_fpr: weights.estimated_rate(),
        random_fpr: random_rate(&stats, &weights, effort.random_keys),
        ..filter_block(&stats, stats.summary())
    };
    let table = TableData {
        file_size: Some(size),
        compression: Some(Vec::new()),
        filter: Some(filter),
        ..TableData::default()
    };
    let faults = malformed(&stats).map(|fault| (TableFault::Malformed, fault)).into_iter().collect();
    Inspected { table, filters: Some(Filters { stats, blocks: None }), faults, ..Inspected::default() }
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

fn malformed(filters: &FilterStats) -> Option<Fault> {
    let error = filters.reader().check().err()?;
    Some(Fault::new(error.to_string(), ErrorKind::Damaged))
}

const fn dialect(origin: Origin) -> Option<Dialect> {
    match origin {
        Origin::Basho => Some(Dialect::Basho),
        Origin::RocksDb => Some(Dialect::Rocksdb),
        _ => None,
    }
}
