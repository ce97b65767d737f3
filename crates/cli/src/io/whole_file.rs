//! Output files that appear complete or not at all: written under a temporary name, then renamed.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::interrupt::Unfinished;

/// A file being written under a temporary name, and removed unless finished, even if a signal ends the program.
pub(crate) struct WholeFile {
    file: NamedTempFile,
    unfinished: Unfinished,
    target: PathBuf,
    replace: bool,
}

impl WholeFile {
    /// Begins the file that will appear at `output`, with the usual permissions of a new file. Replaces the target of a
    /// symbolic link, or the link itself if it has none. Without `replace`, nothing may be there. Never replaces
    /// `input`.
    pub(crate) fn create(output: &Path, replace: bool, input: Option<&Path>) -> io::Result<Self> {
        let target = match fs::canonicalize(output) {
            Ok(target) => target,
            Err(error) if error.kind() == io::ErrorKind::NotFound => output.to_owned(),
            Err(error) => return Err(error),
        };
        if let Ok(metadata) = fs::metadata(&target) {
            if !metadata.is_file() {
                return Err(io::Error::other("exists and is not a regular file"));
            }
            if let Some(input) = input
                && fs::canonicalize(input)? == target
            {
                return Err(io::Error::other("is the file that is read"));
            }
            if !replace {
                return Err(io::Error::other("exists already; --force replaces it"));
            }
        }
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        // Checked here, since otherwise the message would name a temporary file.
        if let Some(folder) = folder
            && let Err(error) = fs::metadata(folder)
        {
            return Err(match error.kind() {
                io::ErrorKind::NotFound => io::Error::new(error.kind(), "its folder does not exist"),
                kind => io::Error::new(kind, format!("looking up its folder: {error}")),
            });
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".filterblock-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let make = || builder.tempfile_in(folder.unwrap_or(Path::new(".")));
        let (file, unfinished) = Unfinished::create(make, NamedTempFile::path)?;
        Ok(Self { file, unfinished, target, replace })
    }

    /// Writes a complete file at `output`, which may exist but may not be `input`.
    pub(crate) fn write(output: &Path, input: Option<&Path>, contents: &[u8]) -> io::Result<()> {
        Self::create(output, true, input)?.finish_with(contents)
    }

    /// Writes the complete `contents` of the file, and gives the file its name.
    pub(crate) fn finish_with(self, contents: &[u8]) -> io::Result<()> {
        self.file.as_file().write_all(contents)?;
        self.finish()
    }

    pub(crate) fn writer(&self) -> io::Result<BufWriter<File>> {
        Ok(BufWriter::with_capacity(1 << 16, self.file.as_file().try_clone()?))
    }

    /// Syncs the file, then gives it its name.
    pub(crate) fn finish(self) -> io::Result<()> {
        // Fields are dropped in reverse order: on an error, the file is removed before its path leaves the list.
        let Self { unfinished, file, target, replace } = self;
        file.as_file().sync_all()?;
        unfinished.finish(|| {
            let persisted = if replace { file.persist(target) } else { file.persist_noclobber(target) };
            persisted.map(drop).map_err(io::Error::from)
        })
    }
}
