//! The size of filters against the share of absent keys that pass, setting by setting.

use maud::{Markup, html};

use super::plot::{Interval, Key, RatePlot, after};
use super::scale::Linear;
use super::svg::{self, Shape};
use crate::words::{counted, percent, size};

/// The size of filters and the share of absent keys that pass, for the settings of a policy.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct TuneCurve {
    pub lines: Vec<CurveLine>,
    /// The filters in use.
    pub present: Option<CurveMark>,
    pub advised: Option<CurveMark>,
    /// The maximum size of all filters in bytes.
    pub budget: Option<f64>,
}

/// The settings of one `base_lg` and one policy.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct CurveLine {
    /// The name of the line, such as "a filter every 2 KiB".
    pub name: String,
    /// The points of the line, in order of increasing size.
    pub points: Vec<CurvePoint>,
}

#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct CurvePoint {
    pub bits_per_key: u32,
    /// The size of all filter blocks in bytes.
    pub size: f64,
    /// The share of absent keys that pass, from 0 to 1.
    pub rate: Interval,
}

#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct CurveMark {
    /// The name of the mark, such as "now: 10 bits a key".
    pub name: String,
    pub size: f64,
    pub rate: Interval,
}

const HEIGHT: f64 = 260.0;
/// The numbers of bits a key that are named next to a line: only a few, so that their texts stay apart.
const NAMED_BITS: [u32; 5] = [4, 8, 12, 16, 20];
/// The shapes of the marks on the lines.
const SHAPES: [Shape; 6] =
    [Shape::Circle, Shape::Square, Shape::Diamond, Shape::Below, Shape::Cross, Shape::Circle];
/// The number of different colours of lines.
const COLOURS: usize = 6;
/// The number of different patterns of dashes.
const DASHES: usize = 4;

/// A line and those of its points that can be drawn.
type Line<'a> = (&'a CurveLine, Vec<&'a CurvePoint>);
/// A mark, its class and its shape.
type Mark<'a> = (&'a CurveMark, &'static str, Shape);

/// Draws the lines, and marks the filters in use and those advised.
pub(crate) fn curve(curve: &TuneCurve) -> Markup {
    let sound = |point: &&CurvePoint| RatePlot::can_show(point.size, point.rate);
    let lines: Vec<Line<'_>> =
        curve.lines.iter().map(|line| (line, line.points.iter().filter(sound).collect())).collect();
    let marks: Vec<Mark<'_>> =
        [(&curve.present, "p-mark-now", Shape::Circle), (&curve.advised, "p-mark-then", Shape::Diamond)]
            .into_iter()
            .filter_map(|(mark, class, shape)| Some((mark.as_ref()?, class, shape)))
            .filter(|(mark, _, _)| RatePlot::can_show(mark.size, mark.rate))
            .collect();
    let budget = curve.budget.filter(|budget| budget.is_finite() && *budget > 0.0);
    let plot = plot(&lines, &marks, curve.budget);
    let sizes: Vec<_> =
        plot.across.size_ticks(5).into_iter().map(|bytes| (bytes, size(bytes as u64))).collect();
    let place = |size, rate: Interval| plot.place(size, rate.shown_rate());
    let last_size = |(_, points): &&Line<'_>| points.last().map_or(0.0, |point| point.size);
    let rightmost = lines.iter().max_by(|a, b| last_size(a).total_cmp(&last_size(b)));
    let named = rightmost.into_iter().flat_map(|(_, points)| points);
    let body = html! {
        @if let Some(budget) = budget {
            @let place = plot.across.share(budget);
            (svg::line("p-limit", (place, plot.y(0.0)), (place, plot.y(1.0))))
        }
        @for (number, (line, points)) in lines.iter().enumerate() {
            @let places: Vec<_> = points.iter().map(|point| place(point.size, point.rate)).collect();
            g class=(classes(number)) {
                @for point in points {
                    @let [from, to] = [point.rate.low, point.rate.high].map(|rate| plot.place(point.size, rate));
                    (svg::line("p-range", from, to))
                }
                (RatePlot::path("", &places))
                @for (point, place) in points.iter().zip(&places) {
                    (svg::mark("", shape(number), *place, 2.5, &point_text(line, point)))
                }
            }
        }
        @for point in named.filter(|point| NAMED_BITS.contains(&point.bits_per_key)) {
            @let (place, y) = place(point.size, point.rate);
            (after(place, y - 3.0, point.bits_per_key))
        }
        @for (mark, class, shape) in &marks {
            (svg::mark(class, *shape, place(mark.size, mark.rate), 7.0, &mark_text(mark)))
        }
    };
    let texts = ["Size of the filters against false positives", &description(&lines, &marks)];
    plot.draw(texts, "size of all filters", &sizes, &body, &keys(&lines, &marks, budget))
}

fn plot(lines: &[Line<'_>], marks: &[Mark<'_>], limit: Option<f64>) -> RatePlot {
    let points = lines.iter().flat_map(|(_, points)| points).map(|point| (point.size, point.rate));
    let marks = marks.iter().map(|(mark, _, _)| (mark.size, mark.rate));
    let (sizes, rates): (Vec<f64>, Vec<Interval>) = points.chain(marks).unzip();
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    // A budget far beyond all settings is drawn at the edge, so that the settings keep their room.
    let limit = limit.map(|limit| limit.min(largest * 1.25));
    let sizes = Linear::from_zero(sizes.into_iter().chain(limit));
    RatePlot::new(HEIGHT, sizes, rates.into_iter().map(Interval::shown_rate))
}

/// The classes of a line: its colour and its dashes.
fn classes(number: usize) -> String {
    format!("p-series p-s{} p-d{}", number % COLOURS, number % DASHES)
}

fn shape(number: usize) -> Shape {
    SHAPES.get(number % SHAPES.len()).copied().unwrap_or(Shape::Circle)
}

fn point_text(line: &CurveLine, point: &CurvePoint) -> String {
    let bits = counted(point.bits_per_key.into(), "bit");
    text(&format!("{}, {bits} a key", line.name), point.size, point.rate)
}

fn mark_text(mark: &CurveMark) -> String {
    text(&mark.name, mark.size, mark.rate)
}

fn text(name: &str, bytes: f64, rate: Interval) -> String {
    let below = if rate.value > 0.0 { "" } else { "below " };
    format!("{name}: {}, {below}{}", size(bytes as u64), percent(rate.shown_rate()))
}

fn keys(lines: &[Line<'_>], marks: &[Mark<'_>], budget: Option<f64>) -> Vec<Key> {
    let marks = marks.iter().map(|(mark, class, shape)| Key::mark(class, *shape, mark_text(mark)));
    let of_lines = lines.iter().enumerate().map(|(number, (line, points))| {
        let none = if points.is_empty() { ": nothing is known" } else { "" };
        Key::line(&classes(number), "", Some(shape(number)), format!("{}{none}", line.name))
    });
    let budget =
        budget.map(|budget| Key::line("", "p-limit", None, format!("budget: {}", size(budget as u64))));
    let texts = ["numbers in the picture: bits a key", "upright lines: 95 % intervals"];
    let texts = texts.into_iter().filter(|_| !lines.is_empty()).map(Key::text);
    marks.chain(of_lines).chain(budget).chain(texts).collect()
}

fn description(lines: &[Line<'_>], marks: &[Mark<'_>]) -> String {
    let points: usize = lines.iter().map(|(_, points)| points.len()).sum();
    let (lines, points) = (counted(lines.len() as u64, "line"), counted(points as u64, "setting"));
    let marks: String = marks.iter().map(|(mark, _, _)| format!(" {}.", mark_text(mark))).collect();
    format!("{lines} through {points}: further left is smaller, further down is better.{marks}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(bits_per_key: u32, size: f64, rate: f64) -> CurvePoint {
        CurvePoint { bits_per_key, size, rate: Interval { value: rate, low: rate, high: rate + 1e-5 } }
    }

    fn two_lines() -> TuneCurve {
        let line = |name: &str, points: Vec<CurvePoint>| CurveLine { name: name.to_owned(), points };
        let mark = |name: &str, size| CurveMark { name: name.to_owned(), size, rate: Interval::exact(0.01) };
        TuneCurve {
            lines: vec![
                line("small", vec![point(4, 1024.0, 0.15), point(8, 2048.0, 0.02), point(9, 3072.0, 0.0)]),
                line("large", vec![point(4, 900.0, 0.15), point(8, f64::NAN, 0.02)]),
            ],
            present: Some(mark("now", 2048.0)),
            advised: Some(mark("better", 4096.0)),
            budget: Some(3000.0),
        }
    }

    #[test]
    fn lines_go_through_all_sound_points() {
        let text = curve(&two_lines()).into_string();
        assert_eq!(text.matches(r#"<line class="" "#).count(), 2 + 2, "two in the picture, two in the list");
        assert!(text.contains("2 lines through 4 settings"), "{text}");
        assert!(text.contains("<title>small, 9 bits a key: 3 KiB, below &lt;0.01 %</title>"), "{text}");
        for part in ["now: 2 KiB, 1.00 %", "better: 4 KiB, 1.00 %", "budget: 2.9 KiB"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        // The mark is at 2 of 4 KiB, and at 1 % on the axis from 0.001 % to 100 %.
        assert!(text.contains(r#"<circle class="p-mark-now" cx="50%" cy="124""#), "{text}");
    }

    #[test]
    fn a_budget_beyond_all_settings_leaves_them_their_room() {
        let huge = curve(&TuneCurve { budget: Some(1e15), ..two_lines() }).into_string();
        assert!(huge.contains(r#"<circle class="p-mark-now" cx="40%""#), "{huge}");
        assert!(huge.contains(r#"<line class="p-limit" x1="100%""#), "{huge}");
    }

    #[test]
    fn lines_differ_in_more_than_colour() {
        let kinds: Vec<_> = (0..4).map(|number| (shape(number), classes(number))).collect();
        for (at, kind) in kinds.iter().enumerate() {
            assert!(kinds[..at].iter().all(|other| other.0 != kind.0 && other.1 != kind.1), "{kinds:?}");
        }
    }
}
