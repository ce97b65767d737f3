//! The stores that URLs name, set up from the environment as the tools of each cloud are.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::{collections::BTreeMap, convert::identity, path::Path as FilePath, time::Duration};

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{BackoffConfig, ClientConfigKey, ObjectStore, RetryConfig};

use super::connector::{self, Connector, ListingRequest};
use super::{answer::Page, connection_string, failure, key, profile};
use crate::report::ErrorKind;
use crate::walk::{PathError, url};

/// The time to wait for a connection.
const CONNECT: &str = "5s";
/// The maximum number of times that the client retries a request that failed.
const MAX_RETRIES: usize = 3;
/// The time limit of a request, as a multiple of the timeout of one try. By then, the client has given up
/// all retries.
const TIMEOUTS: u32 = 4;

/// Stores in this process, by their names.
static NAMED: Mutex<BTreeMap<String, Arc<dyn ObjectStore>>> = Mutex::new(BTreeMap::new());

/// Makes `store` known as `memory://name/`.
pub fn register(name: &str, store: Arc<dyn ObjectStore>) {
    NAMED.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), store);
}

/// The numbers of requests, and of the bytes of objects that came with the responses.
#[derive(Default, Debug)]
pub(super) struct Traffic {
    requests: AtomicU64,
    bytes: AtomicU64,
}

impl Traffic {
    pub(super) fn add(&self, requests: u64, bytes: u64) {
        self.requests.fetch_add(requests, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The numbers of requests and of bytes so far.
    pub(super) fn so_far(&self) -> (u64, u64) {
        (self.requests.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }
}

/// A store, and the settings for requests to it.
pub(super) struct Store {
    pub(super) objects: Arc<dyn ObjectStore>,
    /// The same store, if it lists page by page.
    pages: Option<Arc<dyn PaginatedListStore>>,
    pub(super) has_listing: bool,
    /// The time that each try of a request may take.
    timeout: Duration,
    /// The traffic of all stores.
    pub(super) traffic: Arc<Traffic>,
}

impl Store {
    /// Makes a request, and gives it up if the response takes too long.
    pub(super) async fn ask<T>(
        &self,
        request: impl Future<Output = Result<T, PathError>>,
    ) -> Result<T, PathError> {
        self.traffic.add(1, 0);
        let answer = tokio::time::timeout(self.timeout.saturating_mul(TIMEOUTS), request).await;
        answer.unwrap_or_else(|_| {
            let seconds = self.timeout.as_secs_f64();
            let message = format!("no answer, {seconds} s a try: --timeout allows more");
            Err(PathError::failed(ErrorKind::Unreadable, message))
        })
    }

    /// Lists the names that follow `prefix`, up to the next slash in each. `token`: the token that came with the
    /// previous page; `None` for the first page.
    pub(super) async fn page(&self, prefix: &str, token: Option<String>) -> Result<Page, PathError> {
        let Some(pages) = &self.pages else {
            let folder = key::parsed(prefix.strip_suffix('/').unwrap_or(prefix).as_bytes())?;
            let folder = Some(&folder).filter(|folder| !folder.is_root());
            let listed = self.objects.list_with_delimiter(folder);
            return self
                .ask(async { listed.await.map_err(|error| failure::of(&error, false)) })
                .await
                .map(Page::from);
        };
        let mut options = PaginatedListOptions { page_token: token, ..PaginatedListOptions::default() };
        options.delimiter = Some("/".into());
        options.extensions.insert(ListingRequest);
        let listed = pages.list_paginated(Some(prefix).filter(|prefix| !prefix.is_empty()), options);
        let listed = self.ask(async { listed.await.map_err(|error| failure::of(&error, false)) }).await?;
        connector::names(listed).map_err(|broken| PathError::failed(ErrorKind::Unreadable, broken))
    }
}

/// The value of an environment variable; `None` if the variable is not set, is empty or is not Unicode.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The place that a URL names: a store, and a key in it.
pub(super) struct ObjectLocation {
    pub(super) store: Arc<Store>,
    /// The key of an object, or that of a folder, which ends with a slash or is empty.
    pub(super) key: String,
}

impl ObjectLocation {
    /// Returns true if the key is that of a folder.
    pub(super) fn is_folder(&self) -> bool {
        self.key.is_empty() || self.key.ends_with('/')
    }

    /// The object's key as a `Path` of the client, `object_store`.
    pub(super) fn path(&self) -> Result<Path, PathError> {
        key::parsed(self.key.as_bytes())
    }

    /// The prefix of all keys in the folder that this key names: the key, unless it is empty, with a slash at its end.
    pub(super) fn prefix(&self) -> String {
        let slash = if self.is_folder() { "" } else { "/" };
        format!("{}{slash}", self.key)
    }
}

/// A store, and the same store if it lists page by page.
type Opened = (Arc<dyn ObjectStore>, Option<Arc<dyn PaginatedListStore>>);

/// Opens stores, each once.
pub(super) struct Stores {
    timeout: Duration,
    traffic: Arc<Traffic>,
    opened: BTreeMap<String, Arc<Store>>,
}

impl Stores {
    /// Starts without open stores. `timeout`: the time for each try of a request, including the response's body.
    /// `traffic`: the traffic of all stores.
    pub(super) fn new(timeout: Duration, traffic: Arc<Traffic>) -> Self {
        // This fails only if there is a provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self { timeout, traffic, opened: BTreeMap::new() }
    }

    /// Finds the store and the key of a URL.
    pub(super) fn place(&mut self, url: &FilePath) -> Result<ObjectLocation, PathError> {
        let invalid =
            |found: &str| PathError::unexpected("the URL of an object, such as s3://bucket/key", found);
        let scheme = url::scheme(url).ok_or_else(|| invalid("something else"))?;
        let text = url.to_str().ok_or_else(|| invalid("one that is not UTF-8"))?;
        let (_, rest) = text.split_once("://").unwrap_or_default();
        let (authority, key) = rest.split_once('/').unwrap_or((rest, ""));
        if authority.is_empty() {
            return Err(invalid("one without a bucket or host"));
        }
        let scheme = scheme.to_ascii_lowercase();
        let is_http = matches!(&*scheme, "http" | "https");
        if is_http && key.contains(['?', '#']) {
            return Err(invalid("one with a query or a fragment, which is not supported"));
        }
        // In HTTP URLs, characters may be encoded; in other URLs, they are the key's own.
        let key = if is_http { url::decoded(key) } else { key.into() };
        let key = String::from_utf8(key).map_err(|_| invalid("one with a key that is not UTF-8"))?;
        let name = format!("{scheme}://{authority}");
        let store = match self.opened.get(&name) {
            Some(store) => Arc::clone(store),
            None => {
                let (objects, pages) = self.open(&scheme, authority, &name)?;
                let (timeout, traffic) = (self.timeout, Arc::clone(&self.traffic));
                let store = Arc::new(Store { objects, pages, has_listing: !is_http, timeout, traffic });
                self.opened.insert(name, Arc::clone(&store));
                store
            }
        };
        Ok(ObjectLocation { store, key })
    }

    fn open(&self, scheme: &str, authority: &str, name: &str) -> Result<Opened, PathError> {
        let timeout = format!("{}ms", self.timeout.as_millis());
        let retry = RetryConfig {
            backoff: BackoffConfig { max_backoff: Duration::from_secs(5), ..BackoffConfig::default() },
            max_retries: MAX_RETRIES,
            retry_timeout: self.timeout.saturating_mul(2),
        };
        macro_rules! built {
            ($builder:expr, $key:expr) => {
                $builder
                    .with_config($key(ClientConfigKey::Timeout), timeout)
                    .with_config($key(ClientConfigKey::ConnectTimeout), CONNECT)
                    .with_retry(retry)
                    .with_http_connector(Connector)
                    .build()
                    .map(Arc::new)
            };
        }
        macro_rules! listed {
            ($store:expr) => {
                $store.map(|store| (Arc::clone(&store) as Arc<dyn ObjectStore>, Some(store as _)))
            };
        }
        let opened = match scheme {
            "s3" | "s3a" => {
                let builder = profile::completed(AmazonS3Builder::from_env(), &variable)?;
                let builder = builder.with_bucket_name(authority);
                listed!(built!(builder, AmazonS3ConfigKey::Client))
            }
            "gs" => {
                let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(authority);
                listed!(built!(builder, GoogleConfigKey::Client))
            }
            "az" | "abfs" | "abfss" => {
                let builder = MicrosoftAzureBuilder::from_env();
                let builder = connection_string::completed(builder, authority, &variable)?.with_url(name);
                listed!(built!(builder, AzureConfigKey::Client))
            }
            "http" | "https" => {
                // The user permits HTTP by naming such a URL.
                let builder = HttpBuilder::new().with_config(ClientConfigKey::AllowHttp, "true");
                built!(builder.with_url(name), identity).map(|store| (store as _, None))
            }
            "memory" => {
                let named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
                let store = named.get(authority).cloned();
                let missing = || PathError::failed(ErrorKind::Missing, "no store of this name");
                return store.map(|store| (store, None)).ok_or_else(missing);
            }
            _ => {
                let hint =
                    if scheme == "hdfs" { ": copy the tables out of HDFS first, or mount it" } else { "" };
                return Err(PathError::unexpected(
                    "s3, s3a, gs, az, abfs, abfss, http, https or file",
                    format!("{scheme}, which is not supported{hint}"),
                ));
            }
        };
        opened.map_err(|error| failure::of(&error, false))
    }
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;

    use super::*;

    fn stores() -> Stores {
        Stores::new(Duration::from_secs(1), Arc::default())
    }

    fn error(url: &str) -> String {
        stores().place(FilePath::new(url)).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn urls_name_a_store_and_a_key() {
        register("store-test", Arc::new(InMemory::new()));
        let mut stores = stores();
        for (url, key, has_listing, is_folder) in [
            ("memory://store-test/db/000005.ldb", "db/000005.ldb", true, false),
            ("memory://store-test/db/", "db/", true, true),
            ("memory://store-test", "", true, true),
            ("memory://store-test/a%20b c.ldb", "a%20b c.ldb", true, false),
            ("s3://bucket/a/b.sst", "a/b.sst", true, false),
            ("s3a://bucket/a/", "a/", true, true),
            ("s3://bucket/a//b.ldb", "a//b.ldb", true, false),
            ("s3://bucket//", "/", true, true),
            ("gs://bucket/a", "a", true, false),
            ("s3://bucket/a?b#c.ldb", "a?b#c.ldb", true, false),
            ("abfs://box@account.dfs.core.windows.net/db/1.ldb", "db/1.ldb", true, false),
            ("http://127.0.0.1:1/a%20b.ldb", "a b.ldb", false, false),
            ("https://host/db/", "db/", false, true),
        ] {
            let place = stores.place(FilePath::new(url)).unwrap_or_else(|error| panic!("{url}: {error}"));
            assert_eq!(
                (&*place.key, place.store.has_listing, place.is_folder()),
                (key, has_listing, is_folder),
                "{url}"
            );
        }
    }

    #[test]
    fn what_cannot_be_opened_is_named() {
        assert!(error("hdfs://name/db").contains("found hdfs, which is not supported: copy"));
        assert!(error("ftp://host/x").contains("expected s3, s3a, gs, az, abfs, abfss, http, https"));
        assert!(error("https://host/x.ldb?signature=1").contains("a query or a fragment"));
        assert!(error("s3:///key").contains("without a bucket"));
        assert!(error("memory://nobody/x").contains("no store of this name"));
        assert!(error("https://host/%ff").contains("a key that is not UTF-8"));
    }
}
