//! The copy of the project that the faults go into.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The folders that are not copied. Other folders that cargo builds into are not copied either.
const LEFT_OUT: [&str; 2] = ["target", ".git"];

/// All files below `root` that are to be copied, by their paths within it.
pub(crate) fn files(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if LEFT_OUT.iter().any(|name| path == Path::new(name)) {
                continue;
            }
            let kind = entry.file_type()?;
            // Cargo marks what it builds into, whatever its name.
            if kind.is_dir() && !root.join(&path).join("CACHEDIR.TAG").exists() {
                folders.push(path);
            } else if kind.is_file() {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Makes `copy` hold `files` and nothing else. Files that are already the same are not written, so that they are not
/// built anew.
pub(crate) fn update(copy: &Path, files: &[(PathBuf, Vec<u8>)]) -> io::Result<()> {
    fs::create_dir_all(copy)?;
    let wanted: BTreeSet<&PathBuf> = files.iter().map(|(path, _)| path).collect();
    for old in self::files(copy)?.iter().filter(|old| !wanted.contains(old)) {
        fs::remove_file(copy.join(old))?;
    }
    for (path, contents) in files {
        let path = copy.join(path);
        if !fs::read(&path).is_ok_and(|old| old == *contents) {
            fs::create_dir_all(path.parent().unwrap_or(copy))?;
            fs::write(&path, contents)?;
        }
    }
    Ok(())
}
