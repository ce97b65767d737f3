//! The complete page: its head, its most important numbers, and its sections.

use filterblock::escape_path;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::pictures;
use super::request::Shown;
use super::sections::{facts, levels, problems, reads, settings, tables, tree};
use super::words::{message, text};
use crate::audit::overview::Kind;
use crate::report::Severity;
use crate::words::{AdviceText, count, counted, distinct_keys, entry_sum, measured, sentence, size};

/// For light and dark mode, apart from that of pictures.
const STYLE: &str = include_str!("style.css");
/// Nothing is loaded, nothing is run, and only the page's own style is used.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

pub(super) fn document(page: &Shown<'_>, advice: &AdviceText) -> String {
    let path = text(escape_path(page.path).to_string().as_bytes());
    let what = match page.overview.kind {
        Kind::Database => "The filters of the database",
        Kind::Folder => "The filters of the tables in",
        Kind::Table => "The filters of the table",
    };
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            (head(&html! { "Filters of " (path) }, &[pictures::STYLE]))
            body {
                header {
                    h1 { span { (what) } code { (path) } }
                    (advice_box(advice))
                    (numbers(page))
                }
                main {
                    (tree::tree(page))
                    (reads::reads(page))
                    (settings::settings(page))
                    (levels::levels(page))
                    (problems::problems(page))
                    (tables::tables(page))
                    (facts::facts(page))
                }
                footer { "Made by filterblock " (env!("CARGO_PKG_VERSION")) " from " code { (path) } "." }
            }
        }
    };
    markup.into_string()
}

/// `styles`: in addition to that of all pages.
pub(super) fn head(title: &Markup, styles: &[&str]) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(POLICY);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="referrer" content="no-referrer";
            title { (title) }
            style {
                @for line in [STYLE].iter().chain(styles).flat_map(|style| style.lines()) { (PreEscaped(line)) }
            }
        }
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
