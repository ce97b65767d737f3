//! Makes keys, queries and filter blocks, in the forms in which they are needed.

use filterblock::{FilterBlockBuilder, FilterPolicy, KeyBuf};
use filterblock_interop::random::Random;

/// The number of bytes of data blocks for each filter.
pub(crate) const RANGE: u64 = 2048;

/// The sequence number and type in which internal keys end.
pub(crate) const SUFFIX: [u8; 8] = [1, 7, 0, 0, 0, 0, 0, 0];

/// Makes `count` random keys, each followed by `suffix`. `len`: the bytes of a key. `None`: 1 to 64
/// bytes.
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

/// The length of the keys, in words.
pub(crate) fn describe(len: Option<usize>) -> String {
    len.map_or_else(|| "1 to 64 bytes".to_owned(), |len| format!("{len} bytes"))
}

pub(crate) fn slices(keys: &[Vec<u8>]) -> Vec<&[u8]> {
    keys.iter().map(Vec::as_slice).collect()
}

/// Groups the keys by filter.
pub(crate) fn runs(keys: &[&[u8]], per_filter: usize) -> Vec<KeyBuf> {
    keys.chunks(per_filter).map(|keys| keys.iter().collect()).collect()
}

/// The kind of keys that are asked for: stored, absent or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Hit,
    Miss,
    /// Stored and absent keys, about half and half, in random order.
    Mixed,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Hit, Self::Miss, Self::Mixed];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Miss => "miss",
            Self::Mixed => "half and half",
        }
    }

    pub(crate) fn is_hit(self, random: &mut Random) -> bool {
        match self {
            Self::Hit => true,
            Self::Miss => false,
            Self::Mixed => random.index(2) == 0,
        }
    }
}

/// The order of the data blocks that queries lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Sorted,
    Random,
}

impl Order {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sorted => "sorted",
            Self::Random => "random blocks",
        }
    }

    /// Returns the numbers below `count` in this order.
    fn numbers(self, count: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..count).collect();
        if self == Self::Random {
            let mut random = Random::new(1);
            for last in (1..count).rev() {
                numbers.swap(last, random.index(last + 1));
            }
        }
        numbers
    }
}

/// Queries whose keys lie end to end in the order in which they are asked, so that fetching them
/// takes no time.
pub(crate) struct Asked {
    bytes: Vec<u8>,
    /// For each query, the offset of a data block and the end of the key.
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

    /// For each present key, makes a query for that key, for the absent key in its place, or for
    /// one of the two at random, by `kind`.
    pub(crate) fn of(
        order: Order,
        kind: Kind,
        present: &[Vec<u8>],
        absent: &[Vec<u8>],
        per_filter: usize,
    ) -> Self {
        let mut random = Random::new(3);
        let query = |number: usize| {
            let keys = if kind.is_hit(&mut random) { present } else { absent };
            ((number / per_filter) as u64 * RANGE, &keys[number][..])
        };
        Self::new(order.numbers(present.len()).into_iter().map(query))
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

/// Builds the same block as [`build`] from runs of keys, each of which holds the keys of one
/// filter.
pub(crate) fn build_runs<P: FilterPolicy>(
    builder: &mut FilterBlockBuilder<P>,
    runs: &[KeyBuf],
    block: &mut Vec<u8>,
) {
    block.clear();
    for (index, run) in (0..).zip(runs) {
        builder.start_block(index * RANGE).expect("ascending offsets");
        builder.add_keys(run.as_keys());
    }
    builder.finish_into(block).expect("a block within the limits");
}
