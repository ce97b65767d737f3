//! The size of filters against their false-positive rate, by bits per key.

use maud::{Markup, html};

use super::plot::{Interval, Key, RatePlot, after};
use super::scale::Linear;
use super::svg::{self, Shape};
use crate::words::{bits_text, counted, percent, size};

#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct TuneCurve {
    /// In order of increasing size.
    pub points: Vec<CurvePoint>,
    pub present: Option<CurveMark>,
    pub advised: Option<CurveMark>,
    /// Of all filters, in bytes.
    pub budget: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct CurvePoint {
    pub bits_per_key: u32,
    /// Of all filter blocks, in bytes.
    pub size: f64,
    /// From 0 to 1.
    pub rate: Interval,
}

#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct CurveMark {
    /// Such as "now".
    pub name: String,
    pub size: f64,
    pub rate: Interval,
}

const HEIGHT: f64 = 260.0;
/// Bits per key to name next to the line: only a few, so that their texts stay apart.
const NAMED_BITS: [u32; 5] = [4, 8, 12, 16, 20];

type Mark<'a> = (&'a CurveMark, &'static str, Shape);

/// Marks the filters in use and those advised.
pub(crate) fn curve(curve: &TuneCurve) -> Markup {
    let sound = |point: &&CurvePoint| RatePlot::can_show(point.size, point.rate);
    let points: Vec<&CurvePoint> = curve.points.iter().filter(sound).collect();
    let marks: Vec<Mark<'_>> =
        [(&curve.present, "p-mark-now", Shape::Circle), (&curve.advised, "p-mark-then", Shape::Diamond)]
            .into_iter()
            .filter_map(|(mark, class, shape)| Some((mark.as_ref()?, class, shape)))
            .filter(|(mark, _, _)| RatePlot::can_show(mark.size, mark.rate))
            .collect();
    let budget = curve.budget.filter(|budget| budget.is_finite() && *budget > 0.0);
    let plot = plot(&points, &marks, curve.budget);
    let sizes: Vec<_> =
        plot.across.size_ticks(5).into_iter().map(|bytes| (bytes, size(bytes as u64))).collect();
    let place = |size, rate: Interval| plot.place(size, rate.shown_rate());
    let places: Vec<_> = points.iter().map(|point| place(point.size, point.rate)).collect();
    let body = html! {
        @if let Some(budget) = budget {
            @let place = plot.across.share(budget);
            (svg::line("p-limit", (place, plot.y(0.0)), (place, plot.y(1.0))))
        }
        g class="p-series" {
            @for point in &points {
                @let [from, to] = [point.rate.low, point.rate.high].map(|rate| plot.place(point.size, rate));
                (svg::line("p-range", from, to))
            }
            (RatePlot::path("", &places))
            @for (point, place) in points.iter().zip(&places) {
                (svg::mark("", Shape::Circle, *place, 2.5, &text(&bits_text(point.bits_per_key), point.size, point.rate)))
            }
        }
        @for (point, (place, y)) in points.iter().zip(&places).filter(|(point, _)| NAMED_BITS.contains(&point.bits_per_key)) {
            (after(*place, y - 3.0, point.bits_per_key))
        }
        @for (mark, class, shape) in &marks {
            (svg::mark(class, *shape, place(mark.size, mark.rate), 7.0, &mark_text(mark)))
        }
    };
    let texts = ["Size of the filters against false positives", &description(&points, &marks)];
    plot.draw(texts, "size of all filters", &sizes, &body, &keys(&points, &marks, budget))
}

fn plot(points: &[&CurvePoint], marks: &[Mark<'_>], limit: Option<f64>) -> RatePlot {
    let points = points.iter().map(|point| (point.size, point.rate));
    let marks = marks.iter().map(|(mark, _, _)| (mark.size, mark.rate));
    let (sizes, rates): (Vec<f64>, Vec<Interval>) = points.chain(marks).unzip();
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    // A budget far beyond all candidates is drawn at the edge, so that they keep their room.
    let limit = limit.map(|limit| limit.min(largest * 1.25));
    let sizes = Linear::from_zero(sizes.into_iter().chain(limit));
    RatePlot::new(HEIGHT, sizes, rates.into_iter().map(Interval::shown_rate))
}

fn mark_text(mark: &CurveMark) -> String {
    text(&mark.name, mark.size, mark.rate)
}

fn text(name: &str, bytes: f64, rate: Interval) -> String {
    let below = if rate.value > 0.0 { "" } else { "below " };
    format!("{name}: {}, {below}{}", size(bytes as u64), percent(rate.shown_rate()))
}

fn keys(points: &[&CurvePoint], marks: &[Mark<'_>], budget: Option<f64>) -> Vec<Key> {
    let marks = marks.iter().map(|(mark, class, shape)| Key::mark(class, *shape, mark_text(mark)));
    let budget =
        budget.map(|budget| Key::line("", "p-limit", None, format!("budget: {}", size(budget as u64))));
    let texts = ["numbers in the picture: bits per key", "upright lines: 95% intervals"];
    let texts = texts.into_iter().filter(|_| !points.is_empty()).map(Key::text);
    marks.chain(budget).chain(texts).collect()
}

fn description(points: &[&CurvePoint], marks: &[Mark<'_>]) -> String {
    let points = counted(points.len() as u64, "candidate");
    let marks: String = marks.iter().map(|(mark, _, _)| format!(" {}.", mark_text(mark))).collect();
    format!("{points}: further left is smaller, further down is better.{marks}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(bits_per_key: u32, size: f64, rate: f64) -> CurvePoint {
        CurvePoint { bits_per_key, size, rate: Interval { value: rate, low: rate, high: rate + 1e-5 } }
    }

    fn some() -> TuneCurve {
        let mark = |name: &str, size| CurveMark { name: name.to_owned(), size, rate: Interval::exact(0.01) };
        let points = vec![
            point(4, 1024.0, 0.15),
            point(6, f64::NAN, 0.05),
            point(8, 2048.0, 0.02),
            point(9, 3072.0, 0.0),
        ];
        TuneCurve {
            points,
            present: Some(mark("now", 2048.0)),
            advised: Some(mark("better", 4096.0)),
            budget: Some(3000.0),
        }
    }

    #[test]
    fn the_line_goes_through_all_sound_points() {
        let text = curve(&some()).into_string();
        assert_eq!(text.matches(r#"<line class="" "#).count(), 2, "between three points");
        assert!(text.contains("3 candidates: further left"), "{text}");
        let below = text.contains("<title>9 bits per key: 3 KiB, below &lt;0.01");
        assert!(below && text.contains("now: 2 KiB, 1.00") && text.contains("budget: 2.9 KiB"), "{text}");
        // The mark is at 2 of 4 KiB, and at 1% on the axis from 0.001% to 100%.
        assert!(text.contains(r#"<circle class="p-mark-now" cx="50%" cy="124""#), "{text}");
    }

    #[test]
    fn a_budget_beyond_all_candidates_leaves_them_their_room() {
        let huge = curve(&TuneCurve { budget: Some(1e15), ..some() }).into_string();
        assert!(huge.contains(r#"<circle class="p-mark-now" cx="40%""#), "{huge}");
        assert!(huge.contains(r#"<line class="p-limit" x1="100%""#), "{huge}");
    }
}
