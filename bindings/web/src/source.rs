//! A file of the browser's as a source of bytes, read in windows.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use filterblock::table::ReadAt;

/// The number of bytes to read at a time: a read costs about as much as copying a megabyte.
const WINDOW: usize = 64 << 10;
/// The most bytes to read at a time where a read goes on from the one before.
const LARGEST_WINDOW: usize = 1 << 20;
/// The size in bytes of each part of a file that is read as a whole. The usual table is one part.
const PART: usize = 4 << 20;
/// The number of windows kept of a file: more than the usual table has, because a table may be walked through twice.
const MAX_WINDOWS: usize = 8;
/// Once the windows of all files hold this number of bytes, a new window is no larger than [`WINDOW`] or what is asked
/// for, unless ranges were announced.
const MAX_HELD: usize = 32 << 20;
/// The largest gap between ranges that are read together, and between reads that count as going on.
const MAX_GAP: u64 = 4 << 10;

static ZEROS: [u8; 4 << 10] = [0; 4 << 10];

/// A reader of files, which are given by their numbers.
pub trait Host: Debug + Send + Sync {
    /// Fills `into` with the bytes of a file from `offset` on.
    ///
    /// # Errors
    ///
    /// [`StaleNetworkFileHandle`](io::ErrorKind::StaleNetworkFileHandle) if the file has changed since it was listed.
    fn read(&self, file: u32, offset: u64, into: &mut [u8]) -> io::Result<()>;
}

/// A file, given by its number.
#[derive(Debug)]
pub struct Source {
    host: Arc<dyn Host>,
    file: u32,
    len: u64,
    /// The number of bytes in the windows of all files.
    held: Arc<AtomicUsize>,
    /// True if all of the file will be read: then each of its parts is read in one large piece.
    is_whole: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Offsets in the file, and the bytes there. The window read last is at the end.
    windows: VecDeque<(u64, Bytes)>,
    /// Ranges that are each read in one piece.
    needed: Vec<Range<u64>>,
}

impl Source {
    /// The file with this number and length. `held`: the number of bytes in the windows of all files.
    pub fn new(host: Arc<dyn Host>, file: u32, len: u64, held: Arc<AtomicUsize>) -> Self {
        Self { host, file, len, held, is_whole: false, state: Mutex::default() }
    }

    /// Returns the same file, to be read as a whole if `is_whole` is true.
    #[must_use]
    pub fn whole(mut self, is_whole: bool) -> Self {
        self.is_whole = is_whole;
        self
    }

    fn read(&self, range: &Range<u64>) -> io::Result<Bytes> {
        let len = usize::try_from(range.end.saturating_sub(range.start)).map_err(io::Error::other)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len)?;
        // In code that is made small, `resize` writes byte by byte.
        while let Some(zeros) =
            ZEROS.get(..ZEROS.len().min(len - bytes.len())).filter(|zeros| !zeros.is_empty())
        {
            bytes.extend_from_slice(zeros);
        }
        self.host.read(self.file, range.start, &mut bytes)?;
        Ok(bytes.into())
    }

    /// Returns the range to read for `wanted`.
    fn around(&self, wanted: &Range<u64>, state: &State) -> Range<u64> {
        let has_room = self.held.load(Ordering::Relaxed) < MAX_HELD;
        if self.is_whole && has_room {
            let part = PART as u64;
            let start = wanted.start - wanted.start % part;
            return start..start.saturating_add(part).min(self.len).max(wanted.end);
        }
        let holds = |range: &&Range<u64>| range.start <= wanted.start && wanted.end <= range.end;
        if let Some(needed) = state.needed.iter().find(holds) {
            return needed.clone();
        }
        let goes_on = |window: &&(u64, Bytes)| {
            let end = window.0.saturating_add(window.1.len() as u64);
            window.0 <= wanted.start && wanted.start <= end.saturating_add(MAX_GAP)
        };
        let size = match state.windows.back().filter(goes_on) {
            Some((_, before)) if has_room => before.len().saturating_mul(4).clamp(WINDOW, LARGEST_WINDOW),
            _ => WINDOW,
        };
        let end = wanted.start.saturating_add(size as u64).min(self.len);
        wanted.start..end.max(wanted.end)
    }

    fn keep(&self, state: &mut State, window: (u64, Bytes)) {
        self.held.fetch_add(window.1.len(), Ordering::Relaxed);
        state.windows.push_back(window);
        if state.windows.len() > MAX_WINDOWS {
            let dropped = state.windows.pop_front().map_or(0, |(_, bytes)| bytes.len());
            self.held.fetch_sub(dropped, Ordering::Relaxed);
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        let held = self
            .state
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .windows
            .iter()
            .map(|(_, bytes)| bytes.len())
            .sum();
        self.held.fetch_sub(held, Ordering::Relaxed);
    }
}

impl filterblock_engine::Source for Source {}

impl ReadAt for Source {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        let end = offset.checked_add(len as u64).filter(|&end| end <= self.len);
        let Some(end) = end else {
            let message = format!("{len} bytes at offset {offset} reach beyond the end, at {}", self.len);
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
        };
        let wanted = offset..end;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = state.windows.iter().rev().find_map(|window| part(window, &wanted)) {
            return Ok(bytes);
        }
        if len > LARGEST_WINDOW {
            return self.read(&wanted);
        }
        let boundary = end - end % PART as u64;
        if self.is_whole && (offset + 1..end).contains(&boundary) {
            drop(state);
            let before = self.read_at(offset, (boundary - offset) as usize)?;
            let after = self.read_at(boundary, (end - boundary) as usize)?;
            return Ok([before, after].concat().into());
        }
        let around = self.around(&wanted, &state);
        let window = match self.read(&around) {
            Ok(bytes) => (around.start, bytes),
            // A part of the window that cannot be read must not hide the part asked for.
            Err(_) if around != wanted => return self.read(&wanted),
            Err(error) => return Err(error),
        };
        let found = part(&window, &wanted).ok_or(io::ErrorKind::UnexpectedEof)?;
        self.keep(&mut state, window);
        Ok(found)
    }

    fn will_need(&self, ranges: &[Range<u64>]) {
        let mut ranges: Vec<_> = ranges.iter().filter(|range| !range.is_empty()).cloned().collect();
        ranges.sort_by_key(|range| range.start);
        let mut needed: Vec<Range<u64>> = Vec::new();
        for range in ranges {
            let range = range.start..range.end.min(self.len);
            match needed.last_mut() {
                Some(last)
                    if range.start <= last.end.saturating_add(MAX_GAP)
                        && range.end.saturating_sub(last.start) <= LARGEST_WINDOW as u64 =>
                {
                    last.end = last.end.max(range.end);
                }
                _ => needed.push(range),
            }
        }
        self.state.lock().unwrap_or_else(PoisonError::into_inner).needed = needed;
    }
}

/// Returns the bytes of a range, if all of them are in the window that is given.
fn part((start, bytes): &(u64, Bytes), wanted: &Range<u64>) -> Option<Bytes> {
    let from = usize::try_from(wanted.start.checked_sub(*start)?).ok()?;
    let to = usize::try_from(wanted.end.checked_sub(*start)?).ok()?;
    (to <= bytes.len()).then(|| bytes.slice(from..to))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A host that notes the reads. Reads beyond the offset `fails` fail.
    #[derive(Debug)]
    struct Made {
        reads: Mutex<Vec<(u64, usize)>>,
        fails: u64,
    }

    fn byte(at: u64) -> u8 {
        (at / 3 % 251) as u8
    }

    impl Host for Made {
        fn read(&self, file: u32, offset: u64, into: &mut [u8]) -> io::Result<()> {
            assert_eq!(file, 7);
            self.reads.lock().unwrap().push((offset, into.len()));
            if offset + into.len() as u64 > self.fails {
                return Err(io::ErrorKind::StaleNetworkFileHandle.into());
            }
            into.iter_mut().zip(offset..).for_each(|(to, at)| *to = byte(at));
            Ok(())
        }
    }

    fn made(len: u64, fails: u64) -> (Arc<Made>, Arc<AtomicUsize>, Source) {
        let (host, held) = (Arc::new(Made { reads: Mutex::default(), fails }), Arc::default());
        let source = Source::new(Arc::clone(&host) as Arc<dyn Host>, 7, len, Arc::clone(&held));
        (host, held, source)
    }

    fn check(source: &Source, offset: u64, len: usize) {
        let expected: Vec<u8> = (offset..offset + len as u64).map(byte).collect();
        assert!(source.read_at(offset, len).unwrap() == expected, "{len} bytes at {offset}");
    }

    fn reads(host: &Made) -> Vec<(u64, usize)> {
        std::mem::take(&mut *host.reads.lock().unwrap())
    }

    #[test]
    fn a_walk_takes_few_large_reads_and_the_memory_is_given_back() {
        let len = 10 << 20;
        let (host, held, source) = made(len, u64::MAX);
        check(&source, len - 48, 48);
        (0..len - 4096).step_by(4096).for_each(|offset| check(&source, offset, 4096));
        let reads = reads(&host);
        assert!(reads.len() <= 14 && reads.iter().all(|(_, len)| *len <= LARGEST_WINDOW), "{reads:?}");
        assert!(held.load(Ordering::Relaxed) > 0);
        drop(source);
        assert_eq!(held.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn every_range_is_what_the_file_holds() {
        let len = 3 * WINDOW as u64 + 1000;
        let (_, _, source) = made(len, u64::MAX);
        let w = WINDOW as u64;
        for (offset, len) in [
            (0, 10),
            (w - 3, 6),
            (5, WINDOW),
            (w, 2 * WINDOW),
            (len, 0),
            (len - 1, 1),
            (0, len as usize),
            (2 * w, 7),
            (1, 1),
        ] {
            check(&source, offset, len);
        }
        for (offset, len) in [(len, 1), (len - 1, 2), (u64::MAX, 1), (1, usize::MAX), (u64::MAX - 3, 4)] {
            let error = source.read_at(offset, len).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{offset} {len}");
        }
    }

    #[test]
    fn reads_here_and_there_are_no_larger_than_a_window() {
        let (host, _, source) = made(100 << 20, u64::MAX);
        for megabyte in [50, 3, 90, 2, 20] {
            check(&source, megabyte << 20, 100);
        }
        // These reads are close to each other, but none goes on from the one before.
        for kilobytes in [0, 70, 140, 210] {
            check(&source, (60 << 20) + (kilobytes << 10), 100);
        }
        assert!(reads(&host).iter().all(|(_, len)| *len == WINDOW));
        check(&source, 3 << 20, 2 << 20);
        assert_eq!(reads(&host), [(3 << 20, 2 << 20)]);
    }

    #[test]
    fn of_a_whole_file_each_part_is_read_once_whatever_the_order() {
        let len = (9 << 20) + 1000;
        let (host, _, source) = made(len, u64::MAX);
        let source = source.whole(true);
        for offset in [len - 10, 4 << 20, 100, 5 << 20, 1 << 20, 7 << 20, 500, len - 500] {
            check(&source, offset, 10);
        }
        let mut found = reads(&host);
        found.sort_unstable();
        assert_eq!(found, [(0, PART), (4 << 20, PART), (8 << 20, (1 << 20) + 1000)]);
        // A range that lies in two parts is put together.
        check(&source, (4 << 20) - 5, 10);
        check(&source, (8 << 20) - 500_000, 1_000_000);
        assert_eq!(reads(&host), []);
    }

    #[test]
    fn what_will_be_needed_is_read_in_one_piece_for_each_place() {
        let (host, _, source) = made(2 << 20, u64::MAX);
        let blocks = |from: u64| (0..5).map(move |at| from + at * 4000..from + at * 4000 + 3995);
        let ranges: Vec<_> = blocks(900_000).chain(blocks(300_000)).collect();
        source.will_need(&ranges);
        for range in &ranges {
            check(&source, range.start + 3000, 5);
            check(&source, range.start, 3995);
        }
        assert_eq!(reads(&host), [(900_000, 19_995), (300_000, 19_995)]);
        // The ranges that are announced may make no sense.
        source.will_need(&[0..u64::MAX, 5..5]);
        check(&source, 1_500_000, 10);
        assert_eq!(reads(&host).len(), 1);
    }

    #[test]
    fn what_cannot_be_read_does_not_hide_what_is_before_it() {
        let (_, _, source) = made(1 << 20, 5000);
        check(&source, 100, 4900);
        let error = source.read_at(4990, 20).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StaleNetworkFileHandle);
    }

    #[test]
    fn with_many_files_the_windows_stay_small() {
        let (host, held, source) = made(10 << 20, u64::MAX);
        held.fetch_add(MAX_HELD, Ordering::Relaxed);
        (0..2 << 20).step_by(4096).for_each(|offset| check(&source, offset, 4096));
        assert!(reads(&host).iter().all(|(_, len)| *len == WINDOW));
    }
}
