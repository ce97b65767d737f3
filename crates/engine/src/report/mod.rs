//! The results, as types that serialize to the objects of `docs/json.md`.

mod count;
mod distinct;
mod filter_list;
mod findings;
mod folder;
mod frame;
mod inspect;
mod manifest;
mod outcome;
mod query;
#[cfg(feature = "fs")]
mod rebuild;
#[cfg(feature = "fs")]
mod repair;
mod scan;
mod state;
mod strings;
#[cfg(test)]
mod tests;
mod totals;
mod tune;
mod verify;

pub use crate::audit::rates::{MeanRate, MeasuredRate};
pub use crate::audit::stats::FilterState;
pub use crate::audit::{CutKey, LostKeys};
pub use count::{BitsPerEntry, DistinctKeys, EntryCount, EntrySum};
pub use distinct::DistinctSum;
pub use filter_list::{Dialect, FilterBlock, FilterCost, Filters, KeyFormat, LargerRanges, ListedFilter};
pub use findings::{COPIES_ONLY, Code, Finding, Findings, Weight};
pub use folder::{Folder, Unreadable};
pub use frame::{Depth, ErrorKind, Frame, Framed, Remark, Subject};
pub use inspect::{InspectStatus, Inspected, Table, TableLevel, TableState, ends_of, name_of};
pub use manifest::{
    AddedTable, CompactPointer, DeletedTable, InternalKeyParts, ManifestEdit, ManifestLevel, ManifestLine,
    ManifestState,
};
pub use outcome::{
    Estimate, LevelOutcome, NearKind, NearRates, NearReads, Outcome, Rates, Reads, TuneFailure, TuneFault,
};
pub use query::{Answer, Count, KeyBlocks, LogAnswer, QueryLine, Reason, Reply};
#[cfg(feature = "fs")]
pub use rebuild::{FiltersReport, RebuildStatus, Report, Sums, TableReport, TableStatus};
#[cfg(feature = "fs")]
pub use repair::{
    DoubtfulKey, FileStanding, LossKind, LossReport, RepairReport, RepairStatus, RepairSums, RepairedFile,
    RepairedKind,
};
pub use scan::{End, Entry, Fault, FaultAt, FileState, Row, ScanLine, Version};
pub use state::{LostRecords, StateFault, UnlistedTables};
pub(crate) use strings::words;
pub use strings::{Name, json_text, write_line};
pub(crate) use totals::TableRates;
pub use totals::{LevelTotals, Totals};
pub use tune::{
    Action, Advice, Budget, BudgetOrigin, Choice, FoundFilters, Level, LevelBits, Lookups, Memory,
    SampleSize, Setting, Tried, TuneStatus, Tuned, Tuning, TuningLine, Visits,
};
pub use verify::{About, Note, Other, Verdict, VerdictCounts, Verified, VerifyStatus};
