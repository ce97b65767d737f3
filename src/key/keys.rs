//! Many keys lying end to end in one run of bytes.
//!
//! [`FilterBlockBuilder`](crate::FilterBlockBuilder) keeps its keys this way, as LevelDB does
//! (`table/filter_block.h`), and hands them to a policy as a view: no allocation for each key, and a policy can hash several of
//! them at once.

use std::fmt;
use std::ops::Range;

use super::same_len::{FixedLenKeys, SameLen};
use crate::{Error, Result};

/// A view of many keys that lie end to end. Copying it copies no keys.
///
/// The order is that in which they were added, and repetitions are kept. A filter counts
/// them ([`len`](Keys::len)) when it chooses its size.
#[derive(Clone, Copy)]
pub struct Keys<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) starts: Starts<'a>,
    /// What is cut from the end of each key; every key is known to be at least as long.
    pub(super) suffix: usize,
}

/// Where keys start.
#[derive(Clone, Copy)]
pub(super) enum Starts<'a> {
    /// Of equal length, the first at the first byte; `count * stride` bytes in all.
    Fixed { count: usize, stride: usize },
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
                return Err(Error::KeyStarts { index, lowest, highest: bytes.len(), found: start });
            }
            lowest = start;
        }
        Ok(Self { bytes, starts: Starts::At(starts), suffix: 0 })
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        match self.starts {
            Starts::Fixed { count, .. } => count,
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
            Starts::Fixed { stride, .. } => (index * stride, (index + 1) * stride),
            Starts::At(starts) => (starts[index], starts.get(index + 1).copied().unwrap_or(self.bytes.len())),
        };
        &self.bytes[start..end - self.suffix]
    }

    /// The keys if they are known to be of equal length.
    #[inline]
    pub(crate) fn fixed_len(&self) -> Option<FixedLenKeys<'a>> {
        match self.starts {
            Starts::Fixed { count, stride } => {
                // Only where there are no keys can the suffix be longer.
                debug_assert!(count == 0 || self.suffix <= stride);
                Some(FixedLenKeys::new(self.bytes, count, stride, stride.saturating_sub(self.suffix)))
            }
            Starts::At(_) => None,
        }
    }

    /// N keys from number `index` on, if there are so many and they are of equal length.
    #[inline]
    pub(crate) fn same_len<const N: usize>(&self, index: usize) -> Option<SameLen<'a, N>> {
        let mut keys = [&[][..]; N];
        for (offset, key) in keys.iter_mut().enumerate() {
            *key = self.get(index + offset)?;
        }
        SameLen::new(keys)
    }

    /// The keys in the order in which they were added.
    pub fn iter(&self) -> KeysIter<'a> {
        KeysIter { keys: *self, indices: 0..self.len() }
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
            Starts::Fixed { count: 0, .. } => usize::MAX,
            Starts::Fixed { stride, .. } => stride,
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

/// The keys of a [`Keys`], in the order in which they were added.
#[derive(Clone)]
pub struct KeysIter<'a> {
    keys: Keys<'a>,
    /// Within the keys.
    indices: Range<usize>,
}

impl<'a> Iterator for KeysIter<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.indices.next().map(|index| self.keys.at(index))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.indices.size_hint()
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        self.indices.nth(n).map(|index| self.keys.at(index))
    }
}

impl DoubleEndedIterator for KeysIter<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        self.indices.next_back().map(|index| self.keys.at(index))
    }
}

impl ExactSizeIterator for KeysIter<'_> {}

impl std::iter::FusedIterator for KeysIter<'_> {}

impl fmt::Debug for KeysIter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeysIter").field("left", &self.len()).finish()
    }
}

impl<'a> IntoIterator for Keys<'a> {
    type Item = &'a [u8];
    type IntoIter = KeysIter<'a>;

    fn into_iter(self) -> KeysIter<'a> {
        self.iter()
    }
}

impl<'a> IntoIterator for &Keys<'a> {
    type Item = &'a [u8];
    type IntoIter = KeysIter<'a>;

    fn into_iter(self) -> KeysIter<'a> {
        self.iter()
    }
}

impl fmt::Debug for Keys<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("len", &self.len()).field("bytes", &self.bytes.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyBuf;

    fn alike(keys: &[&[u8]], index: usize) -> Option<[Vec<u8>; 3]> {
        let buf: KeyBuf = keys.iter().collect();
        let alike = buf.as_keys().same_len::<3>(index)?;
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
        let even = buf.as_keys().strip_suffix(1).unwrap().fixed_len().unwrap().part(1, 2);
        assert_eq!((even.count(), even.stride(), even.key_len(), even.bytes()), (2, 2, 1, &b"cdef"[..]));
        assert!(Keys::new(b"abcd", &[0, 2]).unwrap().fixed_len().is_none());
    }
}
