//! The reason why fewer than half of the bits of filters are set.

use super::numbers::{distinct_keys, entries, percent};
use crate::report::Table;

/// A sentence, without its full stop, about a table in which many entries are further versions of a key, so
/// that its filters are emptier than usual. `None`: there are few such entries, or their number is not known.
pub fn versions_text(table: &Table) -> Option<String> {
    let (number, keys, fill) = (table.entries?, table.distinct_keys?, table.expected_fill()?);
    table.has_versions().then(|| {
        format!(
            "its {} entries are versions of {} keys, and versions of one key set the same bits: {} is to be expected",
            entries(number),
            distinct_keys(keys),
            percent(fill),
        )
    })
}
