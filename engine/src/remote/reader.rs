//! Reading one table: its end with one request, and the rest as needed, in rounds of few requests.

use std::{io, iter::once, ops::Range, panic, sync::Arc};

use bytes::Bytes;
use filterblock::Error;
use filterblock::table::{FetchedRanges, ReadAt, ReadOptions, Table};
use futures_util::future::try_join_all;
use tokio::{runtime::Handle, task::spawn_blocking};

use super::{object::Object, stream::Stream};
use crate::audit::file_type::SALVAGED;
use crate::audit::stats::{Blocks, Clusters};
use crate::report::{Depth, ErrorKind, Fetched};
use crate::walk::PathError;

/// The number of bytes to read from the end. Opening most tables needs no more.
const TAIL: u64 = 64 << 10;
/// Ranges that are no further apart than this are fetched with one request.
const MAX_GAP: u64 = 64 << 10;
/// The maximum number of bytes of a range that has to be in memory completely.
const MAX_RANGE: u64 = 256 << 20;
/// The maximum number of rounds. Each round fetches something new, and no table is known to need more than
/// four.
const MAX_ROUNDS: u32 = 32;

/// The thread that does the work on the fetched bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RunOn {
    /// The thread that waits for the requests: for work of less than a millisecond.
    Here,
    /// Another thread.
    Apart,
}

/// One table, and the ranges of it that have been fetched.
pub(super) struct Reader {
    object: Arc<Object>,
    ranges: Arc<FetchedRanges>,
    /// The size up to which the window of a streamed table grows, in bytes.
    window: usize,
}

/// The ranges of a table that have been fetched.
pub(super) struct Known(Arc<FetchedRanges>);

impl ReadAt for Known {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        // The start of a damaged table is not fetched to count its entries, unless the start is the whole
        // table.
        if offset == 0 && len as u64 == SALVAGED && self.0.len()? > SALVAGED {
            return Err(io::Error::other("not fetched"));
        }
        self.0.read_at(offset, len)
    }
}

impl Reader {
    pub(super) fn new(object: Object, window: usize) -> Self {
        let ranges = Arc::new(FetchedRanges::new(object.size(), 0, Bytes::new()));
        Self { object: Arc::new(object), ranges, window }
    }

    /// The cost of reading so far.
    pub(super) fn fetched(&self, depth: Depth) -> Fetched {
        self.object.fetched(depth)
    }

    /// Fetches the end of the table.
    pub(super) async fn tail(&self) -> Result<(), PathError> {
        let size = self.object.size();
        self.fetch(once(size.saturating_sub(TAIL)..size)).await
    }

    /// Fetches the data blocks that [`Depth::Sample`] looks at, in one round. If the table cannot be
    /// opened or its blocks cannot be listed, no block is fetched.
    pub(super) async fn sample(&self, options: &ReadOptions) -> Result<(), PathError> {
        let size = self.object.size();
        let options = options.clone();
        let choose = move |source: &Known| {
            let table = Table::open(source, &options)?;
            let blocks = Blocks::list(&table)?;
            Ok(Clusters::choose(&table, &blocks).ranges(size))
        };
        match self.ask(RunOn::Here, choose).await? {
            Ok(ranges) => self.fetch(ranges).await,
            Err(_) => Ok(()),
        }
    }

    /// Calls `question` until it has an answer. After each call without an answer, the range that `question`
    /// needs is fetched.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        work: RunOn,
        question: impl Fn(&Known) -> Result<T, Error> + Send + Sync + 'static,
    ) -> Result<Result<T, Error>, PathError> {
        let question = Arc::new(question);
        for _ in 0..MAX_ROUNDS {
            let known = Known(Arc::clone(&self.ranges));
            let answer = match work {
                RunOn::Here => question(&known),
                RunOn::Apart => {
                    let question = Arc::clone(&question);
                    joined(spawn_blocking(move || question(&known)).await)?
                }
            };
            match answer.as_ref().map_err(Error::without_path) {
                Err(&Error::NeedRange { offset, len }) => {
                    let end = offset.saturating_add(len as u64);
                    if len as u64 > MAX_RANGE {
                        let message =
                            format!("expected ranges of up to {MAX_RANGE} bytes, found one of {len}");
                        return Err(PathError::failed(ErrorKind::Unsupported, message));
                    }
                    self.fetch(once(offset..end)).await?;
                }
                _ => return Ok(answer),
            }
        }
        let message = format!("expected up to {MAX_ROUNDS} rounds of requests, found more");
        Err(PathError::failed(ErrorKind::Unsupported, message))
    }

    /// Calls `question` with the whole table, of which only a part is in memory at a time.
    pub(super) async fn stream<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Stream) -> Result<T, Error> + Send + 'static,
    ) -> Result<Result<T, Error>, PathError> {
        let stream = Stream::new(Arc::clone(&self.object), Handle::current(), self.window);
        let answer = spawn_blocking(move || {
            let answer = question(&stream);
            // If bytes could not be fetched, the answer says nothing about the table.
            stream.into_failure().map_or(Ok(answer), Err)
        });
        joined(answer.await)?
    }

    /// Fetches the ranges that are not there yet, in one round and with as few requests as the gaps allow.
    async fn fetch(&self, ranges: impl IntoIterator<Item = Range<u64>>) -> Result<(), PathError> {
        let is_known = |range: &Range<u64>| {
            let len = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
            self.ranges.read_at(range.start, len).is_ok()
        };
        let missing = ranges.into_iter().filter(|range| !range.is_empty() && !is_known(range));
        let requests = merged(missing.collect()).into_iter().map(|range| async move {
            let bytes = self.object.get(range.clone()).await?;
            self.ranges.insert(range.start, bytes);
            Ok(())
        });
        try_join_all(requests).await.map(drop)
    }
}

fn joined<T>(result: Result<T, tokio::task::JoinError>) -> Result<T, PathError> {
    result.map_err(|error| match error.try_into_panic() {
        Ok(cause) => panic::resume_unwind(cause),
        Err(_) => PathError::failed(ErrorKind::Unreadable, "given up"),
    })
}

/// Merges ranges that overlap or have only small gaps between them.
fn merged(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(MAX_GAP) => {
                last.end = last.end.max(range.end)
            }
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_with_small_gaps_are_merged() {
        let merged = |ranges: &[(u64, u64)]| {
            let merged = merged(ranges.iter().map(|&(start, end)| start..end).collect());
            merged.into_iter().map(|range| (range.start, range.end)).collect::<Vec<_>>()
        };
        let gap = MAX_GAP;
        assert_eq!(merged(&[(10, 20), (0, 5)]), [(0, 20)]);
        assert_eq!(merged(&[(0, 5), (5 + gap, 7 + gap), (100, 200)]), [(0, 7 + gap)]);
        assert_eq!(merged(&[(0, 5), (6 + gap, 7 + gap)]), [(0, 5), (6 + gap, 7 + gap)]);
        assert_eq!(merged(&[(0, 50), (10, 20)]), [(0, 50)]);
        assert_eq!(merged(&[]), []);
    }
}
