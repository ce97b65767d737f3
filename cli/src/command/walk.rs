//! The way of `inspect` and `query` from the paths given to the tables they stand for.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::io::console::Console;
use crate::io::folder::{self, Folder, Source};
use crate::io::folder_cache::FolderCache;
use crate::io::input::PathError;
use crate::io::paths::Given;

/// A command that goes from table to table.
pub(super) trait Visitor {
    /// Something besides the tables asked for could not be looked at. `error` has not been reported.
    fn skipped(&mut self, path: &Path, error: PathError, console: &mut Console) -> io::Result<()>;

    /// A path could not be looked at. `error` has not been reported.
    fn unreadable(&mut self, path: &Path, error: &str, console: &mut Console) -> io::Result<()>;

    /// `listed`: the name was found in a folder. `folder`: the one that the table lies in. For a
    /// table that was named, it is given only if it is a database.
    fn table(
        &mut self,
        path: &Path,
        listed: bool,
        folder: Option<&Arc<Folder>>,
        console: &mut Console,
    ) -> io::Result<()>;

    /// The tables of this folder follow.
    fn begin_folder(&mut self, folder: &Arc<Folder>, console: &mut Console) -> io::Result<()>;

    fn end_folder(&mut self, console: &mut Console) -> io::Result<()>;
}

/// Takes `visitor` to the tables that `paths` stand for. `recursive`: folders without tables and
/// logs are passed over.
pub(super) fn walk(
    paths: impl Iterator<Item = Given>,
    recursive: bool,
    visitor: &mut impl Visitor,
    console: &mut Console,
) -> io::Result<()> {
    let mut folders = FolderCache::default();
    for given in paths {
        let path = match given {
            Ok(path) => path,
            Err((path, error)) => {
                visitor.unreadable(&path, &error.to_string(), console)?;
                continue;
            }
        };
        match folder::resolve(&path) {
            Ok(Source::Folder(folder)) if recursive && folder.is_empty() => {}
            Ok(Source::Folder(folder)) => {
                for (path, error) in folder.skipped() {
                    visitor.skipped(path, error, console)?;
                }
                visitor.begin_folder(&folder, console)?;
                for table in folder.tables() {
                    visitor.table(table, true, Some(&folder), console)?;
                }
                visitor.end_folder(console)?;
            }
            Ok(Source::File) => {
                let mut skipped = Ok(());
                let folder = folders.around(&path, |folder, error| {
                    skipped = visitor.skipped(folder, error, console);
                });
                skipped?;
                visitor.table(&path, false, folder.as_ref(), console)?;
            }
            Err(error) => visitor.unreadable(&path, &error.to_string(), console)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Writes down all that it is told.
    #[derive(Default)]
    struct Log(Vec<String>);

    fn name(path: &Path) -> &str {
        path.file_name().unwrap().to_str().unwrap()
    }

    impl Visitor for Log {
        fn skipped(&mut self, path: &Path, error: PathError, _: &mut Console) -> io::Result<()> {
            assert!(!error.to_string().is_empty());
            self.0.push(format!("skipped {}", name(path)));
            Ok(())
        }

        fn unreadable(&mut self, path: &Path, error: &str, _: &mut Console) -> io::Result<()> {
            assert!(!error.is_empty());
            self.0.push(format!("unreadable {}", name(path)));
            Ok(())
        }

        fn table(
            &mut self,
            path: &Path,
            listed: bool,
            folder: Option<&Arc<Folder>>,
            _: &mut Console,
        ) -> io::Result<()> {
            let folder = folder.map(|folder| name(folder.path()));
            self.0.push(format!("table {} {listed} {folder:?}", name(path)));
            Ok(())
        }

        fn begin_folder(&mut self, folder: &Arc<Folder>, _: &mut Console) -> io::Result<()> {
            self.0.push(format!("begin {}", name(folder.path())));
            Ok(())
        }

        fn end_folder(&mut self, _: &mut Console) -> io::Result<()> {
            self.0.push("end".to_owned());
            Ok(())
        }
    }

    #[test]
    fn each_path_leads_to_its_tables() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        for folder in ["database", "database/000009.ldb", "empty", "plain"] {
            fs::create_dir(path(folder)).unwrap();
        }
        for file in ["database/CURRENT", "database/000010.ldb", "database/000005.ldb", "plain/1.ldb"] {
            fs::write(path(file), "x").unwrap();
        }
        let visited = |recursive| {
            let paths = ["missing", "database", "empty", "database/000005.ldb", "plain/1.ldb"];
            let list = Err((path("list"), io::Error::other("failed").into()));
            let paths = [list].into_iter().chain(paths.map(|name| Ok(path(name))));
            let mut console = Console::new(Box::new(io::sink()), Box::new(io::sink()));
            let mut log = Log::default();
            walk(paths, recursive, &mut log, &mut console).unwrap();
            log.0
        };
        let mut expected = vec![
            "unreadable list",
            "unreadable missing",
            "skipped 000009.ldb",
            "begin database",
            "table 000005.ldb true Some(\"database\")",
            "table 000010.ldb true Some(\"database\")",
            "end",
            "begin empty",
            "end",
            "table 000005.ldb false Some(\"database\")",
            "table 1.ldb false None",
        ];
        assert_eq!(visited(false), expected);
        expected.retain(|step| *step != "begin empty");
        expected.remove(7);
        assert_eq!(visited(true), expected);
    }
}
