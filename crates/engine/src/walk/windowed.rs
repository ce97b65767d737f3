//! Sources that are read in order: with windows that grow, and from the start to the end.

use std::fmt::{self, Debug};
use std::io::{self, Read};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use filterblock::table::ReadAt;

/// A source for one reader. A read that begins where the last one ended reads ahead as many bytes as were read in
/// order before it, up to a maximum. So at most twice the bytes that are asked for are read.
pub struct Windowed<R> {
    source: R,
    most: usize,
    run: Mutex<Run>,
}

#[derive(Default)]
struct Run {
    /// The end of the last read.
    end: u64,
    /// The number of bytes that were asked for in order.
    len: usize,
    /// The bytes that were read ahead, with their offset.
    window: (u64, Vec<u8>),
}

impl<R> Windowed<R> {
    /// Wraps `source`, of which nothing has been read. `most`: the most bytes that are read at once beyond what is asked
    /// for; 0: never more than that.
    pub fn new(source: R, most: usize) -> Self {
        Self { source, most, run: Mutex::default() }
    }

    /// Returns the wrapped source.
    pub const fn source(&self) -> &R {
        &self.source
    }
}

impl<R: ReadAt> Windowed<R> {
    /// How many bytes to read at once: `before`, up to the maximum and the source's end. `None`: no more than `len`.
    fn ahead(&self, offset: u64, len: usize, before: usize) -> Option<usize> {
        let most = before.min(self.most);
        if most <= len {
            return None;
        }
        let left = self.source.len().ok()?.saturating_sub(offset);
        Some(most.min(usize::try_from(left).unwrap_or(most))).filter(|&ahead| ahead > len)
    }
}

impl<R: ReadAt> ReadAt for Windowed<R> {
    fn len(&self) -> io::Result<u64> {
        self.source.len()
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        let before = if offset == run.end { run.len } else { 0 };
        (run.end, run.len) = (offset.saturating_add(len as u64), before.saturating_add(len));
        // A copy is given away, so that blocks that are kept keep no windows in memory.
        if let Some(bytes) = part(&run.window, offset, len) {
            return Ok(Bytes::copy_from_slice(bytes));
        }
        let Some(ahead) = self.ahead(offset, len, before) else { return self.source.read_at(offset, len) };
        let (start, window) = &mut run.window;
        *start = offset;
        window.resize(ahead, 0);
        match self.source.read_into(offset, window) {
            Ok(()) => Ok(Bytes::copy_from_slice(window.get(..len).unwrap_or_default())),
            // A part that cannot be read must not hide the part asked for, which is then read alone.
            Err(_) => {
                window.clear();
                self.source.read_at(offset, len)
            }
        }
    }

    fn slice_at(&self, offset: u64, len: usize) -> Option<&[u8]> {
        self.source.slice_at(offset, len)
    }

    fn will_need(&self, ranges: &[Range<u64>]) {
        self.source.will_need(ranges);
    }
}

impl<R: Debug> Debug for Windowed<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Windowed").field("source", &self.source).finish_non_exhaustive()
    }
}

/// The bytes at `offset`, if they are all in a window, which is given by its offset and its bytes.
fn part((start, bytes): &(u64, Vec<u8>), offset: u64, len: usize) -> Option<&[u8]> {
    let start = usize::try_from(offset.checked_sub(*start)?).ok()?;
    bytes.get(start..start.checked_add(len)?)
}

/// The contents of a source, from its start.
#[derive(Debug)]
pub struct Sequential<R> {
    source: R,
    at: u64,
}

impl<R: ReadAt> Sequential<R> {
    /// Reads `source` from its start.
    pub const fn new(source: R) -> Self {
        Self { source, at: 0 }
    }
}

impl<R: ReadAt> Read for Sequential<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.source.len()?.saturating_sub(self.at);
        let len = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        self.source.read_into(self.at, buffer.get_mut(..len).unwrap_or_default())?;
        self.at = self.at.saturating_add(len as u64);
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 64 << 10;

    /// Bytes in memory, with the ranges that were read. Bytes from `bad` on cannot be read.
    struct Told {
        bytes: Vec<u8>,
        bad: usize,
        reads: Mutex<Vec<Range<usize>>>,
    }

    impl Told {
        fn new(len: usize, bad: usize) -> Windowed<Self> {
            let bytes = (0..len).map(|at| (at / 7 % 251) as u8).collect();
            Windowed::new(Self { bytes, bad, reads: Mutex::default() }, MOST)
        }
    }

    impl ReadAt for Told {
        fn len(&self) -> io::Result<u64> {
            Ok(self.bytes.len() as u64)
        }

        fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
            let start = usize::try_from(offset).map_err(io::Error::other)?;
            let range = start..start.checked_add(len).ok_or(io::ErrorKind::UnexpectedEof)?;
            self.reads.lock().unwrap().push(range.clone());
            if range.end > self.bad {
                return Err(io::Error::other("bad"));
            }
            self.bytes
                .get(range)
                .map(Bytes::copy_from_slice)
                .ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
        }
    }

    fn check(source: &Windowed<Told>, offset: usize, len: usize) {
        let read = source.read_at(offset as u64, len).ok();
        let end = offset.checked_add(len).filter(|&end| end <= source.source.bad);
        assert_eq!(
            read.as_deref(),
            end.and_then(|end| source.source.bytes.get(offset..end)),
            "{offset} {len}"
        );
    }

    #[test]
    fn more_and_more_is_read_in_order_and_never_more_than_twice_what_is_asked_for() {
        let len = 1 << 20;
        let source = Told::new(len, len);
        for at in 0..1000 {
            check(&source, at * 1000, 1000);
            let read: usize = source.source.reads.lock().unwrap().iter().map(Range::len).sum();
            assert!(read <= 2000 * (at + 1), "{read} bytes for {}", 1000 * (at + 1));
        }
        let reads = source.source.reads.lock().unwrap();
        assert!(reads.len() < 30 && reads.iter().all(|read| read.len() <= MOST), "{reads:?}");
    }

    #[test]
    fn reads_that_are_not_in_order_are_left_alone() {
        let source = Told::new(100_000, 100_000);
        let asked = [(50_000, 100), (40_000, 100), (30_000, 100), (30_050, 100), (30_149, 100), (0, 10)];
        asked.iter().for_each(|&(offset, len)| check(&source, offset, len));
        let expected: Vec<_> = asked.iter().map(|&(offset, len)| offset..offset + len).collect();
        assert_eq!(*source.source.reads.lock().unwrap(), expected);
    }

    #[test]
    fn what_is_read_is_what_the_source_holds_up_to_where_it_cannot_be_read() {
        for bad in [90_001, 100_000] {
            let source = Told::new(100_000, bad);
            for start in [0, 70_000, 99_000, 3] {
                let mut at = start;
                for len in [10, 1, 0, 9, 700, 4000, 4000, 20_000, 5, 1000, 70_000, 1000].repeat(3) {
                    check(&source, at, len);
                    at += len;
                }
            }
            check(&source, usize::MAX, 1);
        }
    }
}
