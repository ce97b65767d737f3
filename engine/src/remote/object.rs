//! One object: ranges of it, all of the same version.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStoreExt as _, path::Path};

use super::failure;
use super::store::{ObjectLocation, Store, Traffic};
use crate::report::{Depth, ErrorKind, Fetched};
use crate::walk::PathError;

/// An object, of which only one version is read.
pub(super) struct Object {
    store: Arc<Store>,
    key: Path,
    size: u64,
    /// The version: at first that of the listing, or of the request for the size; then that of the first
    /// range fetched, which is more exact.
    version: Mutex<Version>,
    /// The object was found in a listing.
    listed: bool,
    /// The numbers of requests for the object, and of the bytes that they fetched.
    traffic: Traffic,
}

#[derive(Clone, Debug)]
struct Version {
    e_tag: Option<String>,
    /// The time of the last change, in seconds since 1970. It is compared if neither version has a tag.
    modified: i64,
    /// The version came with a fetched range, so that its tag has the form that the store compares.
    is_answer: bool,
}

impl Version {
    fn of(meta: &ObjectMeta, is_answer: bool) -> Self {
        Self { e_tag: meta.e_tag.clone(), modified: meta.last_modified.timestamp(), is_answer }
    }

    /// The tag for `If-Match`. Weak tags are left out, as they never match, and so are tags from a listing,
    /// which may be written in another form than the one that the store compares.
    fn if_match(&self) -> Option<String> {
        self.e_tag.clone().filter(|tag| self.is_answer && !tag.starts_with("W/"))
    }

    /// Fails if `next`, which came with a response, is known to be another version than this one.
    fn compare(&self, next: &Self) -> Result<(), PathError> {
        match (&self.e_tag, &next.e_tag) {
            (Some(known), Some(found)) if bare(known) != bare(found) => {
                Err(failure::changed("ETag", known, found))
            }
            (Some(known), None) if self.is_answer => Err(failure::changed("ETag", known, "none")),
            (None, Some(found)) if self.is_answer => Err(failure::changed("no ETag", "", found)),
            (None, None) if self.modified != next.modified => {
                Err(failure::changed("time", &self.modified.to_string(), &next.modified.to_string()))
            }
            _ => Ok(()),
        }
    }
}

/// A tag without the marks that only some parts of a store's interface write: Azure's listing has no quotes.
fn bare(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"')
}

impl Object {
    /// An object that was listed.
    pub(super) fn listed(store: &Arc<Store>, meta: &ObjectMeta) -> Self {
        Self {
            store: Arc::clone(store),
            key: meta.location.clone(),
            size: meta.size,
            version: Mutex::new(Version::of(meta, false)),
            listed: true,
            traffic: Traffic::default(),
        }
    }

    /// Returns the object with the given key. Asks the store for its size.
    ///
    /// # Errors
    ///
    /// If the request fails, or if the client cannot ask for the key.
    pub(super) async fn named(place: &ObjectLocation) -> Result<Self, PathError> {
        let (store, key) = (&place.store, place.path()?);
        let head = async { store.objects.head(&key).await.map_err(|error| failure::of(&error, false)) };
        let object = Self { listed: false, ..Self::listed(store, &store.ask(head).await?) };
        object.traffic.add(1, 0);
        Ok(object)
    }

    /// The size in bytes.
    pub(super) const fn size(&self) -> u64 {
        self.size
    }

    /// The cost of reading the object so far.
    pub(super) fn fetched(&self, depth: Depth) -> Fetched {
        let (requests, bytes_read) = self.traffic.so_far();
        Fetched {
            depth: Some(depth),
            e_tag: self.version().e_tag.clone(),
            requests: Some(requests),
            bytes_read: Some(bytes_read),
        }
    }

    fn version(&self) -> MutexGuard<'_, Version> {
        self.version.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fetches a range that is not empty and ends within the object.
    ///
    /// # Errors
    ///
    /// If the request fails or returns another number of bytes, or if the object's version is no longer the
    /// one that was read before or listed.
    pub(super) async fn get(&self, range: Range<u64>) -> Result<Bytes, PathError> {
        self.traffic.add(1, 0);
        self.store.ask(self.fetch(range)).await
    }

    async fn fetch(&self, range: Range<u64>) -> Result<Bytes, PathError> {
        let known = self.version().clone();
        let options = GetOptions {
            range: Some(GetRange::Bounded(range.clone())),
            if_match: known.if_match(),
            ..GetOptions::default()
        };
        let failed = |error| failure::of(&error, self.listed);
        let answer = self.store.objects.get_opts(&self.key, options).await.map_err(failed)?;
        if answer.meta.size != self.size {
            let (expected, found) = (self.size.to_string(), answer.meta.size.to_string());
            return Err(failure::changed("a size of", &expected, &found));
        }
        let found = Version::of(&answer.meta, true);
        known.compare(&found)?;
        if !known.is_answer {
            // With several concurrent requests, the first response decides.
            let mut version = self.version();
            version.compare(&found)?;
            *version = found;
        }
        let bytes = answer.bytes().await.map_err(failed)?;
        let found = bytes.len() as u64;
        self.traffic.add(0, found);
        self.store.traffic.add(0, found);
        let expected = range.end.saturating_sub(range.start);
        if found != expected {
            let message = format!("expected {expected} bytes at offset {}, found {found}", range.start);
            return Err(PathError::failed(ErrorKind::Unreadable, message));
        }
        Ok(bytes)
    }
}
