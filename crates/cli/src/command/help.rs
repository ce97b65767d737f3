//! The texts below the options of a command.

use std::fmt::Write as _;

/// The heading of options that few people need. Only `--help` shows them.
pub(super) const ADVANCED: &str = "Advanced";
/// The order of options that several commands have, within their heading.
pub(super) mod order {
    pub(in super::super) const RECURSIVE: usize = 100;
    pub(in super::super) const JSON: usize = 101;
    pub(in super::super) const MAX_OUTPUT: usize = 150;
    pub(in super::super) const SOURCES: usize = 200;
    pub(in super::super) const COLOR: usize = 300;
    pub(in super::super) const HELP: usize = 999;
}

const CLOSED: (u8, &str) = (141, "the output was closed early, as by head");

/// The text for `-h`: the examples, and the exit statuses with their meanings.
pub(super) fn short(examples: &str, statuses: &[(u8, &str)]) -> String {
    text(examples, "", statuses.iter().copied())
}

/// The text for `--help`, which has every status, and `more` in between.
pub(super) fn long(examples: &str, more: &str, statuses: &[(u8, &str)]) -> String {
    text(examples, more, statuses.iter().copied().chain([CLOSED]))
}

fn text<'s>(examples: &str, more: &str, statuses: impl Iterator<Item = (u8, &'s str)> + Clone) -> String {
    let width = statuses.clone().map(|(status, _)| status.to_string().len()).max().unwrap_or_default();
    let mut text = format!("Examples:\n{examples}\n\n");
    if !more.is_empty() {
        text += &format!("{more}\n\n");
    }
    text += "Exit status:";
    for (status, meaning) in statuses {
        let _ = write!(text, "\n  {status:<width$}  {meaning}");
    }
    text
}
