//! What an inspection finds out about a table, or about a filter block without its table.

use std::collections::BTreeMap;

use filterblock::database::LiveTable;

use super::estimate::Estimate;
use super::fault::Fault;
use super::filter_list::{FilterBlock, Filters};
use super::frame::{ErrorKind, Frame, Subject};
use super::strings::Name;
use super::table::{FilterStatus, TableData};
use super::verdict::Verdict;
use super::verify::{CheckNote, Checked};
use crate::audit::{LostKeys, TruncatedKey, rates::FenceKeys, stats::KeySketch};
use crate::walk::TableRecord;

/// What an inspection finds out about a table, or about a filter block without its table.
#[derive(Clone, Default, Debug)]
pub struct Inspected {
    /// The line of JSON.
    pub table: TableData,
    /// The table's filters, as large in memory as in the file. `None`: the field `filter` of the table is `None`.
    pub filters: Option<Filters>,
    /// What is wrong with the table, as far as it was read.
    pub faults: BTreeMap<TableFault, Fault>,
    /// The table or a part of it could not be read, which does not mean that it is damaged.
    pub is_unreadable: bool,
    /// The file does not end like a table. Of a database, only files that it does not use count: they are being
    /// written, or were left behind, which is no fault.
    pub is_incomplete: bool,
    /// Names in the metaindex, in the order of the file: the first 16.
    pub metaindex: Vec<Name>,
    /// Why `key_format` of the table is not known. `None`: it is known, or there was no table to open.
    pub no_key_format: Option<String>,
    /// The number that the MANIFEST gives the table, if it is live.
    pub number: Option<u64>,
    /// The first and the last user key that the MANIFEST records for the table, if it is live.
    pub ends: Option<[TruncatedKey; 2]>,
    /// The keys of the table, if all of them were seen and they were not too many to be noted.
    pub(crate) seen: Option<KeySketch>,
    /// The places of the table's entries in the range of keys, if the keys are internal keys.
    pub(crate) marks: FenceKeys,
}

/// A kind of fault of a table, the most important first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TableFault {
    /// The file cannot be opened as a table, or blocks are damaged or cannot be read.
    Blocks,
    /// The file does not have the size that the MANIFEST records.
    Size,
    /// The filters cannot be read.
    Filters,
    /// The filters are in an encoding that is not relied on. They may be sound.
    Encoding,
    /// The filters contradict themselves.
    Malformed,
    /// The filters hide stored keys.
    FalseNegatives,
}

/// The state of a table in a word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TableState {
    /// The table has filters, and nothing wrong was seen.
    Filtered,
    /// The table has no filters.
    NoFilter,
    /// The filters are of a policy that this program does not know, or in an encoding that it does not support.
    UnknownPolicy,
    /// The file is not a complete table, and the database does not use it.
    Unfinished,
    /// The blocks or the filters of the table are damaged, or its size is wrong.
    Damaged,
    /// The MANIFEST lists the table, but there is no file.
    Missing,
    /// The table, or a part of it, cannot be read.
    Unreadable,
}

impl TableFault {
    /// What a line about the fault begins with.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blocks => "error",
            Self::Size => "size",
            Self::Filters | Self::Encoding => "filter error",
            Self::Malformed => "malformed",
            Self::FalseNegatives => "false negatives",
        }
    }
}

impl Inspected {
    /// A table that cannot be opened. `is_unreadable`: it may be sound.
    pub(crate) fn unopened(fault: Fault, is_unreadable: bool) -> Self {
        let table = TableData { compression: Some(Vec::new()), ..TableData::default() };
        Self {
            table,
            faults: BTreeMap::from([(TableFault::Blocks, fault)]),
            is_unreadable,
            ..Self::default()
        }
    }

    /// Adds the subject and the MANIFEST's record. `listed`: found in a folder, where an incomplete unused file may
    /// still be being written.
    pub(crate) fn about(&mut self, subject: &Subject<'_>, record: Option<TableRecord<'_>>, listed: bool) {
        let live = record.and_then(|record| record.live);
        self.number = live.map(|live| live.number);
        self.ends = live.map(|live| ends_of(live).map(TruncatedKey::new));
        let table = &mut self.table;
        table.comparator = record.and_then(|record| record.comparator).map(Name::cut);
        table.level = live.map(|live| live.level);
        table.live = record.map(|record| record.live.is_some());
        table.recorded_size = live.map(|live| live.size);
        if let (Some(recorded), Some(found)) = (table.recorded_size, table.file_size)
            && recorded != found
        {
            let text = format!("expected {recorded} bytes, as the MANIFEST has it, found {found}");
            self.faults.insert(TableFault::Size, Fault::new(text, ErrorKind::Damaged));
        }
        self.is_incomplete &= listed && table.live == Some(false);
        if self.is_incomplete {
            self.faults.remove(&TableFault::Blocks);
        }
        if !table.is_opened() && self.faults.contains_key(&TableFault::Blocks) {
            table.lost = live.and_then(LostKeys::of_table);
        }
        let object = if table.is_opened() || table.filter.is_none() { "table" } else { "filter_block" };
        let (verdict, filter_status) = (self.judge(), self.judge_filters());
        let table = &mut self.table;
        // Filters that are not known here are no fault.
        let first = self.faults.first_key_value().filter(|_| verdict != Verdict::Fine);
        let error = first.map(|(what, fault)| match what {
            TableFault::Blocks => fault.text.clone(),
            _ => format!("{}: {}", what.name(), fault.text),
        });
        let note = self.is_incomplete.then(|| CheckNote::Incomplete.to_string());
        let frame = Frame::new(object, subject, first.map(|(_, fault)| fault.kind)).error(error);
        table.frame = frame.note(note.into_iter()).into_owned();
        table.verdict = verdict;
        table.filter_status = filter_status;
        let of_filters =
            [TableFault::Filters, TableFault::Encoding, TableFault::FalseNegatives, TableFault::Malformed];
        let filter_fault = of_filters.iter().find_map(|what| self.faults.get(what));
        table.filter_error = filter_fault.map(|fault| fault.text.clone());
    }

    /// Takes over the numbers of entries and keys, and the keys seen, from a verification that decoded all entries.
    pub(crate) fn count(&mut self, verdict: &mut Checked) {
        if verdict.is_complete {
            self.table.entries = Some(Estimate::exact(verdict.entries));
            self.table.distinct_keys = Some(Estimate::exact(verdict.distinct_keys).into());
            self.seen = verdict.seen.take();
        }
    }

    /// Returns true if there is a fault of this kind.
    pub fn has(&self, what: TableFault) -> bool {
        self.faults.contains_key(&what)
    }

    /// Judges the table as far as it was read.
    fn judge(&self) -> Verdict {
        match () {
            () if self.is_unreadable && self.has(TableFault::Blocks) => Verdict::CannotTell,
            () if self.has(TableFault::Blocks) || self.has(TableFault::Size) => Verdict::Damaged,
            () if self.has(TableFault::FalseNegatives) => Verdict::FalseNegatives,
            () if self.is_unreadable => Verdict::CannotTell,
            () if self.has(TableFault::Filters) => Verdict::Damaged,
            () if self.has(TableFault::Malformed) => Verdict::CouldBeBetter,
            () => Verdict::Fine,
        }
    }

    fn judge_filters(&self) -> Option<FilterStatus> {
        let table = &self.table;
        Some(match () {
            () if self.has(TableFault::FalseNegatives) => FilterStatus::FalseNegatives,
            () if self.has(TableFault::Malformed) => FilterStatus::Malformed,
            () if self.has(TableFault::Encoding) => FilterStatus::UnknownPolicy,
            () if table.filter.is_some() => FilterStatus::Ok,
            () if !table.is_opened() => return None,
            () if self.has(TableFault::Filters) => FilterStatus::Unusable,
            () if !table.filter_policies.is_empty() => FilterStatus::UnknownPolicy,
            () => FilterStatus::None,
        })
    }

    /// Returns true for a live table that has no file.
    pub fn is_missing(&self) -> bool {
        let fault = self.faults.get(&TableFault::Blocks);
        !self.is_unreadable && fault.is_some_and(|fault| fault.kind == ErrorKind::Missing)
    }

    /// Returns true if the table cannot be read, or has a fault in its blocks, its filters or its size.
    pub fn is_damaged(&self) -> bool {
        self.faults.keys().any(|what| *what != TableFault::Encoding)
    }

    /// The state of the table.
    pub fn state(&self) -> TableState {
        let table = &self.table;
        match () {
            () if self.is_missing() => TableState::Missing,
            () if self.is_unreadable => TableState::Unreadable,
            () if self.is_damaged() => TableState::Damaged,
            () if self.judged().is_some() => TableState::Filtered,
            () if table.filter.is_some() => TableState::UnknownPolicy,
            () if !table.is_opened() => TableState::Unfinished,
            () if table.filter_policies.is_empty() => TableState::NoFilter,
            () => TableState::UnknownPolicy,
        }
    }

    /// The filter block, if it is in an encoding that can be judged.
    pub fn judged(&self) -> Option<&FilterBlock> {
        self.table.filter.as_ref().filter(|_| !self.has(TableFault::Encoding))
    }
}

/// The first and the last user key of a table, as the MANIFEST records them.
pub fn ends_of(live: &LiveTable) -> [&[u8]; 2] {
    // After the user key come eight bytes of sequence number and type.
    [&live.smallest, &live.largest].map(|key| key.get(..key.len().saturating_sub(8)).unwrap_or_default())
}
