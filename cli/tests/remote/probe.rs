//! A store in memory that counts its requests, delays them, and lets a test act in between.

use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetRange, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt as _, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

type Later<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;
/// Called before a request is answered. It is given the request's number, counted from 0, and whether the request is
/// for a range.
type Hook = Box<dyn Fn(u64, bool, &InMemory) + Send + Sync>;

/// The ways in which the store differs from the usual one.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Manners {
    /// The listing has no ETags.
    pub(crate) lists_no_tags: bool,
    /// No answer has an ETag.
    pub(crate) has_no_tags: bool,
    /// `If-Match` is ignored.
    pub(crate) ignores_if_match: bool,
    /// The listing writes ETags without their quotes, as Azure's does.
    pub(crate) lists_bare_tags: bool,
}

pub(crate) struct Probe {
    pub(crate) inner: InMemory,
    pub(crate) manners: Manners,
    pub(crate) latency: Duration,
    pub(crate) gets: AtomicU64,
    pub(crate) heads: AtomicU64,
    pub(crate) lists: AtomicU64,
    /// The maximum number of requests that were under way at once.
    pub(crate) most_at_once: AtomicU64,
    at_once: AtomicU64,
    /// The time that all requests took together, in microseconds.
    pub(crate) waited: AtomicU64,
    pub(crate) ranges: Mutex<Vec<(String, Range<u64>)>>,
    pub(crate) hook: Option<Hook>,
    /// The object that is read under every key, which saves memory. `None`: each key has an object of its own.
    pub(crate) one_for_all: Option<Path>,
}

impl Default for Probe {
    fn default() -> Self {
        Self {
            inner: InMemory::new(),
            manners: Manners::default(),
            latency: Duration::ZERO,
            gets: AtomicU64::default(),
            heads: AtomicU64::default(),
            lists: AtomicU64::default(),
            most_at_once: AtomicU64::default(),
            at_once: AtomicU64::default(),
            waited: AtomicU64::default(),
            ranges: Mutex::default(),
            hook: None,
            one_for_all: None,
        }
    }
}

impl Probe {
    pub(crate) fn place(&self, key: &str, bytes: Vec<u8>) {
        wait(self.inner.put(&Path::parse(key).unwrap(), bytes.into())).unwrap();
    }

    pub(crate) fn gets(&self) -> u64 {
        self.gets.load(Ordering::SeqCst)
    }

    pub(crate) fn heads(&self) -> u64 {
        self.heads.load(Ordering::SeqCst)
    }

    pub(crate) fn lists(&self) -> u64 {
        self.lists.load(Ordering::SeqCst)
    }

    /// The number of bytes that were requested.
    pub(crate) fn bytes(&self) -> u64 {
        self.ranges.lock().unwrap().iter().map(|(_, range)| range.end - range.start).sum()
    }

    fn begin(&self, is_range: bool) {
        let number = self.gets.load(Ordering::SeqCst);
        if let Some(hook) = &self.hook {
            hook(number, is_range, &self.inner);
        }
        let at_once = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_at_once.fetch_max(at_once, Ordering::SeqCst);
    }

    async fn latency(&self) {
        if !self.latency.is_zero() {
            let start = Instant::now();
            tokio::time::sleep(self.latency).await;
            self.waited.fetch_add(start.elapsed().as_micros() as u64, Ordering::SeqCst);
        }
        self.at_once.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Runs a future that needs neither timers nor input and output.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

impl std::fmt::Debug for Probe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Probe").finish_non_exhaustive()
    }
}

impl std::fmt::Display for Probe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("probe")
    }
}

impl ObjectStore for Probe {
    fn put_opts<'a, 'b, 't>(
        &'a self,
        location: &'b Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Later<'t, PutResult>
    where
        'a: 't,
        'b: 't,
    {
        Box::pin(async move { self.inner.put_opts(location, payload, options).await })
    }

    fn put_multipart_opts<'a, 'b, 't>(
        &'a self,
        location: &'b Path,
        options: PutMultipartOptions,
    ) -> Later<'t, Box<dyn MultipartUpload>>
    where
        'a: 't,
        'b: 't,
    {
        Box::pin(async move { self.inner.put_multipart_opts(location, options).await })
    }

    fn get_opts<'a, 'b, 't>(&'a self, location: &'b Path, mut options: GetOptions) -> Later<'t, GetResult>
    where
        'a: 't,
        'b: 't,
    {
        Box::pin(async move {
            let at = self.one_for_all.as_ref().unwrap_or(location);
            self.begin(!options.head);
            if options.head {
                self.heads.fetch_add(1, Ordering::SeqCst);
            } else {
                self.gets.fetch_add(1, Ordering::SeqCst);
                let Some(GetRange::Bounded(range)) = options.range.clone() else {
                    panic!("expected a range with both ends, found {:?}", options.range);
                };
                self.ranges.lock().unwrap().push((location.to_string(), range));
            }
            let Manners { has_no_tags, ignores_if_match, .. } = self.manners;
            if ignores_if_match {
                options.if_match = None;
            }
            self.latency().await;
            let mut answer = self.inner.get_opts(at, options).await?;
            if has_no_tags {
                answer.meta.e_tag = None;
            }
            Ok(answer)
        })
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, _: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        panic!("folders are listed one by one")
    }

    fn list_with_delimiter<'a, 'b, 't>(&'a self, prefix: Option<&'b Path>) -> Later<'t, ListResult>
    where
        'a: 't,
        'b: 't,
    {
        Box::pin(async move {
            self.lists.fetch_add(1, Ordering::SeqCst);
            let mut listed = self.inner.list_with_delimiter(prefix).await?;
            if self.manners.lists_no_tags || self.manners.has_no_tags {
                listed.objects.iter_mut().for_each(|meta| meta.e_tag = None);
            } else if self.manners.lists_bare_tags {
                let tags = listed.objects.iter_mut().filter_map(|meta| meta.e_tag.as_mut());
                tags.for_each(|tag| *tag = tag.trim_matches('"').to_owned());
            }
            if let Some(key) = &self.one_for_all {
                let meta = self.inner.head(key).await?;
                for listed in &mut listed.objects {
                    *listed = ObjectMeta { location: listed.location.clone(), ..meta.clone() };
                }
            }
            Ok(listed)
        })
    }

    fn copy_opts<'a, 'b, 'c, 't>(
        &'a self,
        from: &'b Path,
        to: &'c Path,
        options: CopyOptions,
    ) -> Later<'t, ()>
    where
        'a: 't,
        'b: 't,
        'c: 't,
    {
        Box::pin(async move { self.inner.copy_opts(from, to, options).await })
    }
}
