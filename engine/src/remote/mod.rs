//! Tables in object storage: many at a time, each with few requests.
//!
//! ```text
//! fleet ──► listing ──► object ──► store        URLs in, one result per table out
//!   │          └──────► names ──► store         the pages of a listing, put together
//!   └─────► reader ──► stream ──► object        the reading of one table
//!                                 store ──► connector ──► answer
//! ```

mod answer;
mod connection_string;
mod connector;
mod failure;
pub(crate) mod fleet;
mod key;
mod listing;
mod names;
mod object;
mod order;
mod profile;
mod reader;
pub(crate) mod store;
mod stream;

pub use fleet::FleetOptions;
