#![doc = include_str!("../README.md")]

mod cut;
mod damage;
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

pub use cut::Input;
pub use damage::{Damager, damage};
pub use edit::Edit;
