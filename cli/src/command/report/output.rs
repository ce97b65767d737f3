//! The file that a page goes to.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use filterblock::database::FileKind;

use crate::io::{Console, WholeFile};

/// The place of a page: a file, or standard output.
pub(super) struct Output<'a> {
    /// `None`: standard output.
    file: Option<&'a Path>,
    /// What is read, which is never replaced.
    input: &'a Path,
}

/// A path, and what is wrong with it.
type Fault = (PathBuf, String);

impl<'a> Output<'a> {
    /// The place that the user has named. `input`: the database, or table, that is read.
    pub(super) fn new(name: &'a Path, input: &'a Path) -> Result<Self, Fault> {
        if name.as_os_str() == "-" {
            return Ok(Self { file: None, input });
        }
        // A link may have any name, and what it leads to is replaced.
        let target = fs::canonicalize(name).ok();
        if [Some(name), target.as_deref()].into_iter().flatten().any(is_of_database) {
            let message = "expected a name that no file of a database has".to_owned();
            return Err((name.to_owned(), message));
        }
        Ok(Self { file: Some(name), input })
    }

    pub(super) const fn is_standard(&self) -> bool {
        self.file.is_none()
    }

    /// Writes the page, whole or not at all where it goes to a file.
    pub(super) fn write(&self, page: &str, console: &mut Console) -> Result<(), Fault> {
        match self.file {
            // An error shows when the console is finished.
            None => {
                console.write_all(page.as_bytes()).map_err(|error| (PathBuf::from("-"), error.to_string()))
            }
            Some(file) => self.write_file(file, page).map_err(|error| (file.to_owned(), error.to_string())),
        }
    }

    fn write_file(&self, file: &Path, page: &str) -> io::Result<()> {
        let input = Some(self.input).filter(|input| input.is_file());
        let file = WholeFile::create(file, true, input)?;
        let mut writer = file.writer()?;
        writer.write_all(page.as_bytes())?;
        writer.flush()?;
        file.finish()
    }
}

/// Returns true if a database has, or might have, a file of this name.
fn is_of_database(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    // Some file systems do not tell large letters from small ones.
    [name.to_owned(), name.to_ascii_uppercase(), name.to_ascii_lowercase()]
        .iter()
        .any(|name| FileKind::parse(name).is_some() || name.ends_with(".ldb") || name.ends_with(".sst"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_databases_use_are_refused() {
        for name in [
            "CURRENT",
            "LOCK",
            "LOG",
            "LOG.old",
            "MANIFEST-000008",
            "000005.ldb",
            "000005.sst",
            "000009.log",
            "000007.dbtmp",
            "a/b/CURRENT",
            "x.ldb",
            "000005.LDB",
            "current",
            "manifest-000008",
        ] {
            assert!(is_of_database(Path::new(name)), "{name}");
        }
        for name in ["report.html", "a.ldb/report.html", "000005.html", "log.html", "-"] {
            assert!(!is_of_database(Path::new(name)), "{name}");
        }
    }
}
