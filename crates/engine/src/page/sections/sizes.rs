//! The size of the filters, level by level.

use maud::html;

use super::grid::{Cell, grid};
use crate::audit::overview::sums::TableSums;
use crate::page::names::place;
use crate::page::parts::Section;
use crate::page::shown::Shown;
use crate::report::{Estimate, Level, TableLevel, TableState};
use crate::text::{
    about_size, bits_per_entry, count, distinct_keys, entry_sum, measured, or_dash, percent, ratio, size,
};

/// `None`: there are no tables.
pub(crate) fn sizes(page: &Shown<'_>) -> Option<Section> {
    let places = page.overview.places();
    let sums = page.overview.sums();
    let advised = page.advised().is_some();
    let mut titles = vec![
        "",
        "#tables",
        "#without filters",
        "#size",
        "#entries",
        "#distinct keys",
        "#filters",
        "#bits per entry",
        "#false-positive rate",
    ];
    titles.extend(advised.then_some("#filters after"));
    let lines: Vec<Vec<Cell>> = places
        .iter()
        .map(|(&at, sums)| {
            let mut line = cells(at, sums);
            line.extend(advised.then(|| Cell::Number(or_dash(size_after(page, at).map(about_size)))));
            line
        })
        .collect();
    (!lines.is_empty()).then(|| Section {
        title: "Size of the filters",
        answer: match sums.filter_size {
            0 => "there are none".to_owned(),
            filters => format!("{}, {} of the tables", size(filters), percent(ratio(filters, sums.size))),
        },
        content: html! {
            (grid(&titles, &lines))
            @if places.values().any(|sums| sums.entries.is_estimated()) {
                p.dim { "~ estimated from some data blocks of each table." }
            }
        },
    })
}

fn cells(at: TableLevel, sums: &TableSums) -> Vec<Cell> {
    vec![
        Cell::head(place(at)),
        Cell::Number(count(sums.tables())),
        Cell::Number(count(sums.in_state(TableState::NoFilter))),
        Cell::Number(size(sums.size)),
        Cell::Number(entry_sum(&sums.entries)),
        Cell::Number(or_dash(sums.distinct_keys.map(distinct_keys))),
        Cell::Number(size(sums.filter_size)),
        Cell::Number(or_dash(sums.bits_per_entry().map(bits_per_entry))),
        Cell::Number(or_dash(sums.random_fpr.mean().map(measured))),
    ]
}

fn size_after(page: &Shown<'_>, at: TableLevel) -> Option<Estimate> {
    let (tuning, choice) = (page.tuned()?, page.advised()?);
    let is_at = |level: &Level| match (level.number, at) {
        (Some(number), TableLevel::Level(at)) => number == at,
        // A single table is tried without a level, even if its database has the table on a level.
        (None, TableLevel::Level(_) | TableLevel::Unknown) => true,
        _ => false,
    };
    let mut levels = tuning.levels.iter().zip(&choice.outcome.levels);
    levels.find(|(level, _)| is_at(level)).map(|(_, outcome)| outcome.size)
}
