//! The fill of the filters along some tables.

use maud::{Markup, html};

use super::grid::{Cell, folded};
use crate::page::pictures::{FillStrip, fill as picture};
use crate::page::words::{name, place};
use crate::words::{count, or_dash, percent, ratio, size, versions_text};
use crate::{page::shown::Shown, report::Table};

pub(crate) fn fill(page: &Shown<'_>) -> Markup {
    if page.strips.is_empty() {
        return html! {};
    }
    let pictures: Vec<FillStrip> = page.strips.iter().map(|strip| strip.picture.clone()).collect();
    let lines: Vec<_> = page.strips.iter().filter_map(|strip| line(&strip.table)).collect();
    let titles = [
        "table",
        "",
        "#size",
        "#data blocks a filter",
        "#filters",
        "#of them empty",
        "#bits set",
        "#expected of its keys",
        "#probes",
    ];
    let versions = page.strips.iter().filter_map(|strip| Some((&strip.table, versions_text(&strip.table)?)));
    let versions: Vec<_> = versions.collect();
    html! {
        section {
            h2 { "How full the filters are" }
            p {
                "Each strip is the filters of a table from its start to its end: the largest table of each level, and \
                 those that let most pass. About half of the bits should be set where every entry is of a key of its \
                 own. A filter is empty where no data block begins in its range, which costs four bytes and nothing else."
            }
            @for (table, text) in &versions { p { (name(table.name())) ": " (text) "." } }
            figure { (picture(&pictures)) }
            (folded("The numbers", &titles, &lines))
        }
    }
}

fn line(table: &Table) -> Option<Vec<Cell>> {
    let filter = table.judged()?;
    Some(vec![
        Cell::Head(name(table.name())),
        Cell::text(place(table.place())),
        Cell::Number(size(table.size())),
        Cell::Number(or_dash(1_u64.checked_shl(filter.base_lg.into()).map(size))),
        Cell::Number(count(filter.filters)),
        Cell::Number(count(filter.empty_filters)),
        Cell::Number(percent(ratio(filter.bits_set, filter.bits))),
        Cell::Number(or_dash(table.expected_fill().map(percent))),
        Cell::Number(or_dash(filter.probes)),
    ])
}
