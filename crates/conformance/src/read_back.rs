//! Judges tables of other bytes than LevelDB's by what a reader finds in them.

use anyhow::Result;
use serde_json::{Value, json};

use crate::judge::Verdict;

/// Judges a table that an implementation built for a case of `table_build`, if it differs from LevelDB's.
///
/// The table differs safely if the reader finds the entries that were put in, no others, and each by its key, with
/// filters asked. `read`: returns the reader's answer to a question of this kind, or `None` if the reader has no
/// interface for the kind.
///
/// # Errors
///
/// If the reader cannot be asked.
pub fn judge_table(
    case: &Value,
    answer: &Value,
    mut read: impl FnMut(&str, Value) -> Result<Option<Value>>,
) -> Result<Verdict> {
    let (given, table) = (&case["given"], &answer["table"]);
    if !table.is_string() {
        return Ok(Verdict::Wrong);
    }
    let question = json!({ "table": table, "internal_keys": given["internal_keys"] });
    if read("table_scan", question.clone())? != Some(json!({ "entries": given["entries"] })) {
        return Ok(Verdict::Wrong);
    }
    for entry in given["entries"].as_array().into_iter().flatten() {
        let mut question = question.clone();
        question["key"] = entry[0].clone();
        if read("table_get", question)? != Some(json!({ "value": entry[1] })) {
            return Ok(Verdict::Wrong);
        }
    }
    Ok(Verdict::DiffersSafely)
}
