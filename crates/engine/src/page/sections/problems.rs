//! The problems, and what they mean.

use std::collections::BTreeSet;

use maud::html;

use super::grid::{Cell, stacked};
use crate::audit::overview::OverviewProblems;
use crate::page::names::{message, name, text};
use crate::page::parts::{Section, more};
use crate::page::shown::Shown;
use crate::report::{Code, Problem};
use crate::text::{count, counted};

/// `None`: there are none.
pub(crate) fn problems(page: &Shown<'_>) -> Option<Section> {
    let found = &page.overview.found;
    let total = found.total();
    (total > 0).then(|| Section {
        title: "Problems",
        answer: answer(found, total),
        content: html! {
            @if !found.texts.is_empty() { (stacked(&["file", "problem", "what it means"], &texts(found))) }
            @if !found.seen.is_empty() { (stacked(&["file", "what is wrong"], &seen(found))) }
            @if !found.list.is_empty() {
                @let list = stacked(&["file", "problem", "#at offset", "expected", "found"], &list(found));
                (more(&format!("One by one: {}", counted(found.list.len() as u64, "problem")), &list))
            }
            @if found.more() > 0 {
                p.dim {
                    (count(found.more())) " more are not listed here; " code { "filterblock verify" }
                    " lists them."
                }
            }
        },
    })
}

fn answer(found: &OverviewProblems, total: u64) -> String {
    let files: BTreeSet<&Vec<u8>> =
        found.list.iter().map(|(file, _)| file).chain(found.seen.iter().map(|(file, _)| file)).collect();
    match (found.more(), &*Vec::from_iter(files)) {
        (0, [file]) => format!("{} in {}", counted(total, "problem"), text(file)),
        (0, files) => format!("{} in {} places", counted(total, "problem"), count(files.len() as u64)),
        _ => counted(total, "problem"),
    }
}

fn texts(found: &OverviewProblems) -> Vec<Vec<Cell>> {
    let line = |(file, code, text): &(Vec<u8>, Code, String)| {
        vec![
            Cell::Head(name(file)),
            Cell::Text(html! { code.file { (code.name()) } }),
            Cell::Words(html! { (message(text)) }),
        ]
    };
    found.texts.iter().map(line).collect()
}

fn list(found: &OverviewProblems) -> Vec<Vec<Cell>> {
    let line = |(file, problem): &(Vec<u8>, Problem)| {
        let lost = problem.lost.as_ref().map(|lost| match problem.code.hides() {
            true => format!("; not looked at: {lost}"),
            false => format!("; lost: {lost}"),
        });
        let (expected, found) = match &problem.plain {
            Some(plain) => ("", plain),
            None => (&*problem.expected, &problem.found),
        };
        vec![
            Cell::Head(name(file)),
            Cell::Text(html! { code.file { (problem.code.name()) } }),
            Cell::Number(problem.offset.map(count).unwrap_or_default()),
            Cell::Words(html! { (message(expected)) }),
            Cell::Words(html! { (message(found)) @if let Some(lost) = lost { (message(&lost)) } }),
        ]
    };
    found.list.iter().map(line).collect()
}

fn seen(found: &OverviewProblems) -> Vec<Vec<Cell>> {
    let line = |(file, text): &(Vec<u8>, String)| {
        vec![Cell::Head(name(file)), Cell::Words(html! { (message(text)) })]
    };
    found.seen.iter().map(line).collect()
}
