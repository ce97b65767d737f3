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
    /// Ascending, none beyond `bytes`; a key ends where the next one starts, the last at the end of `bytes`.
    starts: &'a [usize],
    /// What is cut from the end of each key; every key is known to be at least as long.
    suffix: usize,
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
        Ok(Self { bytes, starts, suffix: 0 })
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Key number `index`, or `None` if there are not so many.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&'a [u8]> {
        let start = *self.starts.get(index)?;
        let end = self.starts.get(index + 1).copied().unwrap_or(self.bytes.len());
        self.bytes.get(start..end - self.suffix)
    }

    /// N keys from number `index` on, if there are so many and they are of equal length.
    #[inline]
    pub(crate) fn alike<const N: usize>(&self, index: usize) -> Option<Alike<'a, N>> {
        let starts = self.starts.get(index..)?.first_chunk::<N>()?;
        let end = self.starts.get(index + N).copied().unwrap_or(self.bytes.len());
        let stride = end - starts[N - 1];
        let unlike = starts.windows(2).fold(0, |unlike, pair| unlike | ((pair[1] - pair[0]) ^ stride));
        let len = stride - self.suffix;
        let run = self.bytes.get(starts[0]..end).filter(|_| unlike == 0)?;
        Some(Alike { keys: std::array::from_fn(|index| &run[index * stride..][..len]) })
    }

    /// The keys in the order in which they were added.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone + use<'a> {
        let keys = *self;
        (0..keys.len()).map(move |index| keys.get(index).unwrap_or_default())
    }

    /// The same keys without their last `len` bytes each: a view, not a copy.
    ///
    /// [`InternalFilterPolicy`](crate::InternalFilterPolicy) cuts sequence number and type this way.
    ///
    /// # Errors
    ///
    /// [`Error::ShortInternalKey`] if a key is shorter than that.
    pub fn strip_suffix(self, len: usize) -> Result<Self> {
        let whole = self.suffix.saturating_add(len);
        let shortest = self.starts.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap_or(usize::MAX);
        let last = self.starts.last().map_or(usize::MAX, |start| self.bytes.len() - start);
        if shortest.min(last) < whole
            && let Some((index, key)) = self.iter().enumerate().find(|(_, key)| key.len() < len)
        {
            return Err(Error::ShortInternalKey { index: index as u64, expected: len, found: key.len() });
        }
        Ok(Self { suffix: whole, ..self })
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
    /// The keys, and zeros or older keys behind `end`: room for the next ones.
    bytes: Vec<u8>,
    end: usize,
    starts: Vec<usize>,
}

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
        self.starts.push(self.end);
        let room = self.bytes.get_mut(self.end..).and_then(|room| room.first_chunk_mut::<SHORT>());
        match room {
            Some(room) if key.len() <= SHORT => copy_short(key, room),
            _ => self.copy_long(key),
        }
        self.end += key.len();
    }

    /// Copies a key of any length, and makes room if there is too little.
    fn copy_long(&mut self, key: &[u8]) {
        let needed = self.end + key.len().max(SHORT);
        if self.bytes.len() < needed {
            self.bytes.resize(needed.max(self.bytes.len() * 2), 0);
        }
        self.bytes[self.end..self.end + key.len()].copy_from_slice(key);
    }

    /// Forgets all keys and keeps the memory for the next ones.
    pub fn clear(&mut self) {
        self.end = 0;
        self.starts.clear();
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The keys as a view.
    pub fn as_keys(&self) -> Keys<'_> {
        Keys { bytes: &self.bytes[..self.end], starts: &self.starts, suffix: 0 }
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
        f.debug_struct("KeyBuf").field("len", &self.len()).field("bytes", &self.end).finish()
    }
}
