//! The verification of tables: every block, every entry, and the filters asked for every key.

mod batch;
mod budget;
mod check;
mod denials;
mod extents;
mod fpr_sampler;
mod order;
pub(crate) mod run;
mod walk;

pub(crate) use check::table;
pub(crate) use denials::DenialCount;
pub use run::VerifyOutcome;

pub(crate) use run::{VerifySurvey, verdicts_on_folder};
