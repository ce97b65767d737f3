//! How full the filters along a table are.

use filterblock::table::{ReadAt, ReadOptions, Table};

use crate::audit::stats::filter::State;
use crate::audit::stats::filters::FilterStats;

/// The filters of a table, in the order of the data blocks they cover.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Fill {
    /// The name of the file.
    pub(crate) name: Vec<u8>,
    pub(crate) base_lg: u8,
    /// The share of bits set of each filter; `None` for an empty one.
    pub(crate) shares: Vec<Option<f32>>,
}

impl Fill {
    /// Reads the filters of the table that `source` holds. `None` if it has none that are known.
    pub(crate) fn read<R: ReadAt>(name: Vec<u8>, source: R, options: &ReadOptions) -> Option<Self> {
        let table = Table::open(source, options).ok()?;
        let filters = FilterStats::new(table.filter()?.clone());
        let share = |bits_set: u64, bits: u64| (bits > 0).then(|| bits_set as f32 / bits as f32);
        let shares = filters.iter().map(|filter| match filter.state {
            State::Empty => None,
            // One that denies nothing is as good as full.
            State::Malformed => Some(1.0),
            State::Ok => Some(share(filter.bits_set, filter.bits).unwrap_or(1.0)),
        });
        Some(Self { name, base_lg: filters.reader().base_lg(), shares: shares.collect() })
    }
}
