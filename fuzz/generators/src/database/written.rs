//! The values that were ever written to a database.

use std::collections::{BTreeMap, BTreeSet};

use super::folder::Files;
use crate::table::Parts;
use crate::{batch, log};

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
