//! A scan that advances one step whenever its owner asks for it.

use std::fmt::{self, Debug};
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use super::range::{ScanOutcome, ScanRequest};
use crate::engine::{Engine, Sink};
use crate::report::ScanLine;
use crate::walk::Inputs;

/// A scan between two steps. It occupies no thread, and may move from one thread to another.
pub struct ScanSteps {
    /// `None` once the scan has ended.
    work: Option<Pin<Box<dyn Future<Output = io::Result<ScanOutcome>> + Send>>>,
}

impl ScanSteps {
    /// Continues until the sink [wants a pause](Sink::wants_pause) or a few thousand entries are skipped.
    /// Returns the outcome at the end, once.
    pub fn step(&mut self) -> Option<io::Result<ScanOutcome>> {
        let work = self.work.as_mut()?;
        match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => {
                self.work = None;
                Some(outcome)
            }
            Poll::Pending => None,
        }
    }

    /// Returns true once the outcome has been returned.
    pub const fn has_ended(&self) -> bool {
        self.work.is_none()
    }
}

impl Debug for ScanSteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScanSteps").field("has_ended", &self.has_ended()).finish()
    }
}

impl Engine {
    /// Does the work of [`scan`](Self::scan) in steps, one for each call of [`ScanSteps::step`].
    pub fn scan_steps<S>(&self, inputs: Inputs, request: ScanRequest, mut sink: S) -> ScanSteps
    where
        S: for<'a> Sink<ScanLine<'a>> + Send + 'static,
    {
        let engine = self.clone();
        let work = async move { engine.scan_pausing(inputs, &request, &mut sink).await };
        ScanSteps { work: Some(Box::pin(work)) }
    }
}

pub(super) fn pause() -> impl Future<Output = ()> + Send {
    let mut has_paused = false;
    std::future::poll_fn(move |_| match std::mem::replace(&mut has_paused, true) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
}

/// Runs work to its end, without pausing.
pub(super) fn finish<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(result) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return result;
        }
    }
}

// The tests read databases of the repository.
#[cfg(in_repository)]
#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::mpsc::{Sender, channel};

    use super::*;
    use crate::report::Row;

    /// Sends what it gets, and wants a pause after each line.
    struct Every(Sender<(bool, String)>);

    /// Returns true if the line is an entry, otherwise false, and the text of the line.
    fn told(line: &ScanLine<'_>) -> (bool, String) {
        let text = match line {
            ScanLine::Entry(_, Row { path, offset, state, key, version, value, .. }) => {
                format!("{} {offset} {state:?} {key:?} {version:?} {value:?}", path.display())
            }
            ScanLine::Fault(subject, fault) | ScanLine::State(subject, _, fault) => {
                format!("{} {fault:?}", subject.path.display())
            }
            ScanLine::End(subject, entries) => format!("{} {entries}", subject.path.display()),
        };
        (matches!(line, ScanLine::Entry(..)), text)
    }

    impl Sink<ScanLine<'_>> for Every {
        fn line(&mut self, line: ScanLine<'_>) -> io::Result<()> {
            self.0.send(told(&line)).map_err(|_| io::ErrorKind::BrokenPipe.into())
        }

        fn wants_pause(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_scan_in_steps_gives_an_entry_a_step_and_in_all_what_one_in_one_go_gives() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
        for (name, carve) in [("databases/levels", false), ("databases/levels", true), ("tables", false)] {
            let inputs = || Inputs { paths: vec![data.join(name)], ..Inputs::default() };
            let request = ScanRequest { all: true, carve, limit: Some(2000), ..ScanRequest::default() };
            let mut expected = Vec::new();
            let whole = Engine::new().scan(inputs(), &request, &mut |line: ScanLine<'_>| {
                expected.push(told(&line));
                Ok(())
            });
            let (sender, receiver) = channel();
            let mut steps = Engine::new().scan_steps(inputs(), request, Every(sender));
            let (mut found, mut longest) = (Vec::new(), 0);
            let outcome = loop {
                let outcome = steps.step();
                let before = found.len();
                found.extend(receiver.try_iter());
                longest = longest.max(found[before..].iter().filter(|(is_entry, _)| *is_entry).count());
                if let Some(outcome) = outcome {
                    break outcome.unwrap();
                }
            };
            assert_eq!(found, expected, "{name}");
            assert_eq!(format!("{outcome:?}"), format!("{:?}", whole.unwrap()));
            assert!(longest == 1 && expected.len() > 300, "{longest}");
            assert!(steps.has_ended() && steps.step().is_none());
        }
    }

    #[test]
    fn a_step_ends_behind_some_thousand_entries_that_are_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = filterblock::database::LogWriter::new(Vec::new());
        for number in 0..10_000_u64 {
            let batch = [&number.to_le_bytes()[..], &[1, 0, 0, 0, 1, 1, b'k', 1, b'v']].concat();
            log.add_record(&batch).unwrap();
        }
        let path = folder.path().join("000003.log");
        std::fs::write(&path, log.into_writer()).unwrap();
        let inputs = Inputs { paths: vec![path], ..Inputs::default() };
        let range = crate::KeyRange { prefix: Some(b"other".to_vec()), ..crate::KeyRange::default() };
        let (sender, receiver) = channel();
        let mut steps =
            Engine::new().scan_steps(inputs, ScanRequest { range, ..ScanRequest::default() }, Every(sender));
        let count = (1..).find(|_| steps.step().is_some()).unwrap();
        assert_eq!((count, receiver.try_iter().count()), (3, 1));
    }
}
