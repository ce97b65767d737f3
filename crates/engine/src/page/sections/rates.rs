//! The share of absent keys that the filters of each table let pass.

use filterblock::expected_false_positive_rate;
use maud::{Markup, html};

use super::grid::{Cell, folded, grid};
use crate::audit::rates::MeasuredRate;
use crate::page::pictures::{Interval, RatePoint, Rates, rates as picture};
use crate::page::request::Shown;
use crate::page::words::{name, place, text};
use crate::report::{FilterBlock, Table};
use crate::words::{bits_per_entry, counted, measured, or_dash, percent, rate_interval, size};

/// The greatest number of tables that are listed with their rates.
const WORST: usize = 10;
/// The greatest number of bits a key for which the formula is drawn.
const MOST_BITS: u32 = 24;
/// Tables are alike only if no table lets more than this many times as many keys pass as another table.
const ALIKE: f64 = 2.0;

pub(crate) fn rates(page: &Shown<'_>) -> Markup {
    let mut points = Vec::new();
    let mut rated: Vec<(&Table, &FilterBlock, MeasuredRate)> = Vec::new();
    let mut left_out = 0;
    for table in page.overview.in_use() {
        let rate = table.judged().and_then(|filter| Some((filter, filter.random_fpr?)));
        match (rate, table.bits_per_entry()) {
            (Some((filter, rate)), Some(bits)) => {
                points.push(RatePoint {
                    name: text(table.name()),
                    bits_per_entry: bits.value,
                    rate: interval_of(rate),
                });
                rated.push((table, filter, rate));
            }
            _ => left_out += 1,
        }
    }
    if points.is_empty() {
        return html! {};
    }
    let formula = (1..=MOST_BITS).map(|bits| (f64::from(bits), formula(bits))).collect();
    rated.sort_by(|(_, _, one), (_, _, other)| other.rate.total_cmp(&one.rate));
    let all = rated.len();
    rated.truncate(WORST);
    let summary = match all > rated.len() {
        true => format!("The {WORST} tables that let most pass, of {all}"),
        false => "The numbers".to_owned(),
    };
    let titles = [
        "table",
        "",
        "#size",
        "#bits an entry",
        "#random keys passing",
        "#95 % interval",
        "#changed or longer",
        "#by the bits set",
    ];
    let lines: Vec<_> = rated.iter().map(|(table, filter, rate)| line(table, filter, *rate)).collect();
    html! {
        section {
            h2 { "What the filters let pass" }
            p {
                "The share of absent keys for which the filters of a table say that they may be there. Each of these \
                 costs a needless read. Measured by asking the filters for random keys, and for stored keys with a byte \
                 changed or six appended; the line is what the formula promises."
            }
            @let alike = alike(&points);
            @let picture = picture(&Rates { points, formula, left_out });
            @match alike {
                Some(text) => { p { (text) } details { summary { (summary) } figure { (picture) } (grid(&titles, &lines)) } },
                None => { figure { (picture) } (folded(&summary, &titles, &lines)) },
            }
        }
    }
}

/// A sentence to show instead of the picture, if there is only one table, or if all tables have about the same
/// number of bits an entry and let about the same share of keys pass.
fn alike(points: &[RatePoint]) -> Option<String> {
    let range = |of: fn(&RatePoint) -> f64| {
        let values = points.iter().map(of);
        values.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), of| (least.min(of), most.max(of)))
    };
    let ((least, most), (fewest, bits)) =
        (range(|point| point.rate.value), range(|point| point.bits_per_entry));
    if let [only] = points {
        return Some(format!("The only table with a known rate lets {} pass.", percent(only.rate.value)));
    }
    let is_alike = least > 0.0 && most <= ALIKE * least && bits - fewest <= 1.0;
    is_alike.then(|| {
        let (least, most) = (percent(least), percent(most));
        format!("All {} let about as many pass: {least} to {most}.", counted(points.len() as u64, "table"))
    })
}

fn line(table: &Table, filter: &FilterBlock, rate: MeasuredRate) -> Vec<Cell> {
    vec![
        Cell::Head(name(table.name())),
        Cell::text(place(table.place())),
        Cell::Number(size(table.size())),
        Cell::Number(or_dash(table.bits_per_entry().map(bits_per_entry))),
        Cell::Number(measured(rate)),
        Cell::Number(rate_interval(rate)),
        Cell::Number(or_dash(filter.similar_fpr.map(measured))),
        Cell::Number(or_dash(filter.estimated_fpr.map(percent))),
    ]
}

pub(super) fn interval_of(rate: MeasuredRate) -> Interval {
    Interval { value: rate.rate, low: rate.low, high: rate.high }
}

/// The false-positive rate of a Bloom filter of `bits` bits a key, with the number of probes that LevelDB uses.
fn formula(bits: u32) -> f64 {
    /// Enough keys to make the rounding to whole bytes negligible.
    const KEYS: u64 = 1000;
    let probes = (f64::from(bits) * 0.69) as u32;
    expected_false_positive_rate(u64::from(bits) * KEYS, probes.clamp(1, 30), KEYS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_are_alike_need_no_picture() {
        let points = |points: &[(f64, f64)]| -> Vec<RatePoint> {
            let point = |&(bits_per_entry, rate): &(f64, f64)| RatePoint {
                name: text(b"1.ldb"),
                bits_per_entry,
                rate: Interval { value: rate, low: rate, high: rate },
            };
            points.iter().map(point).collect()
        };
        let alike = |of: &[(f64, f64)]| alike(&points(of));
        let text = alike(&[(10.0, 0.01), (10.9, 0.015), (10.1, 0.02)]);
        assert_eq!(text.as_deref(), Some("All 3 tables let about as many pass: 1.00% to 2.00%."));
        assert_eq!(alike(&[(10.0, 0.01), (10.0, 0.021)]), None);
        assert_eq!(alike(&[(10.0, 0.01), (11.1, 0.01)]), None);
        assert_eq!(alike(&[(10.0, 0.01), (10.0, 0.0)]), None);
        let only = alike(&[(10.0, 0.01)]);
        assert_eq!(only.as_deref(), Some("The only table with a known rate lets 1.00% pass."));
    }

    #[test]
    fn the_formula_is_leveldbs() {
        for (bits, rate) in [(8, 0.0217), (10, 0.0084), (20, 0.00007)] {
            let found = formula(bits);
            assert!((found - rate).abs() < rate * 0.05, "{bits}: {found}");
        }
    }
}
