//! Placeholder documentation; written once the parts are in place.
#![forbid(unsafe_code)]

mod error;
mod escape;

pub use error::{Error, Result, Structure};
pub use escape::{Escaped, escape};
