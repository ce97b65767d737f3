//! The report on a table, in no particular format.

use filterblock::FilterPolicy as _;
use filterblock::table::Origin;

use crate::audit::lost_keys::LostKeys;
use crate::audit::rates::measured::MeasuredRate;
use crate::audit::stats::dialect::FittingHash;
use crate::audit::stats::filters::{FilterStats, Summary};
use crate::audit::stats::key_count::KeyCount;
use crate::audit::stats::ranges::LargerRanges;
use crate::audit::stats::table::TableStats;
use crate::report::error_kind::ErrorKind;
use crate::walk::record::TableRecord;

/// A table, or a bare filter block.
#[derive(Debug)]
pub struct TableReport<'d> {
    /// The faults of the table besides its filters.
    pub error: Option<String>,
    /// The kind of the first of them.
    pub kind: Option<ErrorKind>,
    /// The file is no whole table, and not one of the database's: it is being written, or was left
    /// behind.
    pub is_not_live: bool,
    /// The file is too short for a table, or does not end like one.
    pub(super) is_not_whole: bool,
    /// Something could not be read, rather than being damaged.
    pub unreadable: bool,
    pub file_size: Option<u64>,
    /// `None` for a table that could not be opened, and for a bare filter block.
    pub stats: Option<TableStats>,
    pub filter: Option<FilterReport>,
    /// `None` outside of a database, and if its MANIFEST cannot be relied on.
    pub record: Option<TableRecord<'d>>,
    /// The contradiction between the size of the file and the record.
    pub size_mismatch: Option<String>,
}

/// The filter block.
#[derive(Debug)]
pub struct FilterReport {
    /// Neither the table nor the user has named the policy.
    pub policy_assumed: bool,
    pub offset: u64,
    pub size: u64,
    pub summary: Summary,
    /// The share of absent keys that is expected to pass by the bits set, in the mean over the data
    /// blocks.
    pub rate: Option<f64>,
    /// The share of random keys that pass, and that of keys near stored ones.
    pub random_rate: Option<MeasuredRate>,
    pub neighbour_rate: Option<MeasuredRate>,
    /// The saving by larger ranges; `None` if there is none, or it cannot be told.
    pub larger_ranges: Option<LargerRanges>,
    pub malformed: Option<String>,
    /// The reason why the filters cannot be trusted, though they may be well formed.
    pub unsound: Option<String>,
    pub stats: FilterStats,
}

impl FilterReport {
    pub fn policy(&self) -> &str {
        self.stats.reader().policy().name()
    }
}

impl<'d> TableReport<'d> {
    /// A file that is missing or cannot be read.
    pub fn unreadable(message: String, kind: ErrorKind) -> Self {
        Self::unopened(message, kind, true, None)
    }

    /// A live table that has no file.
    pub fn missing(message: String, record: TableRecord<'d>) -> Self {
        Self::unopened(message, ErrorKind::Missing, false, None).with_record(Some(record))
    }

    pub(super) fn unopened(
        message: String,
        kind: ErrorKind,
        unreadable: bool,
        file_size: Option<u64>,
    ) -> Self {
        Self {
            error: Some(message),
            kind: Some(kind),
            is_not_live: false,
            is_not_whole: false,
            unreadable,
            file_size,
            stats: None,
            filter: None,
            record: None,
            size_mismatch: None,
        }
    }

    /// Adds what the database says of the table.
    pub fn with_record(self, record: Option<TableRecord<'d>>) -> Self {
        let recorded = record.and_then(|record| Some(record.live?.size));
        let size_mismatch = match (recorded, self.file_size) {
            (Some(recorded), Some(found)) if recorded != found => {
                Some(format!("expected {recorded} bytes, as the MANIFEST has it, found {found}"))
            }
            _ => None,
        };
        Self { record, size_mismatch, ..self }
    }

    /// Takes a file that is no whole table for one that is being written or was left behind, if its
    /// database does not use it.
    pub fn allow_unfinished(&mut self) {
        let is_used = self.record.is_none_or(|record| record.live.is_some());
        self.is_not_live = !is_used && self.is_not_whole;
    }

    pub fn filter_error(&self) -> Option<&str> {
        self.stats.as_ref().and_then(|stats| stats.filter_error.as_deref())
    }

    /// The keys that cannot be read because of the fault in [`error`](Self::error). Of a table that
    /// does not open, the MANIFEST knows them.
    pub fn lost(&self) -> Option<LostKeys> {
        match &self.stats {
            Some(stats) => stats.blocks.damage.lost.clone(),
            None => self.error.as_ref().and_then(|_| LostKeys::of_table(self.record?.live?)),
        }
    }

    /// The kind of the first of the [`findings`](Self::findings).
    pub fn error_kind(&self) -> Option<ErrorKind> {
        if self.is_not_live {
            return None;
        }
        let filter = self.stats.as_ref().and_then(|stats| stats.filter_error_kind);
        let mut findings = self.findings();
        match findings.next()?.0 {
            "error" => self.kind,
            "filter error" => filter,
            _ => Some(ErrorKind::Damaged),
        }
    }

    /// Returns true for a filter block without a table around it.
    pub fn is_bare_block(&self) -> bool {
        self.stats.is_none() && self.filter.is_some()
    }

    /// Returns true if the file was there when its folder was listed, and is gone.
    pub fn has_vanished(&self) -> bool {
        self.kind == Some(ErrorKind::Vanished)
    }

    /// Returns true for a live table that has no file.
    pub fn is_missing(&self) -> bool {
        self.kind == Some(ErrorKind::Missing) && !self.unreadable
    }

    pub fn is_damaged(&self) -> bool {
        let stats = self.stats.as_ref();
        let filter = self.filter.as_ref();
        (self.error.is_some() && !self.is_not_live)
            || self.size_mismatch.is_some()
            || stats.is_some_and(|stats| stats.filter_error.is_some() && !stats.filter_unsupported)
            || filter.is_some_and(|filter| filter.malformed.is_some() || filter.unsound.is_some())
    }

    /// Returns true if the table was opened and has no filter block that could be read.
    pub fn is_unfiltered(&self) -> bool {
        self.stats.is_some() && self.filter.is_none()
    }

    /// The number of the table's keys; `None` if none of its data blocks could be read.
    pub fn keys(&self) -> Option<KeyCount> {
        self.stats.as_ref().and_then(|stats| stats.keys)
    }

    /// The variant of the format, if the policy's name stands for several: the hash that fits the
    /// stored keys, or the relative of LevelDB's that wrote the table.
    pub fn dialect(&self) -> Option<&'static str> {
        let stats = self.stats.as_ref()?;
        stats.sample.fitting_hash().map(FittingHash::name).or_else(|| origin_name(stats.origin?))
    }

    /// All that is wrong, each with what it is about.
    pub fn findings(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let filter = self.filter.as_ref();
        let findings = [
            ("error", self.error.as_deref()),
            ("size", self.size_mismatch.as_deref()),
            ("filter error", self.filter_error()),
            ("malformed", filter.and_then(|filter| filter.malformed.as_deref())),
            ("unsound", filter.and_then(|filter| filter.unsound.as_deref())),
        ];
        findings.into_iter().filter_map(|(what, finding)| Some((what, finding?)))
    }
}

/// A relative of LevelDB's, in one word.
pub fn origin_name(origin: Origin) -> Option<&'static str> {
    match origin {
        Origin::Basho => Some("basho"),
        Origin::RocksDb => Some("rocksdb"),
        _ => None,
    }
}
