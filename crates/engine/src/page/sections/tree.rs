//! The tables of a database by level and range of keys.

use std::collections::BTreeMap;

use filterblock::expected_false_positive_rate;
use maud::{Markup, html};

use crate::audit::order::KeyOrder;
use crate::audit::overview::{Kind, Overview};
use crate::page::pictures::{TableFilter, Tree, TreeLevel, TreeTable, tree as picture};
use crate::page::request::Shown;
use crate::page::words::{name, place, text};
use crate::report::{FilterBlock, Table, TableLevel, TableState};
use crate::words::counted;

pub(crate) fn tree(page: &Shown<'_>) -> Markup {
    let overview = page.overview;
    let tree = model(overview);
    if tree.levels.is_empty() || overview.kind == Kind::Table {
        return html! {};
    }
    let is_known = overview.comparator.as_deref().is_none_or(|name| KeyOrder::of(name).is_some());
    let not_live = overview.tables.iter().filter(|table| table.place() == TableLevel::NotLive).count() as u64;
    html! {
        section {
            h2 { "The tables" }
            p { (explanation(overview)) }
            @if !overview.has_records {
                p.dim { "There is no MANIFEST that can be relied on, so neither levels nor ranges of keys are known." }
            } @else if !overview.is_bytewise {
                p.dim {
                    "The order of keys is "
                    @match &overview.comparator { Some(comparator) => (name(comparator)), None => "not recorded" }
                    @if !is_known { ", which is not known here" }
                    ": on each level the tables lie side by side as the MANIFEST lists them."
                }
            }
            figure { (picture(&tree)) }
            @if not_live > 0 {
                p.dim { (counted(not_live, "table")) " that the database does not use, or not yet, are not in the picture." }
            }
        }
    }
}

fn explanation(overview: &Overview) -> &'static str {
    match overview.has_records {
        true => {
            "Each rectangle is a table: as wide as the share of the database's bytes in its range of keys, as high as \
             its size. A lookup asks every table of level 0 that its key is in the range of, and one of each level \
             below."
        }
        false => "Each rectangle is a table, as high as its size.",
    }
}

fn model(overview: &Overview) -> Tree {
    let span = |table: &Table| overview.spans.of(table.number?);
    let mut levels: BTreeMap<TableLevel, Vec<TreeTable>> = BTreeMap::new();
    for table in overview.in_use() {
        levels.entry(table.place()).or_default().push(TreeTable {
            name: text(table.name()),
            range: span(table).map(|[first, last]| (first, last)),
            size: table.size(),
            filter: filter(table),
        });
    }
    let levels = levels.into_iter().map(|(at, tables)| TreeLevel { name: place(at), tables });
    Tree { levels: levels.collect() }
}

fn filter(table: &Table) -> TableFilter {
    let rate = table.judged().and_then(|filter| Some((filter, filter.random_fpr?)));
    match (table.state(), rate) {
        (TableState::NoFilter, _) => TableFilter::Missing,
        (_, Some((filter, rate))) => {
            let expected = expected(table, filter).unwrap_or(rate.rate);
            TableFilter::Rate { measured: rate.into(), expected }
        }
        (_, None) => TableFilter::Unknown,
    }
}

/// Computes the rate for the keys of the table. `None`: the probes or the keys are unknown.
fn expected(table: &Table, filter: &FilterBlock) -> Option<f64> {
    let keys =
        table.distinct_keys.and_then(|keys| keys.value).or(table.entries.map(|entries| entries.value))?;
    Some(expected_false_positive_rate(filter.bits, filter.probes?, keys))
}
