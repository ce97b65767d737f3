//! Many tables at once: what URLs lead to, read with so many tables in flight.

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::{FuturesUnordered, unfold};
use tokio::runtime::Builder;
use tokio::time::{MissedTickBehavior, interval};

use super::listing::{Found, ListOptions, Lister, Source};
pub(crate) use super::listing::{LogUse, RemoteFolder, Target};
use super::object::Object;
use super::order::Order;
use super::reader::Reader;
use super::traffic::Traffic;
use crate::audit::fetched::{Depth, Fetched};
use crate::io::input::PathError;
use crate::io::interrupt::Deferred;
use crate::io::paths::Given;
use crate::io::progress::FleetProgress;

/// The most bytes of all tables that are streamed, and of one.
const ALL_WINDOWS: usize = 48 << 20;
const MAX_WINDOW: usize = 4 << 20;
/// The results that may wait for others, for each table in flight.
const WAITING: usize = 4;
/// The time between two looks at the signals.
const TICK: Duration = Duration::from_millis(100);

pub(crate) struct FleetOptions {
    /// The most tables to read at once.
    pub(crate) in_flight: usize,
    /// Results are in the order of the listing.
    pub(crate) ordered: bool,
    /// The time that each request may take.
    pub(crate) timeout: Duration,
    pub(crate) recursive: bool,
    pub(crate) logs: LogUse,
    pub(crate) depth: Depth,
    /// A progress bar is wanted.
    pub(crate) shows_progress: bool,
}

/// What is to be shown.
pub(crate) enum Event<T> {
    Failed { input: Arc<Path>, path: PathBuf, error: PathError },
    BeginFolder { input: Arc<Path>, folder: Arc<RemoteFolder> },
    Table { target: Target, fetched: Option<Fetched>, result: Result<T, PathError> },
    EndFolder { input: Arc<Path>, folder: Arc<RemoteFolder> },
}

/// Reads the tables that `urls` lead to with `survey`, and calls `show` with the results. A signal
/// ends the program once those that are there are shown.
///
/// # Errors
///
/// Those of `show`, or that the system does not let work begin.
pub(crate) fn run<T, F: Future<Output = (Reader, Result<T, PathError>)>>(
    urls: impl Iterator<Item = Given>,
    options: &FleetOptions,
    survey: impl Fn(Reader, Target) -> F,
    show: &mut dyn FnMut(Event<T>) -> io::Result<()>,
) -> io::Result<()> {
    let deferred = Deferred::begin()?;
    // With a stream for each table, a thread waits for its requests.
    let threads = options.in_flight.max(1);
    let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(threads).build()?;
    let result = runtime.block_on(fly(urls, options, survey, show, &deferred));
    runtime.shutdown_background();
    result
}

async fn fly<T, F: Future<Output = (Reader, Result<T, PathError>)>>(
    urls: impl Iterator<Item = Given>,
    options: &FleetOptions,
    survey: impl Fn(Reader, Target) -> F,
    show: &mut dyn FnMut(Event<T>) -> io::Result<()>,
    deferred: &Deferred,
) -> io::Result<()> {
    let traffic = Arc::new(Traffic::default());
    let in_flight = options.in_flight.max(1);
    let window = (ALL_WINDOWS / in_flight).min(MAX_WINDOW);
    let urls = urls.filter_map(|given| Some((given.input, given.path.ok()?)));
    let list = ListOptions { recursive: options.recursive, logs: options.logs, timeout: options.timeout };
    let lister = Lister::new(urls, list, Arc::clone(&traffic));
    let mut found = pin!(unfold(lister, |mut lister| async { Some((lister.next().await?, lister)) }));
    let progress = FleetProgress::new(options.shows_progress);
    let mut running = FuturesUnordered::new();
    let mut order = Order::new(options.ordered);
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut is_listed = false;
    while !(is_listed && running.is_empty() && order.len() == 0) {
        let has_room = !is_listed && running.len() < in_flight && order.len() < in_flight * WAITING;
        tokio::select! {
            Some((number, event)) = running.next(), if !running.is_empty() => {
                progress.done();
                order.put(number, event);
            }
            next = found.next(), if has_room => match next {
                None => {
                    is_listed = true;
                    progress.all_are_known();
                }
                Some(Found::Failed { input, path, error }) => order.mark(Event::Failed { input, path, error }),
                Some(Found::BeginFolder { input, folder }) => {
                    progress.expect(folder.folder.tables().count() as u64);
                    order.mark(Event::BeginFolder { input, folder });
                }
                Some(Found::EndFolder { input, folder }) => order.mark(Event::EndFolder { input, folder }),
                Some(Found::Table(target, source)) => {
                    if target.folder.is_none() {
                        progress.expect(1);
                    }
                    let (number, survey, traffic) = (order.announce(), &survey, Arc::clone(&traffic));
                    running.push(async move {
                        let object = match source {
                            Source::Listed(object) => Ok(object),
                            Source::Named(place) => {
                                Object::named(place.store, &place.key, options.timeout, traffic).await
                            }
                        };
                        let (fetched, result) = match object {
                            Err(error) => (None, Err(error)),
                            Ok(object) => {
                                let reader = Reader::new(object, window);
                                let (reader, result) = survey(reader, target.clone()).await;
                                (Some(reader.fetched(options.depth)), result)
                            }
                        };
                        (number, Event::Table { target, fetched, result })
                    });
                }
            },
            _ = tick.tick() => {
                progress.at(traffic.bytes(), traffic.requests());
                if deferred.is_requested() {
                    is_listed = true;
                    running.clear();
                }
            }
        }
        while let Some(event) = order.next() {
            progress.suspend(|| show(event))?;
        }
        if deferred.is_requested() && running.is_empty() {
            break;
        }
    }
    Ok(())
}
