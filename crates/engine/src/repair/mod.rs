//! A new database from the readable parts of a damaged one: the work of `filterblock repair`.
//!
//! The damaged database is only read. The new one appears complete or not at all.
//!
//! ```text
//! 1  databases of other programs, which are refused; all MANIFESTs,    dialect, manifests, key_order
//!    and the one that can be trusted; the order of keys
//! 2  the readable parts of each table and each log; one wrong bit      table, log, batch; `audit::correct`
//!    under a checksum is corrected with its help
//! 3  the live files, according to the MANIFEST or by entries that      survey, members
//!    files share
//! 4  the losses, and their places                                      lost, log_loss
//! 5  all entries in order; the newest version of each key, and         merge, decide
//!    whether it is certain
//! 6  new tables on one level, which are read back                      output, shape
//! 7  the ledger, and the reasons why it may be incomplete              ledger, doubt
//! ```

mod batch;
mod decide;
mod dialect;
mod doubt;
mod input;
mod key_order;
mod ledger;
mod log;
mod log_loss;
mod lost;
mod manifests;
mod members;
mod merge;
mod operations;
mod output;
mod run;
mod shape;
mod survey;
mod table;
#[cfg(all(test, unix))]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use filterblock::LegacyHash;
use filterblock::table::Meter;

use crate::audit::correct::{fragments, patched};
use crate::audit::order;

pub use self::decide::SavedKey;
pub use self::run::repair;
pub use run::dry_run;

/// The options of a repair.
#[derive(Clone, Debug)]
pub struct RepairRequest {
    /// The folder of the new database, which appears complete or not at all.
    pub target: PathBuf,
    /// The treatment of keys of which a newer version may be lost, or whose version no checksum covers.
    pub prefer: Prefer,
    /// The name of the comparator whose order the keys are in. `None`: the one that a MANIFEST names, or else one that
    /// fits the tables.
    pub comparator: Option<String>,
    /// The filters' policy, by its name in files; `None`: the most common one of the live tables, if they have filters.
    pub policy: Option<String>,
    /// The hash, for the policy whose name stands for two hashes; `None`: the one that the filters of the tables were
    /// made with.
    pub hash: Option<LegacyHash>,
    /// Bits a key; `None`: about as many as the filters of the live tables have, or 10 if no live table without losses
    /// has sound filters of a known policy.
    pub bits_per_key: Option<u32>,
    /// No database is made.
    pub dry_run: bool,
    /// The maximum number of bytes of blocks and keys to decode of each table; `None`: 100 times its size, but at least
    /// 256 MiB. The rest of the table counts as lost.
    pub max_output: Option<u64>,
    /// Counts the work of reading tables.
    pub meter: Arc<Meter>,
}

/// The treatment of keys of which a newer version may be lost, or whose version no checksum covers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Prefer {
    /// The newest version that may be valid is used.
    #[default]
    Newest,
    /// Keys of which a newer version may be lost, or whose version no checksum covers, are left out.
    Sound,
}
