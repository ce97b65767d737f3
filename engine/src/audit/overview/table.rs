//! The little that is kept of each table.

use super::spans::Extent;
use crate::audit::inspect::report::{FilterReport, TableReport};
use crate::audit::lost_keys::CutKey;
use crate::audit::rates::measured::MeasuredRate;
use crate::audit::stats::key_count::KeyCount;
use crate::walk::record::TableRecord;

/// A table, without its filters.
#[derive(Clone, Debug)]
pub struct TableFacts {
    /// The name of the file, in the bytes that the system has it in.
    pub name: Vec<u8>,
    pub place: Place,
    /// The number that the MANIFEST has it under, if it is live.
    pub number: Option<u64>,
    /// The first and the last user key, as the MANIFEST records them; `None` for other tables.
    pub ends: Option<[CutKey; 2]>,
    /// The share of the database's range of keys before its first key, and that before its last
    /// one: see [`Spans`](super::spans::Spans). `None` for tables of no level.
    pub span: Option<[f64; 2]>,
    pub state: State,
    /// The size of the file in bytes; of a missing one, what the MANIFEST records.
    pub size: u64,
    /// `None` if none of its data blocks could be read.
    pub keys: Option<KeyCount>,
    /// `None` without filters that can be read.
    pub filter: Option<FilterFacts>,
    /// The name of the policy that its filters are of, known or not.
    pub policy: Option<Vec<u8>>,
}

/// The place of a table in the database.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// The level, 0 to 6.
    Level(u8),
    /// No MANIFEST tells.
    Unknown,
    /// The database does not use it, or not yet.
    NotLive,
}

/// The state of a table in a word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum State {
    /// It has filters, and nothing wrong was seen.
    Filtered,
    NoFilter,
    /// Its filters are of a policy, or in an encoding, that is not known here.
    UnknownPolicy,
    /// No whole table, and not one of the database's.
    Unfinished,
    Damaged,
    /// The MANIFEST has it, and there is no file.
    Missing,
    Unreadable,
}

/// The filter block of a table.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FilterFacts {
    /// The size of the filter block in bytes.
    pub size: u64,
    pub filters: u64,
    pub empty: u64,
    pub bits: u64,
    pub bits_set: u64,
    /// `None` if they differ from filter to filter.
    pub probes: Option<u32>,
    pub base_lg: u8,
    /// The share of absent keys that is expected to pass by the bits set.
    pub by_bits: Option<f64>,
    /// The share of random keys that pass, and that of keys near stored ones.
    pub random: Option<MeasuredRate>,
    pub neighbours: Option<MeasuredRate>,
}

impl FilterFacts {
    fn of(report: &FilterReport) -> Self {
        let summary = &report.summary;
        Self {
            size: report.size,
            filters: summary.filters,
            empty: summary.empty,
            bits: summary.bits,
            bits_set: summary.bits_set,
            probes: summary.probes,
            base_lg: report.stats.reader().base_lg(),
            by_bits: report.rate,
            random: report.random_rate,
            neighbours: report.neighbour_rate,
        }
    }
}

impl TableFacts {
    /// The facts in the report on the file of this name.
    pub fn of(name: Vec<u8>, report: &TableReport<'_>) -> Self {
        let stats = report.stats.as_ref();
        let live = report.record.and_then(|record| record.live);
        let unknown = || stats.and_then(|stats| stats.metaindex.filter_names().next()).map(<[u8]>::to_vec);
        let filter = report.filter.as_ref().filter(|_| !stats.is_some_and(|stats| stats.filter_unsupported));
        let policy = report.filter.as_ref().map(|filter| filter.policy().as_bytes().to_vec());
        Self {
            name,
            place: place(report.record),
            number: live.map(|live| live.number),
            ends: live.map(|live| Extent::of(live).ends.map(CutKey::new)),
            span: None,
            state: state(report),
            size: report.file_size.or_else(|| Some(live?.size)).unwrap_or_default(),
            keys: report.keys(),
            filter: filter.map(FilterFacts::of),
            policy: policy.or_else(unknown),
        }
    }

    /// The bits of its filters for each of its keys; `None` if one of the two is not known.
    pub fn bits_per_key(&self) -> Option<f64> {
        let (bits, keys) = (self.filter?.bits, self.keys?.keys);
        (bits > 0 && keys > 0).then(|| bits as f64 / keys as f64)
    }
}

fn place(record: Option<TableRecord<'_>>) -> Place {
    match record {
        None => Place::Unknown,
        Some(record) => record.live.map_or(Place::NotLive, |live| Place::Level(live.level)),
    }
}

fn state(report: &TableReport<'_>) -> State {
    match (&report.filter, &report.stats) {
        _ if report.is_missing() => State::Missing,
        _ if report.unreadable => State::Unreadable,
        _ if report.is_damaged() => State::Damaged,
        (None, None) => State::Unfinished,
        (None, Some(stats)) if stats.metaindex.filter_names().next().is_none() => State::NoFilter,
        (Some(_), Some(stats)) if !stats.filter_unsupported => State::Filtered,
        (Some(_), None) => State::Filtered,
        _ => State::UnknownPolicy,
    }
}
