//! Opening a database's files, and which of them is its MANIFEST.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::files::{FileKind, parse_name};
use crate::{Error, Result, Structure, escape};

/// Longer than `MANIFEST-`, a number of 20 digits and a line feed.
const MAX_CURRENT_LEN: usize = 64;

/// Opens a regular file for reading, also through a link. `what` it should be serves only for errors.
pub(crate) fn open_regular(path: &Path, what: Structure) -> Result<File> {
    let open = || {
        // Before opening, as that waits for a writer if this is a pipe.
        let mut regular = fs::metadata(path)?.is_file();
        let file = if regular { Some(File::open(path)?) } else { None };
        // Once more, as another file may have come to be there.
        if let Some(file) = &file {
            regular = file.metadata()?.is_file();
        }
        Ok(file.filter(|_| regular))
    };
    match open() {
        Ok(Some(file)) => Ok(file),
        Ok(None) => {
            Err(Error::corrupt(what, 0, "a regular file", "a folder, pipe or device").with_path(path))
        }
        Err(error) => Err(Error::io("opening", 0, error).with_path(path)),
    }
}

/// The path of the MANIFEST that `CURRENT` names. Only that of a file in `dir` is accepted.
pub(crate) fn current_manifest(dir: &Path) -> Result<PathBuf> {
    let path = dir.join("CURRENT");
    let file = open_regular(&path, Structure::Current)?;
    let mut contents = Vec::new();
    file.take(MAX_CURRENT_LEN as u64 + 1)
        .read_to_end(&mut contents)
        .map_err(|error| Error::io("reading", 0, error).with_path(&path))?;
    match manifest_name(&contents) {
        Some(name) => Ok(dir.join(name)),
        None => {
            let expected = "MANIFEST-, a number and a line feed";
            let found = match contents.get(..=MAX_CURRENT_LEN) {
                Some(_) => format!("more than {MAX_CURRENT_LEN} bytes"),
                None => format!("\"{}\"", escape(&contents)),
            };
            Err(Error::corrupt(Structure::Current, 0, expected, found).with_path(&path))
        }
    }
}

fn manifest_name(contents: &[u8]) -> Option<&str> {
    let name = str::from_utf8(contents.strip_suffix(b"\n")?).ok()?;
    let (kind, _) = parse_name(name)?;
    (kind == FileKind::Manifest && contents.len() <= MAX_CURRENT_LEN).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn current_names_a_manifest_of_its_own_folder() {
        assert_eq!(manifest_name(b"MANIFEST-000001\n"), Some("MANIFEST-000001"));
        assert_eq!(manifest_name(b"MANIFEST-18446744073709551615\n"), Some("MANIFEST-18446744073709551615"));
        for contents in [
            &b""[..],
            b"\n",
            b"MANIFEST-000001",
            b"MANIFEST-000001\n\n",
            b"MANIFEST-000001\r\n",
            b"MANIFEST-000001\0\n",
            b"MANIFEST-\n",
            b"MANIFEST-18446744073709551616\n",
            b"MANIFEST-1/../../x\n",
            b"../MANIFEST-000001\n",
            b"/MANIFEST-000001\n",
            b"..\\MANIFEST-000001\n",
            b"C:MANIFEST-000001\n",
            b"000001.ldb\n",
            b"CURRENT\n",
            b"\xff\n",
        ] {
            assert_eq!(manifest_name(contents), None, "{:?}", escape(contents));
        }
        let mut long = b"MANIFEST-".to_vec();
        long.resize(MAX_CURRENT_LEN, b'0');
        long[MAX_CURRENT_LEN - 1] = b'\n';
        assert!(manifest_name(&long).is_some());
        long.insert(9, b'0');
        assert!(manifest_name(&long).is_none());
    }
}
