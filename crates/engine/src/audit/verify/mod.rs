//! The verification of tables: every block and every entry, with filters checked for every key.

mod check;
mod doubt;
mod extents;
mod false_negatives;
mod log;
mod order;
pub(crate) mod run;
mod stretches;
mod versions;
mod walk;

pub(crate) use check::table;
pub(crate) use false_negatives::FalseNegativeCount;
pub(crate) use log::log;
pub(crate) use run::{VerifyTask, manifest, other, verdicts_on_folder};
pub(crate) use stretches::Stretch;
pub(crate) use versions::Versions;
