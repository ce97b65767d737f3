//! The facts about the database, and the parts of it that were read.

use maud::{Markup, html};

use crate::audit::overview::{Kind, Overview};
use crate::page::request::Shown;
use crate::page::verdict::logs_not_read;
use crate::page::words::{message, name};
use crate::report::{Depth, Tuning};
use crate::words::{about_count, count, counted, sentence, size};

/// Files or policies to list for one fact.
const MOST: usize = 20;

/// Says what was read of each table, and what this leaves unknown.
const fn looked_at(depth: Depth) -> &'static str {
    match depth {
        Depth::Tail => {
            "index and filter block. Numbers of entries and keys, and measured rates, are not known."
        }
        Depth::Sample => {
            "index, filter block, and some data blocks. Numbers of entries and keys behind ~ are estimates from these. \
             The filters were asked for random keys, and for stored keys with a byte changed or six appended."
        }
        Depth::All => {
            "index, filter block, and all data blocks. The filters were asked for random keys, and for stored keys with \
             a byte changed or six appended."
        }
    }
}

pub(crate) fn facts(page: &Shown<'_>) -> Markup {
    let overview = page.overview;
    let logs_not_read = logs_not_read(overview);
    html! {
        section {
            h2 { "The database" }
            dl.facts {
                (fact("What it is", html! { (kind(overview)) }))
                @if let Some(comparator) = &overview.comparator {
                    (fact("Order of keys", name(comparator)))
                }
                (fact("Filters of", policies(overview)))
                @if overview.kind != Kind::Table { (fact("Logs", logs(overview))) }
                @if let Some(tuning) = page.tuned() { (tuned(tuning)) }
            }
        }
        section {
            h2 { "What was looked at" }
            ul {
                li {
                    "Of every table: " (looked_at(overview.depth)) " In a rate of several tables each counts by the share \
                     of absent keys for which lookups come to it, and one without filters lets all pass."
                }
                @if overview.found.verified {
                    li {
                        "Every block and every entry, by the checks of " code { "filterblock verify" } "."
                    }
                } @else {
                    li { "Not every block: " code { "--no-verify" } " was given." }
                }
                @if let Some(logs) = logs_not_read { li { (sentence(&logs)) } }
                @match page.tuned() {
                    Some(tuning) => li { (sampled(tuning)) },
                    None => li { "No other filters were tried." },
                }
                li { "Files were only read. Intervals are of 95 %." }
            }
        }
    }
}

fn fact(what: &str, text: Markup) -> Markup {
    html! { div { dt { (what) } dd { (text) } } }
}

fn kind(overview: &Overview) -> &'static str {
    match (overview.kind, overview.has_records) {
        (Kind::Database, true) => "A database, with a MANIFEST that can be relied on",
        (Kind::Database, false) => {
            "A database whose MANIFEST cannot be relied on: all tables are taken to be in use"
        }
        (Kind::Folder, _) => "A folder of tables without a MANIFEST",
        (Kind::Table, _) => "A single table",
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
    html! {
        @if logs.is_empty() { "No log holds writes that are in no table yet" }
        @for (log, bytes) in logs.iter().take(MOST) {
            div { (name(log)) ", " (size(*bytes)) ": the newest writes, which no filter covers" }
        }
        @let more = logs.len().saturating_sub(MOST);
        @if more > 0 { div { (count(more as u64)) " more" } }
    }
}

fn tuned(tuning: &Tuning) -> Markup {
    html! {
        @if let Some(budget) = tuning.budget { (fact("Budget", html! { (size(budget)) })) }
        @if tuning.policy_assumed {
            (fact("Advice for", html! {
                code { (tuning.policy.name()) } ", " (tuning.policy.program()) "'s own policy"
            }))
        }
        @for table in tuning.left_out.iter().take(MOST) {
            (fact("Left out", html! { (name(table.name.as_bytes())) ": " (message(&table.why.text)) }))
        }
    }
}

fn sampled(tuning: &Tuning) -> String {
    let sample = &tuning.sample;
    let entries = about_count(sample.entries);
    match sample.tables == sample.of_tables {
        true if !tuning.left_out.is_empty() => {
            let tables = counted(sample.tables, "table");
            format!("For other filters: all {entries} entries of the {tables} that could be read.")
        }
        true => format!("For other filters: all {entries} entries."),
        false => format!(
            "For other filters: every entry of {} of {}, {} of {}, which stand for {entries} entries.",
            count(sample.tables),
            counted(sample.of_tables, "table"),
            size(sample.bytes),
            size(tuning.size())
        ),
    }
}
