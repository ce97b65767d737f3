//! What one run leaves for another to know.

use std::io;

use serde::Serialize;

use super::super::failure::{Failure, Result};
use super::folder::Folder;

/// The most bytes of such a file: enough for two million tables.
const MAX_NOTE: usize = 256 << 20;

/// Writes and syncs a file of this name, which must not be there yet.
pub fn write_note(folder: &Folder, name: &str, note: &impl Serialize) -> Result<()> {
    let path = folder.path_of(name);
    let contents = serde_json::to_vec_pretty(note)
        .map_err(|error| Failure::system("writing it", &path, &error.into()))?;
    if contents.len() > MAX_NOTE {
        let why = format!("expected at most {MAX_NOTE} bytes to note, found {}", contents.len());
        return Err(Failure::refused(&path, why).and("--batch and --no-undo do with less"));
    }
    folder.write_new(name, &contents, None)
}

/// Reads what [`write_note`] has written.
pub fn read_note(folder: &Folder, name: &str) -> io::Result<Vec<u8>> {
    let contents = folder.read(name, MAX_NOTE)?;
    contents.ok_or_else(|| io::Error::other(format!("expected at most {MAX_NOTE} bytes, found more")))
}
