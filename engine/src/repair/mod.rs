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
//! 4  the losses, and their places                                      lost, log_loss, place
//! 5  all entries in order; the newest version of each key, and         merge, decide
//!    whether it is certain
//! 6  new tables on one level, which are read back                      output, shape
//! 7  the ledger, and the reasons why it may be incomplete              ledger, doubt
//! ```

mod batch;
mod decide;
mod dialect;
mod doubt;
mod dry_run;
mod input;
mod key_order;
mod ledger;
mod log;
mod log_loss;
mod lost;
mod manifests;
mod members;
mod merge;
mod open_files;
mod operations;
mod output;
mod place;
mod request;
mod run;
mod shape;
mod survey;
mod table;
#[cfg(all(test, unix))]
mod tests;

use crate::audit::correct::{fragments, patched};
use crate::audit::order;

pub use self::decide::SavedKey;
pub use self::dry_run::dry_run;
pub use self::request::{Prefer, RepairRequest};
pub use self::run::repair;
