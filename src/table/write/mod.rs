//! Writing tables (LevelDB's `table/table_builder.cc`).

mod block_writer;
mod options;
mod summary;
mod table_builder;

pub use options::WriteOptions;
pub use summary::{FilterSummary, TableSummary};
pub use table_builder::TableBuilder;
