//! Inspection: the facts about tables and their filters, from as much of each table as the depth
//! allows.

mod bare_block;
pub(crate) mod run;
pub(crate) mod table;

pub use run::{InspectLine, InspectOutcome};
pub use table::inspect_table;

pub(crate) use run::{InspectSurvey, lookup_weights, missing_tables, missing_text, or_unreadable};
