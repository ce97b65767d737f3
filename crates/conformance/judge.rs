//! The worth of an answer.

use std::fmt;

use serde_json::Value;

/// The worth of an answer to a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// LevelDB's answer.
    Passed,
    /// Another answer, which loses nothing.
    DiffersSafely,
    /// Any other answer.
    Wrong,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Passed => "passed",
            Self::DiffersSafely => "differs safely",
            Self::Wrong => "wrong",
        })
    }
}

/// Judges the answer to a case, a line of the files of cases. The answer has the form of the case's `must`.
pub fn judge(case: &Value, answer: &Value) -> Verdict {
    if agrees(&case["must"], answer) {
        return Verdict::Passed;
    }
    let forbidden = list(&case["must_not"]).any(|pattern| agrees(pattern, answer));
    match !forbidden && list(&case["may"]).any(|pattern| agrees(pattern, answer)) {
        true => Verdict::DiffersSafely,
        false => Verdict::Wrong,
    }
}

fn list(patterns: &Value) -> impl Iterator<Item = &Value> {
    patterns.as_array().into_iter().flatten()
}

/// Returns true if answer and pattern have the same fields, and the same values in them. Only `asked` may be
/// left out of either: most implementations cannot tell whether the policy was asked.
fn agrees(pattern: &Value, answer: &Value) -> bool {
    let (Some(pattern), Some(answer)) = (pattern.as_object(), answer.as_object()) else { return false };
    let names = pattern.keys().chain(answer.keys());
    names.into_iter().all(|name| match (pattern.get(name), answer.get(name)) {
        (Some(expected), Some(found)) => expected == found,
        _ => name == "asked",
    })
}
