//! The way of `inspect` and `query` from the paths given to the tables they stand for.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::io::console::Console;
use filterblock_engine::report::folder::FolderHeader;
use filterblock_engine::report::subject::{Remark, Subject};
use filterblock_engine::walk::folder::Folder;
use filterblock_engine::walk::folder_cache::FolderCache;
use filterblock_engine::walk::input::PathError;
use filterblock_engine::walk::paths::Given;
use filterblock_engine::walk::sources::{Discovered, Sources};

/// A command that goes from table to table.
pub(super) trait Visitor {
    /// Something besides the tables asked for could not be looked at. A remark says what.
    fn skipped(&mut self, console: &mut Console) -> io::Result<()>;

    /// A list of paths could not be read to its end.
    fn list_failed(&mut self, console: &mut Console) -> io::Result<()>;

    /// A path could not be looked at. `error` has not been reported.
    fn unreadable(&mut self, subject: Subject<'_>, error: PathError, console: &mut Console)
    -> io::Result<()>;

    /// `listed`: the name was found in a folder. `folder`: the one that the table lies in. For a
    /// table that was named, it is given only if it is a database.
    fn table(
        &mut self,
        subject: Subject<'_>,
        listed: bool,
        folder: Option<&Arc<Folder>>,
        console: &mut Console,
    ) -> io::Result<()>;

    /// The tables of this folder follow.
    fn begin_folder(
        &mut self,
        subject: Subject<'_>,
        folder: &Arc<Folder>,
        console: &mut Console,
    ) -> io::Result<()>;

    fn end_folder(
        &mut self,
        subject: Subject<'_>,
        folder: &Arc<Folder>,
        console: &mut Console,
    ) -> io::Result<()>;
}

/// Takes `visitor` to the tables that `paths` stand for. `recursive`: folders that are no database
/// and hold no table are passed over, unless there is nothing else.
pub(super) fn walk(
    paths: impl Iterator<Item = Given>,
    recursive: bool,
    visitor: &mut impl Visitor,
    console: &mut Console,
) -> io::Result<()> {
    let mut folders = FolderCache::default();
    for found in Sources::new(paths, recursive, None) {
        match found {
            Discovered::ListFailed { input, error } => {
                visitor.list_failed(console)?;
                visitor.unreadable(Subject::of(&input), error, console)?;
            }
            Discovered::Failed { input, path, error } => {
                visitor.unreadable(Subject { path: &path, ..Subject::of(&input) }, error, console)?;
            }
            Discovered::Folder { input, path, folder } => {
                visit_folder(Subject { path: &path, ..Subject::of(&input) }, &folder, visitor, console)?;
            }
            Discovered::Table { input, path, .. } => {
                let mut remarks = Vec::new();
                let folder =
                    folders.around(&path, None, |folder, error| remarks.push(Remark::new(folder, error)));
                if !remarks.is_empty() {
                    visitor.skipped(console)?;
                }
                let subject = Subject { path: &path, remarks: &remarks, ..Subject::of(&input) };
                visitor.table(subject, false, folder.as_ref(), console)?;
            }
        }
    }
    Ok(())
}

fn visit_folder(
    subject: Subject<'_>,
    folder: &Arc<Folder>,
    visitor: &mut impl Visitor,
    console: &mut Console,
) -> io::Result<()> {
    let (others, tables): (Vec<_>, Vec<_>) = folder
        .skipped()
        .into_iter()
        .partition(|(path, _)| path.extension().is_some_and(|extension| extension == "log"));
    let remarks: Vec<_> = others.iter().map(|(path, error)| Remark::new(path, error)).collect();
    if !remarks.is_empty() {
        visitor.skipped(console)?;
    }
    visitor.begin_folder(Subject { remarks: &remarks, ..subject }, folder, console)?;
    for (path, error) in tables {
        visitor.unreadable(Subject { path, ..subject }, error, console)?;
    }
    for path in folder.tables() {
        visitor.table(Subject { path, ..subject }, true, Some(folder), console)?;
    }
    visitor.end_folder(subject, folder, console)
}

/// `logs`: those with writes that are in no table yet.
pub(super) fn folder_header<'a>(
    folder: &'a Folder,
    tables: &'a [&'a Path],
    logs: &'a [&'a Path],
) -> FolderHeader<'a> {
    FolderHeader {
        tables,
        logs,
        is_database: folder.is_database(),
        manifest_error: folder.manifest_error(),
        comparator: folder.comparator(),
        has_records: folder.has_records(),
    }
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
        fn skipped(&mut self, _: &mut Console) -> io::Result<()> {
            self.0.push("skipped".to_owned());
            Ok(())
        }

        fn list_failed(&mut self, _: &mut Console) -> io::Result<()> {
            self.0.push("list failed".to_owned());
            Ok(())
        }

        fn unreadable(&mut self, subject: Subject<'_>, error: PathError, _: &mut Console) -> io::Result<()> {
            assert!(!error.to_string().is_empty());
            self.0.push(format!("unreadable {} of {}", name(subject.path), name(subject.input)));
            Ok(())
        }

        fn table(
            &mut self,
            subject: Subject<'_>,
            listed: bool,
            folder: Option<&Arc<Folder>>,
            _: &mut Console,
        ) -> io::Result<()> {
            let folder = folder.map(|folder| name(folder.path()));
            let (path, input) = (name(subject.path), name(subject.input));
            self.0.push(format!("table {path} of {input} {listed} {folder:?}"));
            Ok(())
        }

        fn begin_folder(
            &mut self,
            subject: Subject<'_>,
            folder: &Arc<Folder>,
            _: &mut Console,
        ) -> io::Result<()> {
            assert_eq!(subject.path, folder.path());
            self.0.push(format!("begin {} {}", name(subject.path), subject.remarks.len()));
            Ok(())
        }

        fn end_folder(&mut self, _: Subject<'_>, _: &Arc<Folder>, _: &mut Console) -> io::Result<()> {
            self.0.push("end".to_owned());
            Ok(())
        }
    }

    fn visited(paths: impl Iterator<Item = Given>, recursive: bool) -> Vec<String> {
        let mut console = Console::new(Box::new(io::sink()), Box::new(io::sink()));
        let mut log = Log::default();
        walk(paths, recursive, &mut log, &mut console).unwrap();
        log.0
    }

    #[test]
    fn each_path_leads_to_its_tables() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        for folder in ["database", "database/000009.ldb", "database/000011.log", "empty", "plain"] {
            fs::create_dir(path(folder)).unwrap();
        }
        for file in ["database/CURRENT", "database/000010.ldb", "database/000005.ldb", "plain/1.ldb"] {
            fs::write(path(file), "x").unwrap();
        }
        let paths = || {
            let paths = ["missing", "database", "empty", "database/000005.ldb", "plain/1.ldb"];
            let list = Given { input: path("list").into(), path: Err(io::Error::other("failed").into()) };
            let given = |name| Given { input: path(name).into(), path: Ok(path(name)) };
            [list].into_iter().chain(paths.map(given))
        };
        let expected = [
            "list failed",
            "unreadable list of list",
            "unreadable missing of missing",
            "skipped",
            "begin database 1",
            "unreadable 000009.ldb of database",
            "table 000005.ldb of database true Some(\"database\")",
            "table 000010.ldb of database true Some(\"database\")",
            "end",
            "unreadable empty of empty",
            "table 000005.ldb of 000005.ldb false Some(\"database\")",
            "table 1.ldb of 1.ldb false None",
        ];
        assert_eq!(visited(paths(), false), expected);
        assert_eq!(visited(paths(), true), expected);
    }

    #[test]
    fn an_input_below_which_nothing_is_found_is_reported_once() {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["barren/a/b", "fruitful/a", "fruitful/b", "last"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        fs::write(dir.path().join("fruitful/a/1.ldb"), "x").unwrap();
        let below = |input: &str, paths: &[&str]| {
            let input: Arc<Path> = dir.path().join(input).into();
            let given = |path: &&str| Given { input: Arc::clone(&input), path: Ok(dir.path().join(path)) };
            paths.iter().map(given).collect::<Vec<_>>()
        };
        let paths = [
            below("barren", &["barren", "barren/a", "barren/a/b"]),
            below("fruitful", &["fruitful", "fruitful/a", "fruitful/b"]),
            below("last", &["last"]),
        ];
        let expected = [
            "unreadable barren of barren",
            "begin a 0",
            "table 1.ldb of fruitful true Some(\"a\")",
            "end",
            "unreadable last of last",
        ];
        assert_eq!(visited(paths.into_iter().flatten(), true), expected);
    }
}
