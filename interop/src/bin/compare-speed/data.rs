//! Keys, in the forms in which they are needed.

use filterblock::{FilterBlockBuilder, FilterPolicy};
use filterblock_interop::random::Random;

/// Bytes of data blocks for each filter.
pub(crate) const RANGE: u64 = 2048;

/// Makes `count` random keys of `len` bytes, or of 1 to 64 bytes, each followed by `suffix`.
pub(crate) fn keys(seed: u64, count: usize, len: Option<usize>, suffix: &[u8]) -> Vec<Vec<u8>> {
    let mut random = Random::new(seed);
    let key = |random: &mut Random| {
        let len = len.unwrap_or_else(|| 1 + random.index(64));
        let mut key = random.bytes(len);
        key.extend_from_slice(suffix);
        key
    };
    (0..count).map(|_| key(&mut random)).collect()
}

/// The shape of the keys.
pub(crate) fn describe(len: Option<usize>) -> String {
    len.map_or_else(|| "1 to 64 bytes".to_owned(), |len| format!("{len} bytes"))
}

pub(crate) fn slices(keys: &[Vec<u8>]) -> Vec<&[u8]> {
    keys.iter().map(Vec::as_slice).collect()
}

/// Queries whose keys lie end to end in the order in which they are asked, so that fetching them
/// takes no time.
pub(crate) struct Asked {
    bytes: Vec<u8>,
    /// The offset of a data block, and the end of the key.
    queries: Vec<(u64, usize)>,
}

impl Asked {
    /// Makes queries in this order.
    pub(crate) fn new<'a>(queries: impl IntoIterator<Item = (u64, &'a [u8])>) -> Self {
        let mut bytes = Vec::new();
        let place = |(offset, key): (u64, &[u8])| {
            bytes.extend_from_slice(key);
            (offset, bytes.len())
        };
        let queries = queries.into_iter().map(place).collect();
        Self { bytes, queries }
    }

    /// Makes queries of each key with the offset of its data block, in random order.
    pub(crate) fn shuffled(keys: &[Vec<u8>], per_filter: usize) -> Self {
        let mut numbers: Vec<usize> = (0..keys.len()).collect();
        let mut random = Random::new(1);
        for last in (1..numbers.len()).rev() {
            numbers.swap(last, random.index(last + 1));
        }
        Self::new(numbers.into_iter().map(|number| ((number / per_filter) as u64 * RANGE, &keys[number][..])))
    }

    /// Makes the same queries, each key followed by `suffix`.
    pub(crate) fn with_suffix(&self, suffix: &[u8]) -> Self {
        let keys: Vec<_> =
            self.queries().iter().map(|(offset, key)| (*offset, [*key, suffix].concat())).collect();
        Self::new(keys.iter().map(|(offset, key)| (*offset, &key[..])))
    }

    pub(crate) fn queries(&self) -> Vec<(u64, &[u8])> {
        let starts = std::iter::once(0).chain(self.queries.iter().map(|(_, end)| *end));
        starts.zip(&self.queries).map(|(start, &(offset, end))| (offset, &self.bytes[start..end])).collect()
    }
}

/// Builds a filter block with our builder.
pub(crate) fn build<P: FilterPolicy>(
    builder: &mut FilterBlockBuilder<P>,
    keys: &[&[u8]],
    per_filter: usize,
    block: &mut Vec<u8>,
) {
    block.clear();
    for (index, keys) in (0..).zip(keys.chunks(per_filter)) {
        builder.start_block(index * RANGE).expect("ascending offsets");
        keys.iter().for_each(|key| builder.add_key(key));
    }
    builder.finish_into(block).expect("a block within the limits");
}
