//! Files by name, length and checksum: enough to detect that a file has changed.

use std::io::{self, Read};
use std::path::Path;

use filterblock::database::{FileKind, manifest_in_current};
use serde::{Deserialize, Serialize};

use crate::report::ErrorKind;
use crate::walk::Sequential;
#[cfg(feature = "fs")]
use crate::write::Dir;
use crate::write::{Failure, Input, Result};

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

    pub(super) fn read(name: &str, file: io::Result<impl Read>) -> io::Result<Self> {
        let (mut file, mut length, mut crc32c) = (file?, 0_u64, 0);
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(Self { name: name.to_owned(), length, crc32c }),
                len => {
                    crc32c = crc32c::crc32c_append(crc32c, buffer.get(..len).unwrap_or_default());
                    length += len as u64;
                }
            }
        }
    }

    /// Returns true if the file of this name in the folder has these contents.
    #[cfg(feature = "fs")]
    pub(super) fn is_in(&self, dir: &Dir) -> io::Result<bool> {
        match Self::read(&self.name, dir.open_file(&self.name)) {
            Ok(found) => Ok(found == *self),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Reads the name of the MANIFEST from CURRENT. Refuses a CURRENT with any other contents. `path`: of the file.
pub(super) fn name_in_current(file: io::Result<impl Read>, path: &Path) -> Result<String> {
    let mut contents = Vec::new();
    let read = file.and_then(|file| file.take(MAX_CURRENT).read_to_end(&mut contents));
    read.map_err(|error| Failure::system("reading it", path, &error))?;
    let name = manifest_in_current(&contents).map_err(|error| Failure::of(error, path))?;
    Ok(name.to_owned())
}

/// The MANIFEST that CURRENT names.
pub(super) fn current(input: Input<'_>) -> Result<FileDigest> {
    let file = input.source("CURRENT").map(Sequential::new);
    let name = name_in_current(file, &input.path_of("CURRENT"))?;
    FileDigest::read(&name, input.source(&name).map(Sequential::new)).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let why = "is missing, and CURRENT names it";
            Failure::refused(&input.path_of(&name), why).of_kind(ErrorKind::Missing)
        }
        _ => input.failed(&name, &error),
    })
}

/// Makes CURRENT name the MANIFEST of this number. After an error, CURRENT is as it was, unless only the sync failed.
/// Like [`set_current`](filterblock::database::set_current), but with calls that tests can watch.
#[cfg(feature = "fs")]
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
