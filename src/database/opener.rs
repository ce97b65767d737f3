//! The trait for opening the files of a database.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use crate::table::source::try_open;
use crate::table::{ReadAt, TableIndex};

/// Opens the tables and logs of a database, wherever they are, for methods such as
/// [`Database::scan_with`](super::Database::scan_with).
///
/// Files are named by the paths that [`DatabaseFile::path`](super::DatabaseFile::path) has. For a
/// listing, these are the names in it, preceded by the location given to
/// [`DatabaseListing::in_dir`](super::DatabaseListing::in_dir).
///
/// ```
/// use std::collections::HashMap;
/// use std::io;
/// use std::path::Path;
///
/// use bytes::Bytes;
/// use filterblock::database::{Database, Opener};
/// use filterblock::table::ReadOptions;
///
/// /// Files in memory.
/// struct Memory(HashMap<String, Bytes>);
///
/// impl Opener for &Memory {
///     type Table = Bytes;
///     type Log = io::Cursor<Bytes>;
///     fn open_table(&mut self, path: &Path) -> io::Result<Bytes> {
///         let file = path.to_str().and_then(|name| self.0.get(name));
///         file.cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
///     }
///     fn open_log(&mut self, path: &Path) -> io::Result<io::Cursor<Bytes>> {
///         self.open_table(path).map(io::Cursor::new)
///     }
/// }
///
/// # let mut memory = Memory(HashMap::new());
/// # for name in ["CURRENT", "MANIFEST-000008", "000009.ldb", "000010.log"] {
/// #     let contents = std::fs::read(format!("testdata/databases/levels/{name}"))?;
/// #     memory.0.insert(name.to_owned(), contents.into());
/// # }
/// let listing = memory.0.iter().map(|(name, contents)| (name, contents.len() as u64));
/// let database = Database::from_listing(listing, |name| (&memory).open_table(name.as_ref()));
/// let mut scan = database.scan_with(&ReadOptions::default(), &memory)?;
/// # // The other two tables are not in the package.
/// # assert!((0..2).all(|_| scan.next().is_err()));
/// let mut keys = 0;
/// while scan.next()? {
///     keys += 1;
/// }
/// assert_eq!(keys, 91);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Opener {
    /// The contents of a table.
    type Table: ReadAt;
    /// The contents of a log.
    type Log: Read;

    /// Opens the table at `path`.
    ///
    /// To keep only a few tables open at a time, a scan may drop a table and open it again later. A scan also
    /// tries to open a live table that was not listed: the error explains why it is missing.
    ///
    /// # Errors
    ///
    /// Any error, such as [`NotFound`](io::ErrorKind::NotFound). It is returned with the path. A
    /// scan returns one such error for each table.
    fn open_table(&mut self, path: &Path) -> io::Result<Self::Table>;

    /// Opens the log at `path`. The log is read immediately, to its end unless reading fails or a limit
    /// is reached.
    ///
    /// # Errors
    ///
    /// Those of [`open_table`](Self::open_table).
    fn open_log(&mut self, path: &Path) -> io::Result<Self::Log>;

    /// Returns a mark that differs if another table of the same length has taken this one's name,
    /// such as an `ETag` or the time of the last change. It is requested for each table that a scan
    /// opens. If it has changed when a table is opened again, the table is lost, and no byte of the
    /// other table is read.
    ///
    /// The mark is empty by default: then only a change of length is noticed.
    ///
    /// # Errors
    ///
    /// Any error. The table is then treated as one that cannot be opened.
    fn version(&mut self, table: &Self::Table) -> io::Result<Vec<u8>> {
        let _ = table;
        Ok(Vec::new())
    }

    /// Returns the index of a table that this opener opened, if the opener has kept that index: a
    /// [`Scan`](super::Scan) then opens the table without a read. The index has to come from
    /// [`Table::index_part`](crate::table::Table::index_part) of the same file, opened with
    /// [`internal_keys`](crate::table::ReadOptions::internal_keys) and the scan's other options.
    ///
    /// The default is `None`.
    fn index(&mut self, table: &Self::Table) -> Option<Arc<TableIndex>> {
        let _ = table;
        None
    }
}

impl<O: Opener + ?Sized> Opener for &mut O {
    type Table = O::Table;
    type Log = O::Log;

    fn open_table(&mut self, path: &Path) -> io::Result<Self::Table> {
        (**self).open_table(path)
    }

    fn open_log(&mut self, path: &Path) -> io::Result<Self::Log> {
        (**self).open_log(path)
    }

    fn version(&mut self, table: &Self::Table) -> io::Result<Vec<u8>> {
        (**self).version(table)
    }

    fn index(&mut self, table: &Self::Table) -> Option<Arc<TableIndex>> {
        (**self).index(table)
    }
}

/// Opens files in folders, as [`Database::scan`](super::Database::scan) does: regular files only,
/// without a lock.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileOpener;

impl Opener for FileOpener {
    type Table = File;
    type Log = File;

    fn open_table(&mut self, path: &Path) -> io::Result<File> {
        try_open(path)
    }

    fn open_log(&mut self, path: &Path) -> io::Result<File> {
        try_open(path)
    }

    /// Returns the time of the last modification, with the device and inode on Unix, and with the
    /// time of creation elsewhere.
    fn version(&mut self, table: &File) -> io::Result<Vec<u8>> {
        let found = table.metadata()?;
        #[cfg(unix)]
        let node = {
            use std::os::unix::fs::MetadataExt as _;
            (found.dev(), found.ino())
        };
        #[cfg(not(unix))]
        let node = found.created().ok();
        Ok(format!("{:?} {node:?}", found.modified().ok()).into_bytes())
    }
}
