//! Numbers as people read them.

use crate::audit::rates::Rate;
use crate::report::{EntrySum, Estimate, KeyCount};

/// A size: in bytes below 1 KiB, otherwise with three digits, in the unit that leaves one to four before the point.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1 << 10 {
        return format!("{bytes} B");
    }
    // A value that rounds to 1024 belongs to the next unit.
    let fits = |unit: &usize| (bytes as f64 / unit_size(*unit)).round() < 1024.0;
    let unit = (0..UNITS.len()).find(fits).unwrap_or(UNITS.len() - 1);
    let value = bytes as f64 / unit_size(unit);
    let name = UNITS.get(unit).copied().unwrap_or_default();
    if value.fract() == 0.0 || value >= 99.95 {
        format!("{value:.0} {name}")
    } else {
        format!("{value:.1} {name}")
    }
}

fn unit_size(unit: usize) -> f64 {
    f64::from(1 << 10).powi(unit as i32 + 1)
}

/// A number with its digits in groups of three.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A number and what it counts: `1 filter`, `2,000 filters`.
pub fn counted(number: u64, what: &str) -> String {
    counted_as(number, what, &format!("{what}s"))
}

/// A number and what it counts, with a plural of its own: `1 entry`, `2,000 entries`.
pub fn counted_as(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// A number of entries, preceded by `~` if it is an estimate.
pub fn entries(entries: Estimate<u64>) -> String {
    format!("{}{}", if entries.is_exact() { "" } else { "~" }, count(entries.value))
}

/// The number of entries of some tables, preceded by `~` if not all were counted; a dash if no number is known.
pub fn entry_sum(sum: &EntrySum) -> String {
    or_dash(sum.value.map(|value| format!("{}{}", if sum.is_estimated() { "~" } else { "" }, count(value))))
}

/// A number of bits for each entry, preceded by `~` if the entries are an estimate.
pub fn bits_per_entry(bits: Estimate) -> String {
    format!("{}{:.1}", if bits.is_exact() { "" } else { "~" }, bits.value)
}

/// A number of different keys, preceded by `~` if it is an estimate; its bounds if no more is known.
pub fn distinct_keys(keys: KeyCount) -> String {
    match keys.value {
        Some(number) => format!("{}{}", if keys.is_exact() { "" } else { "~" }, count(number)),
        None => format!("{} to {}", count(keys.low), count(keys.high)),
    }
}

/// A share from 0 to 1 in percent; a dash if it is not a number. 0% and 100% are exact, or beyond.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        _ if share.is_nan() => "-".to_owned(),
        _ if share <= 0.0 => "0%".to_owned(),
        _ if share >= 1.0 => "100%".to_owned(),
        _ if percent < 0.005 => "<0.01%".to_owned(),
        _ if percent < 9.995 => format!("{percent:.2}%"),
        _ if percent < 99.95 => format!("{percent:.1}%"),
        _ => ">99.9%".to_owned(),
    }
}

/// A measured rate in percent. Its last decimal is worth no less than a tenth of the distance to the interval's farther
/// end. 0 and 1 are shown as bounds, unless there is no interval.
pub fn measured(measured: Rate) -> String {
    let Rate { rate, low, high, .. } = measured;
    if low >= high {
        return percent(rate);
    }
    if rate <= 0.0 {
        return format!("<{}", bound(high, f64::ceil));
    }
    if rate >= 1.0 {
        return format!(">{}", bound(low, f64::floor));
    }
    let decimals = decimals((rate - low).max(high - rate));
    format!("{:.decimals$}%", rate * 100.0)
}

/// The interval of a measured rate in percent.
pub fn rate_interval(measured: Rate) -> String {
    let Rate { rate, low, high, .. } = measured;
    let decimals = decimals((rate - low).max(high - rate));
    format!("{:.decimals$} to {:.decimals$}%", low * 100.0, high * 100.0)
}

/// Rounded to the first significant digit of its distance from 0 or 100%, or to an integer from 10% on.
fn bound(share: f64, round: fn(f64) -> f64) -> String {
    let unit = 10_f64.powi(decimals(share.min(1.0 - share)) as i32 + 2);
    let rounded = round(share * unit) / unit;
    let decimals = decimals(rounded.min(1.0 - rounded));
    format!("{:.decimals$}%", rounded * 100.0)
}

/// Leaves one significant digit in percent; 0 for 10% or more.
fn decimals(share: f64) -> usize {
    const MOST: f64 = 9.0;
    (-(share * 100.0).log10().floor()).clamp(0.0, MOST) as usize
}

/// `numerator / denominator`; not a number if both are 0, and infinite if only the denominator is.
pub fn ratio(numerator: u64, denominator: u64) -> f64 {
    numerator as f64 / denominator as f64
}

/// The value as text, or a dash.
pub fn or_dash<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// Drops decimals, unless the size is less than ten of its unit.
pub(super) fn rough_size(bytes: f64) -> String {
    let text = size(bytes as u64);
    match text.split_once(' ').map(|(number, unit)| (number.parse::<f64>(), unit)) {
        Some((Ok(number), unit)) if number >= 10.0 => format!("{number:.0} {unit}"),
        _ => text,
    }
}

/// `16 to 55 KiB`, or both with their units if these differ.
pub(super) fn size_range(from: f64, to: f64) -> String {
    let [from, to] = [from, to].map(rough_size);
    match from.split_once(' ').zip(to.split_once(' ')) {
        Some(((number, unit), (_, other))) if unit == other => format!("{number} to {to}"),
        _ => format!("{from} to {to}"),
    }
}

/// A number of data blocks per lookup.
pub fn blocks(number: f64) -> String {
    format!("{number:.2}")
}

/// `10 bits per key`.
pub fn bits_text(bits_per_key: u32) -> String {
    format!("{bits_per_key} {} per key", if bits_per_key == 1 { "bit" } else { "bits" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_unit_that_fits() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            ((1 << 20) - 1, "1.0 MiB"),
            ((1 << 20) - 600, "1023 KiB"),
            (102_300, "99.9 KiB"),
            (102_400 - 20, "100 KiB"),
            (1 << 30, "1 GiB"),
            (1 << 63, "8 EiB"),
            (u64::MAX, "16 EiB"),
        ] {
            assert_eq!(size(bytes), text, "{bytes}");
        }
    }

    #[test]
    fn numbers_are_grouped_by_three() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (123_456, "123,456")] {
            assert_eq!(count(number), text);
        }
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(
            [counted(0, "key"), counted(1, "key"), counted(1000, "key")],
            ["0 keys", "1 key", "1,000 keys"]
        );
        let entries = [0, 1, 2, 1_234_567].map(|number| counted_as(number, "entry", "entries"));
        assert_eq!(entries, ["0 entries", "1 entry", "2 entries", "1,234,567 entries"]);
    }

    #[test]
    fn bits_of_estimated_entries_are_marked() {
        assert_eq!(bits_per_entry(Estimate::exact(10.04)), "10.0");
        assert_eq!(bits_per_entry(Estimate { value: 10.06, low: 10.0, high: 10.2 }), "~10.1");
    }

    #[test]
    fn measured_rates_have_the_digits_that_are_known() {
        for (passed, asked, text, between) in [
            (0, 400_000, "<0.001%", "0.0000 to 0.0010%"),
            (0, 40_000, "<0.01%", "0.000 to 0.010%"),
            (0, 100, "<4%", "0 to 4%"),
            (3, 400_000, "0.001%", "0.000 to 0.002%"),
            (40, 400_000, "0.010%", "0.007 to 0.014%"),
            (200, 17_000, "1.2%", "1.0 to 1.3%"),
            (200, 40_000, "0.50%", "0.44 to 0.57%"),
            (700, 1000, "70%", "67 to 73%"),
            (2048, 2048, ">99.8%", "99.8 to 100.0%"),
            (20, 20, ">83%", "84 to 100%"),
        ] {
            let rate = Rate::of(passed, asked).unwrap();
            assert_eq!((&*measured(rate), &*rate_interval(rate)), (text, between), "{passed} of {asked}");
        }
        for (rate, text) in [(1.0, "100%"), (0.0, "0%"), (0.25, "25.0%")] {
            assert_eq!(measured(Rate { rate, low: rate, high: rate, asked: 0 }), text);
        }
    }

    #[test]
    fn percentages_do_not_round_to_nothing_or_all() {
        for (share, text) in [
            (0.0, "0%"),
            (1e-9, "<0.01%"),
            (0.00005, "0.01%"),
            (0.00837, "0.84%"),
            (0.09996, "10.0%"),
            (0.5, "50.0%"),
            (0.9999, ">99.9%"),
            (1.0, "100%"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(percent(share), text, "{share}");
        }
        assert_eq!(percent(ratio(0, 0)), "-");
    }
}
