//! A decoded block (LevelDB's `table/block.cc`).
//!
//! ```text
//! [entry]* [restart: fixed32]* [number of restarts: fixed32]
//!
//! entry:   varint32 shared | varint32 non_shared | varint32 value_len | key rest | value
//! ```
//!
//! An entry's key is the first `shared` bytes of the key before it, followed by the key rest. Each restart is the
//! offset of an entry that shares nothing, so that reading can begin there.

use std::ops::Range;

use bytes::Bytes;

use crate::bytes::coding::{VarintError, fixed32_at, get_varint32};
use crate::table::codec::Codec;
use crate::{Error, Result, Structure};

/// A block's contents, without trailer and decompressed. By default there are none.
#[derive(Clone)]
pub(in crate::table) struct Block {
    data: Bytes,
    /// Where the block starts in the file; for messages.
    offset: u64,
    /// Where the entries end and the restart array begins.
    pub(in crate::table) entries_end: usize,
    pub(in crate::table) num_restarts: usize,
    /// What it was compressed with.
    codec: Codec,
    /// The longest key that may be put together from bytes that it shares and others: that takes memory.
    pub(in crate::table) max_key: usize,
}

impl Default for Block {
    fn default() -> Self {
        Self {
            data: Bytes::new(),
            offset: 0,
            entries_end: 0,
            num_restarts: 0,
            codec: Codec::None,
            max_key: usize::MAX,
        }
    }
}

/// What stands before an entry's key rest.
pub(in crate::table) struct Header {
    pub(in crate::table) shared: usize,
    non_shared: usize,
    value_len: usize,
    /// Its own length.
    len: usize,
}

impl Block {
    /// Checks that the restart array fits and begins at the first entry. Entries and the other
    /// restarts are checked when they are used.
    pub(in crate::table) fn new(data: Bytes, offset: u64) -> Result<Self> {
        let bad =
            |expected: String, found: String| Error::corrupt(Structure::Restarts, offset, expected, found);
        let size = data.len();
        let count_at = size.checked_sub(4);
        let Some((count, count_at)) = count_at.and_then(|at| Some((fixed32_at(&data, at)?, at))) else {
            return Err(bad("a block of at least 4 bytes".into(), format!("{size} bytes")));
        };
        let num_restarts = count as usize;
        let Some(entries_end) = num_restarts.checked_mul(4).and_then(|len| count_at.checked_sub(len)) else {
            let expected = format!("at most {} restarts in {size} bytes", count_at / 4);
            return Err(bad(expected, format!("a count of {count}")));
        };
        // Without restarts there are no entries, whatever bytes there are.
        let entries_end = if num_restarts == 0 { 0 } else { entries_end };
        let block = Self { data, offset, entries_end, num_restarts, codec: Codec::None, max_key: usize::MAX };
        match block.restart(0) {
            Some(first) if first != 0 => {
                Err(bad("the first restart at byte 0".into(), format!("it at byte {first}")))
            }
            _ => Ok(block),
        }
    }

    /// The memory that only this block uses, if it is not the source's.
    pub(in crate::table) fn into_buffer(self) -> Vec<u8> {
        if self.codec != Codec::None && self.data.is_unique() { self.data.into() } else { Vec::new() }
    }

    pub(in crate::table) fn with_codec(self, codec: Codec) -> Self {
        Self { codec, ..self }
    }

    pub(in crate::table) fn with_max_key(self, max_key: usize) -> Self {
        Self { max_key, ..self }
    }

    /// What it was compressed with.
    pub(in crate::table) fn codec(&self) -> Codec {
        self.codec
    }

    /// The size of the contents, in bytes.
    pub(in crate::table) fn size(&self) -> usize {
        self.data.len()
    }

    /// Where the block starts in the file.
    pub(in crate::table) fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether there are no entries.
    pub(in crate::table) fn is_empty(&self) -> bool {
        self.entries_end == 0
    }

    /// The offset at number `index` of the restart array, if there are so many.
    pub(in crate::table) fn restart(&self, index: usize) -> Option<usize> {
        if index >= self.num_restarts {
            return None;
        }
        let at = self.entries_end.checked_add(index.checked_mul(4)?)?;
        let restart = fixed32_at(&self.data, at).map(|restart| restart as usize);
        debug_assert!(restart.is_some(), "the restart array fits");
        restart
    }

    /// The same, if an entry can begin there.
    pub(in crate::table) fn restart_entry(&self, index: usize) -> Result<usize> {
        match self.restart(index) {
            Some(restart) if restart < self.entries_end => Ok(restart),
            restart => Err(self.bad_restart(index, restart)),
        }
    }

    /// The key of the entry at restart number `index`.
    pub(in crate::table) fn restart_key(&self, index: usize) -> Result<&[u8]> {
        let at = self.restart_entry(index)?;
        let header = self.header(at)?;
        if header.shared != 0 {
            return Err(self.bad_shared(at, header.shared, 0));
        }
        let (key, _) = self.ranges(at, &header)?;
        Ok(self.bytes(key))
    }

    /// The header of the entry at `at`.
    #[inline]
    pub(in crate::table) fn header(&self, at: usize) -> Result<Header> {
        let bytes = self.bytes(at..self.entries_end);
        // Nearly all entries have lengths of one byte each.
        if let [shared, non_shared, value_len, ..] = *bytes
            && (shared | non_shared | value_len) < 0x80
        {
            let [shared, non_shared, value_len] = [shared, non_shared, value_len].map(usize::from);
            return Ok(Header { shared, non_shared, value_len, len: 3 });
        }
        long_header(bytes)
            .map_err(|error| self.bad_entry(at, "three varints of 32 bits".into(), error.to_string()))
    }

    /// Where the key rest and the value lie of the entry at `at`.
    #[inline]
    pub(in crate::table) fn ranges(
        &self,
        at: usize,
        header: &Header,
    ) -> Result<(Range<usize>, Range<usize>)> {
        let ranges = || {
            let key = at.checked_add(header.len)?;
            let value = key.checked_add(header.non_shared)?;
            let end = value.checked_add(header.value_len)?;
            (end <= self.entries_end).then_some((key..value, value..end))
        };
        ranges().ok_or_else(|| {
            let left = self.entries_end.saturating_sub(at).saturating_sub(header.len);
            let found = format!("a key rest of {} and a value of {}", header.non_shared, header.value_len);
            self.bad_entry(at, format!("at most {left} bytes of key and value"), found)
        })
    }

    /// A range that has been checked to lie within the block.
    #[inline]
    pub(in crate::table) fn bytes(&self, range: Range<usize>) -> &[u8] {
        debug_assert!(
            range.start <= range.end && range.end <= self.data.len(),
            "{range:?} is within the block"
        );
        self.data.get(range).unwrap_or_default()
    }

    /// A part of the block as a view that outlives it.
    pub(in crate::table) fn view(&self, part: &[u8]) -> Bytes {
        self.data.slice_ref(part)
    }

    #[cold]
    fn bad_entry(&self, at: usize, expected: String, found: String) -> Error {
        let found = format!("{found}, in the entry at byte {at} of the block");
        Error::corrupt(Structure::Entry, self.offset, expected, found)
    }

    #[cold]
    pub(in crate::table) fn bad_shared(&self, at: usize, shared: usize, limit: usize) -> Error {
        let expected = match limit {
            0 => "no bytes shared with the key before".to_owned(),
            _ => format!("at most {limit} bytes shared with the key before"),
        };
        self.bad_entry(at, expected, shared.to_string())
    }

    #[cold]
    pub(in crate::table) fn bad_restart(&self, index: usize, restart: Option<usize>) -> Error {
        let expected = format!("restart {index} at the start of an entry below byte {}", self.entries_end);
        let found = match restart {
            Some(restart) => format!("it at byte {restart} of the block"),
            None => format!("{} restarts", self.num_restarts),
        };
        Error::corrupt(Structure::Restarts, self.offset, expected, found)
    }
}

fn long_header(bytes: &[u8]) -> std::result::Result<Header, VarintError> {
    let mut len = 0;
    let mut next = || {
        let (value, width) = get_varint32(bytes.get(len..).unwrap_or_default())?;
        len = len.saturating_add(width);
        Ok(value as usize)
    };
    let (shared, non_shared, value_len) = (next()?, next()?, next()?);
    Ok(Header { shared, non_shared, value_len, len })
}

#[cfg(test)]
pub(in crate::table) mod testing {
    use super::*;
    use crate::bytes::coding::{put_fixed32, put_varint32};

    /// An entry by its parts, however wrong.
    pub(in crate::table) fn entry(shared: u32, rest: &[u8], value: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_varint32(&mut bytes, shared);
        put_varint32(&mut bytes, rest.len() as u32);
        put_varint32(&mut bytes, value.len() as u32);
        [&bytes, rest, value].concat()
    }

    /// A block of these entries and restarts, however wrong.
    pub(in crate::table) fn raw_block(entries: &[Vec<u8>], restarts: &[u32]) -> Bytes {
        let mut bytes = entries.concat();
        restarts.iter().for_each(|&restart| put_fixed32(&mut bytes, restart));
        put_fixed32(&mut bytes, restarts.len() as u32);
        bytes.into()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{entry, raw_block};
    use super::*;
    use crate::bytes::coding::put_varint32;

    fn error(bytes: &[u8]) -> String {
        Block::new(Bytes::copy_from_slice(bytes), 7000).err().expect("an error").to_string()
    }

    #[test]
    fn too_small_for_a_restart_count() {
        for len in 0..4 {
            assert_eq!(
                error(&[0, 0, 0][..len]),
                format!(
                    "restart array at offset 7000: expected a block of at least 4 bytes, found {len} bytes"
                )
            );
        }
        assert!(Block::new(Bytes::from_static(&[0; 4]), 0).is_ok_and(|block| block.is_empty()));
    }

    #[test]
    fn more_restarts_than_fit() {
        for (len, count, fits) in [
            (4, 1, false),
            (7, 1, false),
            (8, 1, true),
            (11, 2, false),
            (12, 2, true),
            (12, 1 << 30, false),
            (12, (1 << 30) + 2, false),
            (12, u32::MAX, false),
        ] {
            let mut bytes = vec![0; len - 4];
            bytes.extend(u32::to_le_bytes(count));
            assert_eq!(Block::new(bytes.clone().into(), 0).is_ok(), fits, "{count} in {len} bytes");
            if !fits {
                let most = (len - 4) / 4;
                let expected =
                    format!("expected at most {most} restarts in {len} bytes, found a count of {count}");
                assert!(error(&bytes).ends_with(&expected), "{}", error(&bytes));
            }
        }
    }

    #[test]
    fn entries_before_the_first_restart() {
        let entries = [entry(0, b"a", b"1"), entry(0, b"b", b"2")];
        assert!(Block::new(raw_block(&entries, &[0]), 0).is_ok());
        assert_eq!(
            error(&raw_block(&entries, &[5])),
            "restart array at offset 7000: expected the first restart at byte 0, found it at byte 5"
        );
    }

    #[test]
    fn long_headers_are_read_as_short_ones() {
        let long = vec![b'x'; 300];
        let block = Block::new(raw_block(&[entry(0, &long, b"value")], &[0]), 0).unwrap();
        let header = block.header(0).unwrap();
        assert_eq!((header.shared, header.non_shared, header.value_len, header.len), (0, 300, 5, 4));
        // The same number in more bytes than it needs.
        let overlong = [&[0x80, 0x00, 0x81, 0x80, 0x00, 0x82, 0x00][..], b"kvv"].concat();
        let block = Block::new(raw_block(&[overlong], &[0]), 0).unwrap();
        let header = block.header(0).unwrap();
        assert_eq!((header.shared, header.non_shared, header.value_len, header.len), (0, 1, 2, 7));
    }

    #[test]
    fn lengths_that_pass_the_end_or_wrap() {
        for (non_shared, value_len) in
            [(3, 0), (0, 3), (2, 1), (u32::MAX, 3), (3, u32::MAX), (u32::MAX, u32::MAX)]
        {
            let mut bytes = vec![0];
            put_varint32(&mut bytes, non_shared);
            put_varint32(&mut bytes, value_len);
            let len = bytes.len();
            bytes.extend(b"kv");
            let block = Block::new(raw_block(&[bytes], &[0]), 7000).unwrap();
            let header = block.header(0).unwrap();
            assert_eq!(header.len, len);
            assert_eq!(
                block.ranges(0, &header).unwrap_err().to_string(),
                format!(
                    "block entry at offset 7000: expected at most 2 bytes of key and value, \
                     found a key rest of {non_shared} and a value of {value_len}, in the entry at byte 0 of the block"
                )
            );
        }
    }
}
