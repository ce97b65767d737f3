//! Output files that appear whole or not at all: written beside, then renamed.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file being written under a temporary name, which goes away if the file is not finished.
pub(crate) struct WholeFile {
    file: NamedTempFile,
    target: PathBuf,
    replace: bool,
}

impl WholeFile {
    /// Begins the file that is to appear at `output`, with the permissions that any new file gets. What a symbolic link stands for
    /// is replaced, not the link. Without `replace`, nothing may be there; `input` never is replaced.
    pub(crate) fn create(output: &Path, replace: bool, input: Option<&Path>) -> io::Result<Self> {
        let target = match fs::canonicalize(output) {
            Ok(target) => target,
            Err(error) if error.kind() == io::ErrorKind::NotFound => output.to_owned(),
            Err(error) => return Err(error),
        };
        if let Ok(metadata) = fs::metadata(&target) {
            if !metadata.is_file() {
                return Err(io::Error::other("expected a regular file to replace, found something else"));
            }
            if let Some(input) = input
                && fs::canonicalize(input)? == target
            {
                return Err(io::Error::other("expected a file other than the one that is read"));
            }
            if !replace {
                return Err(io::Error::other("expected no file of this name, found one"));
            }
        }
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.prefix(".filterblock-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
        Ok(Self { file, target, replace })
    }

    /// Where to write.
    pub(crate) fn writer(&self) -> io::Result<BufWriter<File>> {
        Ok(BufWriter::with_capacity(1 << 16, self.file.as_file().try_clone()?))
    }

    /// Makes sure that everything is on the disk, and gives the file its name.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        if self.replace {
            self.file.persist(&self.target)?;
        } else {
            self.file.persist_noclobber(&self.target)?;
        }
        Ok(())
    }
}
