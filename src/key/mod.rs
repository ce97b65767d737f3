//! Views of many keys in one run of bytes, the parts of the keys that databases store, and their
//! order.

#[cfg(feature = "table")]
pub(crate) mod comparator;
#[cfg(feature = "table")]
pub(crate) mod idb_comparator;
#[cfg(feature = "table")]
pub(crate) mod internal_comparator;
#[allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "room is made before it is used; hot"
)]
mod key_buf;
#[allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "starts are checked or made here, ascending and within the bytes; hot"
)]
mod keys;
pub(crate) mod parts;

pub use key_buf::KeyBuf;
pub use keys::{Keys, KeysIter};
pub use parts::{InternalKey, KeyFormat};
