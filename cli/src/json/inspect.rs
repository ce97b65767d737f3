//! A table as a JSON object. Fields are only ever added.

use std::borrow::Cow;
use std::io::{self, Write as _};

use serde::{Serialize, Serializer};

use super::{folder, totals, unreadable};
use crate::io::console::Console;
use crate::renderer::InspectRenderer;
use filterblock_engine::audit::inspect::report::{FilterReport, TableReport, origin_name};
use filterblock_engine::audit::inspect::totals::FolderTotals;
use filterblock_engine::audit::lost_keys::LostKeys;
use filterblock_engine::audit::rates::measured::MeasuredRate;
use filterblock_engine::audit::stats::filter_cost::{FilterCost, USUAL_BITS_PER_KEY};
use filterblock_engine::audit::stats::filters::FilterStats;
use filterblock_engine::audit::stats::key_count::KeyCount;
use filterblock_engine::audit::stats::ranges::{LargerRanges, OFFSET_ENTRY_LEN};
use filterblock_engine::audit::stats::table::TableStats;
use filterblock_engine::report::fetched::Depth;
use filterblock_engine::report::fetched::Fetched;
use filterblock_engine::report::folder::FolderHeader;
use filterblock_engine::report::frame::Frame;
use filterblock_engine::report::line::write_line;
use filterblock_engine::report::strings::{json_name, json_text};
use filterblock_engine::report::subject::Subject;
use filterblock_engine::walk::input::PathError;
use filterblock_engine::words::compression::compression_names;

pub(crate) struct JsonInspect {
    /// Each filter is shown.
    pub(crate) list_filters: bool,
}

impl InspectRenderer for JsonInspect {
    fn begin_folder(
        &mut self,
        subject: Subject<'_>,
        folder: &FolderHeader<'_>,
        console: &mut Console,
    ) -> io::Result<()> {
        folder::write(subject, folder, "all tables are taken to be live", console)
    }

    fn table(
        &mut self,
        subject: Subject<'_>,
        report: &TableReport<'_>,
        console: &mut Console,
    ) -> io::Result<()> {
        console.remarks(subject.remarks);
        if report.unreadable || report.is_missing() {
            report.findings().for_each(|(_, message)| console.message_about(subject.path, message));
        }
        write_line(&mut *console, &JsonTable::new(&subject, report, self.list_filters))?;
        console.flush()
    }

    fn unreadable(
        &mut self,
        subject: Subject<'_>,
        error: &PathError,
        console: &mut Console,
    ) -> io::Result<()> {
        unreadable::write(subject, error, console)
    }

    fn end_folder(
        &mut self,
        subject: Subject<'_>,
        totals: &FolderTotals,
        console: &mut Console,
    ) -> io::Result<()> {
        totals::write(subject, totals, console)
    }

    fn end(&mut self, _: &mut Console) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Serialize)]
struct JsonTable<'a> {
    #[serde(flatten)]
    frame: Frame<'a>,
    status: &'static str,
    error: Option<&'a str>,
    file_size: Option<u64>,
    data_blocks: Option<u64>,
    keys: Option<JsonKeys>,
    /// Null if no data block was looked at.
    compression: Option<Vec<Cow<'static, str>>>,
    metaindex: Vec<Cow<'a, str>>,
    key_format: Option<&'static str>,
    /// Whose mark is in the metaindex: "basho" or "rocksdb".
    origin: Option<&'static str>,
    /// Under LevelDB's old name, the hash that fits the stored keys: "signed", "unsigned", or
    /// "either" if all fit both. Otherwise the same as `origin`.
    dialect: Option<&'static str>,
    /// This and the next three are what the database's MANIFEST says. All are null outside of a
    /// database, and if the MANIFEST cannot be relied on.
    comparator: Option<Cow<'a, str>>,
    /// Also null for a table that the database does not use.
    level: Option<u8>,
    live: Option<bool>,
    recorded_size: Option<u64>,
    lost: Option<LostKeys>,
    filter_error: Option<&'a str>,
    filter: Option<JsonFilterBlock<'a>>,
    /// The cost of a filter, if there is none.
    filter_cost: Option<JsonFilterCost>,
    #[serde(flatten)]
    fetched: Fetched,
}

#[derive(Serialize)]
struct JsonKeys {
    count: u64,
    /// An interval that holds the number for 19 of 20 tables.
    low: u64,
    high: u64,
    exact: bool,
}

#[derive(Serialize)]
struct JsonFilterBlock<'a> {
    policy: &'a str,
    /// The policy is only assumed, as that of a bare filter block may be.
    policy_assumed: bool,
    offset: u64,
    size: u64,
    base_lg: u8,
    filters: u64,
    empty_filters: u64,
    offset_array_bytes: u64,
    /// The part of that which is for empty filters.
    empty_filter_bytes: u64,
    /// A larger base_lg and what it would save, if anything.
    larger_ranges: Option<JsonLargerRanges>,
    bits: u64,
    bits_set: u64,
    probes: Option<u32>,
    estimated_fpr: Option<f64>,
    random_fpr: Option<MeasuredRate>,
    neighbour_fpr: Option<MeasuredRate>,
    malformed: Option<&'a str>,
    unsound: Option<&'a str>,
    /// Each filter, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    list: Option<FilterList<'a>>,
}

#[derive(Serialize)]
struct JsonLargerRanges {
    base_lg: u8,
    /// In bytes of the filter block; an estimate.
    saves: u64,
    estimated_fpr: Option<f64>,
}

#[derive(Serialize)]
struct JsonFilterCost {
    bits_per_key: u64,
    keys: u64,
    /// All keys were counted; otherwise their number is an estimate.
    keys_exact: bool,
    size: u64,
}

#[derive(Serialize)]
struct JsonFilter<'a> {
    index: u64,
    /// The first and the last offset of a data block that it covers.
    first_offset: u64,
    last_offset: u64,
    data_blocks: CoveredBlocks<'a>,
    bytes: u64,
    bits: u64,
    bits_set: u64,
    probes: Option<u32>,
    estimated_fpr: f64,
    state: &'static str,
}

impl<'a> JsonTable<'a> {
    /// `list_filters`: each filter too.
    fn new(subject: &Subject<'a>, report: &'a TableReport<'_>, list_filters: bool) -> Self {
        let object = if report.is_bare_block() { "filter_block" } else { "table" };
        let stats = report.stats.as_ref();
        let live = report.record.and_then(|record| record.live);
        Self {
            frame: Frame::new(object, subject, report.error_kind()),
            status: match report.error {
                Some(_) if report.is_not_live => "not-live",
                Some(_) => "error",
                None => "ok",
            },
            error: report.error.as_deref(),
            file_size: report.file_size,
            data_blocks: stats.map(|stats| stats.blocks.offsets.len()),
            keys: report.keys().map(JsonKeys::from),
            compression: match stats {
                Some(stats) if stats.depth == Depth::Tail => None,
                stats => Some(stats.map(compression_names).unwrap_or_default()),
            },
            metaindex: stats.map(|stats| stats.metaindex.names(json_text).collect()).unwrap_or_default(),
            key_format: stats.and_then(|stats| Some(stats.sample.key_format().ok()?.name())),
            origin: stats.and_then(|stats| origin_name(stats.origin?)),
            dialect: report.dialect(),
            comparator: report.record.and_then(|record| record.comparator).map(json_name),
            level: live.map(|live| live.level),
            live: report.record.map(|record| record.live.is_some()),
            recorded_size: live.map(|live| live.size),
            lost: report.lost().as_ref().cloned(),
            filter_error: report.filter_error(),
            filter: report.filter.as_ref().map(|filter| JsonFilterBlock::new(filter, report, list_filters)),
            filter_cost: stats.and_then(TableStats::filter_cost).map(JsonFilterCost::from),
            fetched: subject.fetched.cloned().unwrap_or_default(),
        }
    }
}

impl<'a> JsonFilterBlock<'a> {
    fn new(filter: &'a FilterReport, report: &'a TableReport<'_>, list_filters: bool) -> Self {
        let summary = &filter.summary;
        Self {
            policy: filter.policy(),
            policy_assumed: filter.policy_assumed,
            offset: filter.offset,
            size: filter.size,
            base_lg: filter.stats.reader().base_lg(),
            filters: summary.filters,
            empty_filters: summary.empty,
            offset_array_bytes: summary.array_bytes,
            empty_filter_bytes: summary.empty.saturating_mul(OFFSET_ENTRY_LEN),
            larger_ranges: filter.larger_ranges.map(JsonLargerRanges::from),
            bits: summary.bits,
            bits_set: summary.bits_set,
            probes: summary.probes,
            estimated_fpr: filter.rate,
            random_fpr: filter.random_rate,
            neighbour_fpr: filter.neighbour_rate,
            malformed: filter.malformed.as_deref(),
            unsound: filter.unsound.as_deref(),
            list: list_filters.then_some(FilterList { filters: &filter.stats, table: report.stats.as_ref() }),
        }
    }
}

impl From<LargerRanges> for JsonLargerRanges {
    fn from(larger: LargerRanges) -> Self {
        let LargerRanges { base_lg, saves, rate } = larger;
        Self { base_lg, saves, estimated_fpr: rate }
    }
}

impl From<KeyCount> for JsonKeys {
    fn from(count: KeyCount) -> Self {
        let KeyCount { keys, low, high, exact } = count;
        Self { count: keys, low, high, exact }
    }
}

impl From<FilterCost> for JsonFilterCost {
    fn from(cost: FilterCost) -> Self {
        let FilterCost { keys, exact, bytes } = cost;
        Self { bits_per_key: USUAL_BITS_PER_KEY, keys, keys_exact: exact, size: bytes }
    }
}

/// The filters, serialized one by one, as there may be millions.
struct FilterList<'a> {
    filters: &'a FilterStats,
    table: Option<&'a TableStats>,
}

impl Serialize for FilterList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let filters = (0u64..).zip(self.filters.iter()).map(|(index, filter)| {
            let range = self.filters.range(index);
            JsonFilter {
                index,
                first_offset: *range.start(),
                last_offset: *range.end(),
                data_blocks: CoveredBlocks { list: self, index },
                bytes: filter.bytes,
                bits: filter.bits,
                bits_set: filter.bits_set,
                probes: filter.probes,
                estimated_fpr: filter.rate,
                state: filter.state.name(),
            }
        });
        serializer.collect_seq(filters)
    }
}

/// The offsets of the data blocks that a filter covers.
struct CoveredBlocks<'a> {
    list: &'a FilterList<'a>,
    index: u64,
}

impl Serialize for CoveredBlocks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let range = self.list.filters.range(self.index);
        let table = self.list.table.into_iter();
        serializer.collect_seq(table.flat_map(|table| table.blocks.offsets.range(range.clone())))
    }
}
