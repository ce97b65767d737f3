//! Parts of a file that were fetched beforehand, for callers that cannot block.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};
use std::{fmt, io};

use bytes::Bytes;

use super::{ReadAt, beyond_end};
use crate::Error;

/// Parts of a file that have been fetched: usually the file's end, and other parts as needed.
///
/// Reading never waits for the file. A range within one part is returned without a copy. If bytes
/// are missing, the error is [`Error::NeedRange`]: an asynchronous caller fetches the range that the
/// error names, [inserts](FetchedRanges::insert) it and tries again, with the same table or
/// [`Cursor`](crate::table::Cursor). Requests only bytes that are missing.
///
/// ```
/// use bytes::Bytes;
/// use filterblock::Error;
/// use filterblock::table::{FetchedRanges, ReadAt};
///
/// let fetched = FetchedRanges::new(10, 6, Bytes::from("6789"));
/// assert_eq!(fetched.read_at(7, 2)?, "78");
/// let error = fetched.read_at(4, 4).unwrap_err().downcast::<Error>()?;
/// assert!(matches!(error, Error::NeedRange { offset: 4, len: 2 }));
/// fetched.insert(4, Bytes::from("45"));
/// assert_eq!(fetched.read_at(4, 4)?, "4567");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct FetchedRanges {
    file_len: u64,
    parts: RwLock<Parts>,
}

/// Parts by their offset. No part is empty, overlaps another part, or ends beyond 2^64 - 1.
#[derive(Clone, Default)]
struct Parts(BTreeMap<u64, Bytes>);

impl FetchedRanges {
    /// Returns a source that holds `bytes`, which start at `offset` of a file of `file_len` bytes.
    ///
    /// `bytes` may be empty: the error of the first read then names the range to fetch. By default,
    /// [`Table::open`](crate::table::Table::open) reads the last 64 KiB, which is all that it
    /// needs of most tables.
    pub fn new(file_len: u64, offset: u64, bytes: Bytes) -> Self {
        let fetched = Self { file_len, parts: RwLock::default() };
        fetched.insert(offset, bytes);
        fetched
    }

    /// Adds `bytes`, which start at `offset` of the file. Bytes that are already there are kept.
    /// Bytes beyond the end of the file are ignored.
    ///
    /// Tables and cursors that read from this source may be in use at the same time.
    pub fn insert(&self, offset: u64, mut bytes: Bytes) {
        bytes.truncate(to_usize(self.file_len.saturating_sub(offset)));
        self.parts.write().unwrap_or_else(PoisonError::into_inner).insert(offset, bytes);
    }

    /// Forgets all parts. An open table keeps its index and its filters itself.
    pub fn clear(&self) {
        self.parts.write().unwrap_or_else(PoisonError::into_inner).0.clear();
    }
}

impl Parts {
    fn insert(&mut self, offset: u64, mut bytes: Bytes) {
        let mut at = offset;
        while !bytes.is_empty() {
            let known = self.at(at).map(|known| known.len());
            let gap = || to_usize(self.gap_end(at, u64::MAX).saturating_sub(at));
            let part = bytes.split_to(known.unwrap_or_else(gap).min(bytes.len()));
            debug_assert!(!part.is_empty(), "each step takes something");
            let end = at.saturating_add(part.len() as u64);
            if known.is_none() {
                self.0.insert(at, part);
            }
            at = end;
        }
    }

    /// The known bytes from `offset` to the end of the part that holds it.
    fn at(&self, offset: u64) -> Option<Bytes> {
        let (&start, part) = self.0.range(..=offset).next_back()?;
        let skip = usize::try_from(offset.checked_sub(start)?).ok()?;
        (skip < part.len()).then(|| part.slice(skip..))
    }

    /// The start of the next part at or after `offset`, but at most `end`.
    fn gap_end(&self, offset: u64, end: u64) -> u64 {
        self.0.range(offset..).next().map_or(end, |(&start, _)| start.min(end))
    }
}

/// Converts a length to `usize`, saturating: no bytes in memory are longer than `usize::MAX`.
fn to_usize(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}

impl ReadAt for FetchedRanges {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file_len)
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        let end = offset
            .checked_add(len as u64)
            .filter(|&end| end <= self.file_len)
            .ok_or_else(|| beyond_end(offset, len, self.file_len))?;
        let known = self.parts.read().unwrap_or_else(PoisonError::into_inner);
        let first = known.at(offset).unwrap_or_default();
        if first.len() >= len {
            return Ok(first.slice(..len));
        }

        // All parts are looked up first, so that no buffer is allocated for a range with gaps.
        let (mut parts, mut at) = (Vec::new(), offset);
        while at < end {
            let Some(part) = known.at(at) else {
                let missing = to_usize(known.gap_end(at, end).saturating_sub(at));
                return Err(io::Error::other(Error::NeedRange { offset: at, len: missing }));
            };
            at = at.saturating_add(part.len() as u64);
            parts.push(part);
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len)?;
        for part in parts {
            let wanted = part.len().min(len.saturating_sub(bytes.len()));
            bytes.extend_from_slice(part.get(..wanted).unwrap_or_default());
        }
        debug_assert_eq!(bytes.len(), len, "the parts follow each other");
        Ok(bytes.into())
    }
}

impl Clone for FetchedRanges {
    /// Copies no bytes.
    fn clone(&self) -> Self {
        let parts = self.parts.read().unwrap_or_else(PoisonError::into_inner).clone();
        Self { file_len: self.file_len, parts: RwLock::new(parts) }
    }
}

impl fmt::Debug for FetchedRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = &self.parts.read().unwrap_or_else(PoisonError::into_inner).0;
        let fetched: usize = parts.values().map(Bytes::len).sum();
        f.debug_struct("FetchedRanges")
            .field("file_len", &self.file_len)
            .field("parts", &parts.len())
            .field("fetched", &fetched)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &[u8; 20] = b"abcdefghijklmnopqrst";

    fn part(range: std::ops::Range<usize>) -> Bytes {
        Bytes::from_static(&FILE[range])
    }

    /// The range that `read_at` needs.
    fn missing(fetched: &FetchedRanges, offset: u64, len: usize) -> (u64, usize) {
        match fetched.read_at(offset, len).unwrap_err().downcast::<Error>() {
            Ok(Error::NeedRange { offset, len }) => (offset, len),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn asks_for_the_first_gap_only() {
        let fetched = FetchedRanges::new(20, 16, part(16..20));
        fetched.insert(8, part(8..10));
        assert_eq!(missing(&fetched, 0, 20), (0, 8));
        assert_eq!(missing(&fetched, 9, 3), (10, 2));
        assert_eq!(missing(&fetched, 9, 11), (10, 6));
        assert_eq!(missing(&fetched, 11, 2), (11, 2));
        assert_eq!(fetched.read_at(16, 4).unwrap(), "qrst");
    }

    #[cfg_attr(miri, ignore = "takes minutes")]
    #[test]
    fn any_order_of_overlapping_parts_gives_the_file() {
        let parts = [3..7, 0..4, 6..13, 5..9, 12..20, 1..2, 4..4];
        for rotation in 0..parts.len() {
            let fetched = FetchedRanges::new(20, 0, Bytes::new());
            for range in parts.iter().cycle().skip(rotation).take(parts.len()) {
                fetched.insert(range.start as u64, part(range.clone()));
            }
            for start in 0..20 {
                for end in start..=20 {
                    assert_eq!(fetched.read_at(start as u64, end - start).unwrap(), FILE[start..end]);
                }
            }
        }
    }

    #[test]
    fn fetching_what_is_missing_comes_to_an_end() {
        let fetched = FetchedRanges::new(20, 18, part(18..20));
        fetched.insert(5, part(5..7));
        let mut rounds = 0;
        let bytes = loop {
            match fetched.read_at(2, 18) {
                Ok(bytes) => break bytes,
                Err(error) => {
                    let Ok(Error::NeedRange { offset, len }) = error.downcast() else { panic!() };
                    fetched.insert(offset, part(offset as usize..offset as usize + len));
                    rounds += 1;
                }
            }
        };
        assert_eq!((bytes, rounds), (part(2..20), 2));
    }

    #[test]
    fn ranges_outside_the_file_are_errors_and_ask_for_nothing() {
        let fetched = FetchedRanges::new(20, 16, part(16..20));
        for (offset, len) in [(18, 3), (21, 0), (u64::MAX, 1), (1, usize::MAX)] {
            let error = fetched.read_at(offset, len).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{offset} {len}");
        }
        fetched.insert(19, Bytes::from_static(b"txyz"));
        fetched.insert(u64::MAX - 1, Bytes::from_static(b"abc"));
        assert_eq!(format!("{fetched:?}"), "FetchedRanges { file_len: 20, parts: 1, fetched: 4 }");
    }
}
