//! The arguments of commands that read from object storage, and the way of their URLs.

use std::io;
use std::iter::Peekable;
use std::time::Duration;

use clap::Args;

use crate::io::interrupt::Deferred;
use crate::io::progress::FleetProgress;
use filterblock_engine::remote::fleet::{Event, FleetOptions, FleetWatch, LogUse, Target, run};
use filterblock_engine::remote::reader::Reader;
use filterblock_engine::report::fetched::Depth;
use filterblock_engine::walk::input::PathError;
use filterblock_engine::walk::paths::Given;
use filterblock_engine::walk::url;

/// The tables to read at once if nothing is said. Those that are streamed need a thread and memory
/// each.
const IN_FLIGHT: u16 = 64;
const STREAMS_IN_FLIGHT: u16 = 16;

#[derive(Args)]
pub(super) struct RemoteArguments {
    /// Number of tables in object storage to read at once; 64 if not given, and 16 if they are read
    /// to their ends
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=1024))]
    in_flight: Option<u16>,
    /// Show tables in object storage in the order of the listing, not as their results come
    #[arg(long)]
    ordered: bool,
    /// The time in seconds that a request to object storage may take before it is made once more
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "30")]
    timeout: Duration,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| (0.001..=3600.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "expected 0.001 to 3600 seconds".to_owned())
}

impl RemoteArguments {
    pub(super) fn options(&self, depth: Depth, logs: LogUse, recursive: bool) -> FleetOptions {
        let usual = if depth == Depth::All { STREAMS_IN_FLIGHT } else { IN_FLIGHT };
        FleetOptions {
            in_flight: self.in_flight.unwrap_or(usual).into(),
            ordered: self.ordered,
            timeout: self.timeout,
            recursive,
            logs,
            depth,
        }
    }
}

/// Reads the tables that `urls` lead to with `survey`, and calls `show` with the results. A signal ends the program
/// once those that are there are shown.
pub(super) fn fly<T, F: Future<Output = (Reader, Result<T, PathError>)>>(
    urls: impl Iterator<Item = Given>,
    options: &FleetOptions,
    shows_progress: bool,
    survey: impl Fn(Reader, Target) -> F,
    show: &mut dyn FnMut(Event<T>) -> io::Result<()>,
) -> io::Result<()> {
    let deferred = Deferred::begin()?;
    let progress = FleetProgress::new(shows_progress);
    let watch = FleetWatch { progress: &progress, is_interrupted: &|| deferred.is_requested() };
    run(urls, options, survey, watch, &mut |event| progress.suspend(|| show(event)))
}

/// Paths of files or URLs of objects, as many of one kind as follow each other.
pub(super) enum Stretch<T> {
    Files(T),
    Objects(T),
}

/// The next stretch of `given`. What is left of it is passed over by the next call.
pub(super) fn next_stretch<I: Iterator<Item = Given>>(
    given: &mut Peekable<I>,
) -> Option<Stretch<impl Iterator<Item = Given>>> {
    let is_remote = |given: &Given| given.path.as_ref().is_ok_and(|path| url::is_remote(path));
    let is_first_remote = is_remote(given.peek()?);
    let stretch = std::iter::from_fn(move || given.next_if(|next| is_remote(next) == is_first_remote));
    Some(if is_first_remote { Stretch::Objects(stretch) } else { Stretch::Files(stretch) })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn files_and_objects_come_in_stretches() {
        let given = |path: &&str| Given { input: PathBuf::from(path).into(), path: Ok(PathBuf::from(path)) };
        let paths = ["a", "s3://b/c", "gs://d", "e", "f"];
        let mut paths = paths.iter().map(given).peekable();
        let mut found = Vec::new();
        while let Some(stretch) = next_stretch(&mut paths) {
            found.push(match stretch {
                Stretch::Files(files) => ("files", files.count()),
                Stretch::Objects(objects) => ("objects", objects.count()),
            });
        }
        assert_eq!(found, [("files", 1), ("objects", 2), ("files", 2)]);
    }

    #[test]
    fn times_are_seconds() {
        assert_eq!(seconds("0.25"), Ok(Duration::from_millis(250)));
        for wrong in ["", "0", "-1", "NaN", "inf", "1s", "3601"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
