//! Bars from 0 on, with their names and numbers as text around them.

use maud::{Markup, html};

use super::legend;
use super::svg::{rectangle, upright};

/// A bar beside its name and its number.
#[derive(Clone, Debug)]
pub(crate) struct Bar {
    /// Stands above this bar and those below it. Empty: the same as above.
    pub(crate) of: String,
    pub(crate) name: &'static str,
    pub(crate) class: &'static str,
    pub(crate) value: f64,
    /// The number in words.
    pub(crate) text: String,
    /// What is needed at least: an upright line.
    pub(crate) needed: Option<f64>,
}

/// Bars on one scale, which ends at `whole`, or beyond that where a bar does. What they show is beside them.
pub(crate) fn bars(bars: &[Bar], whole: f64) -> Markup {
    let all = bars.iter().map(|bar| bar.value).filter(|value| value.is_finite()).fold(whole, f64::max);
    html! {
        div.bars {
            @for bar in bars {
                @if !bar.of.is_empty() { h3 { (bar.of) } }
                span { (bar.name) }
                svg.pic height="10" aria-hidden="true" {
                    (rectangle("g-track", (0.0, 1.0), 0.0, 10.0, ""))
                    (rectangle(bar.class, (0.0, bar.value / all), 0.0, 10.0, ""))
                    @if let Some(needed) = bar.needed { (upright("g-need", needed / all, -2.0, 12.0)) }
                }
                b { (bar.text) }
            }
        }
    }
}

/// Bars of a level or a kind below each other, between its name and their numbers.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) name: String,
    /// More about it. May be empty.
    pub(crate) about: String,
    /// The class and the value of each bar.
    pub(crate) bars: Vec<(&'static str, f64)>,
    /// The numbers.
    pub(crate) text: Markup,
    /// Name and numbers in words.
    pub(crate) label: String,
}

/// Lanes on one scale from 0 to `end`. `ends`: the names of both ends. `fields`: of the legend.
pub(crate) fn lanes(lanes: &[Lane], end: f64, ends: [&str; 2], fields: &[(&str, &str)]) -> Markup {
    html! {
        figure.rows {
            @for lane in lanes {
                @let height = 14.0 * lane.bars.len() as f64 - 4.0;
                div class="lane val" {
                    p { b { (lane.name) } " " span.dim { (lane.about) } }
                    svg.pic height=(height) role="img" aria-label=(lane.label) {
                        @for (at, (class, value)) in (0_u32..).zip(&lane.bars) {
                            @let top = 14.0 * f64::from(at);
                            (rectangle("g-track", (0.0, 1.0), top, 10.0, ""))
                            (rectangle(class, (0.0, value / end), top, 10.0, ""))
                        }
                    }
                    p { (lane.text) }
                }
            }
            p class="ends val" aria-hidden="true" { span { (ends[0]) } span { (ends[1]) } }
            @if !fields.is_empty() { (legend(fields)) }
        }
    }
}
