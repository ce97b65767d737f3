//! Writing tables (LevelDB's `table/table_builder.cc`).

mod block_writer;
mod filters;
mod finish_error;
mod options;
mod rewriter;
mod summary;
mod table_builder;

pub use finish_error::FinishError;
pub use options::WriteOptions;
pub use rewriter::Rewriter;
pub use summary::{FilterSummary, RewriteSummary, TableSummary};
pub use table_builder::TableBuilder;
