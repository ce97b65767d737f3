//! The facts about tables and databases. Damage is part of the result, and no error.

pub(crate) mod correct;
pub(crate) mod current_manifest;
pub(crate) mod inspect;
pub(crate) mod key_encoding;
#[cfg(not(target_os = "unknown"))]
mod lookup;
pub(crate) mod lost_keys;
pub(crate) mod manifest;
pub(crate) mod order;
#[cfg(feature = "page")]
pub(crate) mod overview;
pub(crate) mod policies;
pub(crate) mod query;
pub(crate) mod rates;
pub(crate) mod reading;
pub(crate) mod scan;
pub(crate) mod skipped;
pub(crate) mod state;
pub(crate) mod stats;
pub(crate) mod tune;
pub(crate) mod verify;

pub use lost_keys::{LostKeys, TruncatedKey};
pub use policies::Policy;
pub(crate) use policies::has_one_hash;
pub(crate) use reading::decode_limit_text;
pub use reading::{decode_limit, read_options, why_no_filter};
