//! Many keys lying end to end in one run of bytes.
//!
//! [`FilterBlockBuilder`](crate::FilterBlockBuilder) keeps its keys this way, as LevelDB does
//! (`table/filter_block.h`), and hands them to a policy as a view: no allocation for each key, and a policy can hash several of
//! them at once.

use std::fmt;

use crate::{Error, Result};

/// A view of many keys that lie end to end. Copying it copies no keys.
///
/// The order is that in which they were added, and repetitions are kept. A filter counts
/// them ([`len`](Keys::len)) when it chooses its size.
#[derive(Clone, Copy)]
pub struct Keys<'a> {
    bytes: &'a [u8],
    starts: Starts<'a>,
    /// What is cut from the end of each key; every key is known to be at least as long.
    suffix: usize,
}

/// Where keys start.
#[derive(Clone, Copy)]
enum Starts<'a> {
    /// Of equal length, the first at the first byte; `count * stride` bytes in all.
    Even { count: usize, stride: usize },
    /// Ascending, none beyond the bytes; a key ends where the next one starts, the last at the end of the bytes.
    At(&'a [usize]),
}

impl<'a> Keys<'a> {
    /// Views `bytes` as keys of which each begins at its entry in `starts` and ends where
    /// the next begins, the last one at the end of `bytes`.
    ///
    /// This is the form in which the crates `sstable` and `rusty-leveldb` hand keys to their policies.
    ///
    /// Bytes before the first start belong to no key. Costs one pass over `starts`.
    ///
    /// # Errors
    ///
    /// [`Error::KeyStarts`] if `starts` descends or reaches beyond `bytes`.
    ///
    /// ```
    /// use filterblock::Keys;
    /// let keys = Keys::new(b"applepear", &[0, 5])?;
    /// assert_eq!(keys.iter().collect::<Vec<_>>(), [&b"apple"[..], b"pear"]);
    /// # Ok::<(), filterblock::Error>(())
    /// ```
    pub fn new(bytes: &'a [u8], starts: &'a [usize]) -> Result<Self> {
        let mut lowest = 0;
        for (index, &start) in starts.iter().enumerate() {
            if start < lowest || start > bytes.len() {
                let expected = format!("{lowest} to {}", bytes.len());
                return Err(Error::KeyStarts { index, expected, found: start });
            }
            lowest = start;
        }
        Ok(Self { bytes, starts: Starts::At(starts), suffix: 0 })
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        match self.starts {
            Starts::Even { count, .. } => count,
            Starts::At(starts) => starts.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Key number `index`, or `None` if there are not so many.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&'a [u8]> {
        (index < self.len()).then(|| self.at(index))
    }

    /// Key number `index`, which is below [`len`](Self::len).
    #[inline]
    pub(crate) fn at(&self, index: usize) -> &'a [u8] {
        let (start, end) = match self.starts {
            Starts::Even { stride, .. } => (index * stride, (index + 1) * stride),
            Starts::At(starts) => (starts[index], starts.get(index + 1).copied().unwrap_or(self.bytes.len())),
        };
        &self.bytes[start..end - self.suffix]
    }

    /// The keys if they are known to be of equal length.
    #[inline]
    pub(crate) fn even(&self) -> Option<EvenKeys<'a>> {
        match self.starts {
            Starts::Even { count, stride } => {
                // Only where there are no keys can the suffix be longer.
                debug_assert!(count == 0 || self.suffix <= stride);
                Some(EvenKeys { bytes: self.bytes, count, stride, len: stride.saturating_sub(self.suffix) })
            }
            Starts::At(_) => None,
        }
    }

    /// N keys from number `index` on, if there are so many and they are of equal length.
    #[inline]
    pub(crate) fn alike<const N: usize>(&self, index: usize) -> Option<Alike<'a, N>> {
        let mut keys = [&[][..]; N];
        for (offset, key) in keys.iter_mut().enumerate() {
            *key = self.get(index + offset)?;
        }
        Alike::new(keys)
    }

    /// The keys in the order in which they were added.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone + use<'a> {
        let keys = *self;
        (0..keys.len()).map(move |index| keys.at(index))
    }

    /// The same keys without their last `len` bytes each: a view, not a copy.
    ///
    /// [`InternalFilterPolicy`](crate::InternalFilterPolicy) cuts sequence number and type this way.
    ///
    /// # Errors
    ///
    /// [`Error::ShortInternalKey`] if a key is shorter than that.
    pub fn strip_suffix(self, len: usize) -> Result<Self> {
        let suffix = self.suffix.saturating_add(len);
        let shortest = match self.starts {
            Starts::Even { count: 0, .. } => usize::MAX,
            Starts::Even { stride, .. } => stride,
            Starts::At(starts) => {
                let last = starts.last().map_or(usize::MAX, |start| self.bytes.len() - start);
                starts.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap_or(usize::MAX).min(last)
            }
        };
        if shortest >= suffix {
            return Ok(Self { suffix, ..self });
        }
        let short = self.iter().zip(0..).find(|(key, _)| key.len() < len);
        debug_assert!(short.is_some(), "a key of {shortest} bytes and no key below {suffix}");
        let (index, found) = short.map_or((0, 0), |(key, index)| (index, key.len()));
        Err(Error::ShortInternalKey { index, expected: len, found })
    }
}

/// Keys of equal length that lie at equal distances.
#[derive(Clone, Copy)]
pub(crate) struct EvenKeys<'a> {
    /// `count * stride` bytes: code without bounds checks relies on it, and on `len` being at most `stride`.
    bytes: &'a [u8],
    count: usize,
    stride: usize,
    len: usize,
}

impl<'a> EvenKeys<'a> {
    /// `count` keys from number `from` on.
    #[inline]
    pub(crate) fn part(self, from: usize, count: usize) -> Self {
        let bytes = &self.bytes[from * self.stride..][..count * self.stride];
        Self { bytes, count, ..self }
    }

    #[inline]
    pub(crate) fn count(self) -> usize {
        self.count
    }

    /// The distance from the start of each key to the start of the next.
    #[inline]
    pub(crate) fn stride(self) -> usize {
        self.stride
    }

    /// The length of each key, at most the stride.
    #[inline]
    pub(crate) fn key_len(self) -> usize {
        self.len
    }

    /// `count * stride` bytes from the start of the first key on.
    #[inline]
    pub(crate) fn bytes(self) -> &'a [u8] {
        self.bytes
    }
}

/// N keys of equal length, to be hashed side by side.
#[derive(Clone, Copy)]
pub(crate) struct Alike<'a, const N: usize> {
    /// Of equal length: code without bounds checks relies on it.
    keys: [&'a [u8]; N],
}

impl<'a, const N: usize> Alike<'a, N> {
    /// `None` if lengths differ.
    #[inline]
    pub(crate) fn new(keys: [&'a [u8]; N]) -> Option<Self> {
        let unlike = keys.iter().fold(0, |unlike, key| unlike | (key.len() ^ keys[0].len()));
        (unlike == 0).then_some(Self { keys })
    }

    #[inline]
    pub(crate) fn keys(self) -> [&'a [u8]; N] {
        self.keys
    }

    /// The length of each.
    #[inline]
    pub(crate) fn len(self) -> usize {
        self.keys[0].len()
    }
}

impl fmt::Debug for Keys<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("len", &self.len()).field("bytes", &self.bytes.len()).finish()
    }
}

/// Owns keys that lie end to end; [`as_keys`](KeyBuf::as_keys) is the view a policy takes.
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
    /// The keys, and behind them zeros or older keys: room for the next ones.
    bytes: Vec<u8>,
    count: usize,
    /// The length of every key while all are of one length, `MIXED` from then on.
    stride: usize,
    /// While all are of one length, nothing is kept here.
    mixed: Mixed,
}

/// Where keys of several lengths lie.
#[derive(Clone, Default)]
struct Mixed {
    starts: Vec<usize>,
    end: usize,
}

/// No key has this length.
const MIXED: usize = usize::MAX;

/// Keys up to this length are copied without a call. Copying some bytes twice is quicker than counting them.
const SHORT: usize = 32;

impl KeyBuf {
    /// No keys yet. Allocates nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a copy of `key` behind the others.
    #[inline]
    pub fn push(&mut self, key: &[u8]) {
        if !self.push_alike(key) {
            self.push_unlike(key);
        }
    }

    /// Adds a copy of `key` if it is as long as all others; false if not, or if it may be the first.
    #[inline]
    pub(crate) fn push_alike(&mut self, key: &[u8]) -> bool {
        // `count` is the only field written: the next call has to wait for this store.
        let alike = key.len() == self.stride;
        if alike {
            self.copy(key, self.count * key.len());
            self.count += 1;
        }
        alike
    }

    /// Adds the first key, or one where not all are of one length.
    fn push_unlike(&mut self, key: &[u8]) {
        if self.count == 0 {
            self.stride = key.len();
            self.push_alike(key);
            return;
        }
        if self.stride != MIXED {
            self.mixed.starts.extend((0..self.count).map(|index| index * self.stride));
            self.mixed.end = self.count * self.stride;
            self.stride = MIXED;
        }
        self.copy(key, self.mixed.end);
        self.mixed.starts.push(self.mixed.end);
        self.mixed.end += key.len();
        self.count += 1;
    }

    #[inline]
    fn copy(&mut self, key: &[u8], at: usize) {
        match self.bytes.get_mut(at..).and_then(|room| room.first_chunk_mut::<SHORT>()) {
            Some(room) if key.len() <= SHORT => copy_short(key, room),
            _ => self.copy_long(key, at),
        }
    }

    /// Copies a key of any length, and makes room if there is too little.
    fn copy_long(&mut self, key: &[u8], at: usize) {
        let needed = at + key.len().max(SHORT);
        if self.bytes.len() < needed {
            self.bytes.resize(needed.max(self.bytes.len() * 2), 0);
        }
        self.bytes[at..at + key.len()].copy_from_slice(key);
    }

    /// Forgets all keys and keeps the memory for the next ones.
    pub fn clear(&mut self) {
        self.count = 0;
        self.mixed.starts.clear();
        self.mixed.end = 0;
    }

    /// Forgets all keys and of which length they were, so that none is taken for [alike](Self::push_alike).
    pub(crate) fn forget(&mut self) {
        self.clear();
        self.stride = MIXED;
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The keys as a view.
    pub fn as_keys(&self) -> Keys<'_> {
        let (starts, end) = match self.stride {
            MIXED => (Starts::At(&self.mixed.starts), self.mixed.end),
            stride => (Starts::Even { count: self.count, stride }, self.count * stride),
        };
        Keys { bytes: &self.bytes[..end], starts, suffix: 0 }
    }
}

/// Copies `key` to the start of `room`, which is larger, as two pieces that may overlap.
#[inline(always)]
fn copy_short(key: &[u8], room: &mut [u8; SHORT]) {
    let _ = copy_ends::<16>(key, room)
        || copy_ends::<8>(key, room)
        || copy_ends::<4>(key, room)
        || copy_ends::<2>(key, room)
        || copy_ends::<1>(key, room);
}

/// Copies a key of N to 2N bytes: its first N, then its last N. False if it is shorter than N.
#[inline(always)]
fn copy_ends<const N: usize>(key: &[u8], room: &mut [u8; SHORT]) -> bool {
    let (Some(head), Some(tail)) = (key.first_chunk::<N>(), key.last_chunk::<N>()) else { return false };
    room[..N].copy_from_slice(head);
    room[key.len() - N..key.len()].copy_from_slice(tail);
    true
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
            .field("bytes", &self.as_keys().bytes.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(keys: &[&[u8]], index: usize) -> Option<[Vec<u8>; 3]> {
        let buf: KeyBuf = keys.iter().collect();
        let alike = buf.as_keys().alike::<3>(index)?;
        assert_eq!(alike.len(), alike.keys()[0].len());
        Some(alike.keys().map(<[u8]>::to_vec))
    }

    #[test]
    fn keys_of_equal_length_are_alike() {
        let keys: [&[u8]; 6] = [b"a", b"bc", b"de", b"fg", b"hij", b"k"];
        assert_eq!(alike(&keys, 1), Some([b"bc".into(), b"de".into(), b"fg".into()]));
        for index in [0, 2, 3, 4, 6, 7] {
            assert_eq!(alike(&keys, index), None, "{index}");
        }
        // Lengths without a bit in common, and with all but one.
        assert_eq!(alike(&[b"a", b"bc", b"defg"], 0), None);
        assert_eq!(alike(&[b"abc", b"ab", b"abc"], 0), None);
        assert_eq!(alike(&[b"", b"", b"", b"x"], 0), Some([vec![], vec![], vec![]]));
    }

    #[test]
    fn keys_of_one_length_are_known_to_be() {
        let buf: KeyBuf = ["ab", "cd", "ef"].into_iter().collect();
        let even = buf.as_keys().strip_suffix(1).unwrap().even().unwrap().part(1, 2);
        assert_eq!((even.count(), even.stride(), even.key_len(), even.bytes()), (2, 2, 1, &b"cdef"[..]));
        assert!(Keys::new(b"abcd", &[0, 2]).unwrap().even().is_none());
    }

    /// Room for a key makes as much again, so that nearly all keys find theirs; none is made that is not needed.
    #[cfg_attr(miri, ignore = "takes minutes")]
    #[test]
    fn room_doubles_and_is_used_up() {
        for (len, first) in [(8, SHORT), (64, 64), (1000, 1000)] {
            let (mut buf, mut room) = (KeyBuf::new(), 0);
            for count in 1..=1000 {
                buf.push(&vec![7; len]);
                if buf.bytes.len() != room {
                    assert!(
                        room < (count - 1) * len + len.max(SHORT),
                        "key {count} of {len} bytes had its room"
                    );
                    assert_eq!(buf.bytes.len(), if room == 0 { first } else { room * 2 });
                    room = buf.bytes.len();
                }
            }
        }
    }
}
