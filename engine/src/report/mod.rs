//! The results: what is found out, as types that serialize to the objects of `docs/json.md`.

pub mod error_kind;
pub mod fetched;
pub mod filter_list;
pub mod folder;
pub mod frame;
pub mod inspect;
pub mod line;
pub mod outcome;
pub mod query;
#[cfg(feature = "fs")]
pub mod rebuild;
pub mod scan;
pub mod strings;
pub mod subject;
#[cfg(test)]
mod tests;
pub mod totals;
pub mod tune;
pub mod verify;
pub(crate) mod words;

pub use error_kind::ErrorKind;
pub use fetched::{Depth, Fetched};
pub use filter_list::{Filters, ListedFilter};
pub use folder::{Folder, Unreadable};
pub use frame::Frame;
pub use inspect::{Dialect, Inspected, KeyCount, KeyFormat, Place, Table, ends_of, name_of};
pub use line::write_line;
pub use outcome::{Estimate, LevelOutcome, Outcome, Rates, Reads};
pub use query::{Answer, Count, KeyBlocks, LogAnswer, QueryLine, Reason, Reply};
#[cfg(feature = "fs")]
pub use rebuild::{FiltersReport, RebuildStatus, Report, Sums, TableReport, TableStatus};
pub use scan::{End, Entry, FaultAt, Row, ScanLine, Version};
pub use strings::{Name, json_text};
pub use subject::{Remark, Subject};
pub use totals::{KeySum, LevelTotals, Totals};
pub use tune::{
    Action, Advice, Budget, BudgetOrigin, Choice, Level, LevelBits, Lookups, Memory, SampleSize, Setting,
    Tried, TuneFailure, Tuned, Tuning, Visits,
};
pub use verify::{About, Code, Finding, Findings, Note, Verdict, VerdictCounts, Verified, Weight};
