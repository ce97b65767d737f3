//! Writing tables (LevelDB's `table/table_builder.cc`).

mod block_writer;
mod options;
mod rewriter;
mod summary;
mod table_builder;

pub use options::WriteOptions;
pub use rewriter::Rewriter;
pub use summary::{FilterSummary, FinishError, RewriteSummary, TableSummary};
pub use table_builder::TableBuilder;
