//! Keys of one length, for the kernels that hash several side by side.

/// Keys of equal length at equal distances.
#[derive(Clone, Copy)]
pub(crate) struct FixedLenKeys<'a> {
    /// `count * stride` bytes. Code without bounds checks relies on this length, and on `len` being
    /// at most `stride`.
    bytes: &'a [u8],
    count: usize,
    stride: usize,
    len: usize,
}

impl<'a> FixedLenKeys<'a> {
    /// Views `bytes` as `count` keys of `len` bytes, one every `stride` bytes.
    #[inline]
    pub(super) fn new(bytes: &'a [u8], count: usize, stride: usize, len: usize) -> Self {
        debug_assert!(len <= stride && bytes.len() == count * stride, "{count} keys of {len}");
        Self { bytes, count, stride, len }
    }

    /// Returns `count` keys from number `from` on.
    #[inline]
    pub(crate) fn part(self, from: usize, count: usize) -> Self {
        let bytes = &self.bytes[from * self.stride..][..count * self.stride];
        Self { bytes, count, ..self }
    }

    #[inline]
    pub(crate) fn count(self) -> usize {
        self.count
    }

    /// Returns the distance from the start of each key to the start of the next.
    #[inline]
    pub(crate) fn stride(self) -> usize {
        self.stride
    }

    /// Returns the length of each key, at most the stride.
    #[inline]
    pub(crate) fn key_len(self) -> usize {
        self.len
    }

    /// Returns `count * stride` bytes from the start of the first key on.
    #[inline]
    pub(crate) fn bytes(self) -> &'a [u8] {
        self.bytes
    }
}

/// N keys of equal length, to be hashed side by side.
#[derive(Clone, Copy)]
pub(crate) struct SameLen<'a, const N: usize> {
    /// Keys of equal length. Code without bounds checks relies on it.
    keys: [&'a [u8]; N],
}

impl<'a, const N: usize> SameLen<'a, N> {
    /// Returns `None` if the lengths differ.
    #[inline]
    pub(crate) fn new(keys: [&'a [u8]; N]) -> Option<Self> {
        let unlike = keys.iter().fold(0, |unlike, key| unlike | (key.len() ^ keys[0].len()));
        (unlike == 0).then_some(Self { keys })
    }

    #[inline]
    pub(crate) fn keys(self) -> [&'a [u8]; N] {
        self.keys
    }

    /// Returns the length of each key.
    #[inline]
    pub(crate) fn len(self) -> usize {
        self.keys[0].len()
    }
}

impl<'a> SameLen<'a, 8> {
    /// Returns the first four keys and the last four.
    #[inline]
    pub(crate) fn halves(self) -> [SameLen<'a, 4>; 2] {
        let [a, b, c, d, e, f, g, h] = self.keys;
        [SameLen { keys: [a, b, c, d] }, SameLen { keys: [e, f, g, h] }]
    }
}
