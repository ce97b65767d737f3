//! LevelDB 1.23, from the source of Debian's package, behind safe functions.
//!
//! LevelDB is compiled without assertions. Most misuse that it leaves to `assert`, such as going
//! back to an earlier block, panics here.

mod database;
mod ffi;
mod filter;
mod order;
mod script;
mod store;
mod table;
mod walk;

pub use database::{Database, DatabaseOptions, Filter, WriteBatch, repair, tables_in};
pub use ffi::speed;
pub use filter::{Answer, BlockScript, Bloom, QueryScript, hash};
pub use order::{KeyOrder, parse_internal_key};
pub use store::{Counts, Order, Store, StoreFilter, StoreOptions, repair_store};
pub use table::{Entries, Table, TableBuilder, TableOptions, build_table};
pub use walk::{DatabaseWalk, Place, Step, TableWalk};

/// The `compression` of LevelDB's options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Blocks are stored uncompressed.
    None = 0,
    /// Snappy, where it saves more than an eighth of a block.
    Snappy = 1,
}
