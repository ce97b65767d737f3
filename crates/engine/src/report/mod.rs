//! The results, as types that serialize to the objects of `docs/json.md`.

mod advice;
mod distinct;
mod effect;
mod estimate;
mod fault;
mod filter_list;
mod folder;
mod frame;
mod inspect;
mod manifest;
mod problems;
mod query;
mod rebuild;
mod repair;
mod scan;
mod state;
mod strings;
mod table;
#[cfg(test)]
mod tests;
mod totals;
mod tune;
mod verdict;
mod verify;

pub use crate::audit::rates::{MeanRate, Rate};
pub use crate::audit::stats::FilterState;
pub use crate::audit::{LostKeys, TruncatedKey};
pub use advice::{
    Action, Advice, Basis, Condition, Damage, DamagedPart, FalseNegatives, HugeManifest, Obstacle, Rebuild,
};
pub use distinct::DistinctSum;
pub use effect::{Effect, LevelEffect, Rates, Reads, SimilarKind};
pub use estimate::{EntrySum, Estimate, KeyCount};
pub use fault::{Fault, FaultDetail};
pub use filter_list::{Dialect, FilterBlock, Filters, KeyFormat, ListedFilter};
pub use folder::{CheckedFolder, FolderData, Unreadable};
pub use frame::{Depth, ErrorKind, Frame, Line, Remark, Subject};
pub use inspect::{Inspected, TableFault, TableState, ends_of};
pub use manifest::{
    AddedTable, CompactPointer, DeletedTable, InternalKeyParts, ManifestEdit, ManifestLevel, ManifestLine,
    ManifestSize, ManifestState,
};
pub use problems::{COPIES_ONLY, Code, Problem, ProblemData, Problems};
pub use query::{Answer, Count, KeyBlocks, LogAnswer, QueryAnswer, QueryLine};
pub use rebuild::{
    FiltersReport, RebuildData, RebuildReport, RebuildStatus, RebuildSums, RebuiltData, RebuiltStatus,
    RebuiltTable,
};
pub use repair::{
    LossKind, LossReport, OfFile, RepairData, RepairReport, RepairRole, RepairStatus, RepairSums,
    RepairedFile, RepairedKind, StaleKey, Unknown,
};
pub use scan::{EndData, EntryData, EntryRef, EntryTag, FaultData, FileRole, ScanLine};
pub use state::{LostRecords, StateFault, UnlistedTables};
pub(crate) use strings::words;
pub use strings::{Name, json_text, write_line};
pub use table::{FilterStatus, TableData, TableLevel, name_of};
pub use totals::{LevelTotals, Totals};
pub(crate) use totals::{TableRates, TotalsSum};
pub use tune::{Candidate, DEFAULT_BITS, LeftOut, Level, Lookups, SampleSize, Tuned, Tuning, TuningLine};
pub use verdict::{Outcome, Severity, Verdict, VerdictCounts};
pub use verify::{About, CheckNote, Checked, Other, Verified, VerifiedData};
