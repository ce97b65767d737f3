//! A second implementation of LevelDB's hash, Bloom filter and filter block: slow, in 64-bit
//! numbers, and written from the description of the format, not from the library.

/// Modulus of 32-bit arithmetic.
const WRAP: u64 = 1 << 32;

/// The hash of `util/hash.cc` with the Bloom filter's seed.
pub fn hash(key: &[u8]) -> u32 {
    const SEED: u64 = 0xbc9f_1d34;
    const M: u64 = 0xc6a4_a793;
    let mut h = SEED ^ (key.len() as u64 * M % WRAP);
    for part in key.chunks(4) {
        let number: u64 = part.iter().enumerate().map(|(at, &byte)| u64::from(byte) << (8 * at)).sum();
        h = (h + number) % WRAP * M % WRAP;
        h ^= if part.len() == 4 { h >> 16 } else { h >> 24 };
    }
    h as u32
}

/// The k bits that a key with this hash sets among `bits`.
fn positions(hash: u32, k: u64, bits: u64) -> impl Iterator<Item = usize> {
    let h = u64::from(hash);
    let delta = (h >> 17) | ((h << 15) % WRAP);
    (0..k).map(move |i| ((h + i * delta) % WRAP % bits) as usize)
}

/// Chooses k as `util/bloom.cc` does.
pub fn probes(bits_per_key: u32) -> u64 {
    (u64::from(bits_per_key) * 69 / 100).clamp(1, 30)
}

/// Makes the filter of these keys.
pub fn bloom_filter(keys: &[&[u8]], bits_per_key: u32) -> Vec<u8> {
    let (bits, k) =
        ((keys.len() as u64 * u64::from(bits_per_key)).max(64).next_multiple_of(8), probes(bits_per_key));
    let mut filter = vec![0; bits as usize / 8];
    for key in keys {
        positions(hash(key), k, bits).for_each(|position| filter[position / 8] |= 1 << (position % 8));
    }
    filter.push(k as u8);
    filter
}

/// Returns true if a key with this hash may be among the filter's keys.
pub fn bloom_matches(hash: u32, filter: &[u8]) -> bool {
    if filter.len() < 2 {
        return false;
    }
    let k = u64::from(filter[filter.len() - 1]);
    let bits = 8 * (filter.len() as u64 - 1);
    k > 30 || positions(hash, k, bits).all(|position| filter[position / 8] >> (position % 8) & 1 == 1)
}

/// One entry of the offset array, read together with its successor.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    start: u64,
    limit: u64,
}

/// A filter block taken apart.
#[derive(Debug)]
pub struct Block<'a> {
    contents: &'a [u8],
    array: u64,
    /// The number of entries in the array; 0 if the array cannot be where the block says.
    pub count: usize,
    /// `None` if the block is too short to have a `base_lg`.
    pub base_lg: Option<u8>,
    /// True if the last five bytes are consistent with the length of the block, and `base_lg` is below 64.
    tail_is_sound: bool,
}

impl<'a> Block<'a> {
    /// Takes the block apart.
    pub fn new(contents: &'a [u8]) -> Self {
        let n = contents.len();
        if n < 5 {
            return Self { contents, array: 0, count: 0, base_lg: None, tail_is_sound: false };
        }
        let (array, room) = (word(contents, n - 5), n as u64 - 5);
        let base_lg = Some(contents[n - 1]);
        if array > room {
            return Self { contents, array, count: 0, base_lg, tail_is_sound: false };
        }
        let count = ((room - array) / 4) as usize;
        let tail_is_sound = (room - array).is_multiple_of(4) && contents[n - 1] < 64;
        Self { contents, array, count, base_lg, tail_is_sound }
    }

    fn entry(&self, index: usize) -> Option<Entry> {
        (index < self.count).then(|| {
            let at = self.array as usize + 4 * index;
            Entry { start: word(self.contents, at), limit: word(self.contents, at + 4) }
        })
    }

    /// Returns filter `index`, if its offsets are sound.
    pub fn filter(&self, index: usize) -> Option<&'a [u8]> {
        let Entry { start, limit } = self.entry(index)?;
        let sound = start <= limit && limit <= self.array;
        sound.then(|| &self.contents[start as usize..limit as usize])
    }

    /// Returns true if LevelDB lets this key match. If `base_lg` is above 63, LevelDB's behaviour is undefined, and
    /// each key matches. `matches`: the answer of a filter.
    pub fn may_match(&self, block_offset: u64, matches: impl Fn(&[u8]) -> bool) -> bool {
        let Some(base_lg @ 0..64) = self.base_lg else { return true };
        let Ok(index) = usize::try_from(block_offset >> base_lg) else { return true };
        match self.filter(index) {
            Some(filter) => matches(filter),
            None => self.entry(index).is_none_or(|entry| entry.start != entry.limit),
        }
    }

    /// Returns true if nothing is malformed.
    pub fn is_sound(&self) -> bool {
        self.tail_is_sound && (0..self.count).all(|index| self.filter(index).is_some())
    }

    /// Returns the first offset that filter `index` is for, and the one after its last, both limited to 64 bits.
    pub fn range(&self, index: usize) -> (u64, u64) {
        let Some(base_lg @ 0..64) = self.base_lg else { return (u64::MAX, u64::MAX) };
        let cut = |offset: u128| u64::try_from(offset).unwrap_or(u64::MAX);
        (cut((index as u128) << base_lg), cut((index as u128 + 1) << base_lg))
    }
}

fn word(bytes: &[u8], at: usize) -> u64 {
    (0..4).map(|byte| u64::from(bytes[at + byte]) << (8 * byte)).sum()
}

/// Makes the filter block for these keys, each with the offset of its data block, in ascending
/// order of offsets. `last` is the offset of the last `StartBlock`.
///
/// # Panics
///
/// If `base_lg` is above 63, and overflows are checked.
pub fn filter_block(keys: &[(u64, &[u8])], last: u64, base_lg: u8, bits_per_key: u32) -> Vec<u8> {
    let mut count = last >> base_lg;
    if keys.iter().any(|&(offset, _)| offset >> base_lg == count) {
        count += 1;
    }
    let (mut filters, mut offsets, mut left) = (Vec::new(), Vec::new(), keys);
    for index in 0..count {
        offsets.extend((filters.len() as u32).to_le_bytes());
        let of_range = left.iter().take_while(|(offset, _)| offset >> base_lg == index);
        let of_range: Vec<&[u8]> = of_range.map(|&(_, key)| key).collect();
        if !of_range.is_empty() {
            filters.extend(bloom_filter(&of_range, bits_per_key));
            left = &left[of_range.len()..];
        }
    }
    offsets.extend((filters.len() as u32).to_le_bytes());
    [&filters[..], &offsets, &[base_lg]].concat()
}
