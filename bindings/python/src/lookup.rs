//! The results of lookups.

use bytes::Bytes;
use filterblock::table::Lookup;

/// The value of a key, if it has one.
pub(crate) fn value_of(found: Lookup) -> Option<Bytes> {
    match found {
        Lookup::Value(value) => Some(value),
        _ => None,
    }
}
