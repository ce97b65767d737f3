//! Tables taken apart, damaged in one structure, and put together again with correct checksums.
//!
//! A fuzzer that changes bytes of a table hardly ever gets past the checksums. [`Damage`] changes
//! one structure, wherever it lies, and [`Parts::assemble`] writes the other structures around it.

mod damage;
mod damaged;
mod file;
mod parts;
mod samples;

pub use damage::{Damage, Elsewhere, Intact, Name, Value};
pub use damaged::DamagedTable;
pub use file::File;
pub use parts::{DataBlock, Entry, Parts, encoded_handle, entry_block};
pub use samples::samples;
