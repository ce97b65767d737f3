//! The problems, and what they mean.

use maud::{Markup, html};

use super::grid::{Cell, grid};
use crate::audit::overview::OverviewProblems;
use crate::page::request::Shown;
use crate::page::words::{message, name};
use crate::report::{Code, Problem};
use crate::words::{count, counted, counted_as};

pub(crate) fn problems(page: &Shown<'_>) -> Markup {
    let found = &page.overview.found;
    html! {
        section {
            h2 { "Problems" }
            p { (summary(found)) }
            @if !found.texts.is_empty() {
                (grid(&["file", "problem", "what it means"], &texts(found)))
            }
            @if !found.list.is_empty() {
                details open[found.list.len() <= 8] {
                    summary { (counted(found.list.len() as u64, "problem")) ", one by one" }
                    (grid(&["file", "problem", "#at offset", "expected", "found"], &list(found)))
                }
            }
            @if !found.seen.is_empty() {
                (grid(&["file", "what is wrong"], &seen(found)))
            }
            @if found.more() > 0 {
                p.dim {
                    (count(found.more())) " more are not listed here; " code { "filterblock verify" }
                    " lists them."
                }
            }
            @if !found.notes.is_empty() {
                details {
                    summary { "Notes: no faults, and good to know" }
                    ul {
                        @for (file, note) in &found.notes { li { (name(file)) ": " (message(&note.to_string())) } }
                        @if found.more_notes > 0 { li { (counted(found.more_notes, "more note")) } }
                    }
                }
            }
        }
    }
}

fn summary(found: &OverviewProblems) -> String {
    if !found.verified {
        return match found.total() {
            0 => "Nothing wrong was seen. Not every block was read: --no-verify was given.".to_owned(),
            total => format!(
                "{} seen. Not every block was read: --no-verify was given.",
                counted_as(total, "problem was", "problems were")
            ),
        };
    }
    let entries = counted_as(found.entries, "entry", "entries");
    let files = counted(found.files, "file");
    match found.total() {
        0 if found.files == 0 => "None: there is nothing to read.".to_owned(),
        0 => format!(
            "None. Every block of {files} was read with its checksum, and filters were checked for {entries}."
        ),
        total => format!(
            "{} in {files} with {entries}; filters hide {}.",
            counted(total, "problem"),
            match found.false_negatives {
                0 => "no stored key".to_owned(),
                hidden => counted(hidden, "stored key"),
            }
        ),
    }
}

fn texts(found: &OverviewProblems) -> Vec<Vec<Cell>> {
    let line = |(file, code, text): &(Vec<u8>, Code, String)| {
        vec![
            Cell::Head(name(file)),
            Cell::Text(html! { code { (code.name()) } }),
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
            Cell::Text(html! { code { (problem.code.name()) } }),
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
