//! Views of many keys end to end in one run of bytes.
//!
//! [`FilterBlockBuilder`](crate::FilterBlockBuilder) keeps its keys this way, as LevelDB does
//! (`table/filter_block.h`), and hands them to a policy as a view. That needs no allocation for
//! each key, and a policy can hash several keys together.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::kernel;
use crate::lanes::{EqualLenKeys, FixedLenKeys, KeyPtrs};
use crate::{Error, Result};

/// A view of many keys end to end. Copying the view copies no keys.
///
/// Keys are in the order in which they were added, and repeated keys are kept. Most policies count
/// all of them ([`len`](Keys::len)) to choose the size of a filter.
#[derive(Clone, Copy)]
pub struct Keys<'a> {
    /// The keys. With [`Starts::At`], other bytes may precede and follow the keys; kernels may read
    /// the bytes that follow.
    pub(super) bytes: &'a [u8],
    pub(super) starts: Starts<'a>,
    /// The number of bytes cut from the end of each key. Every key has at least as many bytes.
    pub(super) suffix: usize,
}

/// The starts of keys.
#[derive(Clone, Copy)]
pub(super) enum Starts<'a> {
    /// Keys of equal length, the first at the first byte. There are `count * stride` bytes.
    Fixed { count: usize, stride: usize },
    /// Starts that never descend, none beyond `end`, which is within the bytes. Each key ends where
    /// the next key starts, and the last key at `end`.
    At { starts: &'a [usize], end: usize },
}

impl<'a> Keys<'a> {
    /// Views `bytes` as keys. Each begins at its entry in `starts` and ends where the next begins,
    /// the last one at the end of `bytes`.
    ///
    /// The crates `sstable` and `rusty-leveldb` hand keys to their policies in this form.
    ///
    /// Bytes before the first start belong to no key. This costs one pass over `starts`.
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
        Ok(Self { bytes, starts: Starts::At { starts, end: bytes.len() }, suffix: 0 })
    }

    /// Returns the keys as [`new`](Self::new) takes them: their bytes end to end, and the start of
    /// each key. This is for policies of other libraries, which take keys in this form.
    ///
    /// Neither bytes nor starts are copied for keys that have come from `new`. The starts are made
    /// for keys that are known to be of equal length. Bytes and starts are both made anew if a
    /// policy sees only a part of each key, as the policy inside an
    /// [`InternalFilterPolicy`](crate::InternalFilterPolicy) does.
    ///
    /// ```
    /// use filterblock::KeyBuf;
    /// let keys: KeyBuf = ["apple", "pear"].into_iter().collect();
    /// let (bytes, starts) = keys.as_keys().to_parts();
    /// assert_eq!((&bytes[..], &starts[..]), (&b"applepear"[..], &[0, 5][..]));
    /// ```
    pub fn to_parts(&self) -> (Cow<'a, [u8]>, Cow<'a, [usize]>) {
        match self.starts {
            Starts::At { starts, end } if self.suffix == 0 => {
                (self.bytes.get(..end).unwrap_or(self.bytes).into(), starts.into())
            }
            Starts::Fixed { count, stride } if self.suffix == 0 => {
                let starts: Vec<usize> = (0..count).map(|index| index.saturating_mul(stride)).collect();
                let end = count.saturating_mul(stride);
                (self.bytes.get(..end).unwrap_or(self.bytes).into(), starts.into())
            }
            _ => {
                let (mut bytes, mut starts) = (Vec::new(), Vec::with_capacity(self.len()));
                for key in self.iter() {
                    starts.push(bytes.len());
                    bytes.extend_from_slice(key);
                }
                (bytes.into(), starts.into())
            }
        }
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        match self.starts {
            Starts::Fixed { count, .. } => count,
            Starts::At { starts, .. } => starts.len(),
        }
    }

    /// Returns `true` if there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns key number `index`, counted from 0, or `None` if there is no such key.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&'a [u8]> {
        (index < self.len()).then(|| self.at(index))
    }

    /// Returns key number `index`, which has to be below [`len`](Self::len).
    #[inline]
    pub(crate) fn at(&self, index: usize) -> &'a [u8] {
        let (start, end) = match self.starts {
            Starts::Fixed { stride, .. } => (index * stride, (index + 1) * stride),
            Starts::At { starts, end } => (starts[index], starts.get(index + 1).copied().unwrap_or(end)),
        };
        &self.bytes[start..end - self.suffix]
    }

    /// Returns the keys if they are known to be of equal length.
    #[inline]
    pub(crate) fn fixed_len(&self) -> Option<FixedLenKeys<'a>> {
        match self.starts {
            Starts::Fixed { count, stride } => {
                // The suffix can be longer than the stride only if there are no keys.
                debug_assert!(count == 0 || self.suffix <= stride);
                Some(FixedLenKeys::new(self.bytes, count, stride, stride.saturating_sub(self.suffix)))
            }
            Starts::At { .. } => None,
        }
    }

    /// Returns N keys, starting with key `index`, if there are that many and they are of equal
    /// length.
    #[inline]
    pub(crate) fn same_len<const N: usize>(&self, index: usize) -> Option<EqualLenKeys<'a, N>> {
        let mut keys = [&[][..]; N];
        for (offset, key) in keys.iter_mut().enumerate() {
            *key = self.get(index + offset)?;
        }
        EqualLenKeys::new(keys)
    }

    /// Iterates over the keys in the order in which they were added.
    pub fn iter(&self) -> KeysIter<'a> {
        KeysIter { keys: *self, indices: 0..self.len() }
    }

    /// Returns the same keys without the last `len` bytes of each, as a view, not a copy.
    ///
    /// [`InternalFilterPolicy`](crate::InternalFilterPolicy) cuts sequence number and type this
    /// way.
    ///
    /// # Errors
    ///
    /// [`Error::ShortInternalKey`] if a key is shorter than `len`.
    #[inline]
    pub fn strip_suffix(self, len: usize) -> Result<Self> {
        let suffix = self.suffix.saturating_add(len);
        let are_long = match self.starts {
            Starts::Fixed { count, stride } => stride >= suffix || count == 0,
            Starts::At { starts, end } => {
                let mut shortest = starts.last().map_or(usize::MAX, |start| end - start);
                for pair in starts.windows(2) {
                    shortest = shortest.min(pair[1] - pair[0]);
                }
                shortest >= suffix
            }
        };
        if are_long { Ok(Self { suffix, ..self }) } else { Err(self.short_key(len)) }
    }

    /// Returns the error that names the first key shorter than `len`.
    #[cold]
    fn short_key(&self, len: usize) -> Error {
        let short = self.iter().zip(0..).find(|(key, _)| key.len() < len);
        debug_assert!(short.is_some(), "no key below {len}");
        let (index, found) = short.map_or((0, 0), |(key, index)| (index, key.len()));
        Error::ShortInternalKey { index, expected: len, found }
    }
}

/// An iterator over the keys of a [`Keys`], in the order in which they were added.
#[derive(Clone)]
pub struct KeysIter<'a> {
    keys: Keys<'a>,
    /// The indices of the keys left, all below the number of keys.
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
        let bytes = match self.starts {
            Starts::Fixed { .. } => self.bytes.len(),
            Starts::At { end, .. } => end,
        };
        f.debug_struct("Keys").field("len", &self.len()).field("bytes", &bytes).finish()
    }
}

impl kernel::AnyLenKeys for Keys<'_> {
    /// The keys beyond `count`, which is at least 1, are empty. `None` if a kernel could read beyond the bytes,
    /// or if a key has 2^30 bytes or more.
    #[inline(always)]
    fn side_by_side<const N: usize>(&self, from: usize, count: usize) -> Option<KeyPtrs<'_, N>> {
        let (mut starts, mut lens) = ([0; N], [0; N]);
        match self.starts {
            Starts::Fixed { stride, .. } => {
                starts.iter_mut().enumerate().take(count).for_each(|(i, start)| *start = (from + i) * stride);
                lens[..count].fill(stride - self.suffix);
            }
            Starts::At { starts: all, end } => match all[from..].split_at_checked(N) {
                Some((some, &[next, ..])) if count == N => {
                    starts.copy_from_slice(some);
                    for index in 0..N - 1 {
                        lens[index] = some[index + 1] - some[index] - self.suffix;
                    }
                    lens[N - 1] = next - some[N - 1] - self.suffix;
                }
                _ => {
                    for index in 0..count {
                        starts[index] = all[from + index];
                        let end = all.get(from + index + 1).copied().unwrap_or(end);
                        lens[index] = end - starts[index] - self.suffix;
                    }
                }
            },
        }
        KeyPtrs::new(self.bytes, starts, lens)
    }

    #[inline]
    fn key(&self, index: usize) -> &[u8] {
        self.at(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyBuf;

    #[test]
    fn keys_of_one_length_are_known_to_be() {
        let buf: KeyBuf = ["ab", "cd", "ef"].into_iter().collect();
        let even = buf.as_keys().strip_suffix(1).unwrap().fixed_len().unwrap().part(1, 2);
        assert_eq!((even.count(), even.stride(), even.key_len(), even.bytes()), (2, 2, 1, &b"cdef"[..]));
        assert!(Keys::new(b"abcd", &[0, 2]).unwrap().fixed_len().is_none());
    }
}
