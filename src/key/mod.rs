//! Views of many keys in one run of bytes, the parts of the keys that databases store, and their
//! order.

#[cfg(feature = "table")]
pub(crate) mod comparator;
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
#[allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "lengths are compared before anything is read or written; hot"
)]
mod places;
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "within keys of one length; hot")]
mod same_len;

pub use key_buf::KeyBuf;
pub use keys::{Keys, KeysIter};
pub use parts::{InternalKey, KeyFormat};
pub(crate) use places::{Places, SLOT};
pub(crate) use same_len::{FixedLenKeys, SameLen};
