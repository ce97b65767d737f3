//! The data blocks that a lookup reads.

use maud::{Markup, html};

use super::grid::{Cell, grid};
use crate::page::pictures::{Interval, ReadsPair, reads as picture};
use crate::page::request::Shown;
use crate::page::words::place;
use crate::report::{Estimate, LevelEffect, Reads, SimilarKind, TableLevel, Tuning};
use crate::words::{estimate, interval, or_dash, similar_text};

pub(crate) fn reads(page: &Shown<'_>) -> Markup {
    let Some((tuning, now)) = page.tuned().and_then(|tuning| Some((tuning, tuning.now.reads?))) else {
        return html! {};
    };
    let advised = page.advised().and_then(|choice| choice.outcome.reads);
    let kinds = kinds(tuning, &now);
    let of_advised = advised.as_ref().map(|reads| self::kinds(tuning, reads));
    let pairs: Vec<(String, Estimate, Option<Estimate>)> = kinds
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
            name: what.clone(),
            now: (*now).into(),
            advised: advised.map(Interval::from),
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
            }
            div.pair {
                figure { (picture(&pictures)) }
                (grid(&titles, &lines))
            }
            @let by_level = by_level(page);
            @if !by_level.is_empty() {
                p { "Level by level, for " (kinds_of_levels(tuning)) ":" }
                figure { (picture(&by_level)) }
            }
        }
    }
}

fn by_level(page: &Shown<'_>) -> Vec<ReadsPair> {
    let Some(tuning) = page.tuned() else { return Vec::new() };
    let advised = page.advised();
    let of_level = |level: &LevelEffect| {
        let advised = advised.and_then(|candidate| {
            let level = candidate.outcome.levels.iter().find(|of| of.number == level.number)?;
            level.reads.map(Interval::from)
        });
        Some(ReadsPair { name: place(TableLevel::Level(level.number?)), now: level.reads?.into(), advised })
    };
    tuning.now.levels.iter().filter_map(of_level).collect()
}

fn kinds_of_levels(tuning: &Tuning) -> &'static str {
    if tuning.lookups.is_some() { OWN } else { RANDOM }
}

const OWN: &str = "absent keys of your own";
const RANDOM: &str = "random absent keys";

fn kinds(tuning: &Tuning, reads: &Reads) -> Vec<(String, Option<Estimate>)> {
    let own = tuning.lookups.map(|_| (OWN.to_owned(), Some(reads.absent)));
    let similar = SimilarKind::ALL
        .iter()
        .map(|&kind| (format!("similar keys, {}", similar_text(kind)), reads.of_kind(kind)));
    let others = [(RANDOM, reads.random), ("stored keys", reads.stored)];
    let others = others.map(|(what, reads)| (what.to_owned(), Some(reads)));
    own.into_iter().chain(similar).chain(others).collect()
}
