//! One object: ranges of it, all of the same version.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt as _};

use super::failure;
use super::traffic::Traffic;
use crate::report::error_kind::ErrorKind;
use crate::report::fetched::{Depth, Fetched};
use crate::walk::input::PathError;

/// The client gives a request up by then, with all its repetitions.
const TIMEOUTS: u32 = 4;

/// An object, of which only one version is read.
pub struct Object {
    store: Arc<dyn ObjectStore>,
    key: Path,
    size: u64,
    /// The version: that of the listing until the first answer, which is more exact.
    version: Mutex<Version>,
    /// The object was found in a listing.
    listed: bool,
    timeout: Duration,
    requests: AtomicU64,
    bytes_read: AtomicU64,
    /// The requests for all objects.
    traffic: Arc<Traffic>,
}

#[derive(Clone, Debug)]
struct Version {
    e_tag: Option<String>,
    /// Compared if there is no tag: seconds since 1970.
    modified: i64,
    /// The tag came with an answer, and is as the store compares it.
    is_answer: bool,
}

impl Version {
    fn of(meta: &ObjectMeta, is_answer: bool) -> Self {
        Self { e_tag: meta.e_tag.clone(), modified: meta.last_modified.timestamp(), is_answer }
    }

    /// The tag to be compared by the store. A weak tag equals none there. One from a listing may be
    /// written in another way.
    fn if_match(&self) -> Option<String> {
        self.e_tag.clone().filter(|tag| self.is_answer && !tag.starts_with("W/"))
    }

    /// Compares two versions, of which `next` came with an answer.
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

/// A tag as all parts of a store's interface write it: Azure's listing has no quotes.
fn bare(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"')
}

impl Object {
    /// An object that was listed.
    pub(super) fn listed(
        store: Arc<dyn ObjectStore>,
        meta: &ObjectMeta,
        timeout: Duration,
        traffic: Arc<Traffic>,
    ) -> Self {
        let version = Mutex::new(Version::of(meta, false));
        let (requests, bytes_read) = (AtomicU64::new(0), AtomicU64::new(0));
        Self {
            store,
            key: meta.location.clone(),
            size: meta.size,
            version,
            listed: true,
            timeout,
            requests,
            bytes_read,
            traffic,
        }
    }

    /// An object whose key was given. Asks for its size.
    pub(super) async fn named(
        store: Arc<dyn ObjectStore>,
        key: &Path,
        timeout: Duration,
        traffic: Arc<Traffic>,
    ) -> Result<Self, PathError> {
        traffic.request();
        let head = tokio::time::timeout(timeout.saturating_mul(TIMEOUTS), store.head(key)).await;
        let meta = head.map_err(|_| too_late(timeout))?.map_err(|error| failure::of(&error, false))?;
        let object = Self { listed: false, ..Self::listed(store, &meta, timeout, traffic) };
        object.requests.store(1, Ordering::Relaxed);
        Ok(object)
    }

    /// The size in bytes.
    pub(super) const fn size(&self) -> u64 {
        self.size
    }

    /// What reading it has taken so far.
    pub fn fetched(&self, depth: Depth) -> Fetched {
        Fetched {
            depth: Some(depth),
            e_tag: self.version().e_tag,
            requests: Some(self.requests.load(Ordering::Relaxed)),
            bytes_read: Some(self.bytes_read.load(Ordering::Relaxed)),
        }
    }

    fn version(&self) -> Version {
        self.version.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Fetches a range that is not empty and ends within the object.
    ///
    /// # Errors
    ///
    /// Also if the object has another version than before, or than it was listed with.
    pub(super) async fn get(&self, range: Range<u64>) -> Result<Bytes, PathError> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.traffic.request();
        let fetched = tokio::time::timeout(self.timeout.saturating_mul(TIMEOUTS), self.fetch(range)).await;
        fetched.unwrap_or_else(|_| Err(too_late(self.timeout)))
    }

    async fn fetch(&self, range: Range<u64>) -> Result<Bytes, PathError> {
        let known = self.version();
        let options = GetOptions {
            range: Some(GetRange::Bounded(range.clone())),
            if_match: known.if_match(),
            ..GetOptions::default()
        };
        let failed = |error| failure::of(&error, self.listed);
        let answer = self.store.get_opts(&self.key, options).await.map_err(failed)?;
        if answer.meta.size != self.size {
            let (expected, found) = (self.size.to_string(), answer.meta.size.to_string());
            return Err(failure::changed("a size of", &expected, &found));
        }
        let found = Version::of(&answer.meta, true);
        known.compare(&found)?;
        if !known.is_answer {
            // Of several requests side by side, the first one to be answered counts.
            let mut version = self.version.lock().unwrap_or_else(PoisonError::into_inner);
            version.compare(&found)?;
            *version = found;
        }
        let bytes = answer.bytes().await.map_err(failed)?;
        self.bytes_read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.traffic.received(bytes.len() as u64);
        let expected = range.end.saturating_sub(range.start);
        if bytes.len() as u64 != expected {
            let message =
                format!("expected {expected} bytes at offset {}, found {}", range.start, bytes.len());
            return Err(failure::failed(ErrorKind::Unreadable, message));
        }
        Ok(bytes)
    }
}

fn too_late(timeout: Duration) -> PathError {
    let seconds = timeout.as_secs_f64();
    failure::failed(ErrorKind::Unreadable, format!("no answer, {seconds} s a try: --timeout allows more"))
}
