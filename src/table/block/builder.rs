//! Building a block of entries (LevelDB's `table/block_builder.cc`).
//!
//! The page of `filterblock::table` describes the layout.

use super::prefix::shared_prefix_len;
use crate::bytes::coding::{MAX_VARINT32_LEN, put_fixed32, put_varint32};
use crate::{Error, Result};

/// The greatest length of a block, in bytes: its restarts are fixed32 offsets into the block.
const MAX_LEN: u64 = u32::MAX as u64;

/// Builds one block after another in the same buffers.
pub(in crate::table) struct BlockBuilder {
    restart_interval: u32,
    buffer: Vec<u8>,
    /// The offsets in `buffer` of the entries at restarts, which store their keys in full. The first
    /// entry is always at a restart.
    restarts: Vec<u32>,
    /// The number of entries since the last restart, including the entry there.
    counter: u32,
    /// The key added last. `reset` keeps it, for `last_key`. The next block's first entry still shares
    /// nothing, since `counter` is 0.
    last_key: Vec<u8>,
}

impl BlockBuilder {
    /// The length of a block without entries, in bytes.
    pub(in crate::table) const EMPTY_LEN: usize = 8;

    /// Returns a builder of an empty block. `restart_interval` has to be at least 1.
    pub(in crate::table) fn new(restart_interval: u32) -> Self {
        Self { restart_interval, buffer: Vec::new(), restarts: vec![0], counter: 0, last_key: Vec::new() }
    }

    /// Returns true if the block has no entries.
    pub(in crate::table) fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// The length of the block if it were finished now, in bytes.
    #[expect(clippy::arithmetic_side_effects, reason = "`check_room` keeps blocks within 32 bits")]
    pub(in crate::table) fn size_estimate(&self) -> usize {
        self.buffer.len() + self.restarts.len() * 4 + 4
    }

    /// The key added last, to this block or to the previous one.
    pub(in crate::table) fn last_key(&self) -> &[u8] {
        &self.last_key
    }

    /// Fails if an entry of these lengths could make the block longer than its format allows.
    /// `what` and `offset` go into the error.
    pub(in crate::table) fn check_room(
        &self,
        key_len: usize,
        value_len: usize,
        what: &'static str,
        offset: u64,
    ) -> Result<()> {
        // An entry's three varints, and the offset of a new restart.
        const MOST: u64 = 3 * MAX_VARINT32_LEN as u64 + 4;
        let found = (self.size_estimate() as u64)
            .saturating_add(MOST)
            .saturating_add(key_len as u64)
            .saturating_add(value_len as u64);
        if found > MAX_LEN {
            return Err(Error::Limit { what, offset, limit: MAX_LEN, found });
        }
        Ok(())
    }

    /// Appends an entry. The caller has to make sure with `check_room` that there is room for it.
    pub(in crate::table) fn add(&mut self, key: &[u8], value: &[u8]) {
        self.add_sharing(shared_prefix_len(&self.last_key, key), key, value);
    }

    /// Like [`add`](Self::add), but for a key that has its first `shared` bytes in common with the last key.
    #[inline]
    pub(in crate::table) fn add_sharing(&mut self, shared: usize, key: &[u8], value: &[u8]) {
        if self.counter >= self.restart_interval {
            self.restarts.push(self.buffer.len() as u32);
            self.counter = 0;
        }
        debug_assert!(u32::try_from(self.size_estimate()).is_ok(), "there was room for the entries before");
        let shared = if self.counter == 0 { 0 } else { shared };
        debug_assert!(shared <= key.len().min(self.last_key.len()), "both keys have what they share");
        // `shared` is within `key`, so the fallback is never taken. It would be right, too: a
        // complete key is valid anywhere.
        let (shared, rest) = key.get(shared..).map_or((0, key), |rest| (shared, rest));
        match (u8::try_from(shared), u8::try_from(rest.len()), u8::try_from(value.len())) {
            (Ok(shared @ ..0x80), Ok(non_shared @ ..0x80), Ok(value_len @ ..0x80)) => {
                self.buffer.extend_from_slice(&[shared, non_shared, value_len]);
            }
            _ => {
                put_varint32(&mut self.buffer, shared as u32);
                put_varint32(&mut self.buffer, rest.len() as u32);
                put_varint32(&mut self.buffer, value.len() as u32);
            }
        }
        self.buffer.extend_from_slice(rest);
        self.buffer.extend_from_slice(value);
        self.last_key.truncate(shared);
        self.last_key.extend_from_slice(rest);
        self.counter = self.counter.saturating_add(1);
    }

    /// Appends the restart array and returns the block, to which the caller may append. `reset` has
    /// to follow.
    pub(in crate::table) fn finish(&mut self) -> &mut Vec<u8> {
        for &restart in &self.restarts {
            put_fixed32(&mut self.buffer, restart);
        }
        put_fixed32(&mut self.buffer, self.restarts.len() as u32);
        &mut self.buffer
    }

    /// Starts the next block.
    pub(in crate::table) fn reset(&mut self) {
        self.buffer.clear();
        self.restarts.truncate(1);
        self.counter = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(restart_interval: u32, entries: &[(&[u8], &[u8])]) -> Vec<u8> {
        let mut builder = BlockBuilder::new(restart_interval);
        for (key, value) in entries {
            builder.check_room(key.len(), value.len(), "block", 0).unwrap();
            builder.add(key, value);
        }
        let estimate = builder.size_estimate();
        let block = builder.finish().clone();
        assert_eq!(block.len(), estimate);
        block
    }

    #[test]
    fn a_block_without_entries_has_one_restart() {
        assert_eq!(build(16, &[]), [0, 0, 0, 0, 1, 0, 0, 0]);
    }

    #[test]
    fn keys_share_their_beginnings_between_restarts() {
        let entries: [(&[u8], &[u8]); 3] = [(b"apple", b"1"), (b"apply", b"22"), (b"apt", b"")];
        let expected = [
            &[0, 5, 1][..],
            b"apple1",
            &[4, 1, 2],
            b"y22",
            // The third entry is a restart, at offset 15.
            &[0, 3, 0],
            b"apt",
            &[0, 0, 0, 0, 15, 0, 0, 0, 2, 0, 0, 0],
        ];
        assert_eq!(build(2, &entries), expected.concat());

        let expected =
            [&[0, 5, 1][..], b"apple1", &[4, 1, 2], b"y22", &[2, 1, 0], b"t", &[0, 0, 0, 0, 1, 0, 0, 0]];
        assert_eq!(build(3, &entries), expected.concat());
    }

    #[test]
    fn lengths_of_128_and_more_take_further_bytes() {
        let [first, second] = [[b'k'; 200].as_slice(), &[b'k'; 327]];
        let block = build(16, &[(first, b""), (second, &[b'v'; 128])]);
        assert_eq!(block[..4], [0, 0xc8, 1, 0]);
        assert_eq!(block[204..209], [0xc8, 1, 127, 0x80, 1]);
        assert_eq!(block.len(), 209 + 127 + 128 + 8);
    }

    #[test]
    fn the_next_block_begins_anew() {
        let mut builder = BlockBuilder::new(1);
        for key in [b"aa", b"ab"] {
            builder.add(key, b"");
        }
        builder.finish();
        builder.reset();
        assert!(builder.is_empty());
        assert_eq!(builder.last_key(), b"ab");
        builder.add(b"ac", b"");
        assert_eq!(*builder.finish(), build(1, &[(b"ac", b"")]));
    }

    #[test]
    fn entries_beyond_32_bits_are_refused() {
        let mut builder = BlockBuilder::new(1);
        builder.add(b"a", b"1");
        // 5 bytes of entry, one restart, the number of restarts, and up to 19 bytes for the next
        // entry's header and restart.
        let room = u32::MAX as usize - (5 + 4 + 4) - 19;
        builder.check_room(10, room - 10, "block", 7).unwrap();
        for (key_len, value_len) in [(11, room - 10), (usize::MAX, 0), (usize::MAX, usize::MAX)] {
            let error = builder.check_room(key_len, value_len, "block", 7).unwrap_err().to_string();
            assert!(
                error.starts_with("block at offset 7: expected at most 4294967295 bytes, found "),
                "{error}"
            );
        }
    }

    #[cfg_attr(miri, ignore = "takes minutes")]
    #[test]
    fn common_beginnings_are_counted_exactly() {
        let key: Vec<u8> = (0..40).collect();
        for len in 0..=key.len() {
            for at in 0..=len {
                let mut other = key[..len].to_vec();
                assert_eq!(shared_prefix_len(&key[..at], &other), at);
                if let Some(byte) = other.get_mut(at) {
                    *byte ^= 0x80;
                    assert_eq!(shared_prefix_len(&key, &other), at);
                    assert_eq!(shared_prefix_len(&other, &key), at);
                }
            }
        }
    }
}
