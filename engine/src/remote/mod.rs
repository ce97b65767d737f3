//! Tables in object storage: many at a time, each with few requests.
//!
//! ```text
//! fleet ──► listing ──► object ──► store        URLs in, one result per table out
//!   └─────► reader ──► stream ──► object        the reading of one table
//! ```

mod failure;
pub(crate) mod fleet;
mod listing;
mod object;
mod order;
mod reader;
pub(crate) mod store;
mod stream;

pub use fleet::FleetOptions;
