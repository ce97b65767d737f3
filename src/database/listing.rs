//! A database from a listing, without a folder.

use std::io::{self, Read};
use std::path::PathBuf;

use super::current;
use super::database::Database;
use super::folder::{DatabaseFiles, path_in};
use super::manifest::Manifest;
use super::names::FileKind;
use crate::error::IoAction;
use crate::{Error, Result};

impl Database {
    /// A database from the names of its files, their sizes in bytes, and a function that reads a file
    /// by its name.
    ///
    /// `read` is called at most twice: for `CURRENT`, and for the MANIFEST that it names. An error of
    /// `read` is kept for [`manifest`](Self::manifest). Callers that read asynchronously, or set a
    /// limit on memory, can use a [`DatabaseListing`] instead.
    ///
    /// ```
    /// use std::fs;
    /// use filterblock::database::Database;
    /// let names = ["CURRENT", "MANIFEST-000008", "000005.ldb", "000007.ldb", "000010.log"];
    /// let database = Database::from_listing(names.map(|name| (name, 1000)), |name| {
    ///     fs::read(format!("testdata/databases/levels/{name}"))
    /// });
    /// assert_eq!(database.missing().map(|table| table.number).collect::<Vec<_>>(), [9]);
    /// # Ok::<(), filterblock::Error>(())
    /// ```
    pub fn from_listing<N: AsRef<str>, C: AsRef<[u8]>>(
        listing: impl IntoIterator<Item = (N, u64)>,
        mut read: impl FnMut(&str) -> io::Result<C>,
    ) -> Self {
        let mut listing = DatabaseListing::new(listing);
        while let Some(name) = listing.wanted() {
            let contents = read(name);
            listing.supply(contents);
        }
        listing.into_database()
    }
}

/// Makes a [`Database`] from a listing and the contents of `CURRENT` and the MANIFEST: for object
/// storage, archives, or any other place that is not a folder.
///
/// A `DatabaseListing` reads no files itself. [`wanted`](Self::wanted) names the file that is needed
/// next, and [`supply`](Self::supply) takes its contents or the error of reading it, so that the
/// caller may wait in between. At most two files are needed: `CURRENT`, and the MANIFEST that it
/// names.
///
/// Make the listing before `CURRENT` is read. In the opposite order, tables that are removed in between are
/// missing, and the log with the newest writes may be missing too. If the database is in use, tables that are
/// written in between are missing even in the right order; a listing made afterwards has them.
///
/// ```
/// use filterblock::database::{DatabaseListing, batch_has_writes};
/// # async fn example(store: &Store) -> std::io::Result<()> {
/// let mut listing = DatabaseListing::new(store.list("chainstate").await?); // names and sizes
/// while let Some(name) = listing.wanted() {
///     let contents = store.get("chainstate", name).await;
///     listing.supply(contents);
/// }
/// let database = listing.into_database();
/// for log in database.logs().filter(|log| log.is_live) {
///     let Some(name) = log.file.path().and_then(|path| path.to_str()) else { continue };
///     let contents = store.get("chainstate", name).await?;
///     println!("{name}: {:?}", batch_has_writes(&contents[..]));
/// }
/// # Ok(()) }
/// # struct Store;
/// # impl Store {
/// #     async fn list(&self, _: &str) -> std::io::Result<Vec<(String, u64)>> { Ok(Vec::new()) }
/// #     async fn get(&self, _: &str, _: &str) -> std::io::Result<Vec<u8>> { Ok(Vec::new()) }
/// # }
/// ```
#[derive(Debug)]
#[must_use]
pub struct DatabaseListing {
    dir: PathBuf,
    files: DatabaseFiles,
    memory_limit: usize,
    state: State,
}

#[derive(Debug)]
enum State {
    Wanted(String),
    Ended(Result<Manifest>),
}

impl DatabaseListing {
    /// Takes the names of the files and their sizes in bytes, as [`DatabaseFiles::from_listing`]
    /// does.
    pub fn new<N: AsRef<str>>(listing: impl IntoIterator<Item = (N, u64)>) -> Self {
        Self {
            dir: PathBuf::new(),
            files: DatabaseFiles::from_listing(listing),
            memory_limit: Manifest::DEFAULT_MEMORY_LIMIT,
            state: State::Wanted(FileKind::Current.file_name(0)),
        }
    }

    /// Names the location of the listing, such as `s3://bucket/chainstate`. It becomes
    /// [`Database::dir`], and the path of each file begins with it.
    ///
    /// ```
    /// use std::path::Path;
    /// use filterblock::database::{DatabaseListing, FileKind};
    ///
    /// let database = DatabaseListing::new([("000005.ldb", 2180)]).in_dir("s3://bucket/db").into_database();
    /// let table = database.files().of_kind(FileKind::Table).next().map(|file| &*file.path);
    /// assert_eq!(table, Some(Path::new("s3://bucket/db/000005.ldb")));
    /// ```
    pub fn in_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.dir = dir.into();
        self
    }

    /// Sets the memory that the MANIFEST may take, in bytes, as in [`Manifest::scan`]. The default
    /// is [`Manifest::DEFAULT_MEMORY_LIMIT`].
    pub const fn memory_limit(mut self, bytes: usize) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// The name of the file whose contents are needed next, whether or not it is in the listing.
    /// `None` once no more files are needed.
    pub fn wanted(&self) -> Option<&str> {
        match &self.state {
            State::Wanted(name) => Some(name),
            State::Ended(_) => None,
        }
    }

    /// Takes the contents of the file that is [`wanted`](Self::wanted), or the error of reading it,
    /// such as [`io::ErrorKind::NotFound`]. This does nothing if no file is wanted.
    ///
    /// An error, including one in the contents, ends the reading. The database has no MANIFEST
    /// then, and keeps the error.
    pub fn supply(&mut self, contents: io::Result<impl AsRef<[u8]>>) {
        match contents {
            Ok(contents) => self.supply_from(Ok(contents.as_ref())),
            Err(error) => self.supply_from(Err::<&[u8], _>(error)),
        }
    }

    /// Takes the [`wanted`](Self::wanted) file as [`supply`](Self::supply) does, but from a reader, such as an open
    /// file. No more of the file is held in memory than the [`memory_limit`](Self::memory_limit) allows.
    ///
    /// ```
    /// use std::fs::File;
    /// use std::path::Path;
    /// use filterblock::database::DatabaseListing;
    ///
    /// let dir = Path::new("testdata/databases/levels");
    /// let mut listing = DatabaseListing::new([("CURRENT", 16), ("MANIFEST-000008", 226), ("000009.ldb", 1000)]);
    /// while let Some(name) = listing.wanted() {
    ///     let file = File::open(dir.join(name)); // or by openat(2), in a folder that is open
    ///     listing.supply_from(file);
    /// }
    /// assert!(listing.into_database().manifest().is_ok());
    /// ```
    pub fn supply_from(&mut self, contents: io::Result<impl Read>) {
        let State::Wanted(name) = &self.state else { return };
        let contents = contents.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::io(IoAction::Open, 0, error),
            _ => Error::io(IoAction::ReadAll, 0, error),
        });
        let read = contents.and_then(|contents| self.read(name, contents));
        self.state =
            read.unwrap_or_else(|error| State::Ended(Err(error.with_path(path_in(&self.dir, name)))));
    }

    fn read(&self, name: &str, contents: impl Read) -> Result<State> {
        match FileKind::parse(name) {
            Some((FileKind::Current, _)) => Ok(State::Wanted(current::read(contents)?)),
            _ => Ok(State::Ended(Ok(Manifest::scan(contents, self.memory_limit).into_result()?))),
        }
    }

    /// The database. If contents are still [`wanted`](Self::wanted), the database has no MANIFEST,
    /// and the error kept in its place says so.
    pub fn into_database(self) -> Database {
        let manifest = match self.state {
            State::Ended(manifest) => manifest,
            State::Wanted(name) => {
                let error = io::Error::other("its contents were not supplied");
                Err(Error::io(IoAction::ReadAll, 0, error).with_path(path_in(&self.dir, name)))
            }
        };
        Database::new(self.dir.clone(), self.files.in_dir(&self.dir), manifest)
    }
}
