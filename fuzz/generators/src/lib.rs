#![doc = include_str!("../README.md")]

pub mod batch;
mod corruption;
mod cut;
mod damage;
pub mod database;
mod decode;
mod edit;
mod encode;
pub mod entry;
pub mod filter_block;
pub mod hostile;
pub mod log;
pub mod manifest;
pub mod model;
pub mod mutate;
pub mod table;
mod version_edit;

pub use corruption::Corruption;
pub use cut::Input;
pub use damage::{Checksums, Damager, damage};
pub use edit::Edit;
