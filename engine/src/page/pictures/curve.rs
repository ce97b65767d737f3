//! Size against rate for all settings.

use maud::{Markup, html};

use super::interval::Interval;
use super::plot::{self, BELOW, Key, Plot, TITLE, axis_percent};
use super::scale::{Linear, Log};
use super::svg::{self, Shape};
use crate::words::numbers::{counted, percent, size};

/// What filters of some settings would do.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct TuneCurve {
    pub lines: Vec<CurveLine>,
    /// The filters in use.
    pub present: Option<CurveMark>,
    pub recommended: Option<CurveMark>,
    /// The most bytes that filters may take.
    pub budget: Option<f64>,
}

/// The settings of one `base_lg` and one policy.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct CurveLine {
    /// As in "a filter every 2 KiB".
    pub name: String,
    /// By rising size.
    pub points: Vec<CurvePoint>,
}

#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct CurvePoint {
    pub bits_per_key: u32,
    /// The size of all filter blocks in bytes.
    pub size: f64,
    /// The share of absent keys that pass, from 0 to 1.
    pub rate: Interval,
}

#[derive(Clone, PartialEq, Default, Debug)]
pub struct CurveMark {
    /// As in "now: 10 bits a key".
    pub name: String,
    pub size: f64,
    pub rate: Interval,
}

/// The rates that the axis may hold.
const RATES: (f64, f64) = (1e-7, 1.0);
const PLOT: Plot = Plot { height: 260.0 };
/// The numbers of bits a key that are named beside a line: a few, so that their texts stay apart.
const NAMED_BITS: [u32; 5] = [4, 8, 12, 16, 20];
/// The marks of the lines. Their colours and dashes come in as many kinds.
const SHAPES: [Shape; 6] =
    [Shape::Circle, Shape::Square, Shape::Diamond, Shape::Below, Shape::Cross, Shape::Circle];
const COLOURS: [&str; 6] = ["p-s0", "p-s1", "p-s2", "p-s3", "p-s4", "p-s5"];
const DASHES: [&str; 4] = ["p-d0", "p-d1", "p-d2", "p-d3"];

struct Axes {
    sizes: Linear,
    rates: Log,
}

impl Axes {
    fn place(&self, size: f64, rate: Interval) -> (f64, f64) {
        (self.sizes.share(size), PLOT.y(self.rates.share(shown_rate(rate))))
    }
}

/// Draws a line for each `base_lg`, and marks what is in use and what is recommended.
pub fn curve(curve: &TuneCurve) -> Markup {
    let lines: Vec<(&CurveLine, Vec<&CurvePoint>)> =
        curve.lines.iter().map(|line| (line, sound(line))).collect();
    let marks: Vec<(&CurveMark, &str, Shape)> =
        [(&curve.present, "p-mark-now", Shape::Circle), (&curve.recommended, "p-mark-then", Shape::Diamond)]
            .into_iter()
            .filter_map(|(mark, class, shape)| Some((mark.as_ref()?, class, shape)))
            .filter(|(mark, _, _)| has_place(mark.size, mark.rate))
            .collect();
    let axes = axes(&lines, &marks, curve.budget);
    let keys = keys(curve, &lines, &marks);
    let rate_ticks: Vec<_> =
        axes.rates.ticks(7).into_iter().map(|rate| (axes.rates.share(rate), axis_percent(rate))).collect();
    let minor: Vec<_> = axes.rates.minor_ticks().map(|rate| axes.rates.share(rate)).collect();
    let size_ticks: Vec<_> = axes
        .sizes
        .size_ticks(5)
        .into_iter()
        .map(|bytes| (axes.sizes.share(bytes), size(bytes as u64)))
        .collect();
    let body = html! {
        (PLOT.vertical("false positives (logarithmic)", &rate_ticks, &minor))
        (PLOT.horizontal("size of all filters", &size_ticks))
        @if let Some(budget) = budget(curve) {
            @let place = axes.sizes.share(budget);
            (svg::line("p-limit", (place, PLOT.y(0.0)), (place, PLOT.y(1.0))))
        }
        @for (number, (line, points)) in lines.iter().enumerate() { (draw(number, line, points, &axes)) }
        @if let Some(points) = rightmost(&lines) { (bits(points, &axes)) }
        @for (mark, class, shape) in &marks {
            (svg::mark(class, *shape, axes.place(mark.size, mark.rate), 7.0, &mark_text(mark)))
        }
        (plot::list(TITLE + PLOT.height + BELOW, true, &keys))
    };
    let title = "Size of the filters against false positives";
    let height = TITLE + PLOT.height + BELOW + plot::list_height(&keys);
    svg::framed("p-axes", title, &description(&lines, &marks), height, body)
}

fn has_place(size: f64, rate: Interval) -> bool {
    size.is_finite() && size >= 0.0 && rate.is_sound() && rate.high > 0.0
}

fn sound(line: &CurveLine) -> Vec<&CurvePoint> {
    line.points.iter().filter(|point| has_place(point.size, point.rate)).collect()
}

/// The rate at which a point is drawn: where no false positive was found, the greatest one likely.
fn shown_rate(rate: Interval) -> f64 {
    if rate.value > 0.0 { rate.value } else { rate.high }
}

/// The budget, if it is a size.
fn budget(curve: &TuneCurve) -> Option<f64> {
    curve.budget.filter(|budget| budget.is_finite() && *budget > 0.0)
}

fn axes(
    lines: &[(&CurveLine, Vec<&CurvePoint>)],
    marks: &[(&CurveMark, &str, Shape)],
    limit: Option<f64>,
) -> Axes {
    let points = || lines.iter().flat_map(|(_, points)| points).map(|point| (point.size, point.rate));
    let marks = || marks.iter().map(|(mark, _, _)| (mark.size, mark.rate));
    let all = || points().chain(marks());
    let largest = all().map(|(size, _)| size).fold(0.0, f64::max);
    // A budget far beyond all settings is at the edge, so that they keep their room.
    let limit = limit.map(|limit| limit.min(largest * 1.25));
    let sizes = Linear::from_zero(all().map(|(size, _)| size).chain(limit));
    Axes { sizes, rates: Log::around(all().map(|(_, rate)| shown_rate(rate)), RATES.0, RATES.1) }
}

/// The classes of a line: its colour and its dashes.
fn classes(number: usize) -> String {
    let of = |kinds: &[&'static str]| kinds.get(number % kinds.len().max(1)).copied().unwrap_or_default();
    format!("p-series {} {}", of(&COLOURS), of(&DASHES))
}

fn shape(number: usize) -> Shape {
    SHAPES.get(number % SHAPES.len()).copied().unwrap_or(Shape::Circle)
}

fn draw(number: usize, line: &CurveLine, points: &[&CurvePoint], axes: &Axes) -> Markup {
    let places: Vec<(f64, f64)> = points.iter().map(|point| axes.place(point.size, point.rate)).collect();
    html! {
        g class=(classes(number)) {
            @for (from, to) in places.iter().zip(places.iter().skip(1)) { (svg::line("", *from, *to)) }
            @for (point, place) in points.iter().zip(&places) {
                (svg::mark("", shape(number), *place, 2.5, &point_text(line, point)))
            }
        }
    }
}

/// The points of the line that has none to its right.
fn rightmost<'a, 'l>(lines: &'a [(&CurveLine, Vec<&'l CurvePoint>)]) -> Option<&'a Vec<&'l CurvePoint>> {
    let size = |points: &Vec<&CurvePoint>| points.last().map_or(0.0, |point| point.size);
    lines.iter().map(|(_, points)| points).max_by(|a, b| size(a).total_cmp(&size(b)))
}

/// Names some bits a key beside the points of a line.
fn bits(points: &[&CurvePoint], axes: &Axes) -> Markup {
    let named = points.iter().filter(|point| NAMED_BITS.contains(&point.bits_per_key));
    html! {
        @for point in named {
            @let (place, y) = axes.place(point.size, point.rate);
            text class="p-text p-small p-halo" x=(svg::x(place)) y=(svg::number(y - 3.0)) dx="5" {
                (point.bits_per_key)
            }
        }
    }
}

fn point_text(line: &CurveLine, point: &CurvePoint) -> String {
    let (bits, bytes) = (counted(point.bits_per_key.into(), "bit"), size(point.size as u64));
    format!("{}, {bits} a key: {bytes}, {}", line.name, rate_text(point.rate))
}

fn mark_text(mark: &CurveMark) -> String {
    format!("{}: {}, {}", mark.name, size(mark.size as u64), rate_text(mark.rate))
}

fn rate_text(rate: Interval) -> String {
    if rate.value > 0.0 { percent(rate.value) } else { format!("below {}", percent(rate.high)) }
}

fn keys(
    curve: &TuneCurve,
    lines: &[(&CurveLine, Vec<&CurvePoint>)],
    marks: &[(&CurveMark, &str, Shape)],
) -> Vec<Key> {
    let marks = marks.iter().map(|(mark, class, shape)| Key::mark("", class, *shape, mark_text(mark)));
    let lines = lines.iter().enumerate().map(|(number, (line, points))| {
        let none = if points.is_empty() { ": nothing is known" } else { "" };
        Key::line(&classes(number), "", Some(shape(number)), format!("{}{none}", line.name))
    });
    let budget = budget(curve)
        .map(|budget| Key::line("", "p-limit", None, format!("budget: {}", size(budget as u64))));
    let mut keys: Vec<Key> = marks.chain(lines).chain(budget).collect();
    if !curve.lines.is_empty() {
        keys.push(Key { mark: html! {}, text: "numbers in the picture: bits a key".to_owned() });
    }
    keys
}

fn description(lines: &[(&CurveLine, Vec<&CurvePoint>)], marks: &[(&CurveMark, &str, Shape)]) -> String {
    let points: usize = lines.iter().map(|(_, points)| points.len()).sum();
    let (lines, points) = (counted(lines.len() as u64, "line"), counted(points as u64, "setting"));
    let mut text = format!("{lines} through {points}: further left is smaller, further down is better.");
    for (mark, _, _) in marks {
        text += &format!(" {}.", mark_text(mark));
    }
    text
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
            recommended: Some(mark("better", 4096.0)),
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
        // 2 of 4 KiB, and 1 % of 0.001 % to 100 %.
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
