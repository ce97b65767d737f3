//! The way of `inspect` and `query` from the paths given to the tables they stand for.

use std::io;
use std::path::Path;

use crate::io::console::Console;
use crate::io::folder::{self, Folder, Source};
use crate::io::folder_cache::FolderCache;
use crate::io::paths::Given;

/// A command that goes from table to table.
pub(super) trait Visitor {
    /// Something besides the tables asked for could not be looked at, and has been reported.
    fn skipped(&mut self);

    /// A path could not be looked at. `error` has not been reported.
    fn unreadable(&mut self, path: &Path, error: &str, console: &mut Console) -> io::Result<()>;

    /// `listed`: the name was found in a folder. `folder`: the one that the table lies in. For a
    /// table that was named, it is given only if it is a database.
    fn table(
        &mut self,
        path: &Path,
        listed: bool,
        folder: Option<&Folder>,
        console: &mut Console,
    ) -> io::Result<()>;

    /// The tables of this folder follow.
    fn begin_folder(&mut self, folder: &Folder, console: &mut Console) -> io::Result<()>;

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
                    visitor.skipped();
                    console.message_about(path, error);
                }
                visitor.begin_folder(&folder, console)?;
                for table in folder.tables() {
                    visitor.table(table, true, Some(&folder), console)?;
                }
                visitor.end_folder(console)?;
            }
            Ok(Source::File) => {
                let folder = folders.around(&path, |folder, error| {
                    visitor.skipped();
                    console.message_about(folder, error);
                });
                visitor.table(&path, false, folder.as_deref(), console)?;
            }
            Err(error) => visitor.unreadable(&path, &error.to_string(), console)?,
        }
    }
    Ok(())
}
