//! Which data blocks of a table may hold a key: by the index where the order of the keys is known, and by the filters.

use std::cmp::Ordering;
use std::fs::File;

use filterblock::table::Table;
use filterblock::{FilterPolicy as _, Result};

use super::Order;
use crate::survey::{Blocks, Census, KeyFormat, Sample, TableCensus, within};

/// An index whose keys are longer than this altogether is not walked: prefix compression lets a small file hold terabytes.
const MAX_INDEX_KEYS: u64 = 256 << 20;
/// How much of an internal key is not the user's.
const SUFFIX: usize = 8;

/// What has to be known of a table to answer for all keys.
pub(super) struct Routes<'t> {
    blocks: Blocks,
    census: Option<TableCensus<'t>>,
    /// What the index says of each key, if it is of use: one answer for each reading of the index that is possible.
    index: Option<Vec<Route>>,
    /// Why the index is of no use though it was asked for.
    pub(super) no_index: Option<&'static str>,
    /// What makes every key possible.
    pub(super) error: Option<String>,
    /// The chance that an absent key passes at least one of all filters.
    chance: f64,
}

/// For each key, the data block that may hold it.
type Route = Vec<Option<u64>>;

/// The keys sought, and their order byte by byte.
pub(super) struct Keys {
    pub(super) given: Vec<Vec<u8>>,
    sorted: Vec<usize>,
}

/// The data blocks that may hold a key.
pub(super) struct Found {
    pub(super) blocks: Vec<u64>,
    /// How many data blocks the table has.
    pub(super) of: u64,
    pub(super) by_index: bool,
    /// Whether there are filters to ask.
    pub(super) filtered: bool,
    /// The chance that a key which is not there is said to be there.
    pub(super) chance: f64,
}

/// How the keys of an index can be read.
#[derive(Clone, Copy)]
enum Reading {
    Whole,
    UserPart,
}

impl Keys {
    pub(super) fn new(given: Vec<Vec<u8>>) -> Self {
        let mut sorted: Vec<usize> = (0..given.len()).collect();
        sorted.sort_by_key(|&at| given.get(at));
        Self { given, sorted }
    }
}

impl<'t> Routes<'t> {
    pub(super) fn new(table: &'t Table<File>, keys: &Keys, order: Option<Order>) -> Self {
        let census = table.filter().map(Census::new);
        let mut blocks = Blocks::default();
        blocks.visit(table, |handle| within(table, handle));
        let malformed = || table.filter().and_then(|filter| filter.check().err());
        let filter_error = table.filter_error().map(|error| error.without_path().to_string());
        let mut error = filter_error.or_else(|| malformed().map(|error| error.to_string()));
        let mut index = None;
        if order == Some(Order::Bytewise) {
            let sample = Sample::take(table, &mut blocks, census.as_ref());
            error = error.or_else(|| sample.unsound());
            index = Some(walk(table, keys, sample.key_format().ok()));
        }
        let rates = census.as_ref().map(|census| census.covering_rates(&blocks.offsets));
        let chance = rates.map_or(1.0, any_errs);
        let (index, no_index) = match index {
            Some(Ok(index)) => (Some(index), None),
            Some(Err(reason)) => (None, Some(reason)),
            None => (None, None),
        };
        Self { error: blocks.damage.text().or(error), blocks, census, index, no_index, chance }
    }

    /// What there is to say of a key outside of the table's range of keys.
    pub(super) fn none(&self) -> Found {
        Found {
            blocks: Vec::new(),
            of: self.blocks.offsets.len(),
            by_index: true,
            filtered: self.census.is_some(),
            chance: 0.0,
        }
    }

    /// The data blocks that may hold key `at` of those given.
    pub(super) fn find(&self, keys: &Keys, at: usize) -> Found {
        let key = keys.given.get(at).map_or(&[][..], Vec::as_slice);
        let hash = self.census.as_ref().and_then(|census| census.reader().policy().hash_key(key));
        let may_match = |offset: &u64| match (&self.census, hash) {
            (None, _) => true,
            (Some(census), Some(hash)) => census.reader().hash_may_match(*offset, hash),
            (Some(census), None) => census.reader().key_may_match(*offset, key),
        };
        let (blocks, chance) = match &self.index {
            None => (self.blocks.offsets.iter().filter(may_match).collect(), self.chance),
            Some(routes) => {
                let mut asked: Vec<u64> = routes.iter().filter_map(|route| *route.get(at)?).collect();
                asked.sort_unstable();
                asked.dedup();
                let rates = asked
                    .iter()
                    .map(|&offset| self.census.as_ref().map_or(1.0, |census| census.rate_at(offset)));
                let chance = any_errs(rates);
                (asked.into_iter().filter(may_match).collect(), chance)
            }
        };
        Found {
            blocks,
            of: self.blocks.offsets.len(),
            by_index: self.index.is_some(),
            filtered: self.census.is_some(),
            chance,
        }
    }
}

fn any_errs(rates: impl Iterator<Item = f64>) -> f64 {
    1.0 - rates.map(|rate| 1.0 - rate).product::<f64>()
}

/// What the index says of each key, under each reading that is possible.
fn walk(
    table: &Table<File>,
    keys: &Keys,
    format: Option<KeyFormat>,
) -> std::result::Result<Vec<Route>, &'static str> {
    let (total, shortest) = key_lengths(table).map_err(|_| "the index is damaged")?;
    if total > MAX_INDEX_KEYS {
        return Err("the keys of the index are too long altogether");
    }
    let readings: &[Reading] = match format {
        Some(KeyFormat::Internal) => &[Reading::UserPart],
        Some(KeyFormat::User) => &[Reading::Whole],
        // An internal key is not so short.
        None if shortest < SUFFIX => &[Reading::Whole],
        None => &[Reading::Whole, Reading::UserPart],
    };
    // All possible readings have to fit, lest the wrong one of them alone decides.
    readings.iter().map(|&reading| walk_as(table, keys, reading)).collect()
}

/// The lengths of the index's keys: their sum and the smallest.
fn key_lengths(table: &Table<File>) -> Result<(u64, usize)> {
    let (mut total, mut shortest) = (0u64, usize::MAX);
    let mut index = table.index();
    while index.next()? {
        total = total.saturating_add(index.key().len() as u64);
        shortest = shortest.min(index.key().len());
    }
    Ok((total, shortest))
}

fn walk_as(table: &Table<File>, keys: &Keys, reading: Reading) -> std::result::Result<Route, &'static str> {
    const DISORDER: &str = "the index is not in bytewise order";
    let mut route = vec![None; keys.given.len()];
    let mut sought = keys.sorted.iter().peekable();
    let mut index = table.index();
    let mut previous: Option<Vec<u8>> = None;
    while let Ok(true) = index.next() {
        let key = index.key();
        if let Some(previous) = &previous
            && reading.compare(previous, key).is_gt()
        {
            return Err(DISORDER);
        }
        let part = reading.part(key);
        // A block that cannot be told is damage, and makes every key possible anyway.
        let offset = index.handle().ok().map(|handle| handle.offset);
        while let Some(&at) =
            sought.next_if(|&&at| keys.given.get(at).is_some_and(|key| key.as_slice() <= part))
        {
            if let Some(entry) = route.get_mut(at) {
                *entry = offset;
            }
        }
        let previous = previous.get_or_insert_default();
        previous.clear();
        previous.extend_from_slice(key);
    }
    Ok(route)
}

impl Reading {
    /// What the keys sought are compared to.
    fn part(self, key: &[u8]) -> &[u8] {
        match self {
            Self::Whole => key,
            Self::UserPart => {
                key.len().checked_sub(SUFFIX).and_then(|len| key.get(..len)).unwrap_or_default()
            }
        }
    }

    /// The order of the index: by user key, then the newest, that is the greatest tag, first.
    fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        let tag = |key: &[u8]| key.last_chunk().map(|tag| u64::from_le_bytes(*tag));
        match self {
            Self::Whole => a.cmp(b),
            Self::UserPart => self.part(a).cmp(self.part(b)).then_with(|| tag(b).cmp(&tag(a))),
        }
    }
}
