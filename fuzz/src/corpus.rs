//! The committed inputs.

use std::fs;
use std::path::Path;

/// The committed corpus of a target.
///
/// # Panics
///
/// If it cannot be read.
pub fn of(target: &str) -> Vec<Vec<u8>> {
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target))
}

/// Reads the files of a folder, in the order of their names.
///
/// # Panics
///
/// If they cannot be read.
pub fn files(folder: &Path) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("listing the corpus").path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("reading the corpus")).collect()
}
