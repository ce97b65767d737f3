//! The name of a database's MANIFEST, from `CURRENT` (`VersionSet::Recover` in LevelDB's
//! `db/version_set.cc`).

use std::io::Read;
use std::path::{Path, PathBuf};

use super::names::FileKind;
use crate::error::IoAction;
use crate::table::source::open_file;
use crate::{Error, Result, Structure, escape};

/// The greatest length of `CURRENT` that is accepted, in bytes: more than `MANIFEST-`, a number of
/// 20 digits and a line feed take.
const MAX_CURRENT_LEN: usize = 64;

/// The path of the MANIFEST that `CURRENT` names. Only a file in `dir` itself is accepted.
pub(crate) fn current_manifest(dir: &Path) -> Result<PathBuf> {
    let path = dir.join("CURRENT");
    match open_file(&path).and_then(read) {
        Ok(name) => Ok(dir.join(name)),
        Err(error) => Err(error.with_path(path)),
    }
}

/// The name of the MANIFEST in `contents`, the contents of `CURRENT`.
fn parse(contents: &[u8]) -> Result<&str> {
    if let Some(name) = manifest_name(contents) {
        return Ok(name);
    }
    let found = match contents.get(..=MAX_CURRENT_LEN) {
        Some(_) => format!("more than {MAX_CURRENT_LEN} bytes"),
        None => format!("\"{}\"", escape(contents)),
    };
    Err(Error::corrupt(Structure::Current, 0, "MANIFEST-, a number and a line feed", found))
}

/// The name of the MANIFEST in `CURRENT`. At most one byte more is read than a sound `CURRENT` can
/// have.
pub(super) fn read(current: impl Read) -> Result<String> {
    let mut contents = Vec::new();
    current
        .take(const { MAX_CURRENT_LEN as u64 + 1 })
        .read_to_end(&mut contents)
        .map_err(|error| Error::io(IoAction::ReadAll, 0, error))?;
    parse(&contents).map(str::to_owned)
}

fn manifest_name(contents: &[u8]) -> Option<&str> {
    let name = str::from_utf8(contents.strip_suffix(b"\n")?).ok()?;
    let (kind, _) = FileKind::parse(name)?;
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
