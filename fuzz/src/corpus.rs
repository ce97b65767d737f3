//! The committed inputs: `corpus.tar`, which `corpus-archive` packs and unpacks.

use std::fs;
use std::path::Path;

/// The size of a header in an archive, and the unit to which files are filled up.
const BLOCK: usize = 512;

/// The committed corpus of a target.
///
/// # Panics
///
/// If the archive cannot be read, or has no input of the target.
pub fn of(target: &str) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus.tar");
    let archive = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let folder = format!("filterblock-fuzz-corpus/{target}/");
    let (mut rest, mut inputs) = (&archive[..], Vec::new());
    // A name of zeros marks the end.
    while let Some((header, files)) = rest.split_at_checked(BLOCK)
        && header[0] != 0
    {
        let size = octal(&header[124..135]);
        let name = header[..100].split(|&byte| byte == 0).next().unwrap_or_default();
        if name.len() > folder.len() && name.starts_with(folder.as_bytes()) {
            inputs.push(files[..size].to_vec());
        }
        rest = &files[size.next_multiple_of(BLOCK)..];
    }
    assert!(!inputs.is_empty(), "{}: no inputs of {target}", path.display());
    inputs
}

/// Reads a number of a header.
fn octal(digits: &[u8]) -> usize {
    let digits = std::str::from_utf8(digits).expect("digits");
    usize::from_str_radix(digits, 8).expect("octal digits")
}

/// Reads the files of a folder, in the order of their names.
///
/// # Panics
///
/// If the folder or a file in it cannot be read.
pub fn files(folder: &Path) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("listing the corpus").path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("reading the corpus")).collect()
}
