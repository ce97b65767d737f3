//! How work is done.

pub mod in_order;
pub mod in_use;
pub mod progress;
