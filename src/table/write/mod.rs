//! Writing tables (LevelDB's `table/table_builder.cc`).

mod block_writer;
mod finish_error;
mod options;
mod summary;
mod table_builder;

pub use finish_error::FinishError;
pub use options::WriteOptions;
pub use summary::{FilterSummary, TableSummary};
pub use table_builder::TableBuilder;
