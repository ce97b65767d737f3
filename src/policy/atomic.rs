//! A Bloom filter in memory.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use byteorder::{ByteOrder, LittleEndian};

use super::bit_array;
use super::murmur3::{best_probes, bits_per_key_for_rate, check_probes, decode, positions, round_up};
use crate::{Error, Result, Structure};

/// A Bloom filter in memory, for instance for a memtable, that many threads fill and query without
/// a lock.
///
/// It has the same bits for the same keys as a filter of
/// [`Murmur3BloomPolicy`](crate::policy::Murmur3BloomPolicy) with the same numbers of bits and
/// probes. [`write_filter`](Self::write_filter) writes it as such a filter, for a filter block.
///
/// The key of an unsigned integer is its value as a `u64`, in eight bytes, little-endian, so `7_u8`
/// and `7_u64` are the same key. The key of a string is its bytes in UTF-8.
///
/// # Threads
///
/// A thread finds every key whose addition happened before the lookup. Any synchronization
/// establishes this order, such as a lock, a channel or a join. While a key is being added, other
/// threads may or may not find it.
///
/// Relaxed atomic operations suffice for that. Bits are only ever set, by an OR that loses no other
/// thread's bit. Each bit stands for itself and guards no other memory. A read sees every OR that
/// happened before it.
///
/// ```
/// use filterblock::AtomicBloomFilter;
/// let filter = AtomicBloomFilter::with_capacity(1000, 10)?;
/// std::thread::scope(|scope| {
///     scope.spawn(|| filter.add_all(["apple", "pear"]));
///     scope.spawn(|| filter.add(&42_u64.to_le_bytes()));
/// });
/// assert!(filter.may_contain(b"pear"));
/// assert!(filter.may_contain(&42_u64.to_le_bytes()));
/// assert!(!filter.may_contain(b"plum"));
/// # Ok::<(), filterblock::Error>(())
/// ```
pub struct AtomicBloomFilter {
    /// The number of words is a power of two. Bit p is bit p % 64 of word p / 64. The words as
    /// little-endian bytes, one after the other, are the array of the encoding.
    words: Box<[AtomicU64]>,
    probes: u8,
}

impl AtomicBloomFilter {
    /// Returns a filter of `bits` bits, rounded up to a power of two of at least 64. Each key sets
    /// `probes` of them.
    ///
    /// # Errors
    ///
    /// - [`Error::FilterSize`] beyond 2^34 bits, or 2 GiB.
    /// - [`Error::InvalidOption`] if `probes` is not 1 to 64.
    /// - [`Error::OutOfMemory`] if there is too little memory.
    pub fn new(bits: u64, probes: u8) -> Result<Self> {
        check_probes(probes)?;
        Self::allocate(round_up(u128::from(bits), 0)?, probes)
    }

    /// Returns a filter for `keys` keys, with `bits_per_key` bits for each, rounded up as in
    /// [`new`](Self::new). The number of probes is the best one for `bits_per_key`: ln 2 *
    /// `bits_per_key`, rounded to the nearest integer, at least 1 and at most 64. More keys can be
    /// added, but they raise the rate of false positives.
    ///
    /// # Errors
    ///
    /// [`Error::FilterSize`] beyond 2^34 bits, and [`Error::OutOfMemory`].
    pub fn with_capacity(keys: u64, bits_per_key: u32) -> Result<Self> {
        Self::allocate(round_up(bit_array::wished_bits(keys, bits_per_key), keys)?, best_probes(bits_per_key))
    }

    /// Returns a filter with an expected false-positive rate of at most `p` while it
    /// holds no more than `keys` keys.
    ///
    /// # Errors
    ///
    /// Those of [`with_capacity`](Self::with_capacity), and [`Error::InvalidOption`] unless `p` is
    /// at least 2^-64 and below 1.
    pub fn with_false_positive_rate(keys: u64, p: f64) -> Result<Self> {
        Self::with_capacity(keys, bits_per_key_for_rate(p)?)
    }

    /// Reads a filter of [`Murmur3BloomPolicy`](crate::policy::Murmur3BloomPolicy), so that keys
    /// can be added to it.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if `filter` is not such a filter, and [`Error::OutOfMemory`].
    pub fn from_filter(filter: &[u8]) -> Result<Self> {
        let (probes, array) = decode(filter).ok_or_else(|| {
            let found = match filter.split_last() {
                Some((probes, array)) => format!("{} bytes and {probes} probes", array.len()),
                None => "no bytes".to_owned(),
            };
            let expected = "a power of two of bytes from 8, then 1 to 64 probes";
            Error::corrupt(Structure::Filter, 0, expected, found)
        })?;
        let mut this = Self::allocate(bit_array::bits(array), probes)?;
        debug_assert_eq!(array.len(), size_of_val(&*this.words), "each word has its bytes");
        for (word, bytes) in this.words.iter_mut().zip(array.as_chunks::<8>().0) {
            *word.get_mut() = LittleEndian::read_u64(bytes);
        }
        Ok(this)
    }

    /// Allocates a filter of `bits` bits, which has to be a power of two of at least 64.
    fn allocate(bits: u64, probes: u8) -> Result<Self> {
        let out_of_memory = || Error::OutOfMemory { what: "filter", bytes: bits / 8 };
        let len = usize::try_from(bits / 64).map_err(|_| out_of_memory())?;
        let mut words = Vec::new();
        words.try_reserve_exact(len).map_err(|_| out_of_memory())?;
        words.resize_with(len, AtomicU64::default);
        Ok(Self { words: words.into_boxed_slice(), probes })
    }

    /// Returns m, the number of bits, which is a power of two.
    pub fn bits(&self) -> u64 {
        (self.words.len() as u64).saturating_mul(64)
    }

    /// Returns k, the number of bits that each key sets.
    pub const fn probes(&self) -> u8 {
        self.probes
    }

    /// Adds a key.
    #[inline]
    pub fn add(&self, key: &[u8]) {
        for position in positions(key, self.bits(), self.probes) {
            // Reading first, to skip the OR if the bit is set, costs more than it saves:
            // mispredicted branches, and with several threads a cache line fetched twice, to read
            // and to write.
            if let Some((word, bit)) = self.place(position) {
                word.fetch_or(bit, Relaxed);
            }
        }
    }

    /// Adds many keys, each a byte string or a string.
    ///
    /// This is faster than adding keys one by one if the iterator announces (by its `size_hint`) many
    /// keys for the size of the filter: at least one for every 64 * k bits. If there is memory for a
    /// second filter of the same size, the keys' bits are then gathered there, and merged into this
    /// filter after the last key.
    pub fn add_all<K: AsRef<[u8]>>(&self, keys: impl IntoIterator<Item = K>) {
        let keys = keys.into_iter();
        let bits = keys.size_hint().0.saturating_mul(usize::from(self.probes));
        // An OR for each word costs less than one for each bit, and takes the word's cache line
        // from other threads only once.
        if bits >= self.words.len()
            && let Ok(mut gathered) = Self::allocate(self.bits(), self.probes)
        {
            keys.for_each(|key| gathered.add_alone(key.as_ref()));
            self.add_words(&gathered);
        } else {
            keys.for_each(|key| self.add(key.as_ref()));
        }
    }

    /// Adds a key to a filter that no other thread sees.
    fn add_alone(&mut self, key: &[u8]) {
        for position in positions(key, self.bits(), self.probes) {
            debug_assert!(position < self.bits(), "bit {position} of {}", self.bits());
            if let Some(word) = self.words.get_mut((position / 64) as usize) {
                *word.get_mut() |= 1 << (position % 64);
            }
        }
    }

    /// Sets all bits that are set in `other`, which has the same size.
    fn add_words(&self, other: &Self) {
        debug_assert_eq!(self.words.len(), other.words.len(), "what is beyond the shorter one would be lost");
        for (word, other) in self.words.iter().zip(&other.words) {
            let bits = other.load(Relaxed);
            if bits != 0 {
                word.fetch_or(bits, Relaxed);
            }
        }
    }

    /// Returns `true` if `key` may have been added, and `false` only if it has not.
    #[inline]
    #[must_use]
    pub fn may_contain(&self, key: &[u8]) -> bool {
        positions(key, self.bits(), self.probes)
            .all(|position| self.place(position).is_none_or(|(word, bit)| word.load(Relaxed) & bit != 0))
    }

    /// Adds all keys of `other`, and leaves `other` as it is. Other threads may go on filling
    /// either filter.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] unless both filters have the same numbers of bits and probes.
    pub fn merge(&self, other: &Self) -> Result<()> {
        if self.bits() != other.bits() || self.probes != other.probes {
            let shape = |filter: &Self| format!("{} bits and {} probes", filter.bits(), filter.probes);
            return Err(Error::InvalidOption {
                option: "filter to merge",
                expected: shape(self).into(),
                found: shape(other).into(),
            });
        }
        self.add_words(other);
        Ok(())
    }

    /// Removes all keys.
    ///
    /// This needs exclusive access: during an `add`, it could clear some of the key's bits and
    /// leave the others, so that the filter would hide a key that was added.
    pub fn clear(&mut self) {
        for word in &mut self.words {
            *word.get_mut() = 0;
        }
    }

    /// Estimates the number of distinct keys added: -m/k * ln(1 - x/m), if x of the m bits are
    /// set. The estimate is infinite if all bits are set. It costs one pass over the filter.
    #[must_use]
    pub fn estimated_count(&self) -> f64 {
        // Subtracted from +0, so that an empty filter does not count -0 keys.
        0.0 - (-self.fill()).ln_1p() * self.bits() as f64 / f64::from(self.probes)
    }

    /// Estimates the share of absent keys that pass: (x/m)^k, if x of the m bits are set. The
    /// estimate costs one pass over the filter.
    #[must_use]
    pub fn estimated_false_positive_rate(&self) -> f64 {
        self.fill().powf(f64::from(self.probes))
    }

    /// Appends this filter to `dst`, in m / 8 + 1 bytes that
    /// [`Murmur3BloomPolicy`](crate::policy::Murmur3BloomPolicy) reads.
    ///
    /// Keys that another thread is adding at the same time may or may not be in the bytes written.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`]; `dst` is then as before.
    pub fn write_filter(&self, dst: &mut Vec<u8>) -> Result<()> {
        bit_array::append(dst, size_of_val(&*self.words), self.probes, |array| {
            debug_assert_eq!(array.len(), size_of_val(&*self.words), "each word has its bytes");
            for (bytes, word) in array.as_chunks_mut::<8>().0.iter_mut().zip(&self.words) {
                *bytes = word.load(Relaxed).to_le_bytes();
            }
        })
    }

    /// Returns the word with the bit at `position`, which is always within the filter, and that
    /// bit's mask.
    #[inline]
    fn place(&self, position: u64) -> Option<(&AtomicU64, u64)> {
        debug_assert!(position < self.bits(), "bit {position} of {}", self.bits());
        self.words.get((position / 64) as usize).map(|word| (word, 1 << (position % 64)))
    }

    /// Returns the share of the bits that are set.
    fn fill(&self) -> f64 {
        let set: u64 = self.words.iter().map(|word| u64::from(word.load(Relaxed).count_ones())).sum();
        set as f64 / self.bits() as f64
    }
}

impl fmt::Debug for AtomicBloomFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicBloomFilter").field("bits", &self.bits()).field("probes", &self.probes).finish()
    }
}
