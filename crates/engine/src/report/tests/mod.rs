//! Tests of results as lines of JSON.

mod tune;

use super::{Checked, Estimate, Inspected};

/// A verification of a damaged table knows only the entries that it could read.
#[test]
fn numbers_of_a_verification_are_taken_over_if_it_has_read_all() {
    let estimated = Estimate { value: 100, low: 90, high: 110 };
    let mut found = Inspected::default();
    found.table.entries = Some(estimated);
    let mut verdict = Checked { entries: 70, distinct_keys: 60, ..Checked::default() };
    found.count(&mut verdict);
    assert_eq!((found.table.entries, found.table.distinct_keys), (Some(estimated), None));
    verdict.is_complete = true;
    found.count(&mut verdict);
    let keys = found.table.distinct_keys.and_then(|keys| keys.value);
    assert_eq!((found.table.entries.map(|of| (of.value, of.is_exact())), keys), (Some((70, true)), Some(60)));
}
