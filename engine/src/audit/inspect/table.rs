//! Inspection: makes the report on a table from its bytes.

use filterblock::table::{ReadAt, ReadOptions, Table};
use filterblock::{FilterBlockReader, Result, SharedPolicy};

use super::report::{FilterReport, TableReport};
use crate::audit::foreign::explain;
use crate::audit::rates::effort::Effort;
use crate::audit::rates::random::{random_rate, random_rate_of_filters};
use crate::audit::reading::{is_not_whole, is_unreadable};
use crate::audit::stats::filters::FilterStats;
use crate::audit::stats::ranges::Ranges;
use crate::audit::stats::table::TableStats;
use crate::report::error_kind::ErrorKind;
use crate::report::fetched::Depth;

/// Inspects the table that `source` holds. `effort`: to measure rates of false positives with.
///
/// # Errors
///
/// [`filterblock::Error::NeedRange`] and nothing else.
pub fn table<R: ReadAt>(source: R, options: &ReadOptions, effort: Effort) -> Result<TableReport<'static>> {
    table_to_depth(source, options, effort, Depth::All)
}

/// Inspects as much of a table as `depth` says. What that leaves unknown is not in the report.
pub fn table_to_depth<R: ReadAt>(
    source: R,
    options: &ReadOptions,
    effort: Effort,
    depth: Depth,
) -> Result<TableReport<'static>> {
    match Table::open(&source, options) {
        Ok(table) => opened(&table, effort, depth),
        Err(error) if error.needs_range() => Err(error),
        Err(error) => {
            let is_unreadable = is_unreadable(&error);
            let file_size = if is_unreadable { None } else { source.len().ok() };
            let is_damaged = matches!(error.without_path(), filterblock::Error::Corrupt { .. });
            let kind = ErrorKind::of(&error);
            let message = explain(&source, &error, error.without_path().to_string())?;
            let is_not_whole = is_not_whole(&error);
            Ok(TableReport { is_not_whole, ..TableReport::unopened(message, kind, !is_damaged, file_size) })
        }
    }
}

/// Inspects an open table, as [`table_to_depth`] does.
pub fn opened<R: ReadAt>(table: &Table<R>, effort: Effort, depth: Depth) -> Result<TableReport<'static>> {
    let filters = table.filter().cloned().map(FilterStats::new);
    let stats = TableStats::new(table, filters.as_ref(), effort.neighbours, depth)?;
    let handle = table.filter_handle().unwrap_or_default();
    let filter = filters.map(|filters| {
        let (summary, malformed) = (filters.summary(), malformed(&filters));
        let blocks = &stats.blocks.offsets;
        // Filters in an unknown encoding have no rate.
        let is_judged = !stats.filter_unsupported;
        let rate = filters.mean_rate(blocks).filter(|_| is_judged);
        // Asking so many keys takes longer than all else that is done with a tail.
        let is_asked = is_judged && depth != Depth::Tail;
        let random_rate = is_asked.then(|| random_rate(&filters, blocks, effort.random_keys)).flatten();
        let neighbour_rate = stats.sample.neighbour_rate(&stats.blocks).filter(|_| is_judged);
        let ranges = Ranges::new(&filters, blocks, handle.offset, summary.probes, stats.keys);
        // The saving depends on the number of keys.
        let is_known = malformed.is_none() && depth != Depth::Tail;
        let larger_ranges = if is_known { ranges.larger(rate) } else { None };
        FilterReport {
            policy_assumed: false,
            offset: handle.offset,
            size: handle.size,
            summary,
            rate,
            random_rate,
            neighbour_rate,
            larger_ranges,
            malformed,
            unsound: stats.sample.unsound(),
            stats: filters,
        }
    });
    Ok(TableReport {
        error: stats.blocks.damage.text(),
        kind: stats.blocks.damage.kind(),
        is_not_live: false,
        is_not_whole: false,
        unreadable: stats.blocks.damage.unreadable || stats.filter_unreadable,
        file_size: Some(stats.file_size),
        stats: Some(stats),
        filter,
        record: None,
        size_mismatch: None,
    })
}

/// Inspects a filter block without its table. `policy_assumed`: nobody has named the policy.
pub fn bare_block(
    reader: FilterBlockReader<SharedPolicy>,
    policy_assumed: bool,
    effort: Effort,
) -> TableReport<'static> {
    let filters = FilterStats::new(reader);
    let size = filters.reader().contents().len() as u64;
    let filter = FilterReport {
        policy_assumed,
        offset: 0,
        size,
        summary: filters.summary(),
        rate: filters.mean_rate_of_filters(),
        random_rate: random_rate_of_filters(&filters, effort.random_keys),
        neighbour_rate: None,
        larger_ranges: None,
        malformed: malformed(&filters),
        unsound: None,
        stats: filters,
    };
    TableReport {
        error: None,
        kind: None,
        is_not_live: false,
        is_not_whole: false,
        unreadable: false,
        file_size: Some(size),
        stats: None,
        filter: Some(filter),
        record: None,
        size_mismatch: None,
    }
}

fn malformed(filters: &FilterStats) -> Option<String> {
    filters.reader().check().err().map(|error| error.to_string())
}
