//! What is in LevelDB's databases, tables and Bloom filters, as facts.
//!
//! ```text
//! walk     from a path or a URL to databases, tables and logs
//! run      in order, on threads or futures; tables that vanish; limits, progress, the end on request
//! audit    what is found out: inspect, verify, query, scan, tune
//! report   the results
//! rebuild  new filters for a database that exists
//! remote   tables in object storage
//! page     a report as HTML
//! words    numbers and advice in words, for a page or a terminal
//! ```
#![forbid(unsafe_code)]
#![allow(missing_debug_implementations, unreachable_pub)]

#[doc(hidden)]
pub mod audit;
mod engine;
#[cfg(feature = "page")]
#[doc(hidden)]
pub mod page;
#[cfg(feature = "fs")]
#[doc(hidden)]
pub mod rebuild;
#[cfg(feature = "remote")]
#[doc(hidden)]
pub mod remote;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod run;
#[doc(hidden)]
pub mod walk;
#[doc(hidden)]
pub mod words;

pub use audit::inspect::{InspectLine, InspectOutcome};
pub use audit::verify::VerifyOutcome;
pub use engine::{Engine, Sink};
pub use walk::paths::Inputs;
