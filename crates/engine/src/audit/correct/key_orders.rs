//! The orders in which the keys of a table may be sorted.

use std::cmp::Ordering;
use std::sync::Arc;

use filterblock::KeyFormat;
use filterblock::table::{BlockCursor, BytewiseComparator, Comparator as _, IdbComparator, SharedComparator};

/// The key orders that fit the entries seen so far.
#[derive(Clone)]
pub(crate) struct CandidateOrders(Vec<CandidateOrder>);

#[derive(Clone)]
struct CandidateOrder {
    /// `None`: no internal keys.
    format: Option<KeyFormat>,
    comparator: SharedComparator,
}

impl CandidateOrder {
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self.format {
            Some(format) => format.compare(a, b, |a, b| self.comparator.compare(a, b)),
            None => self.comparator.compare(a, b),
        }
    }
}

/// Bounds that an index sets for the keys of a block.
#[derive(Clone, Copy, Default)]
pub(crate) struct KeyBounds<'b> {
    /// Exclusive; `None`: no bound.
    pub(crate) after: Option<&'b [u8]>,
    /// Inclusive; `None`: no bound.
    pub(crate) up_to: Option<&'b [u8]>,
}

impl CandidateOrders {
    pub(crate) fn known() -> Self {
        let mut orders = Self::of(&(Arc::new(BytewiseComparator) as SharedComparator)).0;
        orders.push(CandidateOrder { format: None, comparator: Arc::new(BytewiseComparator) });
        orders.push(CandidateOrder { format: Some(KeyFormat::LevelDb), comparator: Arc::new(IdbComparator) });
        Self(orders)
    }

    pub(crate) fn of(comparator: &SharedComparator) -> Self {
        let formats = [KeyFormat::LevelDb, KeyFormat::Basho].into_iter();
        Self(
            formats
                .map(|format| CandidateOrder { format: Some(format), comparator: Arc::clone(comparator) })
                .collect(),
        )
    }

    /// The orders in which the keys of a block ascend within the bounds. `None`: there is none, the block does not
    /// decode to its end, or `seen` returns `None` for an entry.
    pub(crate) fn ascending(
        &self,
        mut entries: BlockCursor<'_>,
        between: KeyBounds<'_>,
        mut seen: impl FnMut(&BlockCursor<'_>) -> Option<()>,
    ) -> Option<Self> {
        let mut fitting = self.0.clone();
        let mut last = between.after.map(<[u8]>::to_vec);
        while entries.next().ok()? {
            seen(&entries)?;
            let key = entries.key();
            if let Some(last) = &last {
                fitting.retain(|order| order.compare(last, key).is_lt());
            }
            let last = last.get_or_insert_default();
            last.clear();
            last.extend_from_slice(key);
        }
        if let (Some(last), Some(up_to)) = (&last, between.up_to) {
            fitting.retain(|order| order.compare(last, up_to).is_le());
        }
        (!fitting.is_empty()).then_some(Self(fitting))
    }
}

#[cfg(test)]
mod tests {
    use filterblock::table::{BlockHandle, ReadOptions, TableBuilder, WriteOptions};

    use super::*;

    /// The number of known orders that fit a block of these keys.
    fn fitting(keys: &[&[u8]], between: KeyBounds<'_>) -> usize {
        struct Any;
        impl filterblock::table::Comparator for Any {
            fn name(&self) -> &'static str {
                "any"
            }
            fn compare(&self, _: &[u8], _: &[u8]) -> Ordering {
                Ordering::Greater
            }
        }
        let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default().comparator(Arc::new(Any)));
        keys.iter().for_each(|key| builder.add(key, b"").unwrap());
        let (file, summary) = builder.finish().unwrap();
        let handle = BlockHandle { offset: 0, size: summary.data_size - 5 };
        let entries = BlockCursor::read(file, handle, &ReadOptions::default()).unwrap();
        let found = CandidateOrders::known().ascending(entries, between, |_| Some(()));
        found.map_or(0, |orders| orders.0.len())
    }

    #[test]
    fn keys_ascend_in_some_order_and_keep_to_their_bounds() {
        let (a, b) = (&b"a\x01\x09\0\0\0\0\0\0"[..], &b"b\x01\x05\0\0\0\0\0\0"[..]);
        let older = &b"a\x01\x07\0\0\0\0\0\0"[..];
        let all = KeyBounds::default();
        assert!(fitting(&[a, b], all) >= 3);
        // The newer version comes first, but only in orders of internal keys.
        assert!(fitting(&[a, older, b], all) >= 2);
        assert_eq!(fitting(&[older, a, b], all), 1);
        assert_eq!(fitting(&[b, a], all), 0);
        assert_eq!(fitting(&[a, a], all), 0);
        assert_eq!(fitting(&[b"a", b"b"], KeyBounds { after: Some(b"b"), ..all }), 0);
        assert_eq!(fitting(&[b"b", b"c"], KeyBounds { up_to: Some(b"b"), ..all }), 0);
        assert!(fitting(&[b"b", b"c"], KeyBounds { after: Some(b"a"), up_to: Some(b"c") }) >= 1);
        assert_eq!(fitting(&[a, b], KeyBounds { after: Some(a), up_to: None }), 0);
        assert!(fitting(&[older, b], KeyBounds { after: Some(a), up_to: Some(b) }) >= 1);
    }
}
