//! A table as a JSON object. Fields are only ever added.

use std::borrow::Cow;

use filterblock::table::{Codec, Compression};
use serde::{Serialize, Serializer};

use crate::audit::inspect::report::{Facts, FilterFacts, origin_name};
use crate::audit::stats::{Cost, ENTRY, Larger, Survey, TableCensus, USUAL_BITS_PER_KEY};
use crate::render::show::{json_name, json_path, json_text};

#[derive(Serialize)]
pub(crate) struct Report<'a> {
    path: Cow<'a, str>,
    status: &'static str,
    error: Option<&'a str>,
    file_size: Option<u64>,
    data_blocks: Option<u64>,
    compression: Vec<Cow<'static, str>>,
    metaindex: Vec<Cow<'a, str>>,
    key_format: Option<&'static str>,
    /// Whose mark is in the metaindex: "basho" or "rocksdb".
    origin: Option<&'static str>,
    /// Under LevelDB's old name, the hash that fits the stored keys: "signed", "unsigned", or "either" if all fit both. Else as `origin`.
    dialect: Option<&'static str>,
    /// What the database's MANIFEST says; all of this is null outside of a database, or if the MANIFEST cannot be relied on.
    comparator: Option<Cow<'a, str>>,
    /// Null also for a table that the database does not use.
    level: Option<u8>,
    live: Option<bool>,
    recorded_size: Option<u64>,
    filter_error: Option<&'a str>,
    filter: Option<FilterReport<'a>>,
    /// What a filter would cost, where there is none.
    filter_cost: Option<CostReport>,
}

#[derive(Serialize)]
struct FilterReport<'a> {
    policy: &'a str,
    /// Whether that is only assumed, of a bare filter block.
    policy_assumed: bool,
    offset: u64,
    size: u64,
    base_lg: u8,
    filters: u64,
    empty_filters: u64,
    offset_array_bytes: u64,
    /// What of that is for empty filters.
    empty_filter_bytes: u64,
    /// A larger base_lg and what it would save, if it would save anything.
    larger_ranges: Option<LargerReport>,
    bits: u64,
    bits_set: u64,
    probes: Option<u8>,
    estimated_fpr: Option<f64>,
    malformed: Option<&'a str>,
    unsound: Option<&'a str>,
    /// Each filter, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    list: Option<List<'a>>,
}

#[derive(Serialize)]
struct LargerReport {
    base_lg: u8,
    /// In bytes of the filter block; an estimate.
    saves: u64,
}

#[derive(Serialize)]
struct CostReport {
    bits_per_key: u64,
    keys: u64,
    /// Whether all keys were counted; otherwise their number is an estimate.
    keys_exact: bool,
    size: u64,
}

#[derive(Serialize)]
struct OneFilter<'a> {
    index: u64,
    /// The first and the last offset of the data blocks it is for.
    first_offset: u64,
    last_offset: u64,
    data_blocks: Covered<'a>,
    bytes: u64,
    bits: u64,
    bits_set: u64,
    probes: Option<u8>,
    estimated_fpr: f64,
    state: &'static str,
}

impl<'a> Report<'a> {
    /// `list`: each filter too.
    pub(crate) fn new(facts: &'a Facts<'a>, list: bool) -> Self {
        let survey = facts.survey;
        let live = facts.place.and_then(|place| place.live);
        Self {
            comparator: facts.place.and_then(|place| place.comparator).map(json_name),
            level: live.map(|live| live.level),
            live: facts.place.map(|place| place.live.is_some()),
            recorded_size: live.map(|live| live.size),
            path: json_path(facts.path),
            status: if facts.error.is_some() { "error" } else { "ok" },
            error: facts.error.as_deref(),
            file_size: facts.file_size,
            data_blocks: survey.map(|survey| survey.blocks.offsets.len()),
            compression: survey.map_or_else(Vec::new, |survey| compression_names(survey).collect()),
            metaindex: survey.map_or_else(Vec::new, |survey| survey.metaindex.names(json_text).collect()),
            key_format: survey.and_then(|survey| Some(survey.sample.key_format().ok()?.name())),
            origin: survey.and_then(|survey| origin_name(survey.origin?)),
            dialect: facts.dialect(),
            filter_error: facts.filter_error(),
            filter: facts.filter.as_ref().map(|filter| FilterReport::new(filter, facts, list)),
            filter_cost: survey.and_then(|survey| survey.cost()).map(CostReport::from),
        }
    }
}

impl<'a> FilterReport<'a> {
    fn new(filter: &'a FilterFacts<'a>, facts: &'a Facts<'a>, list: bool) -> Self {
        let summary = &filter.summary;
        Self {
            policy: filter.policy,
            policy_assumed: filter.policy_assumed,
            offset: filter.offset,
            size: filter.size,
            base_lg: filter.census.reader().base_lg(),
            filters: summary.filters,
            empty_filters: summary.empty,
            offset_array_bytes: summary.array_bytes,
            bits: summary.bits,
            bits_set: summary.bits_set,
            empty_filter_bytes: summary.empty.saturating_mul(ENTRY),
            larger_ranges: facts.larger_ranges().map(LargerReport::from),
            probes: summary.probes,
            estimated_fpr: filter.rate,
            malformed: filter.malformed.as_deref(),
            unsound: filter.unsound.as_deref(),
            list: list.then_some(List { census: filter.census, survey: facts.survey }),
        }
    }
}

impl From<Larger> for LargerReport {
    fn from(larger: Larger) -> Self {
        let Larger { base_lg, saves } = larger;
        Self { base_lg, saves }
    }
}

impl From<Cost> for CostReport {
    fn from(cost: Cost) -> Self {
        let Cost { keys, exact, bytes } = cost;
        Self { bits_per_key: USUAL_BITS_PER_KEY, keys, keys_exact: exact, size: bytes }
    }
}

/// The names of the codecs behind the data blocks.
///
/// Only the trailers of all blocks are read. A type of several meanings is what the blocks of the type that were read turned out to be;
/// if none could be read, it is shown as a type, with what it may be.
pub(crate) fn compression_names(survey: &Survey) -> impl Iterator<Item = Cow<'static, str>> {
    let mut names: Vec<Cow<'static, str>> = Vec::new();
    for &id in &survey.compression {
        let known = Compression::from_id(id).map(Compression::name);
        let seen = survey.sample.codecs_of(id).map(Codec::name);
        let before = names.len();
        names.extend(known.into_iter().chain(seen.filter(|_| known.is_none())).map(Cow::from));
        if names.len() == before {
            names.push(possible_meanings(id).into());
        }
    }
    // Two types may stand for one codec.
    names.dedup();
    names.into_iter()
}

/// A compression type, and what it may stand for.
fn possible_meanings(id: u8) -> String {
    let codecs: Vec<_> = Codec::of_type(id).iter().map(|codec| codec.name()).collect();
    let meanings = match codecs.split_last() {
        None => Codec::foreign_use(id).map(str::to_owned),
        Some((last, [])) => Some((*last).to_owned()),
        Some((last, others)) => Some(format!("{} or {last}", others.join(", "))),
    };
    meanings.map_or_else(|| format!("type {id}"), |meanings| format!("type {id} ({meanings})"))
}

/// Written filter by filter, as there may be millions.
struct List<'a> {
    census: &'a TableCensus<'a>,
    survey: Option<&'a Survey>,
}

impl Serialize for List<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let filters = (0u64..).zip(self.census.iter()).map(|(index, filter)| {
            let range = self.census.range(index);
            OneFilter {
                index,
                first_offset: *range.start(),
                last_offset: *range.end(),
                data_blocks: Covered { list: self, index },
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

/// The offsets of the data blocks that a filter is asked for.
struct Covered<'a> {
    list: &'a List<'a>,
    index: u64,
}

impl Serialize for Covered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let range = self.list.census.range(self.index);
        serializer.collect_seq(
            self.list.survey.into_iter().flat_map(|survey| survey.blocks.offsets.range(range.clone())),
        )
    }
}
