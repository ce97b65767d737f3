//! Writing one block of entries (LevelDB's `table/block_builder.cc`).
//!
//! ```text
//! entry  [shared: varint32][non_shared: varint32][value_len: varint32][key without its first `shared` bytes][value]
//! block  [entry]* [offset of each restart: fixed32]* [number of restarts: fixed32]
//! ```
//!
//! `shared` bytes of a key are those of the key before. At a restart, every `restart_interval` entries, a key is whole.

use crate::bytes::coding::{MAX_VARINT32_LEN, put_fixed32, put_varint32};
use crate::{Error, Result};

/// Restart offsets are fixed32, so nothing of a block may lie further from its start.
const MAX_LEN: u64 = u32::MAX as u64;

/// Builds block after block in the same buffers.
pub(in crate::table) struct BlockBuilder {
    restart_interval: u32,
    buffer: Vec<u8>,
    /// Where in `buffer` keys are whole. The first entry always is.
    restarts: Vec<u32>,
    /// Entries since the last restart.
    counter: u32,
    /// Kept when the next block begins: there the first entry shares nothing all the same.
    last_key: Vec<u8>,
}

impl BlockBuilder {
    /// `restart_interval` is at least 1.
    pub(in crate::table) fn new(restart_interval: u32) -> Self {
        Self { restart_interval, buffer: Vec::new(), restarts: vec![0], counter: 0, last_key: Vec::new() }
    }

    /// Whether the block has no entries.
    pub(in crate::table) fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// The length of the block if it were finished now.
    #[expect(clippy::arithmetic_side_effects, reason = "`check_room` keeps blocks within 32 bits")]
    pub(in crate::table) fn size_estimate(&self) -> usize {
        self.buffer.len() + self.restarts.len() * 4 + 4
    }

    /// The key added last, to this block or to the one before.
    pub(in crate::table) fn last_key(&self) -> &[u8] {
        &self.last_key
    }

    /// That an entry can be added without the block growing beyond what its format can say.
    /// `what` and `offset` are for the error.
    pub(in crate::table) fn check_room(
        &self,
        key_len: usize,
        value_len: usize,
        what: &'static str,
        offset: u64,
    ) -> Result<()> {
        // Three varints and perhaps a restart.
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

    /// Adds an entry behind the others; there has to be room for it.
    pub(in crate::table) fn add(&mut self, key: &[u8], value: &[u8]) {
        if self.counter >= self.restart_interval {
            self.restarts.push(self.buffer.len() as u32);
            self.counter = 0;
        }
        debug_assert!(u32::try_from(self.size_estimate()).is_ok(), "there was room for the entries before");
        let shared = if self.counter == 0 { 0 } else { shared_prefix_len(&self.last_key, key) };
        debug_assert!(shared <= key.len().min(self.last_key.len()), "both keys have what they share");
        // A whole key is right wherever it stands.
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

    /// Ends the block and returns its bytes, to which the caller may append. Then comes `reset`.
    pub(in crate::table) fn finish(&mut self) -> &mut Vec<u8> {
        for &restart in &self.restarts {
            put_fixed32(&mut self.buffer, restart);
        }
        put_fixed32(&mut self.buffer, self.restarts.len() as u32);
        &mut self.buffer
    }

    /// Begins the next block.
    pub(in crate::table) fn reset(&mut self) {
        self.buffer.clear();
        self.restarts.truncate(1);
        self.counter = 0;
    }
}

/// How many bytes `a` and `b` have in common at their start.
#[expect(clippy::arithmetic_side_effects, reason = "lengths within the shorter of both slices")]
#[inline]
fn shared_prefix_len(a: &[u8], b: &[u8]) -> usize {
    let words = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0);
    let mut len = 0;
    for (a, b) in words {
        let difference = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if difference != 0 {
            return len + difference.trailing_zeros() as usize / 8;
        }
        len += 8;
    }
    let tails = a.iter().zip(b).skip(len);
    len + tails.take_while(|(a, b)| a == b).count()
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
            // The third entry begins anew, at offset 15.
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
        // 5 bytes of entry, a restart and the number of restarts, and at most 19 more with the next entry.
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
