#![doc = include_str!("../README.md")]

pub mod batch;
mod cut;
mod damage;
pub mod database;
pub mod entry;
pub mod filter_block;
pub mod hostile;
pub mod log;
pub mod manifest;
pub mod model;
pub mod mutate;
pub mod table;

pub use cut::Input;
pub use damage::{Checksums, Corruption, Damager, Edit, damage};
