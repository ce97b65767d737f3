//! LevelDB 1.23, from the source of Debian's package, behind safe functions.
//!
//! LevelDB is compiled without assertions. Most misuse that it leaves to `assert`, such as going
//! back to an earlier block, panics here.

mod database;
mod ffi;
mod filter;
mod order;
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

/// Operations in one run of bytes. The counterpart in C++ is `Script` in `shim/support.h`.
#[derive(Debug, Clone, Default)]
struct Script(Vec<u8>);

impl Script {
    fn op(&mut self, op: u8) {
        self.0.push(op);
    }

    fn i32(&mut self, number: i32) {
        self.0.extend_from_slice(&number.to_ne_bytes());
    }

    fn u64(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_ne_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        let len = u32::try_from(bytes.len()).expect("keys, values and blocks under 4 GiB");
        self.0.extend_from_slice(&len.to_ne_bytes());
        self.0.extend_from_slice(bytes);
    }

    fn as_slice(&self) -> &[u8] {
        &self.0
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}
