//! Keys side by side in plain bytes, as hashes and kernels take them. Code without bounds checks relies on the
//! lengths and bounds that the constructors check. The constructor of [`FixedLenKeys`] checks them only in debug
//! builds, so such code asserts them again.

/// Keys of equal length at equal distances.
#[derive(Clone, Copy)]
pub(crate) struct FixedLenKeys<'a> {
    /// `count * stride` bytes. Code without bounds checks asserts this length, and that `len` is at
    /// most `stride`.
    bytes: &'a [u8],
    count: usize,
    stride: usize,
    len: usize,
}

impl<'a> FixedLenKeys<'a> {
    /// Views `bytes` as `count` keys of `len` bytes, one every `stride` bytes.
    #[inline]
    pub(crate) fn new(bytes: &'a [u8], count: usize, stride: usize, len: usize) -> Self {
        debug_assert!(len <= stride && bytes.len() == count * stride, "{count} keys of {len}");
        Self { bytes, count, stride, len }
    }

    /// Returns `count` keys, starting with key `from`.
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

    /// Returns the `count * stride` bytes that begin with the first key.
    #[inline]
    pub(crate) fn bytes(self) -> &'a [u8] {
        self.bytes
    }
}

/// N keys of equal length, to be hashed side by side.
#[derive(Clone, Copy)]
pub(crate) struct EqualLenKeys<'a, const N: usize> {
    /// Keys of equal length, on which code without bounds checks relies.
    keys: [&'a [u8]; N],
}

impl<'a, const N: usize> EqualLenKeys<'a, N> {
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

impl<'a> EqualLenKeys<'a, 8> {
    /// Returns the first four keys and the last four.
    #[inline]
    pub(crate) fn halves(self) -> [EqualLenKeys<'a, 4>; 2] {
        let [a, b, c, d, e, f, g, h] = self.keys;
        [EqualLenKeys { keys: [a, b, c, d] }, EqualLenKeys { keys: [e, f, g, h] }]
    }
}

/// The length up to which a key is copied to be hashed together with others. If a group near the
/// end of the bytes has a longer key, the group is hashed key by key.
pub(crate) const SLOT: usize = 64;

/// The number of bytes that kernels read at a time.
const STEP: usize = 16;

/// N keys of any lengths in one run of bytes.
#[derive(Clone, Copy)]
pub(crate) struct KeyPtrs<'a, const N: usize> {
    /// The bytes that hold the keys: at least `longest` bytes from the start of each key. Code without
    /// bounds checks relies on this.
    bytes: &'a [u8],
    starts: [usize; N],
    lens: [u32; N],
    /// The length of the longest key, rounded up to whole steps.
    longest: usize,
}

impl<'a, const N: usize> KeyPtrs<'a, N> {
    /// Returns the keys that have these starts and lengths in `bytes`. `None` if fewer bytes follow
    /// a start than the longest key takes in whole steps, or if a key has 2^30 bytes or more.
    #[inline(always)]
    pub(crate) fn new(bytes: &'a [u8], starts: [usize; N], lens: [usize; N]) -> Option<Self> {
        let longest = lens.iter().fold(0, |longest, len| *len | longest);
        let last = starts.iter().fold(0, |last, start| last.max(*start));
        if longest >= 1 << 30 || last > bytes.len() {
            return None;
        }
        let longest = lens.iter().fold(0, |longest, len| longest.max(*len)).next_multiple_of(STEP);
        (longest <= bytes.len() - last).then(|| Self {
            bytes,
            starts,
            lens: lens.map(|len| len as u32),
            longest,
        })
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    #[inline]
    pub(crate) fn starts(&self) -> &[usize; N] {
        &self.starts
    }

    #[inline]
    pub(crate) fn lens(&self) -> &[u32; N] {
        &self.lens
    }

    /// Returns the number of bytes to read from the start of each key, a multiple of 16.
    #[inline]
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }
}
