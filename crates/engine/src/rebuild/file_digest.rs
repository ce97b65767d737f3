//! Files by name, length and checksum: enough to detect that a file has changed.

use std::io::{self, Read as _};

use filterblock::database::{FileKind, manifest_in_current};
use serde::{Deserialize, Serialize};

use crate::report::ErrorKind;
use crate::write::Dir;
use crate::write::failure::{Failure, Result};

/// The maximum number of bytes of CURRENT that are read: more than a sound one has.
const MAX_CURRENT: u64 = 256;

/// The name of a file, and its contents, given by their length and checksum.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct FileDigest {
    pub(super) name: String,
    pub(super) length: u64,
    pub(super) crc32c: u32,
}

impl FileDigest {
    pub(super) fn of_bytes(name: String, bytes: &[u8]) -> Self {
        Self { name, length: bytes.len() as u64, crc32c: crc32c::crc32c(bytes) }
    }

    pub(super) fn read(dir: &Dir, name: String) -> io::Result<Self> {
        let mut file = dir.open_file(&name)?;
        let (mut length, mut crc32c) = (0_u64, 0);
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(Self { name, length, crc32c }),
                len => {
                    crc32c = crc32c::crc32c_append(crc32c, buffer.get(..len).unwrap_or_default());
                    length += len as u64;
                }
            }
        }
    }

    /// Returns true if the file of this name in `dir` has these contents.
    pub(super) fn is_in(&self, dir: &Dir) -> io::Result<bool> {
        match Self::read(dir, self.name.clone()) {
            Ok(found) => Ok(found == *self),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Reads the name of the MANIFEST from CURRENT. Refuses a CURRENT with any other contents.
pub(super) fn current_name(dir: &Dir) -> Result<String> {
    let path = dir.path_of("CURRENT");
    let mut contents = Vec::new();
    let read = dir.open_file("CURRENT").and_then(|file| file.take(MAX_CURRENT).read_to_end(&mut contents));
    read.map_err(|error| Failure::system("reading it", &path, &error))?;
    let name = manifest_in_current(&contents).map_err(|error| Failure::of(error, &path))?;
    Ok(name.to_owned())
}

pub(super) fn current(dir: &Dir) -> Result<FileDigest> {
    let name = current_name(dir)?;
    let path = dir.path_of(&name);
    FileDigest::read(dir, name).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            Failure::refused(&path, "is missing, and CURRENT names it").of_kind(ErrorKind::Missing)
        }
        _ => Failure::system("reading it", &path, &error),
    })
}

/// Makes CURRENT name the MANIFEST of this number. After an error, CURRENT is as it was, unless only the sync failed.
/// Like [`set_current`](filterblock::database::set_current), but with calls that tests can watch.
pub(super) fn set_current(dir: &Dir, number: u64) -> Result<()> {
    let temporary = FileKind::Temporary.file_name(number);
    let contents = format!("{}\n", FileKind::Manifest.file_name(number));
    // A temporary file that was left over may be a link to somewhere else, so it is removed first.
    dir.remove(&temporary)?;
    let before = dir.open_file("CURRENT");
    let before = before.map_err(|error| Failure::system("opening it", &dir.path_of("CURRENT"), &error))?;
    dir.write_new(&temporary, contents.as_bytes(), Some(&before))?;
    dir.rename(&temporary, "CURRENT")?;
    dir.sync()
}
