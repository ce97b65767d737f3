//! A database's folder in memory.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

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
