//! The parts of the database that were read, and what this leaves unknown.

use maud::{Markup, html};

use crate::page::names::{message, name};
use crate::page::parts::{Section, facts, more};
use crate::page::shown::Shown;
use crate::page::verdict::logs_not_read;
use crate::report::{Depth, TableLevel, Tuning};
use crate::text::{about_count, count, counted, counted_as, sentence, size};

/// Of a table.
const fn looked_at(depth: Depth) -> &'static str {
    match depth {
        Depth::Tail => "index and filters of each table",
        Depth::Sample => {
            "index, filters, and some data blocks of each table; numbers behind ~ are estimates from these"
        }
        Depth::All => "index, filters, and all data blocks of each table",
    }
}

/// What was read, in a line.
pub(crate) fn answer(page: &Shown<'_>) -> String {
    let found = &page.overview.found;
    match (found.verified, found.files) {
        (false, _) => "not every block was read".to_owned(),
        (true, 0) => "there is nothing to read".to_owned(),
        (true, files) => format!("every block and entry of {} was read", counted(files, "file")),
    }
}

pub(crate) fn checked(page: &Shown<'_>) -> Section {
    let (overview, found) = (page.overview, &page.overview.found);
    let not_live =
        overview.tables.iter().filter(|found| found.table.place() == TableLevel::NotLive).count() as u64;
    let mut list: Vec<(&str, Markup)> = Vec::new();
    if found.verified {
        let entries = counted_as(found.entries, "entry", "entries");
        let hidden = match found.false_negatives {
            0 => "hide no stored key".to_owned(),
            hidden => format!("hide {}", counted(hidden, "stored key")),
        };
        list.push(("Blocks", html! { "all of " (counted(found.files, "file")) ", with their checksums" }));
        list.push(("Keys", html! { "the order of " (entries) "; filters " (hidden) }));
    } else {
        list.push(("Read", html! { (looked_at(overview.depth)) }));
    }
    list.extend(page.tuned().map(|tuning| ("Other filters", html! { (sampled(tuning)) })));
    if page.tuned.is_none() {
        list.push(("Other filters", html! { "none were tried" }));
    }
    list.extend(logs_not_read(overview).map(|logs| ("Not read", html! { (sentence(&logs)) })));
    if not_live > 0 {
        list.push(("Left aside", html! { (counted(not_live, "table")) " that the database does not use" }));
    }
    for table in page.tuned().into_iter().flat_map(|tuning| &tuning.left_out).take(20) {
        list.push(("Left out", html! { (name(table.name.as_bytes())) ": " (message(&table.why.text)) }));
    }
    Section {
        title: "What was checked",
        answer: answer(page),
        content: html! {
            (facts(&list))
            @if !found.notes.is_empty() {
                @let notes = html! {
                    ul.ifs {
                        @for (file, note) in &found.notes { li { (name(file)) ": " (message(&note.to_string())) } }
                        @if found.more_notes > 0 { li { (counted(found.more_notes, "more note")) } }
                    }
                };
                (more("Notes: no faults, and good to know", &notes))
            }
        },
    }
}

fn sampled(tuning: &Tuning) -> String {
    let sample = &tuning.sample;
    let entries = about_count(sample.entries);
    match sample.tables == sample.of_tables {
        true if !tuning.left_out.is_empty() => {
            let tables = counted(sample.tables, "table");
            format!("made of all {entries} entries of the {tables} that could be read")
        }
        true => format!("made of all {entries} entries"),
        false => format!(
            "made of every entry of {} of {}, {} of {}, which stand for {entries} entries",
            count(sample.tables),
            counted(sample.of_tables, "table"),
            size(sample.bytes),
            size(tuning.size())
        ),
    }
}
