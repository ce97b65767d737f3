//! Stored keys that filters hide.

use maud::{Markup, html};

use super::grid::{Cell, stacked};
use crate::page::names::{message, name, text};
use crate::page::parts::{Section, more};
use crate::page::pictures::{Bar, bars};
use crate::page::shown::Shown;
use crate::report::{Basis, Code, FalseNegatives};
use crate::text::{count, counted};

/// The keys that programs find, and those that they do not. `None`: not every key was looked up.
pub(crate) fn aside(page: &Shown<'_>) -> Option<Markup> {
    let found = &page.overview.found;
    let (hidden, all) = (found.false_negatives, page.overview.sums().entries.value?);
    if !found.verified || hidden == 0 {
        return None;
    }
    let bar = |name, class, keys: u64| Bar {
        of: String::new(),
        name,
        class,
        value: keys as f64,
        text: count(keys),
        needed: None,
    };
    let rows = [bar("found", "g-now", all.saturating_sub(hidden)), bar("hidden", "t-bad", hidden)];
    Some(bars(&rows, all as f64))
}

pub(crate) fn hidden(page: &Shown<'_>) -> Option<Section> {
    let Basis::FalseNegatives(FalseNegatives { tables, .. }) = &page.advice.reason else { return None };
    let found = &page.overview.found;
    let is_it = |code: Code| code == Code::FalseNegative;
    let sums = found.texts.iter().filter(|(_, code, _)| is_it(*code));
    let sums: Vec<_> = sums
        .map(|(file, _, text)| vec![Cell::Head(name(file)), Cell::Words(html! { (message(text)) })])
        .collect();
    let blocks = found.list.iter().filter(|(_, problem)| is_it(problem.code)).map(|(file, problem)| {
        let offset = problem.offset.map(count).unwrap_or_default();
        vec![Cell::Head(name(file)), Cell::Number(offset), Cell::Words(html! { (message(&problem.found)) })]
    });
    let blocks: Vec<_> = blocks.collect();
    Some(Section {
        title: "Which keys are hidden",
        answer: match &tables[..] {
            [table] => format!("keys of {}", text(table.as_bytes())),
            _ => format!("keys of {}", counted(tables.len() as u64, "table")),
        },
        content: html! {
            @if sums.is_empty() {
                ul.ifs { @for table in tables.iter().take(100) { li { (name(table.as_bytes())) } } }
            } @else {
                (stacked(&["table", "what it means"], &sums))
            }
            @if !blocks.is_empty() {
                (more("The first data blocks with such keys", &stacked(&["table", "#data block at", "found"], &blocks)))
            }
        },
    })
}

/// The ways by which filters come to hide keys.
pub(crate) fn why() -> Section {
    Section {
        title: "Why this happens",
        answer: "the filters are not of these keys, or were changed".to_owned(),
        content: html! {
            ul.ifs {
                li { "The program that wrote them makes filters in another way than the policy's name says. Then it happens \
                      again with the next tables." }
                li { "Memory or disk changed them before their checksum was made." }
                li { "A tool replaced tables without their filters." }
            }
            p { "Until they are rebuilt, opening the database without a filter policy shows every key." }
        },
    }
}
