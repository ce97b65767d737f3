//! The fill of the filters along some tables.

use maud::{Markup, html};

use super::grid::{Cell, folded, grid};
use crate::page::pictures::{FillStrip, fill as picture};
use crate::page::request::Shown;
use crate::page::words::{name, place};
use crate::report::Table;
use crate::words::{count, or_dash, percent, ratio, size, versions_text};

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
            @if pictures.iter().all(is_even) {
                p { "All of them are as full at one end as at the other." }
                details { summary { "The numbers" } figure { (picture(&pictures)) } (grid(&titles, &lines)) }
            } @else {
                figure { (picture(&pictures)) }
                (folded("The numbers", &titles, &lines))
            }
        }
    }
}

/// Returns true if the strip is nearly a flat line: no part of the table is much fuller or emptier than the
/// mean, and all filters are known. The last of several parts may be emptier, as few keys may be left for its filter.
fn is_even(strip: &FillStrip) -> bool {
    const FLAT: f64 = 0.06;
    let mean = strip.bins.sum().mean;
    let bins = &strip.bins.bins;
    bins.iter().enumerate().all(|(at, bin)| {
        let is_last = at > 0 && at + 1 == bins.len();
        let is_near = bin.known() == 0 || (bin.mean - mean).abs() <= FLAT || is_last && bin.mean < mean;
        bin.unknown == 0 && is_near
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{Fill, FillBins};

    #[test]
    fn a_strip_is_even_if_no_part_is_fuller_than_another() {
        let strip = |fills: &[Fill]| FillStrip {
            name: "1.ldb".to_owned(),
            set: None,
            bins: FillBins::new(fills.len() as u64, 400, fills.iter().copied()),
        };
        let share = Fill::Share;
        assert!(is_even(&strip(&[share(0.45), share(0.5), Fill::Empty, share(0.47)])));
        assert!(!is_even(&strip(&[share(0.45), share(0.3), share(0.5)])));
        assert!(
            is_even(&strip(&[share(0.45), share(0.47), share(0.46), share(0.47), share(0.3)])),
            "the last one"
        );
        assert!(!is_even(&strip(&[share(0.45), share(0.47), share(0.46), share(0.6)])));
        assert!(!is_even(&strip(&[share(0.45), Fill::Unknown])));
        assert!(!is_even(&strip(&[share(0.5), Fill::Unknown])));
    }
}
