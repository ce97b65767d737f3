//! A new database from the readable parts of a damaged one: the work of `filterblock repair`.
//!
//! The damaged database is only read. The new one appears complete or not at all.
//!
//! ```text
//! 1  databases of other programs, which are refused; all MANIFESTs,    examine, manifests, key_order
//!    and the one that can be chosen; the order of keys
//! 2  the readable parts of each table and each log; one wrong bit      table, log, batch; `audit::correct`
//!    under a checksum is corrected with its help
//! 3  the live files, according to the MANIFEST or by entries that      salvage, members, roles
//!    files share
//! 4  the losses, and their places                                      lost, log_loss
//! 5  all entries in order; the newest version of each key, and         merge, decide
//!    whether it is certain
//! 6  new tables on one level, which are read back                      tables, shape
//! 7  the ledger, and the reasons why it may be incomplete              ledger, doubt
//! ```

mod batch;
mod decide;
mod doubt;
mod examine;
mod input;
mod key_batch;
mod key_order;
mod ledger;
mod log;
mod log_loss;
mod lost;
mod manifests;
mod members;
mod merge;
mod operations;
mod roles;
mod run;
mod salvage;
mod shape;
mod table;
mod tables;
#[cfg(all(test, unix))]
mod tests;

use filterblock::LegacyHash;

use crate::audit::correct::{fragments, patched};
use crate::audit::order;
pub use crate::write::{Failure, Result};

/// The options of a repair.
#[derive(Clone, Default, Debug)]
pub struct RepairRequest {
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
}

impl RepairRequest {
    /// The arguments of `filterblock repair`, after those for the places.
    fn arguments(&self) -> Vec<String> {
        let hash = self.hash.map(|hash| if hash == LegacyHash::Signed { "signed" } else { "unsigned" });
        let options = [
            ("--prefer", (self.prefer == Prefer::Sound).then(|| "sound".to_owned())),
            ("--comparator", self.comparator.clone()),
            ("--policy", self.policy.clone()),
            ("--hash", hash.map(str::to_owned)),
            ("--bits-per-key", self.bits_per_key.map(|bits| bits.to_string())),
        ];
        options
            .into_iter()
            .filter_map(|(option, value)| Some([option.to_owned(), value?]))
            .flatten()
            .collect()
    }
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
