//! The tables that lookups reach in a database whose keys are not in bytewise order.

use filterblock::KeyFormat;
use filterblock::database::{LiveTable, NUM_LEVELS};

use crate::audit::order::Order;

/// The ranges of keys of the tables, by level.
pub(super) struct Routes {
    order: Order,
    /// The tables of each level in the order in which a lookup reaches them: on level 0 the newest first, on other
    /// levels by their smallest keys.
    levels: Vec<Level>,
}

struct Level {
    ranges: Vec<Range>,
    /// No table ends after the next one begins. False for level 0.
    is_apart: bool,
}

/// The first and the last user key of a table.
struct Range {
    smallest: Vec<u8>,
    largest: Vec<u8>,
    /// The index of the table in the MANIFEST.
    table: u32,
}

impl Routes {
    /// Takes the ranges of `tables`, the tables of a MANIFEST. Tables whose range is damaged are left out.
    pub(super) fn new(tables: &[LiveTable], order: Order) -> Self {
        let range = |(at, table): (u32, &LiveTable)| {
            let user_key = |key| KeyFormat::LevelDb.user_key(key).map(<[u8]>::to_vec);
            Some(Range {
                smallest: user_key(&table.smallest)?,
                largest: user_key(&table.largest)?,
                table: at,
            })
        };
        let level = |level: u8| {
            let of_level = (0..).zip(tables).filter(|(_, table)| table.level == level);
            let mut ranges: Vec<_> = of_level.filter_map(range).collect();
            match level {
                0 => ranges.reverse(),
                _ => ranges.sort_by(|a, b| order.compare(&a.smallest, &b.smallest)),
            }
            let is_apart =
                level > 0 && ranges.is_sorted_by(|a, b| order.compare(&a.largest, &b.smallest).is_le());
            Level { ranges, is_apart }
        };
        Self { order, levels: (0..NUM_LEVELS).map(level).collect() }
    }

    /// The indices of the tables that a lookup of `key` reaches, in the order in which it reaches them.
    pub(super) fn visits(&self, key: &[u8]) -> Vec<u32> {
        let order = self.order;
        let mut visits = Vec::new();
        for Level { ranges, is_apart } in &self.levels {
            let start = match is_apart {
                true => ranges.partition_point(|range| order.compare(&range.largest, key).is_lt()),
                false => 0,
            };
            let reached = ranges.get(start..).unwrap_or_default().iter();
            let reached =
                reached.take_while(|range| !is_apart || order.compare(&range.smallest, key).is_le());
            let holds = |range: &&Range| {
                order.compare(&range.smallest, key).is_le() && order.compare(key, &range.largest).is_le()
            };
            visits.extend(reached.filter(holds).map(|range| range.table));
        }
        visits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lookup_reaches_the_tables_whose_range_has_the_key() {
        let internal = |key: &str| [key.as_bytes(), &[1, 9, 0, 0, 0, 0, 0, 0]].concat();
        let table = |(level, smallest, largest): (u8, &str, &str)| {
            LiveTable::new(level, 5, 4096, internal(smallest), internal(largest))
        };
        let tables =
            [(0, "a", "d"), (0, "c", "e"), (1, "d", "f"), (1, "a", "b"), (2, "a", "c"), (2, "b", "d")];
        let routes = Routes::new(&tables.map(table), Order::Bytewise);
        for (key, visits) in [
            ("a", &[0, 3, 4][..]),
            ("b", &[0, 3, 4, 5]),
            ("c", &[1, 0, 4, 5]),
            ("d", &[1, 0, 2, 5]),
            ("e", &[1, 2]),
            ("f", &[2]),
            ("0", &[]),
            ("g", &[]),
        ] {
            assert_eq!(routes.visits(key.as_bytes()), visits, "{key}");
        }
    }
}
