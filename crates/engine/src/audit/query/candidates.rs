//! The data blocks of a table that may hold a key, by the filters and, if the key order is known, by the index.

use std::collections::BTreeSet;

use filterblock::table::{ReadAt, Table};
use filterblock::{FilterPolicy as _, Result, database::LiveTable};

use super::LookupKeys;
use super::index::{BlockOfKey, look_up};
use crate::audit::stats::{Blocks, FilterStats, Sample};
use crate::engine::Engine;
use crate::report::{ErrorKind, Fault, KeyBlocks};
use crate::{audit::reading::filter_trouble, text::error_text, walk::TableRecord};

/// A table, ready to answer for each key.
#[derive(Debug)]
pub(in crate::audit) struct BlockCandidates {
    blocks: Blocks,
    filters: Option<FilterStats>,
    /// The answers of the index, if it can be used: one for each possible encoding of its keys.
    index: Option<Vec<BlockOfKey>>,
    /// Why the index cannot be used although the key order is known; `None`: it can, or the order is not known.
    pub no_index: Option<&'static str>,
    /// Why every key may be in the table.
    pub error: Option<Fault>,
    /// The chance that at least one filter does not rule out an absent key.
    fpr: f64,
    /// The first and the last user key by the MANIFEST; `None`: not known, or not to be relied on.
    range: Option<(Vec<u8>, Vec<u8>)>,
    /// The database does not use the table any longer, or not yet.
    is_obsolete: bool,
}

/// Opens the table in `source`, to answer for `keys`. `record`: its record in its database.
pub(super) fn table<R: ReadAt>(
    source: R,
    engine: &Engine,
    keys: &LookupKeys,
    record: Option<TableRecord<'_>>,
) -> Result<BlockCandidates> {
    let table = Table::open(source, &engine.read)?;
    let filters = table.filter().cloned().map(FilterStats::new);
    let mut blocks = Blocks::list(&table);
    let malformed = || table.filter().and_then(|filter| filter.check().err());
    let filter_error = filter_trouble(&table);
    let mut error = filter_error.map(|error| Fault::new(error_text(error), ErrorKind::of(error)));
    error = error.or_else(|| malformed().map(|error| Fault::new(error_text(&error), ErrorKind::Damaged)));
    let index = TableRecord::is_bytewise_or(record, engine.is_bytewise()).then(|| {
        let sample = Sample::take(&table, &mut blocks, &BTreeSet::new(), filters.as_ref(), 0);
        error = error.take().or_else(|| sample.false_negatives());
        look_up(&table, keys, sample.key_format().ok())
    });
    let (index, no_index) = match index.transpose() {
        Ok(index) => (index, None),
        Err(reason) => (None, Some(reason)),
    };
    let rates = filters.as_ref().map(|filters| filters.covering_rates(&blocks.offsets));
    let fpr = rates.map_or(1.0, any_errs);
    let error = blocks.damage.fault().or(error);
    let bytewise = record.filter(|record| record.is_bytewise);
    let range = bytewise.and_then(|record| record.live).and_then(LiveTable::user_keys);
    Ok(BlockCandidates {
        // With an error, every key may be in the table. A range that ends before it begins says nothing.
        range: range
            .filter(|(smallest, largest)| error.is_none() && smallest <= largest)
            .map(|(smallest, largest)| (smallest.to_vec(), largest.to_vec())),
        is_obsolete: record.is_some_and(|record| record.live.is_none()),
        error,
        blocks,
        filters,
        index,
        no_index,
        fpr,
    })
}

impl BlockCandidates {
    pub(super) fn data_blocks(&self) -> u64 {
        self.blocks.offsets.len()
    }

    pub(super) const fn has_filters(&self) -> bool {
        self.filters.is_some()
    }

    /// The data blocks that may hold `key`, whose index among the keys is `at`.
    pub(in crate::audit) fn of(&self, key: &[u8], at: usize) -> KeyBlocks {
        let range = self.range.as_ref();
        if range.is_some_and(|(smallest, largest)| *key < **smallest || *key > **largest) {
            return self.found(Vec::new(), 0.0, true);
        }
        let hash = self.filters.as_ref().and_then(|filters| filters.reader().policy().hash_key(key));
        let may_match = |offset: &u64| match (&self.filters, hash) {
            (None, _) => true,
            (Some(filters), Some(hash)) => filters.reader().hash_may_match(*offset, hash),
            (Some(filters), None) => filters.reader().key_may_match(*offset, key),
        };
        let Some(index) = &self.index else {
            return self.found(self.blocks.offsets.iter().filter(may_match).collect(), self.fpr, false);
        };
        let mut checked: Vec<u64> = index.iter().filter_map(|blocks| *blocks.get(at)?).collect();
        checked.sort_unstable();
        checked.dedup();
        let rate_at = |&offset| self.filters.as_ref().map_or(1.0, |filters| filters.rate_at(offset));
        let fpr = any_errs(checked.iter().map(rate_at));
        self.found(checked.into_iter().filter(may_match).collect(), fpr, true)
    }

    fn found(&self, offsets: Vec<u64>, fpr: f64, by_index: bool) -> KeyBlocks {
        let read = if self.is_obsolete { Some(0) } else { by_index.then_some(offsets.len() as u64) };
        KeyBlocks { offsets, by_index, fpr, lookup_blocks: read }
    }
}

fn any_errs(rates: impl Iterator<Item = f64>) -> f64 {
    1.0 - rates.map(|rate| 1.0 - rate).product::<f64>()
}
