//! The filters of each level: their size and false-positive rate.

use maud::{Markup, html};

use super::grid::{Cell, grid};
use crate::page::request::Shown;
use crate::page::words::place;
use crate::report::{Estimate, Level, LevelTotals, TableLevel, TableState};
use crate::words::{
    about_size, bits_per_entry, count, distinct_keys, entry_sum, measured, number, or_dash, size,
};

/// The meaning of `~` and of bounds.
const ESTIMATED: &str = "~ estimated from some data blocks of each table. Distinct keys of several tables lie between two \
     bounds where not every entry was read, as tables may hold the same keys.";

pub(crate) fn levels(page: &Shown<'_>) -> Markup {
    let places = page.overview.places();
    if places.is_empty() {
        return html! {};
    }
    let advised = page.advised().is_some();
    let is_checked =
        page.tuned().is_some_and(|tuning| tuning.levels.iter().any(|level| level.checked.is_some()));
    let mut titles = vec![
        "",
        "#tables",
        "#without filters",
        "#size",
        "#entries",
        "#distinct keys",
        "#filters",
        "#bits an entry",
        "#random keys passing",
    ];
    titles.extend(is_checked.then_some("#tables checked per absent key"));
    titles.extend(advised.then_some("#filters as advised"));
    let lines: Vec<Vec<Cell>> = places
        .iter()
        .map(|(&at, sums)| {
            let mut line = cells(at, sums);
            if is_checked {
                let checked = level(page, at).and_then(|level| level.checked);
                line.push(Cell::Number(or_dash(checked.map(number))));
            }
            if advised {
                line.push(Cell::Number(or_dash(size_advised(page, at).map(about_size))));
            }
            line
        })
        .collect();
    let is_estimated = places.values().any(|sums| sums.entries.is_estimated());
    html! {
        section {
            h2 { "Filters by level" }
            (grid(&titles, &lines))
            @if is_estimated { p.dim { (ESTIMATED) } }
        }
    }
}

fn cells(at: TableLevel, sums: &LevelTotals) -> Vec<Cell> {
    vec![
        Cell::head(place(at)),
        Cell::Number(count(sums.all())),
        Cell::Number(count(sums.in_state(&[TableState::NoFilter]))),
        Cell::Number(size(sums.size)),
        Cell::Number(entry_sum(&sums.entries)),
        Cell::Number(or_dash(sums.distinct_keys.number().map(distinct_keys))),
        Cell::Number(size(sums.judged_size)),
        Cell::Number(or_dash(sums.bits_per_entry().map(bits_per_entry))),
        Cell::Number(or_dash(sums.random_fpr.mean().map(measured))),
    ]
}

/// Among the levels for which other filters were tried.
fn level<'a>(page: &Shown<'a>, at: TableLevel) -> Option<&'a Level> {
    let levels = &page.tuned()?.levels;
    levels.iter().find(|level| is_at(level, at))
}

fn is_at(level: &Level, at: TableLevel) -> bool {
    match (level.number, at) {
        (Some(number), TableLevel::Level(at)) => number == at,
        // A single table is tried without a level, even if its database has the table on a level.
        (None, TableLevel::Level(_) | TableLevel::Unknown) => true,
        _ => false,
    }
}

fn size_advised(page: &Shown<'_>, at: TableLevel) -> Option<Estimate> {
    let (tuning, choice) = (page.tuned()?, page.advised()?);
    let mut levels = tuning.levels.iter().zip(&choice.outcome.levels);
    levels.find(|(level, _)| is_at(level, at)).map(|(_, outcome)| outcome.size)
}
