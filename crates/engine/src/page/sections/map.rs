//! The tables of a database by level and range of keys.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use crate::audit::order::KeyOrder;
use crate::audit::overview::Overview;
use crate::page::names::{name, place_title, text};
use crate::page::parts::Section;
use crate::page::pictures::{MapLevel, MapTable, Mark, map as picture};
use crate::page::shown::Shown;
use crate::report::{Inspected, TableLevel, TableState, Verdict};
use crate::text::{count, counted};

/// The tables with those that are damaged, for a section about the damage. `None`: no table is.
pub(crate) fn damage(page: &Shown<'_>) -> Option<Markup> {
    let has_bad = model(page).iter().flat_map(|level| &level.tables).any(|table| table.mark == Mark::Bad);
    map(page).filter(|_| has_bad).map(|section| section.content)
}

/// `None`: there are no tables in use.
pub(crate) fn map(page: &Shown<'_>) -> Option<Section> {
    let overview = page.overview;
    let verdict = page.advice.verdict;
    let levels = model(page);
    if levels.is_empty() {
        return None;
    }
    let is_known = overview.comparator.as_deref().is_none_or(|name| KeyOrder::of(name).is_some());
    let not_live =
        overview.tables.iter().filter(|found| found.table.place() == TableLevel::NotLive).count() as u64;
    let (plain, bad) = match verdict {
        Verdict::Damaged => ("not damaged", "damaged"),
        Verdict::FalseNegatives => ("hides no key", "hides keys"),
        _ => ("rate not known", "damaged"),
    };
    Some(Section {
        title: "Tables by level",
        answer: answer(overview, &levels),
        content: html! {
            @if !overview.has_records {
                p.dim { "CURRENT leads to no MANIFEST that can be used, so levels and ranges of keys are not known here." }
            } @else if !overview.is_bytewise {
                p.dim {
                    "The order of keys is "
                    @match &overview.comparator { Some(comparator) => (name(comparator)), None => "not recorded" }
                    @if !is_known { ", which is not known here" }
                    ": on each level the tables are next to each other as the MANIFEST lists them."
                }
            }
            (picture(&levels, plain, bad))
            @if not_live > 0 {
                p.dim {
                    "Not in the picture: " (counted(not_live, "table")) " that the database does not use, or not yet."
                }
            }
        },
    })
}

fn answer(overview: &Overview, levels: &[MapLevel]) -> String {
    let sums = overview.sums();
    let tables = counted(sums.tables(), "table");
    let missing = sums.in_state(TableState::NoFilter);
    let filters = match missing {
        0 => "all with filters".to_owned(),
        _ if missing == sums.tables() => "none with filters".to_owned(),
        _ => format!("{} without filters", count(missing)),
    };
    let filters =
        if sums.in_state(TableState::Filtered) + missing == sums.tables() { filters } else { String::new() };
    let comma = if filters.is_empty() { "" } else { ", " };
    match overview.has_records {
        true => format!("{tables} on {}{comma}{filters}", counted(levels.len() as u64, "level")),
        false => format!("{tables}{comma}{filters}"),
    }
}

fn model(page: &Shown<'_>) -> Vec<MapLevel> {
    let overview = page.overview;
    let found = &overview.found;
    let is_bad = |code: crate::report::Code| match page.advice.verdict {
        Verdict::FalseNegatives => code == crate::report::Code::FalseNegative,
        _ => code.is_damage(),
    };
    let bad: BTreeSet<&[u8]> =
        found.list.iter().filter(|(_, problem)| is_bad(problem.code)).map(|(name, _)| &**name).collect();
    let mut levels: BTreeMap<TableLevel, Vec<MapTable>> = BTreeMap::new();
    for found in overview.in_use() {
        let table = &found.table;
        levels.entry(table.place()).or_default().push(MapTable {
            name: text(table.name()),
            range: found
                .number
                .and_then(|number| overview.spans.of(number))
                .map(|[first, last]| (first, last)),
            size: table.size(),
            mark: if bad.contains(table.name()) { Mark::Bad } else { mark(page, found) },
        });
    }
    let levels = levels.into_iter().map(|(at, tables)| MapLevel { name: place_title(at), tables });
    levels.collect()
}

fn mark(page: &Shown<'_>, found: &Inspected) -> Mark {
    let rate = found.judged().and_then(|filter| filter.random_fpr);
    match (page.advice.verdict, found.state(), rate) {
        (_, TableState::Missing | TableState::Unreadable | TableState::Damaged, _) => Mark::Bad,
        (Verdict::Damaged | Verdict::FalseNegatives, ..) => Mark::Plain,
        (_, TableState::NoFilter, _) => Mark::NoFilters,
        (.., Some(rate)) => Mark::Rate(rate.rate),
        (.., None) => Mark::Plain,
    }
}
