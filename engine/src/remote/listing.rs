//! The tables and folders that URLs lead to.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::{io, sync::Arc};

use filterblock::database::{Database, DatabaseListing, batch_has_writes};

use super::names::{self, Names};
use super::store::{self, Store, Stores};
use super::{key, object::Object};
use crate::report::ErrorKind;
use crate::run::{InputFile, ListedFolder, LogUse};
use crate::walk::{EmptyInputs, Folder, PathError, url};

/// The number of bytes at the start of a log that are searched for writes.
const LOG_START: u64 = 64 << 10;
/// The number of tables beyond which further tables do not change the effort for each table.
const ENOUGH_TABLES: usize = 2500;

/// A log that may hold writes that are in no table yet, with its contents if the survey reads logs and no
/// bytes otherwise, or with the reason why it cannot be read.
pub(super) type RemoteLog = (PathBuf, Result<Vec<u8>, PathError>);

/// The object that holds a table.
pub(super) enum ObjectSource {
    Listed(Object),
    /// An object whose size is not known.
    Named(store::ObjectLocation),
}

/// A table, or the beginning or the end of a folder, that a URL leads to, or a failure.
pub(super) enum ListingEvent {
    Failed {
        input: Arc<Path>,
        path: PathBuf,
        error: PathError,
    },
    /// The beginning of a folder, with its logs, and with the logs that are passed over and the reasons.
    Begin(ListedFolder, Vec<RemoteLog>, Vec<(PathBuf, PathError)>),
    Table(InputFile, ObjectSource),
    /// A table or a folder that is passed over.
    Skipped(InputFile, PathError),
    End(ListedFolder),
}

/// Finds the tables and folders of one URL after another.
pub(super) struct Lister<I> {
    urls: I,
    recursive: bool,
    logs: LogUse,
    stores: Stores,
    /// The events that have not been given out yet.
    pending: VecDeque<ListingEvent>,
    /// The folders below the current URL that have to be listed, the next one last.
    below: Vec<(Arc<Path>, store::ObjectLocation, PathBuf)>,
    /// A database or a folder with tables was found at the current URL or below it.
    found_any: bool,
    empty: EmptyInputs,
}

impl<I: Iterator<Item = (Arc<Path>, PathBuf)>> Lister<I> {
    pub(super) fn new(urls: I, recursive: bool, logs: LogUse, stores: Stores) -> Self {
        let (pending, below) = Default::default();
        let empty = EmptyInputs::new(recursive);
        Self { urls, recursive, logs, stores, pending, below, found_any: false, empty }
    }

    pub(super) async fn next(&mut self) -> Option<ListingEvent> {
        loop {
            if let Some(found) = self.pending.pop_front() {
                return Some(found);
            }
            if let Some((input, place, url)) = self.below.pop() {
                if let Err(error) = self.list(&input, &place, &url).await {
                    self.empty.found_something();
                    return Some(ListingEvent::Failed { input, path: url, error });
                }
                continue;
            }
            if let Some(input) = self.empty.take(None) {
                let (path, error) = (input.to_path_buf(), Folder::nothing_below());
                return Some(ListingEvent::Failed { input, path, error });
            }
            let (input, url) = self.urls.next()?;
            self.found_any = false;
            if let Err(error) = self.look_at(&input, &url).await {
                return Some(ListingEvent::Failed { input, path: url, error });
            }
        }
    }

    /// Finds out whether a URL names an object or a folder, and adds the object, or the tables of the folder,
    /// to the pending events.
    async fn look_at(&mut self, input: &Arc<Path>, url: &Path) -> Result<(), PathError> {
        let place = self.stores.place(url)?;
        if !place.is_folder() {
            let (input, path) = (Arc::clone(input), url.to_owned());
            let target =
                InputFile { input, path, listed: false, folder: None, around: None, tables: ENOUGH_TABLES };
            let is_table = place.key.ends_with(".ldb") || place.key.ends_with(".sst");
            if is_table || !place.store.has_listing {
                self.pending.push_back(ListingEvent::Table(target, ObjectSource::Named(place)));
                return Ok(());
            }
            // The listing below an object's own key is empty, so the object is asked for first.
            match Object::named(&place).await {
                Ok(object) => {
                    self.pending.push_back(ListingEvent::Table(target, ObjectSource::Listed(object)));
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Missing => {}
                Err(error) => return Err(error),
            }
        }
        if !place.store.has_listing {
            let expected = "the URL of a table, as such servers are not listed";
            return Err(PathError::unexpected(expected, "that of a folder"));
        }
        let text = url.to_string_lossy();
        let folder = PathBuf::from(text.strip_suffix('/').unwrap_or(&text));
        self.list(input, &place, &folder).await
    }

    /// Lists a folder. `url` has no slash at its end.
    async fn list(
        &mut self,
        input: &Arc<Path>,
        place: &store::ObjectLocation,
        url: &Path,
    ) -> Result<(), PathError> {
        let mut names = names::names(place).await?;
        let is_first = !self.found_any && self.below.is_empty();
        let is_empty = names.is_empty();
        let mut odd = self.look_below(input, place, url, &names);
        let mut database = self::database(&place.store, &names, url).await;
        // A writer at work may be the reason for the missing tables, so the folder is listed once more.
        if database.missing().next().is_some() {
            names = names::names(place).await?;
            database = self::database(&place.store, &names, url).await;
        }
        odd.extend(names.odd.iter().map(|(name, error)| (url::join(url, name), error.clone())));
        let folder = Folder::of_listing(database, odd);
        // Without a request for each table and MANIFEST.
        if let Some(found) = folder.other_format(&|_| None) {
            return Err(PathError::OtherFormat(found));
        }
        if folder.is_nothing() {
            if is_empty && is_first {
                return Err(PathError::failed(ErrorKind::Missing, "no such object or folder"));
            }
            if self.empty.passes_over(input, is_first) {
                return Ok(());
            }
            return Err(Folder::nothing_among(!names.below.is_empty()));
        }
        self.empty.found_something();
        self.found_any = true;
        self.found(input, &place.store, folder, &names).await;
        Ok(())
    }

    /// Notes the subfolders that have to be listed. Returns those that are passed over, with the reasons why
    /// the objects in them cannot be asked for.
    fn look_below(
        &mut self,
        input: &Arc<Path>,
        place: &store::ObjectLocation,
        url: &Path,
        names: &Names,
    ) -> Vec<(PathBuf, PathError)> {
        let mut skipped = Vec::new();
        for name in names.below.iter().rev() {
            let key = [place.prefix().as_bytes(), name].concat();
            let error = key::parsed(&[&*key, b"/name"].concat()).err();
            let url = url::join(url, name);
            match (String::from_utf8(key), error) {
                // The folder is listed even if its objects cannot be asked for: its tables and logs are then
                // reported by name.
                (Ok(key), _) if self.recursive && key.len() <= key::MAX_KEY => {
                    let store = Arc::clone(&place.store);
                    let place = store::ObjectLocation { store, key: format!("{key}/") };
                    self.below.push((Arc::clone(input), place, url));
                }
                (_, Some(error)) => skipped.push((url::join(&url, b""), error)),
                _ => {}
            }
        }
        skipped.reverse();
        skipped
    }

    /// Adds a folder and its tables to the pending events.
    async fn found(&mut self, input: &Arc<Path>, store: &Arc<Store>, folder: Folder, names: &Names) {
        let object = |path: &Path| {
            let meta = names.objects.get(path.file_name()?.to_str()?)?;
            Some(Object::listed(store, meta))
        };
        let mut logs = Vec::new();
        if self.logs != LogUse::Ignored {
            for path in folder.filled_logs() {
                let Some(object) = object(path) else { continue };
                if let Some(contents) = log(&object, self.logs).await.transpose() {
                    logs.push((path.to_owned(), contents));
                }
            }
        }
        let folder = Arc::new(folder);
        let place = ListedFolder { input: Arc::clone(input), path: folder.path().to_owned(), folder };
        let skipped = place.folder.skipped().into_iter().map(|(path, error)| (path.to_owned(), error));
        let is_log = |path: &Path| names::is_log(path.as_os_str().as_encoded_bytes());
        let (passed_over, skipped): (Vec<_>, Vec<_>) = skipped.partition(|(path, _)| is_log(path));
        self.pending.push_back(ListingEvent::Begin(place.clone(), logs, passed_over));
        let skipped =
            skipped.into_iter().map(|(path, error)| ListingEvent::Skipped(place.target(path), error));
        self.pending.extend(skipped);
        for path in place.folder.tables() {
            let Some(object) = object(path) else { continue };
            self.pending
                .push_back(ListingEvent::Table(place.target(path.to_owned()), ObjectSource::Listed(object)));
        }
        self.pending.push_back(ListingEvent::End(place));
    }
}

/// The contents of a log, or no bytes if they are not wanted. `None` if they are not wanted and the log holds
/// no writes.
async fn log(object: &Object, wanted: LogUse) -> Result<Option<Vec<u8>>, PathError> {
    let size = object.size();
    if wanted.reads() {
        return object.get(0..size).await.map(|bytes| Some(bytes.into()));
    }
    let bytes = object.get(0..size.min(LOG_START)).await?;
    let is_whole = bytes.len() as u64 == size;
    // A log that is longer than what was read most likely holds a write.
    let has_writes = batch_has_writes(&*bytes).unwrap_or(true) || !is_whole;
    Ok(has_writes.then(Vec::new))
}

/// The database of a listing. Reads CURRENT and the MANIFEST if they are there.
async fn database(store: &Arc<Store>, names: &Names, url: &Path) -> Database {
    let sizes = names.objects.iter().map(|(name, meta)| (name.as_str(), meta.size));
    let mut listing = DatabaseListing::new(sizes).in_dir(url);
    while let Some(name) = listing.wanted() {
        let contents = match names.objects.get(name) {
            Some(meta) if meta.size == 0 => Ok(Vec::new()),
            Some(meta) => Object::listed(store, meta).get(0..meta.size).await.map(Vec::from),
            None => Err(PathError::failed(ErrorKind::Missing, "no such object")),
        };
        listing.supply(contents.map_err(|error| {
            let kind = match error.kind() {
                ErrorKind::Missing | ErrorKind::Vanished => io::ErrorKind::NotFound,
                ErrorKind::Denied => io::ErrorKind::PermissionDenied,
                _ => io::ErrorKind::Other,
            };
            io::Error::new(kind, error.to_string())
        }));
    }
    listing.into_database()
}
