//! Facts about the database.

use maud::{Markup, html};

use crate::audit::overview::{Kind, Overview};
use crate::page::names::{message, name};
use crate::page::parts::{Section, facts};
use crate::page::shown::Shown;
use crate::report::Code;
use crate::text::{count, counted, distinct_keys, entry_sum, size};

/// Logs or policies to list.
const MOST: usize = 20;

pub(crate) fn about(page: &Shown<'_>) -> Section {
    let overview = page.overview;
    let mut list: Vec<(&str, Markup)> = vec![("What it is", html! { (kind(overview)) })];
    list.extend(overview.comparator.as_ref().map(|comparator| ("Order of keys", name(comparator))));
    let sums = overview.sums();
    // What a repair saves is counted with the logs, and with tables that are not in use.
    if let (Some(_), Some(keys), false) = (sums.entries.value, sums.distinct_keys, page.is_damaged()) {
        list.push(("Entries", html! { (entry_sum(&sums.entries)) " of " (distinct_keys(keys)) " keys" }));
    }
    list.push(("Filters of", policies(overview)));
    if overview.kind != Kind::Table {
        list.push(("Logs", logs(overview)));
    }
    if let Some(tuning) = page.tuned() {
        list.extend(tuning.budget.map(|budget| ("Budget", html! { (size(budget)) })));
    }
    Section {
        title: if overview.kind == Kind::Table { "About the table" } else { "About the database" },
        answer: "order of keys, policy, logs".to_owned(),
        content: facts(&list),
    }
}

fn kind(overview: &Overview) -> &'static str {
    match (overview.kind, overview.has_records) {
        (Kind::Database, true) => "a database",
        (Kind::Database, false) => "a database whose MANIFEST is not used: all tables are taken to be in use",
        (Kind::Folder, _) => "a folder of tables without a MANIFEST",
        (Kind::Table, _) => "a single table",
    }
}

fn policies(overview: &Overview) -> Markup {
    let policies = overview.policies();
    html! {
        @if policies.is_empty() { "no policy: no table has filters" }
        @for (policy, tables) in policies.iter().take(MOST) {
            div { (name(policy)) ", " (counted(*tables, "table")) }
        }
        @let more = policies.len().saturating_sub(MOST);
        @if more > 0 { div { (count(more as u64)) " more" } }
    }
}

fn logs(overview: &Overview) -> Markup {
    let logs = &overview.logs;
    let problems = overview.found.list.iter().map(|(_, problem)| problem);
    let missing = problems.filter(|problem| problem.code == Code::LogMissing);
    let missing: Vec<_> = missing.filter_map(|problem| problem.title.as_deref()).collect();
    html! {
        @for title in &missing { div { (message(title)) ": its writes are not known" } }
        @if logs.is_empty() && missing.is_empty() {
            @if overview.kind == Kind::Database && !overview.has_records { "not known" }
            @else { "no log holds writes that are in no table yet" }
        }
        @for (log, bytes) in logs.iter().take(MOST) {
            div { (name(log)) ", " (size(*bytes)) ": the newest writes, which no filter covers" }
        }
        @let more = logs.len().saturating_sub(MOST);
        @if more > 0 { div { (count(more as u64)) " more" } }
    }
}
