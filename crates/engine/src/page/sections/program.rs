//! Whether the program of a database uses filters.

use maud::html;

use super::grid::{Cell, stacked};
use crate::page::parts::Section;
use crate::page::shown::Shown;
use crate::report::Condition;
use crate::text::programs;

/// `None`: nothing depends on it.
pub(crate) fn program(page: &Shown<'_>) -> Option<Section> {
    let policy = page.advice.conditions.iter().find_map(|condition| match condition {
        Condition::ProgramSetsPolicy(policy) => Some(*policy),
        _ => None,
    })?;
    let [set, set_none] = programs(policy);
    let other = "look for filter_policy or NewBloomFilter in its source, or let it write, and run filterblock inspect on its \
                 newest table";
    let lines = [("sets this policy", set), ("sets none", set_none), ("another program", other)];
    let lines = lines.map(|(what, programs)| vec![Cell::head(what), Cell::Words(html! { (programs) })]);
    Some(Section {
        title: "Does the program use filters?",
        answer: "no table has any: perhaps it does not".to_owned(),
        content: html! {
            p {
                "LevelDB checks filters only if the program sets a policy (" code { "Options::filter_policy" }
                ") when it opens the database, and only those of that policy, here " code { (policy.name()) } "."
            }
            (stacked(&["", ""], &lines))
        },
    })
}
