//! Rates of false positives against bits an entry.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::plot::{Interval, Key, RatePlot};
use super::scale::Linear;
use super::svg::{self, Shape};
use crate::words::{counted, percent};

/// The filters of a table.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct RatePoint {
    /// The name of the file, safe to print.
    pub name: String,
    /// The size of all filters in bits for each entry of the table.
    pub bits_per_entry: f64,
    /// The measured rate, from 0 to 1.
    pub rate: Interval,
}

#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Rates {
    pub points: Vec<RatePoint>,
    /// The rates that the formula gives, as bits an entry and rate, in order of increasing bits. May be
    /// empty.
    pub formula: Vec<(f64, f64)>,
    /// The number of tables without a point: those without filters, and those whose rate or bits an entry are not
    /// known.
    pub left_out: u64,
}

/// The greatest number of points drawn one by one.
const MOST: usize = 2000;
/// The numbers of columns and rows of the cells in which points are merged if there are more than [`MOST`]
/// points.
const CELLS: (f64, f64) = (48.0, 32.0);
/// The smallest number of bits an entry at which the axis may end.
const LEAST_BITS: f64 = 16.0;
/// The number of bits an entry that the axis may reach in any case.
const USUAL_BITS: f64 = 32.0;
/// The axis may reach this many times the median of the tables' bits an entry, if that is more than
/// `USUAL_BITS`.
const TIMES_MEDIAN: f64 = 4.0;
/// The axis extends beyond the smallest and the greatest rate by at least this factor, as far as the bounds for axes of
/// rates allow.
const ROOM: f64 = 2.0;
const HEIGHT: f64 = 220.0;

/// Tables that share a mark.
#[derive(Clone, PartialEq, Default, Debug)]
struct Dot {
    tables: u64,
    /// The mean horizontal position of the tables' points, from 0 to 1.
    x: f64,
    /// The mean vertical position of the tables' points, from 0 at the bottom to 1.
    y: f64,
    /// Set if no false positive was found, so that the rate is here or below.
    is_below: bool,
    title: String,
}

/// Draws a point for each table or, if there are over 2,000 tables, a point for each group of tables near each
/// other.
pub(crate) fn rates(rates: &Rates) -> Markup {
    let sound: Vec<&RatePoint> = rates.points.iter().filter(can_show).collect();
    let odd = rates.points.len().saturating_sub(sound.len()) as u64;
    let plot = plot(&sound, &rates.formula);
    let dots = dots(&sound, &plot);
    let largest = dots.iter().map(|dot| dot.tables).max().unwrap_or_default();
    let most_bits = plot.across.high;
    let beyond = sound.iter().filter(|point| point.bits_per_entry > most_bits).count() as u64;
    let bits: Vec<_> = plot.across.ticks(7, 1.0).into_iter().map(|bits| (bits, svg::number(bits))).collect();
    let shown = rates.formula.iter().filter(|(bits, rate)| *bits <= most_bits && plot.holds(*rate));
    let formula: Vec<_> = shown.map(|(bits, rate)| plot.place(*bits, *rate)).collect();
    let body = html! {
        (RatePlot::path("p-formula", &formula))
        @for dot in &dots {
            @let shape = if dot.is_below { Shape::Below } else { Shape::Circle };
            (svg::mark("p-point", shape, (dot.x, plot.y(dot.y)), radius(dot.tables, largest), &dot.title))
        }
    };
    let texts = ["False positives of each table against bits an entry", &description(&sound, &dots)];
    plot.draw(texts, "bits an entry", &bits, &body, &keys(rates, &dots, beyond, odd))
}

fn can_show(point: &&RatePoint) -> bool {
    RatePlot::can_show(point.bits_per_entry, point.rate)
}

fn plot(points: &[&RatePoint], formula: &[(f64, f64)]) -> RatePlot {
    let mut bits: Vec<f64> = points.iter().map(|point| point.bits_per_entry).collect();
    bits.sort_by(f64::total_cmp);
    let median = bits.get(bits.len() / 2).copied().unwrap_or(1.0);
    let most = USUAL_BITS.max(median * TIMES_MEDIAN);
    let bits = Linear::from_zero(bits.into_iter().map(|bits| bits.min(most)).chain([LEAST_BITS]));
    let shown = points.iter().map(|point| point.rate.shown_rate());
    let with_room = shown.flat_map(|rate| [rate / ROOM, rate * ROOM]);
    let formula = formula.iter().filter(|(at, _)| points.is_empty() && *at <= bits.high);
    RatePlot::new(HEIGHT, bits, with_room.chain(formula.map(|(_, rate)| *rate)))
}

fn dots(points: &[&RatePoint], plot: &RatePlot) -> Vec<Dot> {
    let alone = points.iter().map(|point| {
        let (x, y) = plot.shares(point.bits_per_entry, point.rate.shown_rate());
        Dot { tables: 1, x, y, is_below: point.rate.value <= 0.0, title: title(point) }
    });
    if points.len() <= MOST {
        return alone.collect();
    }
    let mut cells: BTreeMap<(u32, u32, bool), (Dot, f64, f64)> = BTreeMap::new();
    for (dot, point) in alone.zip(points) {
        let cell = ((dot.x * CELLS.0) as u32, (dot.y * CELLS.1) as u32, dot.is_below);
        let (sum, bits, rate) = cells.entry(cell).or_default();
        let tables = sum.tables.saturating_add(1);
        let towards = |mean: f64, value: f64| mean + (value - mean) / tables as f64;
        (*bits, *rate) = (towards(*bits, point.bits_per_entry), towards(*rate, point.rate.value));
        *sum = Dot { tables, x: towards(sum.x, dot.x), y: towards(sum.y, dot.y), ..dot };
    }
    for (dot, bits, rate) in cells.values_mut().filter(|(dot, ..)| dot.tables > 1) {
        let (tables, rate) = (counted(dot.tables, "table"), percent(*rate));
        dot.title = format!("{tables}: {bits:.1} bits an entry and {rate} in the mean");
    }
    cells.into_values().map(|(dot, ..)| dot).collect()
}

fn title(point: &RatePoint) -> String {
    let Interval { value, low, high } = point.rate;
    let (rate, low, high) = (percent(value), percent(low), percent(high));
    format!("{}: {:.1} bits an entry, {rate} ({low} to {high})", point.name, point.bits_per_entry)
}

/// Half the width of a mark: its area grows with the number of tables.
fn radius(tables: u64, largest: u64) -> f64 {
    const LEAST: f64 = 2.0;
    const MOST: f64 = 7.0;
    if largest <= 1 { 3.0 } else { (MOST * (tables as f64 / largest as f64).sqrt()).max(LEAST) }
}

fn keys(rates: &Rates, dots: &[Dot], beyond: u64, odd: u64) -> Vec<Key> {
    let is_joined = dots.iter().any(|dot| dot.tables > 1);
    let what = if is_joined { "tables near each other, larger for more" } else { "a table" };
    let mut keys = vec![Key::mark("p-point", Shape::Circle, what)];
    if dots.iter().any(|dot| dot.is_below) {
        keys.push(Key::mark("p-point", Shape::Below, "none found: the rate is here or below"));
    }
    if rates.formula.len() > 1 {
        keys.push(Key::line("", "p-formula", None, "by the formula"));
    }
    let others = [
        (beyond, "of more bits an entry, at the right edge"),
        (rates.left_out.saturating_add(odd), "without a known rate, not drawn"),
    ];
    let others = others.into_iter().filter(|(number, _)| *number > 0);
    keys.extend(others.map(|(number, what)| Key::text(format!("{} {what}", counted(number, "table")))));
    keys
}

fn description(points: &[&RatePoint], dots: &[Dot]) -> String {
    let (tables, marks) = (counted(points.len() as u64, "table"), counted(dots.len() as u64, "mark"));
    let mut found: Vec<f64> = points.iter().map(|point| point.rate.value).collect();
    found.sort_by(f64::total_cmp);
    let [Some(least), Some(median), Some(most)] =
        [found.first(), found.get(found.len() / 2), found.last()].map(|rate| rate.copied().map(percent))
    else {
        return format!("{tables} as {marks}.");
    };
    format!("{tables} as {marks}. Rates from {least} to {most}, the middle one {median}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(bits_per_entry: f64, value: f64) -> RatePoint {
        let rate = Interval { value, low: value / 2.0, high: value * 2.0 + 1e-4 };
        RatePoint { name: "1.ldb".to_owned(), bits_per_entry, rate }
    }

    fn all(points: &[RatePoint]) -> (RatePlot, Vec<Dot>) {
        let points: Vec<_> = points.iter().filter(can_show).collect();
        let plot = plot(&points, &[]);
        let dots = dots(&points, &plot);
        (plot, dots)
    }

    #[test]
    fn few_tables_have_a_mark_each() {
        let (plot, dots) = all(&[point(10.0, 0.01), point(20.0, 0.0), point(5.0, 0.1)]);
        assert_eq!(plot.across, Linear { low: 0.0, high: 20.0 });
        // The axis goes from 0.001% to 100%.
        let shown: Vec<_> = dots.iter().map(|dot| (dot.x, (dot.y * 5.0).round(), dot.is_below)).collect();
        // If no false positive was found, the upper end of the interval is shown: 0.01%.
        assert_eq!(shown, [(0.5, 3.0, false), (1.0, 1.0, true), (0.25, 4.0, false)]);
        assert!(
            dots[0].title.starts_with("1.ldb: 10.0 bits an entry, 1.00% (0.50% to 2.01%)"),
            "{}",
            dots[0].title
        );
    }

    #[test]
    fn many_tables_share_marks_and_none_is_lost() {
        let points: Vec<_> = (0..9000_u32)
            .map(|n| {
                point(f64::from(n % 300) / 10.0, if n % 10 == 0 { 0.0 } else { f64::from(n % 97 + 1) / 1e4 })
            })
            .collect();
        let (plot, dots) = all(&points);
        assert!(dots.len() < 2000, "{}", dots.len());
        assert_eq!(dots.iter().map(|dot| dot.tables).sum::<u64>(), 9000);
        let below: u64 = dots.iter().filter(|dot| dot.is_below).map(|dot| dot.tables).sum();
        assert_eq!(below, 900);
        assert!(dots.iter().any(|dot| dot.title.starts_with("30 tables: ")), "{:?}", dots[0]);
        assert!(dots.iter().all(|dot| (0.0..=1.0).contains(&dot.x) && (0.0..=1.0).contains(&dot.y)));
        // A mark lies in the middle of its tables.
        let place = |point: &RatePoint| plot.shares(point.bits_per_entry, point.rate.shown_rate());
        let expected = points.iter().map(place).fold((0.0, 0.0), |sum, (x, y)| (sum.0 + x, sum.1 + y));
        let of_dots = |of: fn(&Dot) -> f64| dots.iter().map(|dot| dot.tables as f64 * of(dot)).sum::<f64>();
        let found = (of_dots(|dot| dot.x), of_dots(|dot| dot.y));
        assert!(
            (found.0 - expected.0).abs() < 1e-6 && (found.1 - expected.1).abs() < 1e-6,
            "{found:?} {expected:?}"
        );
    }

    #[test]
    fn a_table_of_one_key_does_not_squeeze_the_others() {
        let mut points = vec![point(10.0, 0.01); 9];
        points.push(point(4000.0, 0.01));
        let (plot, dots) = all(&points);
        assert_eq!((plot.across.high, dots[0].x, dots[9].x), (40.0, 0.25, 1.0));
        let text = rates(&Rates { points, left_out: 3, ..Rates::default() }).into_string();
        assert!(text.contains("1 table of more bits an entry, at the right edge"), "{text}");
        assert!(text.contains("3 tables without a known rate, not drawn"), "{text}");
    }

    #[test]
    fn one_table_has_room_around_it() {
        let (plot, dots) = all(&[point(10.0, 0.009)]);
        assert_eq!((plot.across.high, dots[0].x), (16.0, 0.625));
        // The axis goes from 0.1% to 10%.
        assert!((0.45..0.5).contains(&dots[0].y), "{}", dots[0].y);
    }

    #[test]
    fn what_has_no_place_is_counted() {
        let points =
            vec![point(10.0, 0.02), point(8.0, f64::NAN), point(f64::INFINITY, 0.02), point(20.0, 0.09)];
        let text = rates(&Rates { points, left_out: 3, ..Rates::default() }).into_string();
        assert!(text.contains("5 tables without a known rate, not drawn"), "{text}");
        assert!(!text.contains("at the right edge"), "one is at the end of the axis, not beyond: {text}");
    }

    #[test]
    fn the_formula_is_drawn_where_the_axes_have_it() {
        let formula = vec![
            (1.0, 0.6),
            (4.0, 0.146),
            (6.0, 0.06),
            (8.0, 0.022),
            (10.0, 0.012),
            (12.0, 0.0034),
            (40.0, 0.02),
        ];
        let text = rates(&Rates { points: vec![point(12.0, 0.03)], formula, left_out: 0 }).into_string();
        // The axes reach from 1% to 10%, and up to 16 bits: there are two lines between three points, and
        // one in the list.
        assert_eq!(text.matches(r#"<line class="p-formula""#).count(), 2 + 1, "{text}");
    }
}
