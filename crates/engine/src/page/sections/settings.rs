//! The effects that other filters would have.

use maud::{Markup, html};

use super::grid::{Cell, folded};
use crate::audit::rates::Rate;
use crate::page::pictures::{CurveMark, CurvePoint, TuneCurve, curve as picture};
use crate::page::request::Shown;
use crate::page::words::message;
use crate::report::{Candidate, Effect, Rates, Tuning};
use crate::words::{about_size, bits_text, estimate, measured, or_dash};

pub(crate) fn settings(page: &Shown<'_>) -> Markup {
    let tuning = match page.tuned {
        Some(Ok(tuning)) => tuning,
        Some(Err(why)) => {
            return html! {
                section {
                    h2 { "Other filters" }
                    p { "What other filters would do could not be found out: " (message(&why.text)) }
                }
            };
        }
        None => return html! {},
    };
    if tuning.candidates.is_empty() {
        return html! {};
    }
    let lines: Vec<_> = tuning.candidates.iter().map(|of| line(page, tuning, of)).collect();
    let titles = [
        "#bits per key",
        "#size",
        "#random keys",
        "#similar keys",
        "#own lookups",
        "#reads, absent",
        "#reads, stored",
        "",
    ];
    html! {
        section {
            h2 { "Other filters" }
            p { "Size against what they let pass, measured on the keys of this database. Programs set the bits per key." }
            figure { (picture(&model(page, tuning))) }
            (folded(&format!("All {} candidates", tuning.candidates.len()), &titles, &lines))
        }
    }
}

fn line(page: &Shown<'_>, tuning: &Tuning, of: &Candidate) -> Vec<Cell> {
    let Effect { size, rates, reads, .. } = &of.outcome;
    let is_advised = page.advised().is_some_and(|advised| advised.bits_per_key == of.bits_per_key);
    let mark = match (tuning.bits_per_key == Some(of.bits_per_key), is_advised) {
        (_, true) => "advised",
        (true, _) => "in use",
        _ => "",
    };
    vec![
        Cell::Number(of.bits_per_key.to_string()),
        Cell::Number(about_size(*size)),
        Cell::Number(or_dash(rates.random.map(measured))),
        Cell::Number(or_dash(rates.worst.map(measured))),
        Cell::Number(or_dash(rates.lookups.map(measured))),
        Cell::Number(or_dash(reads.map(|reads| estimate(reads.absent)))),
        Cell::Number(or_dash(reads.map(|reads| estimate(reads.stored)))),
        Cell::text(mark),
    ]
}

/// Returns the rate that advice rests on: of the user's lookups, or else of random keys.
fn rate(rates: &Rates) -> Option<Rate> {
    rates.lookups.or(rates.random)
}

fn model(page: &Shown<'_>, tuning: &Tuning) -> TuneCurve {
    let point = |of: &Candidate| {
        let rate = rate(&of.outcome.rates)?.into();
        Some(CurvePoint { bits_per_key: of.bits_per_key, size: of.outcome.size.value, rate })
    };
    let points = tuning.candidates.iter().filter_map(point).collect();
    let mark = |name: String, outcome: &Effect| {
        Some(CurveMark { name, size: outcome.size.value, rate: rate(&outcome.rates)?.into() })
    };
    TuneCurve {
        points,
        present: mark("now".to_owned(), &tuning.now),
        advised: page
            .advised()
            .and_then(|of| mark(format!("advised: {}", bits_text(of.bits_per_key)), &of.outcome)),
        budget: tuning.budget.map(|budget| budget as f64),
    }
}
