//! Keys of a table's index, which tell where the table's entries are in key order.

use std::collections::BTreeSet;

use filterblock::table::Table;

use crate::audit::key_encoding::KeyEncoding;

/// Longer keys are cut off. What is left sorts before the whole key and next to it.
const MAX_KEY: usize = 128;

/// User keys that cut a table into parts: half of them into equal ones, the others into ever smaller ones towards both
/// ends. Near its ends, many other tables may begin or end.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct FenceKeys {
    /// In index order, the data blocks up to each key, and the key: a bound between the entries of these blocks and of
    /// the others, unless it was cut off.
    pub(super) keys: Vec<(u64, Box<[u8]>)>,
    /// All data blocks.
    pub(super) blocks: u64,
}

impl FenceKeys {
    /// Takes at most `most` keys from the index. Takes none if it is damaged, or has keys too short for internal keys.
    pub(crate) fn of<R>(table: &Table<R>, most: u64) -> Self {
        let blocks = if most == 0 { 0 } else { table.data_blocks().count() as u64 };
        let mut ends = ends(blocks, most).into_iter().peekable();
        let (mut keys, mut index, mut at) = (Vec::new(), table.index(), 0);
        while ends.peek().is_some() {
            let (Ok(true), Some(key)) = (index.next(), KeyEncoding::Internal.filtered(index.key())) else {
                return Self::default();
            };
            at += 1;
            if ends.next_if_eq(&at).is_some() {
                keys.push((at, key.get(..MAX_KEY).unwrap_or(key).into()));
            }
        }
        Self { keys, blocks }
    }
}

/// Chooses the keys to take, by the number of data blocks up to each.
fn ends(blocks: u64, most: u64) -> BTreeSet<u64> {
    if blocks <= most.saturating_add(1) {
        return BTreeSet::from_iter(1..blocks);
    }
    let parts = most / 2 + 1;
    let end_of = |part: u64| (u128::from(blocks) * u128::from(part) / u128::from(parts)) as u64;
    let mut ends = BTreeSet::from_iter((1..parts).map(end_of));
    for distance in (0..u64::BITS).map(|power| 1 << power) {
        if distance >= blocks / parts || ends.len() as u64 + 2 > most {
            break;
        }
        ends.extend([distance, blocks - distance]);
    }
    ends
}

#[cfg(test)]
mod tests {
    use filterblock::table::{TableBuilder, WriteOptions};

    use super::*;
    use crate::audit::reading::read_options;

    /// The marks of a table with `blocks` data blocks, each with one key: a number of four digits, and `len` dots.
    fn marks(blocks: u32, most: u64, len: usize) -> Vec<(u64, Vec<u8>)> {
        let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default().block_size(1));
        for number in 0..blocks {
            let user_key = [format!("{number:04}").as_bytes(), &vec![b'.'; len]].concat();
            builder.add(&[&user_key[..], &[1, 9, 0, 0, 0, 0, 0, 0]].concat(), b"").unwrap();
        }
        let table = Table::open(builder.finish().unwrap().0, &read_options()).unwrap();
        let marks = FenceKeys::of(&table, most);
        assert!(marks.blocks == u64::from(blocks) || most == 0);
        marks.keys.into_iter().map(|(blocks, key)| (blocks, key.into_vec())).collect()
    }

    #[test]
    fn keys_are_spread_over_the_index() {
        let found = marks(1000, 7, 0);
        assert_eq!(
            found.iter().map(|(blocks, _)| *blocks).collect::<Vec<_>>(),
            [1, 2, 250, 500, 750, 998, 999]
        );
        for (blocks, key) in found {
            let [last, next] = [blocks - 1, blocks].map(|number| format!("{number:04}").into_bytes());
            assert!(last <= key && key < next, "{blocks} {key:?}");
        }
        assert_eq!(ends(100_000, 31).len(), 31);
        assert_eq!(ends(5, 1), BTreeSet::new());
        assert_eq!(ends(u64::MAX, 2), BTreeSet::from([u64::MAX / 2]));
        assert_eq!(marks(3, 15, 0).iter().map(|(blocks, _)| *blocks).collect::<Vec<_>>(), [1, 2]);
        assert!(marks(1, 15, 0).is_empty() && marks(0, 15, 0).is_empty() && marks(1000, 0, 0).is_empty());
    }

    #[test]
    fn long_keys_are_cut_off() {
        assert!(marks(9, 4, 5000).iter().all(|(_, key)| key.len() <= MAX_KEY));
    }
}
