//! The effects that other filters would have.

use maud::{Markup, html};

use super::grid::{Cell, folded};
use super::rates::interval_of;
use crate::audit::rates::MeasuredRate;
use crate::page::pictures::{CurveLine, CurveMark, CurvePoint, TuneCurve, curve as picture};
use crate::page::request::Shown;
use crate::page::words::{message, sentence};
use crate::report::{Choice, Outcome, Rates, Tried, Tuning};
use crate::words::{about_size, bits_text, estimate, loss_by_level, measured, or_dash, percent, ranges_text};

pub(crate) fn settings(page: &Shown<'_>) -> Markup {
    let tuning = match page.tuning {
        Some(Ok(tuning)) => tuning,
        Some(Err(why)) => {
            return html! {
                section {
                    h2 { "Other filters" }
                    p { "What other filters would do could not be found out: " (message(why)) }
                }
            };
        }
        None => return html! {},
    };
    if tuning.settings.is_empty() {
        return html! {};
    }
    let lines: Vec<_> = tuning.settings.iter().map(|tried| line(tuning, tried)).collect();
    let titles = [
        "policy",
        "range",
        "#bits a key",
        "#size",
        "#bytes an entry",
        "#formula",
        "#random keys",
        "#near stored ones",
        "#own lookups",
        "#reads, absent",
        "#reads, stored",
        "",
    ];
    html! {
        section {
            h2 { "Other filters" }
            p {
                "Size against what they let pass, measured on the keys of this database. Bits a key are the program's \
                 to set; the data blocks that one filter is for come from " code { "filterblock rebuild" } " only, where \
                 LevelDB itself writes one for every 2 KiB."
            }
            figure { (picture(&model(page, tuning))) }
            p { (sentence(&tuning.advice.text)) }
            @if let Some(choice) = &tuning.by_level {
                @if tuning.advice.choice.as_ref().is_some_and(|choice| choice.same_bits().is_none()) {
                    p.dim { "Bits by level hold until compactions write new tables with the bits that the program sets." }
                } @else {
                    p.dim {
                        "Within " (crate::words::size(tuning.budget.bytes)) ", the best bits by level would be "
                        (bits_text(choice))
                        @if let Some(reads) = choice.outcome.reads {
                            ", with " (estimate(reads.absent())) " reads of an absent key" (loss(tuning))
                        }
                        ". Compactions undo them."
                    }
                }
            }
            (folded(&format!("All {} settings", tuning.settings.len()), &titles, &lines))
        }
    }
}

/// The remark that lookups read less with the same bits on all levels; empty if they do not.
fn loss(tuning: &Tuning) -> String {
    let of = |by_level: &Choice, uniform: &Choice| {
        let why = loss_by_level(by_level, uniform)?;
        let reads = estimate(uniform.outcome.reads?.absent());
        Some(format!(", where the same bits on all levels have {reads}{why}"))
    };
    tuning
        .by_level
        .as_ref()
        .zip(tuning.uniform.as_ref())
        .and_then(|(one, other)| of(one, other))
        .unwrap_or_default()
}

fn line(tuning: &Tuning, tried: &Tried) -> Vec<Cell> {
    let Outcome { size, bytes_per_entry, rates, reads, .. } = &tried.outcome;
    let setting = tried.setting;
    let is_advised = tuning.advice.choice.as_ref().and_then(Choice::setting) == Some(setting);
    let mark = match (tried.in_use, is_advised) {
        (_, true) => "advised",
        (true, _) => "in use",
        _ => "",
    };
    vec![
        Cell::Head(html! { code { (setting.policy.name()) } }),
        Cell::text(ranges_text(setting.base_lg)),
        Cell::Number(setting.bits_per_key.to_string()),
        Cell::Number(about_size(*size)),
        Cell::Number(format!("{bytes_per_entry:.2}")),
        Cell::Number(or_dash(rates.formula.map(percent))),
        Cell::Number(or_dash(rates.random.map(measured))),
        Cell::Number(or_dash(rates.neighbours.map(measured))),
        Cell::Number(or_dash(rates.lookups.map(measured))),
        Cell::Number(or_dash(reads.map(|reads| estimate(reads.absent())))),
        Cell::Number(or_dash(reads.map(|reads| estimate(reads.present)))),
        Cell::text(mark),
    ]
}

/// The false-positive rate on which advice is based: that of the user's lookups, or else of neighbours, or else of
/// random keys.
fn rate(rates: &Rates) -> Option<MeasuredRate> {
    rates.lookups.or(rates.neighbours).or(rates.random)
}

fn model(page: &Shown<'_>, tuning: &Tuning) -> TuneCurve {
    let mut lines: Vec<(u8, CurveLine)> = Vec::new();
    for Tried { setting, outcome, .. } in
        tuning.settings.iter().filter(|tried| tried.setting.policy == tuning.policy)
    {
        let Some(rate) = rate(&outcome.rates) else { continue };
        let point = CurvePoint {
            bits_per_key: setting.bits_per_key,
            size: outcome.size.value,
            rate: interval_of(rate),
        };
        match lines.iter_mut().find(|(base_lg, _)| *base_lg == setting.base_lg) {
            Some((_, line)) => line.points.push(point),
            None => {
                let name = ranges_text(setting.base_lg);
                lines.push((setting.base_lg, CurveLine { name, points: vec![point] }));
            }
        }
    }
    for (_, line) in &mut lines {
        line.points.sort_by(|one, other| one.size.total_cmp(&other.size));
    }
    let mark = |name: String, outcome: &Outcome| {
        Some(CurveMark { name, size: outcome.size.value, rate: interval_of(rate(&outcome.rates)?) })
    };
    TuneCurve {
        lines: lines.into_iter().map(|(_, line)| line).collect(),
        present: mark("now".to_owned(), &tuning.now),
        advised: page
            .advised()
            .and_then(|choice| mark(format!("advised: {}", bits_text(choice)), &choice.outcome)),
        budget: Some(tuning.budget.bytes as f64),
    }
}
