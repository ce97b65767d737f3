//! The data blocks that a lookup reads.

use maud::{Markup, html};

use super::grid::{Cell, grid};
use crate::page::pictures::{Interval, ReadsPair, reads as picture};
use crate::page::request::Shown;
use crate::page::words::{place, sentence};
use crate::report::{Estimate, LevelOutcome, NearKind, Reads, TableLevel};
use crate::words::{ask_for_lookups, estimate, interval, or_dash};

pub(crate) fn reads(page: &Shown<'_>) -> Markup {
    let Some(now) = page.tuned().and_then(|tuning| tuning.now.reads) else { return html! {} };
    let advised = page.advised().and_then(|choice| choice.outcome.reads);
    let kinds = kinds(&now);
    let of_advised = advised.as_ref().map(self::kinds);
    let pairs: Vec<(&str, Estimate, Option<Estimate>)> = kinds
        .into_iter()
        .enumerate()
        .filter_map(|(at, (what, now))| {
            let advised = of_advised.as_ref().and_then(|kinds| kinds.get(at)?.1);
            Some((what, now?, advised))
        })
        .collect();
    let pictures: Vec<ReadsPair> = pairs
        .iter()
        .map(|(what, now, advised)| ReadsPair {
            name: (*what).to_owned(),
            now: interval_of(*now),
            advised: advised.map(interval_of),
        })
        .collect();
    let mut titles = vec!["lookups of", "#now", "#95 % interval"];
    if advised.is_some() {
        titles.extend(["#as advised", "#95 % interval"]);
    }
    let lines: Vec<_> = pairs
        .iter()
        .map(|(what, now, then)| {
            let mut line =
                vec![Cell::head(what), Cell::Number(estimate(*now)), Cell::Number(or_dash(interval(*now)))];
            if advised.is_some() {
                line.push(Cell::Number(or_dash(then.map(estimate))));
                line.push(Cell::Number(or_dash(then.and_then(interval))));
            }
            line
        })
        .collect();
    html! {
        section {
            h2 { "What a lookup costs" }
            p {
                "The mean number of data blocks that a lookup reads, over all levels. A stored key needs one; whatever \
                 is above is wasted."
                @if let Some(text) = ask_for_lookups(&now) { " " (sentence(text)) }
            }
            div.pair {
                figure { (picture(&pictures)) }
                (grid(&titles, &lines))
            }
            @let by_level = by_level(page);
            @if !by_level.is_empty() {
                p { "Level by level, for " (headline(&now)) ":" }
                figure { (picture(&by_level)) }
            }
        }
    }
}

/// The reads from each level, now and as advised.
fn by_level(page: &Shown<'_>) -> Vec<ReadsPair> {
    let Some(tuning) = page.tuned() else { return Vec::new() };
    let advised = page.advised();
    let of_level = |level: &LevelOutcome| {
        let advised = advised.and_then(|choice| {
            let level = choice.outcome.levels.iter().find(|of| of.number == level.number)?;
            level.reads.map(interval_of)
        });
        Some(ReadsPair {
            name: place(TableLevel::Level(level.number?)),
            now: interval_of(level.reads?),
            advised,
        })
    };
    tuning.now.levels.iter().filter_map(of_level).collect()
}

/// The kind of keys that the reads of each level are about.
fn headline(reads: &Reads) -> &'static str {
    let [own, between, changed, cut, longer, random, _] = kinds(reads).map(|(name, _)| name);
    match reads.worst {
        _ if reads.lookups.is_some() => own,
        Some(NearKind::Between) => between,
        Some(NearKind::Changed) => changed,
        None => random,
        Some(NearKind::Cut) => cut,
        Some(NearKind::Longer) => longer,
    }
}

/// The kinds of lookups, and the reads of each.
fn kinds(reads: &Reads) -> [(&'static str, Option<Estimate>); 7] {
    [
        ("absent keys of your own", reads.lookups),
        ("absent keys between stored ones", reads.near.between),
        ("stored keys with a byte changed", reads.near.changed),
        ("stored keys cut short", reads.near.cut),
        ("stored keys made longer", reads.near.longer),
        ("random absent keys", Some(reads.random)),
        ("stored keys", Some(reads.present)),
    ]
}

fn interval_of(estimate: Estimate) -> Interval {
    Interval { value: estimate.value, low: estimate.low, high: estimate.high }
}
