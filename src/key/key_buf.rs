//! The buffer of keys end to end.

use std::fmt;

use super::keys::{Keys, KeysIter, Starts};
use crate::kernel;

/// Owns keys end to end. [`as_keys`](KeyBuf::as_keys) returns the view that a policy
/// takes.
///
/// ```
/// use filterblock::KeyBuf;
/// let mut keys: KeyBuf = ["apple", "pear"].into_iter().collect();
/// keys.push(b"");
/// assert_eq!(keys.as_keys().get(1), Some(&b"pear"[..]));
/// assert_eq!(keys.as_keys().len(), 3);
/// ```
#[derive(Clone, Default)]
pub struct KeyBuf {
    /// The keys, then room for the next ones, filled with zeros or older keys.
    bytes: Vec<u8>,
    count: usize,
    /// `MIXED` if the buffer keeps the starts of its keys. Otherwise the length of every key. If there
    /// are no keys, it is that of the keys before the last `clear`, or 0 if there never were any.
    stride: usize,
    /// Used only if `stride` is `MIXED`.
    mixed: Mixed,
}

/// The positions of keys that may differ in length.
#[derive(Clone, Default)]
struct Mixed {
    starts: Vec<usize>,
    end: usize,
}

/// The stride of a buffer that keeps the starts of its keys. No key is this long.
const MIXED: usize = usize::MAX;

/// The length up to which a key is copied without a call. Copying some bytes twice beats a
/// variable-length copy.
const SHORT: usize = 64;

impl KeyBuf {
    /// Returns a buffer without keys. This allocates nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a copy of `key` after the others.
    #[inline]
    pub fn push(&mut self, key: &[u8]) {
        if !self.push_if_same_len(key) {
            self.push_other_len(key);
        }
    }

    /// Adds a copy of `key` if it has the length that all other keys are known to have or, if there are
    /// no other keys, that the keys before the last `clear` had. Returns `false` otherwise.
    #[inline]
    pub(crate) fn push_if_same_len(&mut self, key: &[u8]) -> bool {
        // `count` is the only field written, since the next call has to wait for each store to a
        // field.
        let alike = key.len() == self.stride;
        if alike {
            self.copy(key, self.count * key.len());
            self.count += 1;
        }
        alike
    }

    /// Adds a key that [`push_if_same_len`](Self::push_if_same_len) has refused: the first key, a key
    /// of another length than the keys before it, or any key if the buffer keeps the starts of its
    /// keys.
    #[inline]
    pub(crate) fn push_other_len(&mut self, key: &[u8]) {
        if !self.push_if_mixed(key) {
            self.push_first_or_mix(key);
        }
    }

    #[inline(never)]
    fn push_first_or_mix(&mut self, key: &[u8]) {
        if self.count == 0 {
            self.stride = key.len();
            self.push_if_same_len(key);
            return;
        }
        self.mix();
        let end = self.mixed.end;
        self.copy_long(key, end);
        self.mixed.starts.push(end);
        self.mixed.end = end + key.len();
        self.count += 1;
    }

    /// Keeps the starts of keys from now on.
    fn mix(&mut self) {
        if self.stride != MIXED {
            self.mixed.starts.extend((0..self.count).map(|index| index * self.stride));
            self.mixed.end = self.count * self.stride;
            self.stride = MIXED;
        }
    }

    /// Adds copies of keys: in one go if they are known to be of the length of all others, or are given by their
    /// starts.
    pub(crate) fn push_all(&mut self, keys: Keys<'_>) {
        if !self.push_all_if_same_len(keys) && !self.push_all_if_run(keys) {
            keys.iter().for_each(|key| self.push(key));
        }
    }

    /// Adds copies of `keys` in one go, if they are given by their starts and have no suffix to cut.
    /// Returns `false` otherwise.
    fn push_all_if_run(&mut self, keys: Keys<'_>) -> bool {
        let (Starts::At { starts, end }, 0) = (keys.starts, keys.suffix) else { return false };
        let Some(&first) = starts.first() else { return true };
        self.mix();
        let (at, len) = (self.mixed.end, end - first);
        self.make_room(at, len);
        self.bytes[at..at + len].copy_from_slice(&keys.bytes[first..end]);
        self.mixed.starts.extend(starts.iter().map(|start| start - first + at));
        self.mixed.end = at + len;
        self.count += starts.len();
        true
    }

    /// Adds a copy of `key`, if the key has at most 64 bytes and the buffer keeps the starts of its
    /// keys, has at least one key, and has room for another. Returns `false` if nothing is added. No
    /// branch depends on the length of `key`, up to 64 bytes.
    #[inline(always)]
    fn push_if_mixed(&mut self, key: &[u8]) -> bool {
        let Mixed { starts, end } = &mut self.mixed;
        // A kernel may read this far beyond the end of a key.
        let room = self.bytes.get_mut(*end..).and_then(|room| room.first_chunk_mut::<{ 2 * SHORT }>());
        let Some((room, _)) = room.and_then(|room| room.split_first_chunk_mut::<SHORT>()) else {
            return false;
        };
        let has_room = (1..starts.capacity()).contains(&starts.len());
        let fits = self.stride == MIXED && key.len() <= SHORT && has_room;
        if fits {
            kernel::copy_short(key, room);
            starts.push(*end);
            *end += key.len();
            self.count += 1;
        }
        fits
    }

    /// Returns `true` if the buffer keeps the starts of its keys, as it does for keys of several
    /// lengths.
    pub(crate) fn is_mixed(&self) -> bool {
        self.stride == MIXED
    }

    #[inline]
    fn copy(&mut self, key: &[u8], at: usize) {
        match self.bytes.get_mut(at..).and_then(|room| room.first_chunk_mut::<SHORT>()) {
            Some(room) if key.len() <= SHORT => copy_short(key, room),
            _ => self.copy_long(key, at),
        }
    }

    /// Copies a key of any length, and makes room first if there is too little.
    #[cold]
    fn copy_long(&mut self, key: &[u8], at: usize) {
        self.make_room(at, key.len());
        self.bytes[at..at + key.len()].copy_from_slice(key);
    }

    /// Makes room for `len` bytes at `at`, and for a short key after them: kernels read beyond the end
    /// of a key as far as its longest neighbour goes.
    fn make_room(&mut self, at: usize, len: usize) {
        let needed = at + len + SHORT;
        if self.bytes.len() < needed {
            self.bytes.resize(needed.max(self.bytes.len() * 2), 0);
        }
    }

    /// Adds copies of `keys` in one go, if they and all keys added before are known to be of the
    /// same length. Returns `false` if they are not.
    fn push_all_if_same_len(&mut self, keys: Keys<'_>) -> bool {
        let Some(keys) = keys.fixed_len().filter(|keys| keys.key_len() == keys.stride()) else {
            return false;
        };
        if self.count == 0 && self.stride != MIXED && keys.count() > 0 {
            self.stride = keys.key_len();
        }
        let alike = self.stride == keys.key_len();
        if alike {
            let (at, len) = (self.count * self.stride, keys.bytes().len());
            self.make_room(at, len);
            self.bytes[at..at + len].copy_from_slice(keys.bytes());
            self.count += keys.count();
        }
        alike
    }

    /// Removes all keys and keeps the memory for the next ones.
    pub fn clear(&mut self) {
        self.count = 0;
        self.mixed.starts.clear();
        self.mixed.end = 0;
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns `true` if there are no keys.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns a view of the keys.
    pub fn as_keys(&self) -> Keys<'_> {
        let (starts, end) = match self.stride {
            MIXED => {
                let Mixed { starts, end } = &self.mixed;
                (Starts::At { starts, end: *end }, self.bytes.len())
            }
            stride => (Starts::Fixed { count: self.count, stride }, self.count * stride),
        };
        Keys { bytes: &self.bytes[..end], starts, suffix: 0 }
    }
}

/// Copies `key`, which is at most as long as `room`, to the start of `room`, as two pieces that may overlap.
#[inline(always)]
fn copy_short(key: &[u8], room: &mut [u8; SHORT]) {
    if let Ok(key) = <&[u8; 16]>::try_from(key) {
        // The usual length takes one store.
        room[..16].copy_from_slice(key);
        return;
    }
    let _ = copy_ends::<32>(key, room)
        || copy_ends::<16>(key, room)
        || copy_ends::<8>(key, room)
        || copy_ends::<4>(key, room)
        || copy_ends::<2>(key, room)
        || copy_ends::<1>(key, room);
}

/// Copies a key of N to 2N bytes: its first N, then its last N. Returns `false` if the key is
/// shorter than N.
#[inline(always)]
fn copy_ends<const N: usize>(key: &[u8], room: &mut [u8; SHORT]) -> bool {
    let (Some(head), Some(tail)) = (key.first_chunk::<N>(), key.last_chunk::<N>()) else { return false };
    room[..N].copy_from_slice(head);
    room[key.len() - N..key.len()].copy_from_slice(tail);
    true
}

impl<'a> IntoIterator for &'a KeyBuf {
    type Item = &'a [u8];
    type IntoIter = KeysIter<'a>;

    fn into_iter(self) -> KeysIter<'a> {
        self.as_keys().iter()
    }
}

impl<K: AsRef<[u8]>> Extend<K> for KeyBuf {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| self.push(key.as_ref()));
    }
}

impl<K: AsRef<[u8]>> FromIterator<K> for KeyBuf {
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        let mut buf = Self::new();
        buf.extend(keys);
        buf
    }
}

impl fmt::Debug for KeyBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyBuf")
            .field("len", &self.count)
            .field("bytes", &if self.is_mixed() { self.mixed.end } else { self.count * self.stride })
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Growing doubles the room, so nearly all keys find room. The buffer grows only for a key that
    /// does not fit.
    #[cfg_attr(miri, ignore = "takes minutes")]
    #[test]
    fn room_doubles_and_is_used_up() {
        for len in [8, 64, 1000] {
            let (mut buf, mut room) = (KeyBuf::new(), 0);
            for count in 1..=1000 {
                buf.push(&vec![7; len]);
                if buf.bytes.len() != room {
                    assert!(room < count * len + SHORT, "key {count} of {len} bytes had its room");
                    assert_eq!(buf.bytes.len(), if room == 0 { len + SHORT } else { room * 2 });
                    room = buf.bytes.len();
                }
            }
        }
    }
}
