//! A scan that goes on step by step, whenever its owner says so.

use std::fmt::{self, Debug};
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use super::request::{ScanOutcome, ScanRequest};
use crate::engine::{Engine, Sink};
use crate::report::ScanLine;
use crate::walk::Inputs;

/// A scan between two steps. It takes no thread, and may go from one thread to another.
pub struct ScanSteps {
    /// `None` once it has ended.
    work: Option<Pin<Box<dyn Future<Output = io::Result<ScanOutcome>> + Send>>>,
}

impl ScanSteps {
    /// Goes on until the sink [wants a pause](Sink::wants_pause), or until some thousand entries were passed over.
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

    /// Returns true once the outcome was returned.
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
    /// Does what [`scan`](Self::scan) does, as far as the returned object is told to go.
    pub fn scan_steps<S>(&self, inputs: Inputs, request: ScanRequest, mut sink: S) -> ScanSteps
    where
        S: for<'a> Sink<ScanLine<'a>> + Send + 'static,
    {
        let engine = self.clone();
        let work = async move { engine.scan_pausing(inputs, &request, &mut sink).await };
        ScanSteps { work: Some(Box::pin(work)) }
    }
}

/// Pauses the work once.
pub(super) fn pause() -> impl Future<Output = ()> + Send {
    let mut has_paused = false;
    std::future::poll_fn(move |_| match std::mem::replace(&mut has_paused, true) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
}

/// Does work without pauses.
pub(super) fn finish<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(result) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return result;
        }
    }
}
