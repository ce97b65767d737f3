//! Estimated numbers with the digits that are known. Sizes and counts are marked as estimates.

use super::numbers::{count, size};
use crate::report::Estimate;

const MOST_DECIMALS: i32 = 6;

/// Shows at most three significant digits, and no decimals worth less than a tenth of the distance to the farther end.
/// Shows an upper bound if no digit is known.
pub fn estimate(estimate: Estimate) -> String {
    let Estimate { value, .. } = estimate;
    let Some(distance) = distance(estimate) else { return number(value) };
    let text = (value > 0.0).then(|| with_decimals(value, decimals_of(distance).min(decimals(value))));
    let known = text.filter(|text| text.bytes().any(|byte| (b'1'..=b'9').contains(&byte)));
    known.unwrap_or_else(|| format!("<{}", upper_bound(estimate.high)))
}

/// Shows the ends with the digits of [`estimate`]. `None` if both are then the same.
pub fn interval(estimate: Estimate) -> Option<String> {
    let Estimate { value, low, high } = estimate;
    let known = decimals_of(distance(estimate)?);
    let decimals = if value > 0.0 { known.min(decimals(value)) } else { known };
    let (low, high) = (with_decimals(low, decimals), with_decimals(high, decimals));
    (low != high).then(|| format!("{low} to {high}"))
}

/// An exact number with at most six decimals and three significant digits; an integer with all its digits.
pub fn number(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value}") } else { with_decimals(value, decimals(value)) }
}

/// A size, preceded by `~` if it is an estimate.
pub fn about_size(estimate: Estimate) -> String {
    let about = if distance(estimate).is_some() { "~" } else { "" };
    format!("{about}{}", size(whole(estimate.value)))
}

/// An estimate begins with `~`, and has zeros in place of unknown digits.
pub fn about_count(estimate: Estimate) -> String {
    match distance(estimate) {
        Some(distance) => {
            let unit = 10_f64.powi(distance.log10().floor().max(0.0) as i32);
            format!("~{}", count(whole((estimate.value / unit).round() * unit)))
        }
        None => count(whole(estimate.value)),
    }
}

/// Measures to the interval's farther end; `None` if the number is exact.
fn distance(estimate: Estimate) -> Option<f64> {
    let Estimate { value, low, high } = estimate;
    let distance = (value - low).max(high - value);
    (distance > 0.0).then_some(distance)
}

/// Leaves three significant digits; 0 or less for 100 and above.
fn decimals(value: f64) -> i32 {
    decimals_of(value).saturating_add(2)
}

/// Leaves one significant digit; negative for 10 and above.
fn decimals_of(value: f64) -> i32 {
    -(value.log10().floor() as i32)
}

fn with_decimals(value: f64, decimals: i32) -> String {
    let decimals = decimals.clamp(0, MOST_DECIMALS) as usize;
    format!("{value:.decimals$}")
}

/// Rounded up to one significant digit or, from 10 on, to an integer.
fn upper_bound(high: f64) -> String {
    let decimals = decimals_of(high).clamp(0, MOST_DECIMALS);
    let unit = 10_f64.powi(decimals);
    with_decimals((high * unit).ceil() / unit, decimals)
}

fn whole(value: f64) -> u64 {
    value.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { value, low, high }
    }

    #[test]
    fn estimates_have_the_digits_that_are_known() {
        for (value, low, high, text, between) in [
            (1.05432, 1.02, 1.081, "1.05", "1.02 to 1.08"),
            (1.05432, 0.2, 3.0, "1", "0 to 3"),
            (0.01893, 0.0187, 0.0192, "0.0189", "0.0187 to 0.0192"),
            (0.0189, 0.01, 0.04, "0.02", "0.01 to 0.04"),
            (12.345, 12.3, 12.4, "12.3", "12.3 to 12.4"),
            (0.0, 0.0, 0.00031, "<0.0004", "0.0000 to 0.0003"),
            (0.0, 0.0, 2.1, "<3", "0 to 2"),
            (0.000_015, 0.0, 0.000_5, "<0.0005", "0.0000 to 0.0005"),
            (250.0, 200.0, 300.0, "250", "200 to 300"),
        ] {
            let shown = (estimate(of(value, low, high)), interval(of(value, low, high)));
            assert_eq!(shown, (text.to_owned(), Some(between.to_owned())), "{value}");
        }
    }

    #[test]
    fn exact_numbers_have_no_interval() {
        for (value, text) in
            [(0.0, "0"), (2.0, "2"), (1.98765, "1.99"), (0.00123456, "0.00123"), (1234.4, "1234")]
        {
            let exact = of(value, value, value);
            assert_eq!((estimate(exact), interval(exact)), (text.to_owned(), None));
            // Estimates whose ends look the same have no interval either.
            let close = of(value, value, value + 1e-9);
            assert_eq!(interval(close), None, "{value}");
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn estimates_of_sizes_and_counts_are_marked() {
        assert_eq!(about_size(of(1536.0, 1536.0, 1536.0)), "1.5 KiB");
        assert_eq!(about_size(of(1536.4, 1024.0, 2048.0)), "~1.5 KiB");
        for (value, low, high, text) in [
            (1_234_567.0, 1_234_567.0, 1_234_567.0, "1,234,567"),
            (1_234_567.0, 1_200_000.0, 1_260_000.0, "~1,230,000"),
            (1_234_567.0, 1_234_566.5, 1_234_567.5, "~1,234,567"),
            (987_654.0, 400_000.0, 1_400_000.0, "~1,000,000"),
        ] {
            assert_eq!(about_count(of(value, low, high)), text);
        }
    }
}
