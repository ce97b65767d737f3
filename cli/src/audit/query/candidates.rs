//! Which data blocks of a table may hold a key: by the index where the order of the keys is known, and by the filters.

use std::fs::File;

use filterblock::table::{Origin, Table};
use filterblock::{FilterPolicy as _, Result};

use crate::audit::key_encoding::{self, Reading};
use crate::audit::stats::{Blocks, Census, KeyFormat, Sample, TableCensus, within};
use crate::command::query::Order;

/// An index whose keys are longer than this altogether is not walked: prefix compression lets a small file hold terabytes.
const MAX_INDEX_KEYS: u64 = 256 << 20;
/// Why an index is of no use whose keys are not what the filters are of.
const OTHER_FORMAT: &str = "the index holds keys that are no internal keys";

/// What has to be known of a table to answer for all keys.
pub(crate) struct Routes<'t> {
    blocks: Blocks,
    census: Option<TableCensus<'t>>,
    /// What the index says of each key, if it is of use: one answer for each reading of the index that is possible.
    index: Option<Vec<Route>>,
    /// Why the index is of no use though it was asked for.
    pub(crate) no_index: Option<&'static str>,
    /// What makes every key possible.
    pub(crate) error: Option<String>,
    /// The chance that an absent key passes at least one of all filters.
    chance: f64,
}

/// For each key, the data block that may hold it.
type Route = Vec<Option<u64>>;

/// The keys sought, and their order byte by byte.
pub(crate) struct Keys {
    pub(crate) given: Vec<Vec<u8>>,
    sorted: Vec<usize>,
}

/// The data blocks that may hold a key.
pub(crate) struct Found {
    pub(crate) blocks: Vec<u64>,
    /// How many data blocks the table has.
    pub(crate) of: u64,
    pub(crate) by_index: bool,
    /// Whether there are filters to ask.
    pub(crate) filtered: bool,
    /// The chance that a key which is not there is said to be there.
    pub(crate) chance: f64,
}

impl Keys {
    pub(crate) fn new(given: Vec<Vec<u8>>) -> Self {
        let mut sorted: Vec<usize> = (0..given.len()).collect();
        sorted.sort_by_key(|&at| given.get(at));
        Self { given, sorted }
    }
}

impl<'t> Routes<'t> {
    pub(crate) fn new(table: &'t Table<File>, keys: &Keys, order: Option<Order>) -> Self {
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
    pub(crate) fn none(&self) -> Found {
        Found {
            blocks: Vec::new(),
            of: self.blocks.offsets.len(),
            by_index: true,
            filtered: self.census.is_some(),
            chance: 0.0,
        }
    }

    /// The data blocks that may hold key `at` of those given.
    pub(crate) fn find(&self, keys: &Keys, at: usize) -> Found {
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
    let index = IndexKeys::of(table).map_err(|_| "the index is damaged")?;
    if index.total_len > MAX_INDEX_KEYS {
        return Err("the keys of the index are too long altogether");
    }
    let readings = index.readings(format, table.origin());
    if readings.is_empty() {
        return Err(OTHER_FORMAT);
    }
    // All possible readings have to fit, lest the wrong one of them alone decides.
    readings.iter().map(|&reading| walk_as(table, keys, reading)).collect()
}

/// What has to be known of the keys of an index before they are read.
struct IndexKeys {
    total_len: u64,
    /// Whether all of them may be internal keys, with a time where their type asks for one, or
    /// without.
    may_be_timed: bool,
    may_be_untimed: bool,
    /// Whether a type asks for a time.
    has_timed_types: bool,
}

impl IndexKeys {
    fn of(table: &Table<File>) -> Result<Self> {
        let mut keys =
            Self { total_len: 0, may_be_timed: true, may_be_untimed: true, has_timed_types: false };
        let mut index = table.index();
        while index.next()? {
            let key = index.key();
            keys.total_len = keys.total_len.saturating_add(key.len() as u64);
            keys.may_be_timed &= Reading::Internal.filtered(key).is_some();
            keys.may_be_untimed &= Reading::Untimed.filtered(key).is_some();
            keys.has_timed_types |= key_encoding::has_timed_type(key);
        }
        Ok(keys)
    }

    /// The readings that are possible.
    fn readings(&self, format: Option<KeyFormat>, origin: Option<Origin>) -> Vec<Reading> {
        let mut readings = Vec::new();
        if format != Some(KeyFormat::Internal) {
            readings.push(Reading::Whole);
        }
        if format != Some(KeyFormat::User) {
            // Only Riak's tables are known to store times, and these have its mark.
            let is_bashos = origin == Some(Origin::Basho);
            if is_bashos || (self.has_timed_types && origin.is_none()) {
                readings.extend(self.may_be_timed.then_some(Reading::Internal));
            }
            if !is_bashos {
                readings.extend(self.may_be_untimed.then_some(Reading::Untimed));
            }
        }
        readings
    }
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
        let Some(part) = reading.filtered(key) else { return Err(OTHER_FORMAT) };
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
