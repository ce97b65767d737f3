//! Whole databases, damaged: CURRENT, MANIFEST, logs and tables together.
//!
//! ```
//! use filterblock_fuzz::Checksums;
//! use filterblock_fuzz::database::{self, DatabaseDamager};
//!
//! let sample = &database::samples()[0]; // or `database::read_folder` of a database of your own
//! let damager = DatabaseDamager::new(sample.files.clone())
//!     .older(sample.older.clone())
//!     .checksums(Checksums::LeftWrong);
//! let written = damager.written();
//! for seed in 0..10 {
//!     let files = damager.damage(seed);
//!     assert_ne!(files, sample.files);
//!     // Give the reader under test this folder, for example by `database::write_folder`. It must not
//!     // panic or hang. With checksums left wrong, each entry that it finds was written:
//!     let found: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
//!     assert!(found.iter().all(|(key, value)| written.holds(key, value)));
//! }
//! ```

mod damage;
mod damaged;
mod damager;
mod folder;
mod samples;
mod written;

pub use damage::{CurrentNames, DatabaseDamage};
pub use damaged::DamagedDatabase;
pub use damager::DatabaseDamager;
pub use folder::{Files, read_folder, write_folder};
pub use samples::{Sample, samples};
pub use written::Written;
