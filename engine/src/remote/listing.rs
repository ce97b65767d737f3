//! The tables and folders that URLs stand for.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use filterblock::database::{DatabaseListing, batch_has_writes};
use object_store::path::Path as Key;
use object_store::{ObjectMeta, ObjectStore};

use super::failure;
use super::object::Object;
use super::store::{self, Stores};
use super::traffic::Traffic;
use crate::report::error_kind::ErrorKind;
use crate::run::survey::{LogUse, Place, Target};
use crate::walk::folder::Folder;
use crate::walk::input::PathError;
use crate::walk::sources::Barren;
use crate::walk::url;

/// The names that a store lists in one answer.
const NAMES_AN_ANSWER: usize = 1000;
/// The bytes of a log that are looked at for writes.
const LOG_START: u64 = 64 << 10;
/// The most times that a folder is listed while its tables change.
const MAX_LISTINGS: u32 = 2;
/// More tables than these do not change what is spent on each.
const ENOUGH_TABLES: usize = 2500;

/// A folder's logs that may hold writes that are in no table yet.
pub(super) struct RemoteLog {
    pub(super) path: PathBuf,
    /// Nothing, or its contents, as the survey wants it.
    pub(super) contents: Result<Vec<u8>, PathError>,
}

/// Where a table is read from.
pub(super) enum Source {
    Listed(Object),
    /// Its size is not known.
    Named(store::Place),
}

/// What a URL leads to, piece by piece.
pub(super) enum Found {
    Failed { input: Arc<Path>, path: PathBuf, error: PathError },
    Begin(Place, Vec<RemoteLog>),
    Table(Target, Source),
    End(Place),
}

/// The options of a lister.
pub(super) struct ListOptions {
    pub(super) recursive: bool,
    pub(super) logs: LogUse,
    pub(super) timeout: Duration,
}

/// Goes from URL to URL.
pub(super) struct Lister<I> {
    urls: I,
    options: ListOptions,
    stores: Stores,
    traffic: Arc<Traffic>,
    /// What was found and not given out.
    pending: VecDeque<Found>,
    /// The folders below the current URL that are to be listed, the next one last.
    below: Vec<(Arc<Path>, store::Place, PathBuf)>,
    /// Something was found below the current URL.
    is_fruitful: bool,
    barren: Barren,
}

impl<I: Iterator<Item = (Arc<Path>, PathBuf)>> Lister<I> {
    pub(super) fn new(urls: I, options: ListOptions, traffic: Arc<Traffic>) -> Self {
        let stores = Stores::new(options.timeout);
        let (pending, below) = (VecDeque::new(), Vec::new());
        let barren = Barren::new(options.recursive);
        Self { urls, options, stores, traffic, pending, below, is_fruitful: false, barren }
    }

    pub(super) async fn next(&mut self) -> Option<Found> {
        loop {
            if let Some(found) = self.pending.pop_front() {
                return Some(found);
            }
            if let Some((input, place, url)) = self.below.pop() {
                if let Err(error) = self.list(&input, &place, &url).await {
                    self.barren.found_something();
                    return Some(Found::Failed { input, path: url, error });
                }
                continue;
            }
            if let Some(input) = self.barren.take(None) {
                let (path, error) = (input.to_path_buf(), Folder::nothing_below());
                return Some(Found::Failed { input, path, error });
            }
            let (input, url) = self.urls.next()?;
            self.is_fruitful = false;
            if let Err(error) = self.look_at(&input, &url).await {
                return Some(Found::Failed { input, path: url, error });
            }
        }
    }

    /// Finds out whether a URL stands for an object or a folder.
    async fn look_at(&mut self, input: &Arc<Path>, url: &Path) -> Result<(), PathError> {
        let place = self.stores.place(url)?;
        if !place.is_folder {
            let (input, path) = (Arc::clone(input), url.to_owned());
            let target =
                Target { input, path, listed: false, folder: None, around: None, tables: ENOUGH_TABLES };
            let is_table = matches!(place.key.extension(), Some("ldb" | "sst"));
            if is_table || !place.has_listing {
                self.pending.push_back(Found::Table(target, Source::Named(place)));
                return Ok(());
            }
            // The listing below an object's own key is empty, so the object is asked for first.
            let store = Arc::clone(&place.store);
            match Object::named(store, &place.key, self.options.timeout, Arc::clone(&self.traffic)).await {
                Ok(object) => {
                    self.pending.push_back(Found::Table(target, Source::Listed(object)));
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Missing => {}
                Err(error) => return Err(error),
            }
        }
        if !place.has_listing {
            return Err(PathError::Unexpected {
                expected: "the URL of a table, as such servers are not listed".to_owned(),
                found: "that of a folder".to_owned(),
            });
        }
        let folder = PathBuf::from(url.to_string_lossy().trim_end_matches('/'));
        self.list(input, &place, &folder).await
    }

    /// Lists a folder. `url`: without a slash at its end.
    async fn list(&mut self, input: &Arc<Path>, place: &store::Place, url: &Path) -> Result<(), PathError> {
        let mut listed = self.names(place).await?;
        let is_first = !self.is_fruitful && self.below.is_empty();
        let below = std::mem::take(&mut listed.below);
        let is_empty = listed.objects.is_empty() && below.is_empty();
        if self.options.recursive {
            let of = |key: &Key| url::join(url, key.filename().unwrap_or_default());
            let folders = below.iter().rev().map(|key| {
                (
                    Arc::clone(input),
                    store::Place { key: key.clone(), is_folder: true, ..place.clone() },
                    of(key),
                )
            });
            self.below.extend(folders);
        }
        let mut folder = self.database(&listed, url).await;
        for _ in 1..MAX_LISTINGS {
            // A writer at work may be the reason.
            if folder.missing().next().is_none() {
                break;
            }
            listed = self.names(place).await?;
            folder = self.database(&listed, url).await;
        }
        if folder.is_nothing() {
            if is_empty && is_first {
                return Err(failure::failed(ErrorKind::Missing, "no such object or folder"));
            }
            if self.barren.passes_over(input, is_first) {
                return Ok(());
            }
            return Err(Folder::nothing_among(!below.is_empty()));
        }
        self.barren.found_something();
        self.is_fruitful = true;
        self.found(input, place, folder, listed.objects).await;
        Ok(())
    }

    /// Puts a folder and its tables among what was found.
    async fn found(
        &mut self,
        input: &Arc<Path>,
        place: &store::Place,
        folder: Folder,
        mut objects: BTreeMap<String, ObjectMeta>,
    ) {
        let store = Arc::clone(&place.store);
        let mut logs = Vec::new();
        if self.options.logs != LogUse::Ignored {
            for path in folder.filled_logs() {
                let Some(meta) = path.file_name().and_then(|name| objects.get(name.to_str()?)) else {
                    continue;
                };
                let contents = self.log(&store, meta).await;
                if !matches!(&contents, Ok(None)) {
                    let contents = contents.map(Option::unwrap_or_default);
                    logs.push(RemoteLog { path: path.to_owned(), contents });
                }
            }
        }
        let folder = Arc::new(folder);
        let place = Place { input: Arc::clone(input), path: folder.path().to_owned(), folder };
        self.pending.push_back(Found::Begin(place.clone(), logs));
        for path in place.folder.tables() {
            let Some(meta) = path.file_name().and_then(|name| objects.remove(name.to_str()?)) else {
                continue;
            };
            let source = Source::Listed(self.object(&store, &meta));
            self.pending.push_back(Found::Table(place.target(path.to_owned()), source));
        }
        self.pending.push_back(Found::End(place));
    }

    fn object(&self, store: &Arc<dyn ObjectStore>, meta: &ObjectMeta) -> Object {
        Object::listed(Arc::clone(store), meta, self.options.timeout, Arc::clone(&self.traffic))
    }

    /// The contents of a log, if they are wanted. `None` if it holds no writes.
    async fn log(
        &self,
        store: &Arc<dyn ObjectStore>,
        meta: &ObjectMeta,
    ) -> Result<Option<Vec<u8>>, PathError> {
        let object = self.object(store, meta);
        if self.options.logs == LogUse::Read {
            return object.get(0..meta.size).await.map(|bytes| Some(bytes.into()));
        }
        let bytes = object.get(0..meta.size.min(LOG_START)).await?;
        let is_whole = bytes.len() as u64 == meta.size;
        // A record that goes on beyond what was read is a write most likely.
        let has_writes = batch_has_writes(&*bytes).unwrap_or(true) || !is_whole;
        Ok(has_writes.then(Vec::new))
    }

    /// The database of a listing: reads CURRENT and the MANIFEST if they are there.
    async fn database(&self, listed: &Listed, url: &Path) -> Folder {
        let names = listed.objects.iter().map(|(name, meta)| (name.as_str(), meta.size));
        let mut listing = DatabaseListing::new(names).in_dir(url);
        while let Some(name) = listing.wanted() {
            let contents = match listed.objects.get(name) {
                Some(meta) if meta.size == 0 => Ok(Vec::new()),
                Some(meta) => self.object(&listed.store, meta).get(0..meta.size).await.map(Vec::from),
                None => Err(failure::failed(ErrorKind::Missing, "no such object")),
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
        Folder::of_listing(listing.into_database())
    }

    async fn names(&self, place: &store::Place) -> Result<Listed, PathError> {
        let prefix = Some(&place.key).filter(|key| !key.as_ref().is_empty());
        let listed = place.store.list_with_delimiter(prefix).await;
        let listed = listed.map_err(|error| failure::of(&error, false))?;
        let answers = (listed.objects.len() + listed.common_prefixes.len()).div_ceil(NAMES_AN_ANSWER);
        (0..answers.max(1)).for_each(|_| self.traffic.request());
        let named = |meta: ObjectMeta| Some((meta.location.filename()?.to_owned(), meta));
        Ok(Listed {
            store: Arc::clone(&place.store),
            objects: listed.objects.into_iter().filter_map(named).collect(),
            below: listed.common_prefixes,
        })
    }
}

struct Listed {
    store: Arc<dyn ObjectStore>,
    objects: BTreeMap<String, ObjectMeta>,
    /// The folders in this one.
    below: Vec<Key>,
}
