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

mod damager;
mod samples;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io};

use crate::table::Parts;
use crate::{batch, log};

pub use damager::{CurrentNames, DamagedDatabase, DatabaseDamage, DatabaseDamager};
pub use samples::{Sample, samples};

/// The files of a folder: the contents of each by its name.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Reads the files of a folder, without its subfolders.
///
/// # Errors
///
/// If the folder or a file in it cannot be read, or a file's name is not valid Unicode.
pub fn read_folder(folder: impl AsRef<Path>) -> io::Result<Files> {
    let mut files = Files::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if !path.is_file() {
            continue;
        }
        let name = path.file_name().and_then(|name| name.to_str());
        let name =
            name.ok_or_else(|| io::Error::other(format!("{}: its name is no text", path.display())))?;
        files.insert(name.to_owned(), fs::read(&path)?);
    }
    Ok(files)
}

/// Writes files into a folder, which is made if it is missing. Other files in it stay.
///
/// # Errors
///
/// If the folder cannot be made, or a file cannot be written.
pub fn write_folder(folder: impl AsRef<Path>, files: &Files) -> io::Result<()> {
    let folder = folder.as_ref();
    fs::create_dir_all(folder)?;
    files.iter().try_for_each(|(name, contents)| fs::write(folder.join(name), contents))
}

/// The values that each key was ever given: those that tables and logs hold, outdated ones, too.
///
/// A database that lost files or the end of a log may show any of these values again, and no other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written(BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>>);

impl Written {
    /// Collects the values in these files, which are told apart by their contents. Tables, logs and
    /// records that are not sound add nothing.
    pub fn of(files: &Files) -> Self {
        let mut written = Self::default();
        for file in files.values() {
            if let Ok(parts) = Parts::of(file, true) {
                for (key, value) in parts.data.iter().flat_map(|block| &block.entries) {
                    if let Some((user_key, [1, ..])) = key.split_last_chunk::<8>() {
                        written.insert(user_key, value);
                    }
                }
            } else {
                let records = log::fragments(file).map(|fragments| log::records(&fragments));
                for record in records.iter().flatten() {
                    for (key, value) in batch::writes(record).into_iter().flatten() {
                        value.into_iter().for_each(|value| written.insert(key, value));
                    }
                }
            }
        }
        written
    }

    fn insert(&mut self, key: &[u8], value: &[u8]) {
        self.0.entry(key.to_vec()).or_default().insert(value.to_vec());
    }

    /// Adds the values that were written to another state.
    pub fn extend(&mut self, other: Self) {
        for (key, values) in other.0 {
            self.0.entry(key).or_default().extend(values);
        }
    }

    /// Returns true if the key was ever given this value.
    pub fn holds(&self, key: &[u8], value: &[u8]) -> bool {
        self.0.get(key).is_some_and(|values| values.contains(value))
    }

    /// The keys that were ever given a value, in bytewise order.
    pub fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.0.keys().map(Vec::as_slice)
    }
}
