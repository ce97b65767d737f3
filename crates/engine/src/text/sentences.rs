//! Sentences, and lists of names.

use super::count;

/// `text` with a capital letter at its beginning and, unless it ends with `.`, `!` or `?`, a full stop.
pub(crate) fn sentence(text: &str) -> String {
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{end}", capitalized(text))
}

/// `text` with a capital letter at its beginning.
pub(crate) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}", chars.as_str())
}

/// The first of `names`, and the number of the others: `000007.ldb and 2 more tables`.
pub(crate) fn some_of(names: &[String], what: &str) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [one, other] => format!("{one} and {other}"),
        [first, others @ ..] => format!("{first} and {} more {what}", count(others.len() as u64)),
    }
}
