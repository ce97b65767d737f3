//! What can be found out about tables and their filters.

pub(crate) mod inspect;
pub(crate) mod key_encoding;
pub(crate) mod query;
pub(crate) mod stats;
pub(crate) mod verify;
