//! The data blocks that a lookup reads.

use maud::{Markup, html};

use super::grid::{Cell, grid};
use crate::page::parts::{Section, more};
use crate::page::pictures::{Bar, Lane, bars, lanes};
use crate::page::shown::Shown;
use crate::report::{Estimate, Reads, SimilarKind, Tuning};
use crate::text::{blocks, counted, estimate, interval, number, or_dash, percent, similar_text};

/// The reads now and after, for the verdict. `None`: they are not known.
pub(crate) fn aside(page: &Shown<'_>) -> Option<Markup> {
    let tuning = page.tuned()?;
    let now = tuning.now.reads?;
    let then = page.advised().and_then(|choice| choice.outcome.reads);
    let absent = if tuning.lookups.is_some() { "of an absent key of --lookups" } else { "of an absent key" };
    let bar = |of: &str, is_after, reads: Estimate, needed| Bar {
        of: of.to_owned(),
        name: if is_after { "after" } else { "now" },
        class: if is_after { "g-then" } else { "g-now" },
        value: reads.value,
        text: blocks(reads.value),
        needed,
    };
    let mut all = vec![bar(absent, false, now.absent, None)];
    all.extend(then.map(|then| bar("", true, then.absent, None)));
    all.push(bar("of a stored key; 1 is needed", false, now.stored, Some(1.0)));
    all.extend(then.map(|then| bar("", true, then.stored, Some(1.0))));
    Some(bars(&all, 1.0))
}

/// `None`: the reads are not known.
pub(crate) fn lookups(page: &Shown<'_>) -> Option<Section> {
    let tuning = page.tuned()?;
    let now = tuning.now.reads?;
    let then = page.advised().and_then(|choice| choice.outcome.reads);
    let [absent, stored] = [now.absent, now.stored].map(|reads| blocks(reads.value));
    let answer = match then {
        Some(then) => {
            format!("{absent} data blocks for an absent key; with new filters {}", blocks(then.absent.value))
        }
        None => format!("{absent} data blocks for an absent key, {stored} for a stored one"),
    };
    Some(Section {
        title: "What a lookup reads",
        answer,
        content: html! {
            p { "A lookup checks tables from the newest level down. Of each whose filter does not rule out the key, it \
                 reads a data block." }
            (by_level(page, tuning))
            (more("Every kind of key, with intervals of 95%", &kinds_table(tuning, now, then)))
        },
    })
}

fn by_level(page: &Shown<'_>, tuning: &Tuning) -> Markup {
    let then = page.advised().map(|choice| &choice.outcome.levels);
    let levels = tuning.now.levels.iter().zip(&tuning.levels);
    let known: Vec<_> = levels
        .filter_map(|(effect, level)| {
            let after = then.and_then(|then| then.iter().find(|of| of.number == effect.number)?.reads);
            Some((effect.number?, effect.reads?.value, after.map(|reads| reads.value), level))
        })
        .collect();
    if known.is_empty() {
        return html! {};
    }
    let most = known.iter().flat_map(|(_, now, after, _)| [Some(*now), *after]).flatten().fold(1.0, f64::max);
    // Whole blocks; rounding must not add one.
    let end = (most - 0.05).ceil().max(1.0);
    let rows: Vec<_> = known
        .iter()
        .map(|(level, now, after, of)| {
            let about = of.checked.map(|checked| format!("{checked:.2} tables checked")).unwrap_or_default();
            let name = format!("Level {level}");
            let now_text = blocks(*now);
            let after_text = after.map(blocks);
            let label = match &after_text {
                Some(after) => format!("{name}: {now_text} data blocks read now, {after} after"),
                None => format!("{name}: {now_text} data blocks read"),
            };
            let bars = [Some(("g-now", *now)), after.map(|after| ("g-then", after))];
            Lane {
                name,
                about,
                bars: bars.into_iter().flatten().collect(),
                text: html! {
                    b { (now_text) }
                    @if let Some(after) = after_text { " " span { "after " b { (after) } } }
                },
                label,
            }
        })
        .collect();
    let fields: &[_] = match then {
        Some(_) => &[("g-now", "now"), ("g-then", "with new filters")],
        None => &[],
    };
    let mut titles = vec!["", "#tables checked", "#false-positive rate", "#blocks read"];
    titles.extend(then.map(|_| "#blocks read after"));
    let lines: Vec<_> = known
        .iter()
        .map(|(level, now, after, of)| {
            let mut line = vec![
                Cell::head(format!("level {level}")),
                Cell::Number(or_dash(of.checked.map(number))),
                Cell::Number(or_dash(of.fpr.map(percent))),
                Cell::Number(number(*now)),
            ];
            line.extend(then.map(|_| Cell::Number(or_dash(after.map(number)))));
            line
        })
        .collect();
    let whole = counted(end as u64, "block");
    html! {
        (lanes(&rows, end, ["0", &format!("{whole} in each lookup")], fields))
        (more("The numbers", &grid(&titles, &lines)))
    }
}

fn kinds_table(tuning: &Tuning, now: Reads, then: Option<Reads>) -> Markup {
    let mut titles = vec!["lookups of", "#now", "#95% interval"];
    if then.is_some() {
        titles.extend(["#after", "#95% interval"]);
    }
    let of_then = then.map(|then| kinds(tuning, &then));
    let lines = kinds(tuning, &now).into_iter().enumerate().filter_map(|(at, (what, now))| {
        let now = now?;
        let mut line =
            vec![Cell::head(what), Cell::Number(estimate(now)), Cell::Number(or_dash(interval(now)))];
        if let Some(of_then) = &of_then {
            let then = of_then.get(at).and_then(|(_, reads)| *reads);
            line.push(Cell::Number(or_dash(then.map(estimate))));
            line.push(Cell::Number(or_dash(then.and_then(interval))));
        }
        Some(line)
    });
    grid(&titles, &lines.collect::<Vec<_>>())
}

fn kinds(tuning: &Tuning, reads: &Reads) -> Vec<(String, Option<Estimate>)> {
    let own = tuning.lookups.map(|_| ("absent keys of --lookups".to_owned(), Some(reads.absent)));
    let similar = SimilarKind::ALL
        .iter()
        .map(|&kind| (format!("similar keys, {}", similar_text(kind)), reads.of_kind(kind)));
    let others = [("random absent keys", reads.random), ("stored keys", reads.stored)];
    let others = others.map(|(what, reads)| (what.to_owned(), Some(reads)));
    own.into_iter().chain(similar).chain(others).collect()
}
