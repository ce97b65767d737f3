//! The list of tables.

use maud::html;

use super::grid::{Cell, grid};
use crate::page::names::{message, name, place, state};
use crate::page::parts::Section;
use crate::page::shown::Shown;
use crate::report::{Inspected, TableLevel, TableState};
use crate::text::{bits_per_entry, count, counted, distinct_keys, entries, measured, or_dash, size};

/// Tables to list.
const MOST: usize = 800;

/// `None`: there are none.
pub(crate) fn tables(page: &Shown<'_>) -> Option<Section> {
    let tables = &page.overview.tables;
    let listed = listed(tables);
    let has_ends = listed.iter().any(|found| found.ends.is_some());
    let mut titles = vec![
        "table",
        "",
        "",
        "#size",
        "#entries",
        "#distinct keys",
        "#filters",
        "#bits per entry",
        "#false-positive rate",
        "#of similar keys",
    ];
    titles.extend(if has_ends { &["first key", "last key"][..] } else { &[] });
    let lines: Vec<_> = listed.iter().map(|found| line(found, has_ends)).collect();
    (!lines.is_empty()).then(|| Section {
        title: "All tables",
        answer: match tables.iter().filter(|found| found.table.place() == TableLevel::NotLive).count() as u64
        {
            0 => count(tables.len() as u64),
            unused => format!("{}, {} of them unused", count(tables.len() as u64), count(unused)),
        },
        content: html! {
            @if listed.len() < tables.len() {
                p {
                    "These are " (count(listed.len() as u64)) " of " (counted(tables.len() as u64, "table"))
                    ": those with something wrong, those without filters, then those of the greatest rates. "
                    code { "filterblock inspect" } " lists all."
                }
            }
            (grid(&titles, &lines))
        },
    })
}

/// Lists by level, number and name: all, or those that matter most.
fn listed(tables: &[Inspected]) -> Vec<&Inspected> {
    let mut listed: Vec<&Inspected> = tables.iter().collect();
    if listed.len() > MOST {
        let rank = |found: &Inspected| match found.state() {
            TableState::Damaged | TableState::Missing | TableState::Unreadable => 0,
            TableState::NoFilter => 1,
            TableState::UnknownPolicy | TableState::Unfinished => 2,
            TableState::Filtered => 3,
        };
        let rate = |found: &Inspected| {
            found.judged().and_then(|filter| Some(filter.random_fpr?.rate)).unwrap_or(1.0)
        };
        listed.sort_by(|one, other| rank(one).cmp(&rank(other)).then(rate(other).total_cmp(&rate(one))));
        listed.truncate(MOST);
    }
    listed.sort_by(|one, other| order(one).cmp(&order(other)));
    listed
}

fn order(found: &Inspected) -> impl Ord {
    (found.table.place(), found.number, found.table.name())
}

fn line(found: &Inspected, has_ends: bool) -> Vec<Cell> {
    let (table, filter) = (&found.table, found.judged());
    let state_text = state(found.state());
    let mut line = vec![
        Cell::Head(name(table.name())),
        Cell::text(place(table.place())),
        match found.state() {
            TableState::Damaged | TableState::Missing | TableState::Unreadable => {
                Cell::Text(html! { b { (state_text) } })
            }
            _ => Cell::text(state_text),
        },
        Cell::Number(size(table.size())),
        Cell::Number(or_dash(table.entries.map(entries))),
        Cell::Number(or_dash(table.distinct_keys.map(distinct_keys))),
        Cell::Number(or_dash(filter.map(|filter| size(filter.size)))),
        Cell::Number(or_dash(filter.and_then(|_| table.bits_per_entry()).map(bits_per_entry))),
        Cell::Number(or_dash(filter.and_then(|filter| filter.random_fpr).map(measured))),
        Cell::Number(or_dash(filter.and_then(|filter| filter.similar_fpr).map(measured))),
    ];
    if has_ends {
        let end = |at: usize| found.ends.as_ref().and_then(|ends| ends.get(at)).map(ToString::to_string);
        for end in [end(0), end(1)] {
            line.push(Cell::Key(html! { @if let Some(end) = end { code { (message(&end)) } } }));
        }
    }
    line
}
