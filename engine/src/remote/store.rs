//! The stores behind URLs, set up from the environment as the tools of each cloud are.

use std::collections::BTreeMap;
use std::path::Path as FilePath;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientConfigKey, ObjectStore, RetryConfig};

use super::failure;
use crate::report::error_kind::ErrorKind;
use crate::walk::input::PathError;
use crate::walk::url;

/// The time to wait for a connection.
const CONNECT: &str = "5s";
/// The most times that the client repeats a request that failed.
const MAX_RETRIES: usize = 3;

/// Stores in this process, by their names.
static NAMED: Mutex<BTreeMap<String, Arc<dyn ObjectStore>>> = Mutex::new(BTreeMap::new());

/// Makes `store` known as `memory://name/`.
pub fn register(name: &str, store: Arc<dyn ObjectStore>) {
    NAMED.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), store);
}

/// The place that a URL names: a store, and a key in it.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) key: Path,
    /// The store can be listed.
    pub(super) has_listing: bool,
    /// The URL ends as that of a folder does.
    pub(super) is_folder: bool,
}

/// Opens stores, each once.
pub(super) struct Stores {
    timeout: Duration,
    opened: BTreeMap<String, Arc<dyn ObjectStore>>,
}

impl Stores {
    /// `timeout`: of each request, with its body.
    pub(super) fn new(timeout: Duration) -> Self {
        // Fails only if there is a provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self { timeout, opened: BTreeMap::new() }
    }

    /// Finds the store and the key of a URL.
    pub(super) fn place(&mut self, url: &FilePath) -> Result<Place, PathError> {
        let invalid = |found: &str| PathError::Unexpected {
            expected: "the URL of an object, such as s3://bucket/key".to_owned(),
            found: found.to_owned(),
        };
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
        let key = match is_http {
            // In these URLs characters may be encoded, in the others they are the key's own.
            true => Path::from_url_path(key),
            false => Path::parse(key.trim_end_matches('/')),
        };
        let key = key.map_err(|error| invalid(&error.to_string()))?;
        let name = format!("{scheme}://{authority}");
        let store = match self.opened.get(&name) {
            Some(store) => Arc::clone(store),
            None => {
                let store = self.open(&scheme, authority, &name)?;
                self.opened.insert(name, Arc::clone(&store));
                store
            }
        };
        let is_folder = rest.ends_with('/') || key.as_ref().is_empty();
        Ok(Place { store, key, has_listing: !is_http, is_folder })
    }

    fn open(&self, scheme: &str, authority: &str, name: &str) -> Result<Arc<dyn ObjectStore>, PathError> {
        let timeout = format!("{}ms", self.timeout.as_millis());
        let retry = RetryConfig {
            backoff: BackoffConfig { max_backoff: Duration::from_secs(5), ..BackoffConfig::default() },
            max_retries: MAX_RETRIES,
            retry_timeout: self.timeout.saturating_mul(2),
        };
        let (of_all, of_connecting) = (ClientConfigKey::Timeout, ClientConfigKey::ConnectTimeout);
        let opened = match scheme {
            "s3" | "s3a" => AmazonS3Builder::from_env()
                .with_bucket_name(authority)
                .with_config(AmazonS3ConfigKey::Client(of_all), timeout)
                .with_config(AmazonS3ConfigKey::Client(of_connecting), CONNECT)
                .with_retry(retry)
                .build()
                .map(|store| Arc::new(store) as Arc<dyn ObjectStore>),
            "gs" => GoogleCloudStorageBuilder::from_env()
                .with_bucket_name(authority)
                .with_config(GoogleConfigKey::Client(of_all), timeout)
                .with_config(GoogleConfigKey::Client(of_connecting), CONNECT)
                .with_retry(retry)
                .build()
                .map(|store| Arc::new(store) as _),
            "az" | "abfs" | "abfss" => MicrosoftAzureBuilder::from_env()
                .with_url(name)
                .with_config(AzureConfigKey::Client(of_all), timeout)
                .with_config(AzureConfigKey::Client(of_connecting), CONNECT)
                .with_retry(retry)
                .build()
                .map(|store| Arc::new(store) as _),
            "http" | "https" => HttpBuilder::new()
                .with_url(name)
                .with_config(of_all, timeout)
                .with_config(of_connecting, CONNECT)
                // Whoever names such a URL permits it.
                .with_config(ClientConfigKey::AllowHttp, "true")
                .with_retry(retry)
                .build()
                .map(|store| Arc::new(store) as _),
            "memory" => {
                let named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
                let store = named.get(authority).cloned();
                return store.ok_or_else(|| failure::failed(ErrorKind::Missing, "no store of this name"));
            }
            _ => {
                let hint = match scheme {
                    "hdfs" => ": copy the tables out of HDFS first, or mount it",
                    _ => "",
                };
                return Err(PathError::Unexpected {
                    expected: "s3, s3a, gs, az, abfs, abfss, http, https or file".to_owned(),
                    found: format!("{scheme}, which is not supported{hint}"),
                });
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
        Stores::new(Duration::from_secs(1))
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
            ("memory://store-test/db/", "db", true, true),
            ("memory://store-test", "", true, true),
            ("memory://store-test/a%20b c.ldb", "a%20b c.ldb", true, false),
            ("s3://bucket/a/b.sst", "a/b.sst", true, false),
            ("s3a://bucket/a/", "a", true, true),
            ("gs://bucket/a", "a", true, false),
            ("s3://bucket/a?b#c.ldb", "a?b#c.ldb", true, false),
            ("abfs://box@account.dfs.core.windows.net/db/1.ldb", "db/1.ldb", true, false),
            ("http://127.0.0.1:1/a%20b.ldb", "a b.ldb", false, false),
            ("https://host/db/", "db", false, true),
        ] {
            let place = stores.place(FilePath::new(url)).unwrap_or_else(|error| panic!("{url}: {error}"));
            assert_eq!(
                (place.key.as_ref(), place.has_listing, place.is_folder),
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
        assert!(error("s3://bucket/a//b").contains("the URL of an object"));
    }
}
