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
pub use super::listing::{LogUse, RemoteFolder, Target};
use super::object::Object;
use super::order::Order;
use super::reader::Reader;
use super::traffic::Traffic;
use crate::report::fetched::{Depth, Fetched};
use crate::run::progress::FleetProgress;
use crate::walk::input::PathError;
use crate::walk::paths::Given;

/// The most bytes of all tables that are streamed, and of one.
const ALL_WINDOWS: usize = 48 << 20;
const MAX_WINDOW: usize = 4 << 20;
/// The results that may wait for others, for each table in flight.
const WAITING: usize = 4;
/// The time between two looks at the signals.
const TICK: Duration = Duration::from_millis(100);

pub struct FleetOptions {
    /// The most tables to read at once.
    pub in_flight: usize,
    /// Results are in the order of the listing.
    pub ordered: bool,
    /// The time that each request may take.
    pub timeout: Duration,
    pub recursive: bool,
    pub logs: LogUse,
    pub depth: Depth,
}

/// What watches the reading of many tables, and may end it.
#[derive(Clone, Copy)]
pub struct FleetWatch<'a> {
    pub progress: &'a dyn FleetProgress,
    /// Tells whether the work is to end with the results that are there.
    pub is_interrupted: &'a dyn Fn() -> bool,
}

/// What is to be shown.
pub enum Event<T> {
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
pub fn run<T, F: Future<Output = (Reader, Result<T, PathError>)>>(
    urls: impl Iterator<Item = Given>,
    options: &FleetOptions,
    survey: impl Fn(Reader, Target) -> F,
    watch: FleetWatch<'_>,
    show: &mut dyn FnMut(Event<T>) -> io::Result<()>,
) -> io::Result<()> {
    // With a stream for each table, a thread waits for its requests.
    let threads = options.in_flight.max(1);
    let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(threads).build()?;
    let result = runtime.block_on(fly(urls, options, survey, watch, show));
    runtime.shutdown_background();
    result
}

async fn fly<T, F: Future<Output = (Reader, Result<T, PathError>)>>(
    urls: impl Iterator<Item = Given>,
    options: &FleetOptions,
    survey: impl Fn(Reader, Target) -> F,
    watch: FleetWatch<'_>,
    show: &mut dyn FnMut(Event<T>) -> io::Result<()>,
) -> io::Result<()> {
    let FleetWatch { progress, is_interrupted } = watch;
    let traffic = Arc::new(Traffic::default());
    let in_flight = options.in_flight.max(1);
    let window = (ALL_WINDOWS / in_flight).min(MAX_WINDOW);
    let urls = urls.filter_map(|given| Some((given.input, given.path.ok()?)));
    let list = ListOptions { recursive: options.recursive, logs: options.logs, timeout: options.timeout };
    let lister = Lister::new(urls, list, Arc::clone(&traffic));
    let mut found = pin!(unfold(lister, |mut lister| async { Some((lister.next().await?, lister)) }));
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
                if is_interrupted() {
                    is_listed = true;
                    running.clear();
                }
            }
        }
        while let Some(event) = order.next() {
            show(event)?;
        }
        if is_interrupted() && running.is_empty() {
            break;
        }
    }
    Ok(())
}
