//! Facts about LevelDB's databases, tables and Bloom filters.
//!
//! ```text
//! walk     where files are; from a path to databases, tables and logs
//! run      a task on every table, on threads; tables that vanish; progress, cancellation
//! audit    the examinations: inspect, verify, query, scan, manifest, tune
//! report   the results
//! repair   a new database from the readable parts of a damaged one
//! rebuild  new filters for an existing database
//! write    all changes to files and folders
//! page     a report as HTML
//! text     numbers and advice in words, for a page or a terminal
//! ```
#![forbid(unsafe_code)]
// Each feature uses a part of the shared code; with all features, nothing may be unused.
#![cfg_attr(not(all(feature = "fs", feature = "page")), allow(dead_code, unused_imports))]

mod audit;
mod engine;
#[cfg(feature = "page")]
pub mod page;
pub mod rebuild;
pub mod repair;
pub mod report;
mod run;
pub mod text;
mod walk;
mod write;

pub use audit::current_manifest::contradicted;
pub use audit::inspect::{InspectLine, inspect_table};
pub use audit::order::KeyOrder;
pub use audit::query::{LookupKeys, QueryOutcome, QueryOutput, QueryRequest};
pub use audit::scan::{KeyRange, ScanCursor, ScanRequest, ScanStep, form_doubt, has_internal_keys};
pub use audit::stats::DEFAULT_BITS_PER_KEY;
pub use audit::tune::TuneRequest;
pub use audit::{Policy, decode_limit, read_options, why_no_filter};
pub use engine::Engine;
pub use run::{MAX_JOBS, Progress};
pub use walk::{
    Files, FoundFormat, Inputs, LocalStorage, MemoryStorage, Sequential, SharedFile, Source, Storage,
    StorageOpener, Windowed, hex_byte, is_input, is_log, other_format,
};
#[cfg(feature = "fs")]
pub use write::{DirStorage, NewFolder};
pub use write::{Failure, MemoryOutput, NoOutput, Output, OutputFile, Scratch, StreamOutput};
