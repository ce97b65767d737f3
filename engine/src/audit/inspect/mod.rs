//! Inspection: the facts about tables and their filters, without reading all of them.

mod bare_block;
pub(crate) mod run;
pub mod table;

pub use run::{InspectLine, InspectOutcome};
pub use table::{opened, table};

pub(crate) use run::{InspectSurvey, missing_tables, or_unreadable};
