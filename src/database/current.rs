//! The name of a database's MANIFEST, from `CURRENT` (`VersionSet::Recover` in LevelDB's
//! `db/version_set.cc`), and naming another one there (`SetCurrentFile` in `db/filename.cc`).

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::names::FileKind;
use crate::error::IoAction;
use crate::table::source::open_file;
use crate::{Error, OtherFormat, Result, Structure, escape};

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

/// The name of the MANIFEST in `contents`, the contents of `CURRENT` or as many of its first bytes as an error is to
/// explain.
///
/// # Errors
///
/// [`Error::OtherFormat`] for an encrypted `CURRENT`, [`Error::Corrupt`] for anything else than the name of a MANIFEST
/// and a line feed. The error names what text editors, transfers and version control make of the file.
///
/// ```
/// use filterblock::database::manifest_in_current;
/// assert_eq!(manifest_in_current(b"MANIFEST-000004\n")?, "MANIFEST-000004");
/// assert!(manifest_in_current(b"MANIFEST-000004\r\n").unwrap_err().to_string().contains("transfer as text"));
/// # Ok::<(), filterblock::Error>(())
/// ```
pub fn manifest_in_current(contents: &[u8]) -> Result<&str> {
    if let Some(name) = manifest_name(contents) {
        return Ok(name);
    }
    if let Some(format) = OtherFormat::of_start(contents) {
        return Err(Error::OtherFormat { what: Structure::Current, format });
    }
    Err(Error::corrupt(Structure::Current, 0, "MANIFEST-, a number and a line feed", found(contents)))
}

/// What is in `CURRENT` instead of the name of a MANIFEST.
fn found(contents: &[u8]) -> Cow<'static, str> {
    let lines = || contents.split(|byte| *byte == b'\n');
    let is_marker = |line: &[u8]| [b"<<<<<<< ", b">>>>>>> "].iter().any(|marker| line.starts_with(*marker));
    let names = |rest: &[u8]| manifest_name(&[rest, b"\n"].concat()).is_some();
    Cow::Borrowed(match contents {
        [] => "no contents, as a file whose contents did not reach the disk",
        _ if contents.iter().all(|byte| *byte == 0) => {
            "only zeros, as a file whose contents did not reach the disk"
        }
        _ if lines().any(is_marker) => "the conflict markers of git, as after a merge that nobody finished",
        [b'v', ..] if contents.starts_with(b"version https://git-lfs") => {
            "a Git LFS pointer, and the file that it stands for was not fetched"
        }
        [0xef, 0xbb, 0xbf, ..] | [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            "a byte order mark, as a text editor writes it"
        }
        [name @ .., b'\r', b'\n'] if names(name) => {
            "CR LF at its end, as after a transfer as text, which may have damaged other files, too"
        }
        name if names(name) => "no line feed at its end, as a text editor or a shell may write it",
        _ if contents.len() > MAX_CURRENT_LEN => return format!("more than {MAX_CURRENT_LEN} bytes").into(),
        _ => return format!("\"{}\"", escape(contents)).into(),
    })
}

/// The name of the MANIFEST in `CURRENT`. At most one byte more is read than a sound `CURRENT` can
/// have.
pub(super) fn read(current: impl Read) -> Result<String> {
    let mut contents = Vec::new();
    current
        .take(const { MAX_CURRENT_LEN as u64 + 1 })
        .read_to_end(&mut contents)
        .map_err(|error| Error::io(IoAction::ReadAll, 0, error))?;
    manifest_in_current(&contents).map(str::to_owned)
}

fn manifest_name(contents: &[u8]) -> Option<&str> {
    let name = str::from_utf8(contents.strip_suffix(b"\n")?).ok()?;
    let (kind, _) = FileKind::parse(name)?;
    (kind == FileKind::Manifest && contents.len() <= MAX_CURRENT_LEN).then_some(name)
}

/// Makes the MANIFEST with this number the one that `CURRENT` names, in the database folder `dir`.
///
/// The new `CURRENT` is written as `NNNNNN.dbtmp` with the number of the MANIFEST, synced and
/// renamed, and then the folder is synced: whatever happens in between, `CURRENT` names the old
/// MANIFEST or the new one. A file left over under the temporary name is replaced. On Unix, mode,
/// owner and group are those of the previous `CURRENT`, if there is one, so that everyone who could
/// read the previous file can read the new one.
///
/// The MANIFEST itself has to be synced beforehand, and so has the folder with its name. Nobody else
/// may have the database open
#[cfg_attr(feature = "lock", doc = "([`DatabaseLock`](crate::database::DatabaseLock)).")]
#[cfg_attr(not(feature = "lock"), doc = "(`DatabaseLock`, with the feature `lock`).")]
///
/// # Errors
///
/// [`Error::Io`], with the file's path. The temporary file is removed if possible, and `CURRENT` is
/// as it was. If the error is about the folder itself, however, `CURRENT` has already been
/// replaced, but the change may not survive a loss of power.
pub fn set_current(dir: impl AsRef<Path>, manifest_number: u64) -> Result<()> {
    let dir = dir.as_ref();
    let temporary = dir.join(FileKind::Temporary.file_name(manifest_number));
    let current = dir.join(FileKind::Current.file_name(0));
    let contents = format!("{}\n", FileKind::Manifest.file_name(manifest_number));
    // The file is created anew: a file left over may be a link to somewhere else.
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(Error::io(IoAction::Remove, 0, error).with_path(temporary));
        }
        _ => {}
    }
    let replaced = write_temporary(&temporary, &current, contents.as_bytes())
        .map_err(|error| error.with_path(&temporary))
        .and_then(|()| {
            let renamed = fs::rename(&temporary, &current);
            renamed.map_err(|error| Error::io(IoAction::Rename, 0, error).with_path(&current))
        });
    if let Err(error) = replaced {
        // If the removal fails too, LevelDB removes the file when it opens the database.
        _ = fs::remove_file(&temporary);
        return Err(error);
    }
    sync_folder(dir)
}

/// Makes sure that files created, renamed or removed in the folder `dir` remain so after a loss of
/// power. The files' contents have to be synced one by one.
///
/// This does nothing on systems other than Unix, such as Windows, where folders cannot be synced.
///
/// # Errors
///
/// [`Error::Io`], with the folder's path.
pub fn sync_folder(dir: impl AsRef<Path>) -> Result<()> {
    #[cfg(unix)]
    {
        let dir = dir.as_ref();
        let folder = File::open(dir).map_err(|error| Error::io(IoAction::Open, 0, error).with_path(dir))?;
        folder.sync_all().map_err(|error| Error::io(IoAction::Sync, 0, error).with_path(dir))?;
    }
    #[cfg(not(unix))]
    let _ = dir;
    Ok(())
}

/// Writes and syncs the new `CURRENT` under its temporary name.
fn write_temporary(temporary: &Path, current: &Path, contents: &[u8]) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o644);
    let mut file = options.open(temporary).map_err(|error| Error::io(IoAction::Create, 0, error))?;
    let write = IoAction::Write { len: contents.len() as u64 };
    file.write_all(contents).map_err(|error| Error::io(write, 0, error))?;
    match fs::metadata(current) {
        Ok(before) => keep_owner_and_mode(&file, &before)
            .map_err(|error| Error::io(IoAction::SetAttributes, 0, error))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(Error::io(IoAction::LookUp, 0, error).with_path(current)),
    }
    file.sync_all().map_err(|error| Error::io(IoAction::Sync, 0, error))
}

/// Gives `file` the owner, the group and the mode of the file that it replaces.
#[cfg(unix)]
fn keep_owner_and_mode(file: &File, before: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};

    let now = file.metadata()?;
    let changed = |before: u32, now: u32| (before != now).then_some(before);
    let (owner, group) = (changed(before.uid(), now.uid()), changed(before.gid(), now.gid()));
    if owner.is_some() || group.is_some() {
        fchown(file, owner, group)?;
    }
    if before.mode() != now.mode() {
        file.set_permissions(before.permissions())?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn keep_owner_and_mode(_: &File, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
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
        for (contents, found) in [
            (&b""[..], "no contents"),
            (&[0; 65], "only zeros"),
            (
                b"<<<<<<< HEAD\nMANIFEST-000002\n=======\nMANIFEST-000001\n>>>>>>> 0",
                "conflict markers of git",
            ),
            (b"MANIFEST-000002\n>>>>>>> other", "conflict markers of git"),
            (b"version https://git-lfs.github.com/spec/v1\noid sha256:00", "Git LFS pointer"),
            (b"version 1\n", "\"version 1\\x0a\""),
            (b"\xef\xbb\xbfMANIFEST-000001\n", "byte order mark"),
            (b"\xff\xfeM\0A\0", "byte order mark"),
            (b"MANIFEST-000001\r\n", "CR LF"),
            (b"MANIFEST-000001", "no line feed"),
            (b"MANIFEST-000001 \n", "\"MANIFEST-000001 \\x0a\""),
            (b"x\r\n", "\"x\\x0d\\x0a\""),
            (&[b'x'; 64], &format!("\"{}\"", "x".repeat(64))),
            (&[b'x'; 65], "more than 64 bytes"),
        ] {
            let error = manifest_in_current(contents).unwrap_err().to_string();
            assert!(error.starts_with("CURRENT has ") && error.contains(found), "{error}");
            assert!(error.ends_with("; expected MANIFEST-, a number and a line feed"), "{error}");
        }
        for (start, whose) in
            [(&b"\x80\x1d\x30\x01uy}{"[..], "NetEase"), (b"\0\0\0\0\xfc\xb9\xcf\x9b", "Marketplace")]
        {
            let error = manifest_in_current(start).unwrap_err();
            assert!(
                matches!(error, Error::OtherFormat { .. }) && error.to_string().contains(whose),
                "{error}"
            );
        }
        let mut long = b"MANIFEST-".to_vec();
        long.resize(MAX_CURRENT_LEN, b'0');
        long[MAX_CURRENT_LEN - 1] = b'\n';
        assert!(manifest_name(&long).is_some());
        long.insert(9, b'0');
        assert!(manifest_name(&long).is_none());
    }
}
