//! The parts of a report, in their order.

use filterblock::escape_path;
use maud::{Markup, html};

use super::request::Shown;
use super::sections::{facts, levels, problems, reads, settings, tables, tree};
use super::words::{message, text};
use crate::audit::overview::Kind;
use crate::report::Severity;
use crate::words::{AdviceText, count, counted, distinct_keys, entry_sum, measured, sentence, size};

/// From the name on.
pub(super) fn body(page: &Shown<'_>, advice: &AdviceText) -> Markup {
    let path = text(escape_path(page.path).to_string().as_bytes());
    let what = match page.overview.kind {
        Kind::Database => "The filters of the database",
        Kind::Folder => "The filters of the tables in",
        Kind::Table => "The filters of the table",
    };
    html! {
        h1 { span { (what) } code { (path) } }
        (advice_box(advice))
        (numbers(page))
        (tree::tree(page))
        (reads::reads(page))
        (settings::settings(page))
        (levels::levels(page))
        (problems::problems(page))
        (tables::tables(page))
        (facts::facts(page))
    }
}

fn advice_box(advice: &AdviceText) -> Markup {
    let (severity, headline) = (advice.verdict.severity(), advice.headline());
    let paragraphs: Vec<_> = advice.paragraphs.iter().map(|text| message(text)).collect();
    verdict_box(severity, &sentence(&message(&headline)), &paragraphs, &advice.commands, &advice.after)
}

pub(super) fn verdict_box(
    severity: Severity,
    headline: &str,
    paragraphs: &[String],
    commands: &[String],
    after: &[String],
) -> Markup {
    let class = match severity {
        Severity::Good => "verdict good",
        Severity::Notice => "verdict better",
        Severity::Bad => "verdict bad",
        Severity::Unknown => "verdict unknown",
    };
    html! {
        div class=(class) {
            p { b { (headline) } }
            @for text in paragraphs { p { (text) } }
            @if !commands.is_empty() { pre { code { (commands.join("\n")) } } }
            @for text in after { p { (text) } }
        }
    }
}

fn numbers(page: &Shown<'_>) -> Markup {
    let sums = page.overview.sums();
    let mut numbers = vec![("tables", count(sums.all())), ("size", size(sums.size))];
    numbers.extend(sums.entries.value.map(|_| ("entries", entry_sum(&sums.entries))));
    numbers.extend(sums.distinct_keys.number().map(|keys| ("distinct keys", distinct_keys(keys))));
    numbers.push(("filters", size(sums.judged_size)));
    numbers.extend(sums.random_fpr.mean().map(|rate| ("random keys passing", measured(rate))));
    // Rates of all kinds of similar keys are known only if other filters were tried.
    let (near, rate) = match page.tuned() {
        Some(tuning) => ("similar keys passing", tuning.now.rates.worst),
        None => ("changed or longer keys passing", sums.similar_fpr.mean()),
    };
    numbers.extend(rate.map(|rate| (near, measured(rate))));
    let problems = page.overview.found.total();
    if problems > 0 {
        numbers.push(("problems", count(problems)));
    }
    let logs = page.overview.logs.len() as u64;
    if logs > 0 {
        numbers.push(("newest writes", counted(logs, "log")));
    }
    html! {
        dl.key {
            @for (what, number) in &numbers { div { dt { (what) } dd { (number) } } }
        }
    }
}
