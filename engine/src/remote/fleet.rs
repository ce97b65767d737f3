//! Many tables at a time: the tables that URLs lead to are read, with a limited number in flight.

use std::path::{Path, PathBuf};
use std::{io, pin::pin, sync::Arc, time::Duration};

use futures_util::StreamExt as _;
use futures_util::future::LocalBoxFuture;
use futures_util::stream::{FuturesUnordered, unfold};
use tokio::runtime::Builder;
use tokio::time::{MissedTickBehavior, interval};

use super::listing::{Lister, ListingEvent, ObjectSource, RemoteLog};
use super::reader::{Reader, RunOn};
use super::store::{Stores, Traffic};
use super::{object::Object, order::Order};
use crate::report::{Depth, ErrorKind};
use crate::run::{Event, Fetch, InputFile, ListedFolder, LogUse, Survey, Watch, other};
use crate::walk::{InputPath, OtherFile, PathError};

/// The size to aim at for the windows of all streamed tables together, in bytes.
const ALL_WINDOWS: usize = 48 << 20;
/// The maximum size of the window of a streamed table, in bytes. An individual read may be longer.
const MAX_WINDOW: usize = 4 << 20;
/// The number of results that may wait to be shown, for each table in flight.
const WAITING: usize = 4;
/// The interval at which the traffic is reported and interruptions are noticed.
const TICK: Duration = Duration::from_millis(100);

/// The options for reading tables in object storage.
#[derive(Clone, Copy, Debug)]
pub struct FleetOptions {
    /// The maximum number of tables to read simultaneously; 0 counts as 1. `None`: a number that suits the
    /// depth.
    pub in_flight: Option<usize>,
    /// If true, results are in the order of the listing, not in the order in which they arrive.
    pub ordered: bool,
    /// The time that each try of a request may take.
    pub timeout: Duration,
    /// The depth to which tables are read.
    pub depth: Depth,
}

impl Default for FleetOptions {
    fn default() -> Self {
        Self { in_flight: None, ordered: false, timeout: Duration::from_secs(30), depth: Depth::Tail }
    }
}

impl FleetOptions {
    /// The number of tables to read simultaneously. Each table that is streamed needs a thread and memory.
    fn in_flight(&self) -> usize {
        self.in_flight.unwrap_or(if self.depth == Depth::All { 16 } else { 64 }).max(1)
    }

    /// The size up to which the window of a streamed table grows, in bytes.
    fn window(&self) -> usize {
        (ALL_WINDOWS / self.in_flight()).min(MAX_WINDOW)
    }
}

/// Looks at the tables that `urls` lead to, and calls `show` with the results. Once [`Watch::is_interrupted`]
/// returns true, the run ends, and results that would have to wait for other results are not shown.
///
/// # Errors
///
/// Those of `show` and of [`Watch::requests`], or the reason why the runtime for requests cannot be built.
pub(crate) fn objects<S: Survey>(
    urls: &mut dyn Iterator<Item = InputPath>,
    recursive: bool,
    survey: &Arc<S>,
    options: FleetOptions,
    watch: &dyn Watch,
    show: &mut dyn FnMut(Event<S::Found>) -> io::Result<()>,
) -> io::Result<()> {
    watch.requests(true)?;
    // If tables are streamed, each has a thread that waits for its requests.
    let runtime =
        Builder::new_current_thread().enable_all().max_blocking_threads(options.in_flight()).build()?;
    let traffic = Arc::new(Traffic::default());
    let urls = urls.filter_map(|given| Some((given.input, given.path.ok()?)));
    let stores = Stores::new(options.timeout, Arc::clone(&traffic));
    let lister = Lister::new(urls, recursive, survey.logs(), stores);
    let (running, order) = (FuturesUnordered::new(), Order::new(options.ordered));
    let mut fleet = Fleet { survey, options, watch, traffic, running, order };
    let result = runtime.block_on(fleet.fly(lister, show));
    drop(fleet);
    runtime.shutdown_background();
    watch.requests(false)?;
    result
}

/// The outcome for a table: the number under which it was announced, and the event to show, if there is one.
type Done<T> = (u64, Option<Event<T>>);

/// The tables in flight.
struct Fleet<'a, S: Survey> {
    survey: &'a Arc<S>,
    options: FleetOptions,
    watch: &'a dyn Watch,
    traffic: Arc<Traffic>,
    running: FuturesUnordered<LocalBoxFuture<'a, Done<S::Found>>>,
    order: Order<Option<Event<S::Found>>>,
}

impl<S: Survey> Fleet<'_, S> {
    async fn fly(
        &mut self,
        lister: Lister<impl Iterator<Item = (Arc<Path>, PathBuf)>>,
        show: &mut dyn FnMut(Event<S::Found>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut found = pin!(unfold(lister, |mut lister| async { Some((lister.next().await?, lister)) }));
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let in_flight = self.options.in_flight();
        let mut is_listed = false;
        while !(is_listed && self.running.is_empty() && self.order.len() == 0) {
            let has_room = self.running.len() < in_flight && self.order.len() < in_flight * WAITING;
            tokio::select! {
                Some((number, event)) = self.running.next(), if !self.running.is_empty() => {
                    self.watch.add(1);
                    self.order.put(number, event);
                }
                next = found.next(), if has_room && !is_listed => match next {
                    None => {
                        is_listed = true;
                        self.watch.expect(0, true);
                    }
                    Some(found) => self.found(found),
                },
                _ = tick.tick() => {
                    let (requests, bytes) = self.traffic.so_far();
                    self.watch.fetched(bytes, requests);
                    if self.watch.is_interrupted() {
                        is_listed = true;
                        self.running.clear();
                    }
                }
            }
            while let Some(event) = self.order.next() {
                event.map_or(Ok(()), &mut *show)?;
            }
            if self.watch.is_interrupted() && self.running.is_empty() {
                break;
            }
        }
        Ok(())
    }

    fn found(&mut self, found: ListingEvent) {
        match found {
            ListingEvent::Failed { input, path, error } => {
                let target = InputFile { input, path, listed: false, folder: None, around: None, tables: 0 };
                self.order.mark(Some(Event::Failed { target, error }));
            }
            ListingEvent::Begin(place, logs, passed_over) => self.begin(place, logs, passed_over),
            ListingEvent::Skipped(target, error) => self.order.mark(Some(Event::Failed { target, error })),
            ListingEvent::End(place) => self.order.mark(Some(Event::End(place))),
            ListingEvent::Table(target, source) => {
                if !target.listed {
                    self.watch.expect(1, false);
                }
                let number = self.order.announce();
                let (survey, options) = (self.survey, self.options);
                let look = async move { (number, table(survey, target, source, options).await) };
                self.running.push(Box::pin(look));
            }
        }
    }

    fn begin(
        &mut self,
        place: ListedFolder,
        mut logs: Vec<RemoteLog>,
        passed_over: Vec<(PathBuf, PathError)>,
    ) {
        let uses = self.survey.logs();
        if uses == LogUse::Named {
            // The writes of a log that is gone are in a table by now.
            let is_gone = |error: &PathError| error.kind() == ErrorKind::Vanished;
            logs.retain(|(_, contents)| !contents.as_ref().is_err_and(is_gone));
        }
        self.watch.expect(place.folder.tables().count() as u64, false);
        let failed =
            logs.iter().filter_map(|(path, contents)| Some((path.clone(), contents.as_ref().err()?.clone())));
        let unread = if uses == LogUse::Named { failed.collect() } else { Vec::new() };
        let paths = logs.iter().map(|(path, _)| path.clone()).collect();
        let begin = Event::Begin { place: place.clone(), logs: paths, unread, passed_over };
        self.order.mark(Some(begin));
        for (path, contents) in logs {
            let target = place.target(path);
            let kind = OtherFile::Log;
            let found = contents.map(|contents| self.survey.other(kind, &target, &mut &contents[..]));
            let Some(result) = found.transpose() else { continue };
            if uses.reads() {
                self.order.mark(Some(Event::Other { kind, target, result }));
            }
        }
    }
}

/// Looks at a table. `None` if the table was listed and the survey does not want it.
async fn table<S: Survey>(
    survey: &Arc<S>,
    target: InputFile,
    source: ObjectSource,
    options: FleetOptions,
) -> Option<Event<S::Found>> {
    let depth = options.depth;
    let fetch = survey.wants(&target, depth);
    if fetch == Fetch::Nothing && target.listed {
        return None;
    }
    let object = match source {
        ObjectSource::Listed(object) => Ok(object),
        ObjectSource::Named(place) => Object::named(&place).await,
    };
    let (fetched, result) = match object {
        Ok(object) => {
            // A log or a MANIFEST is recognized by its contents, but only if its name is not that of a table.
            if !target.listed
                && OtherFile::is_named(&target.path)
                && let Ok(contents) = object.get(0..object.size()).await
                && let Some(event) = other(&**survey, &target, &contents)
            {
                return Some(event);
            }
            let reader = Reader::new(object, options.window());
            let result = look(&reader, survey, &target, fetch, depth).await;
            (Some(reader.fetched(depth)), result)
        }
        Err(error) => (None, Err(error)),
    };
    Some(Event::Table { target, fetched, result })
}

/// Fetches the parts that the survey wants, and lets it look at the table.
async fn look<S: Survey>(
    reader: &Reader,
    survey: &Arc<S>,
    target: &InputFile,
    fetch: Fetch,
    depth: Depth,
) -> Result<S::Found, PathError> {
    let (looking, of) = (Arc::clone(survey), target.clone());
    let found = if fetch == Fetch::All {
        reader.stream(move |source| looking.table(&of, source, Some(depth), &())).await?
    } else {
        reader.tail().await?;
        if fetch == Fetch::Sample {
            reader.sample(survey.options()).await?;
        }
        // Looking at the end of a table takes less time than handing it to another thread.
        let work = if depth == Depth::Tail { RunOn::Here } else { RunOn::Apart };
        reader.ask(work, move |source| looking.table(&of, source, Some(depth), &())).await?
    };
    Ok(found.unwrap_or_else(|error| survey.failed(&error)))
}
