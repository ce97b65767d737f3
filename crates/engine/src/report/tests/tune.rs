//! Tests of the results of `tune` as lines of JSON.

use crate::audit::tune::examples::{tuned, tuning, with_lookups};
use crate::report::frame::ErrorKind;
use crate::report::{Fault, Tuned};

fn printed(tuned: &Tuned) -> String {
    let mut out = Vec::new();
    tuned.write_json(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The values in a JSON text that are neither lists nor objects.
fn values(of: &serde_json::Value) -> usize {
    match of {
        serde_json::Value::Array(items) => items.iter().map(values).sum(),
        serde_json::Value::Object(fields) => fields.values().map(values).sum(),
        _ => 1,
    }
}

/// Prints a database that is fine, one to rebuild, one without filters, one with lookups, and a failure. Commands differ
/// on Windows.
#[cfg(not(windows))]
#[test]
fn every_object_is_printed_with_all_its_fields() {
    let all = [Ok(tuning(Some(10))), Ok(tuning(Some(2))), Ok(tuning(None)), Ok(with_lookups())];
    let failure = Fault::new("no such \"file\"", ErrorKind::Missing);
    let lines: String = all.into_iter().chain([Err(failure)]).map(|result| printed(&tuned(result))).collect();
    assert_eq!(lines, include_str!("tune.jsonl").replace('\r', ""), "\n{lines}");
}

/// Promised by docs/json.md.
#[test]
fn a_database_has_at_most_90_values_and_8_a_level() {
    for tuning in [tuning(Some(10)), tuning(Some(100)), tuning(None), with_lookups()] {
        let levels = tuning.levels.len();
        let line = printed(&tuned(Ok(tuning)));
        assert_eq!(line.lines().count(), 1);
        let found = values(&serde_json::from_str(&line).unwrap());
        assert!(found <= 90 + 8 * levels, "{found}: {line}");
    }
}
