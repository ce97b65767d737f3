//! Tables of other bytes than LevelDB's: whether LevelDB reads from them what was put in.

use anyhow::Result;
use serde_json::{Value, json};

use super::answers::{Asking, Reply};
use super::judge::Verdict;

/// The worth of a table that an implementation built for a case of `table_build`, if it differs from LevelDB's.
///
/// It differs safely if LevelDB finds the entries that were put in, no others, and each by its key, with filters asked.
///
/// # Errors
///
/// If LevelDB's runner cannot be asked.
pub fn judge_table(case: &Value, answer: &Value, leveldb: &mut Asking<'_>) -> Result<Verdict> {
    let (given, table) = (&case["given"], &answer["table"]);
    if !table.is_string() {
        return Ok(Verdict::Wrong);
    }
    let name = case["case"].as_str().unwrap_or_default();
    let mut ask = |kind: &str, question: Value| leveldb.ask(name, kind, &question);
    let question = json!({ "table": table, "internal_keys": given["internal_keys"] });
    if ask("table_scan", question.clone())? != Reply::Answer(json!({ "entries": given["entries"] })) {
        return Ok(Verdict::Wrong);
    }
    for entry in given["entries"].as_array().into_iter().flatten() {
        let mut question = question.clone();
        question["key"] = entry[0].clone();
        if ask("table_get", question)? != Reply::Answer(json!({ "value": entry[1] })) {
            return Ok(Verdict::Wrong);
        }
    }
    Ok(Verdict::DiffersSafely)
}
