//! Data blocks read for each lookup.

use maud::{Markup, html};

use super::plot::{self, Interval, Key};
use super::scale::{Linear, Log};
use super::svg::{self, Anchor, Shape};
use crate::{report::Estimate, words::estimate};

#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct ReadsPair {
    /// Such as "similar keys, changed".
    pub name: String,
    /// Data blocks read, on average.
    pub now: Interval,
    /// With the filters that are advised; `None`: none are, or the number is unknown.
    pub advised: Option<Interval>,
}

/// In pixels, for the name of a kind of lookup.
const NAME: f64 = 18.0;
/// In pixels.
const BAR: f64 = 14.0;
/// In pixels, below the bars of a kind.
const GAP: f64 = 12.0;
/// The class of the bar, and the shape of its mark.
const NOW: (&str, Shape) = ("p-now", Shape::Circle);
const THEN: (&str, Shape) = ("p-then", Shape::Diamond);
/// If the greatest number is more than this many times the least above 0, linear bars would be too short to compare.
const MOST_LINEAR: f64 = 40.0;
/// On a logarithmic scale.
const LEAST: f64 = 1e-6;

#[derive(Clone, Copy, Debug)]
enum Scale {
    Linear(Linear),
    Log(Log),
}

impl Scale {
    fn of(intervals: &[Interval]) -> Self {
        let values = || intervals.iter().map(|interval| interval.value).filter(|value| *value > 0.0);
        let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        if least.max(LEAST) * MOST_LINEAR < most {
            let ends = intervals.iter().flat_map(|interval| [interval.value, interval.high]);
            return Self::Log(Log::around(ends, LEAST, f64::MAX));
        }
        Self::Linear(Linear::from_zero(intervals.iter().map(|interval| interval.high)))
    }

    fn place(self, value: f64) -> f64 {
        let share = match self {
            Self::Linear(scale) => scale.share(value),
            Self::Log(scale) => scale.share(value),
        };
        share * plot::BARS
    }

    fn ticks(self) -> Vec<f64> {
        match self {
            Self::Linear(scale) => scale.ticks(6, 1.0),
            Self::Log(scale) => scale.ticks(6),
        }
    }
}

/// A bar for each kind of lookup, and a second one if filters are advised. Marks take the place of bars that would
/// differ too much.
pub(crate) fn reads(pairs: &[ReadsPair]) -> Markup {
    let intervals = pairs.iter().flat_map(|pair| [Some(pair.now), pair.advised]).flatten();
    let sound: Vec<Interval> = intervals.filter(Interval::is_sound).collect();
    let scale = Scale::of(&sound);
    let has_second = pairs.iter().any(|pair| pair.advised.is_some());
    let height = NAME + if has_second { 2.0 * BAR } else { BAR } + GAP;
    let bottom = pairs.len() as f64 * height;
    let ticks: Vec<_> = scale.ticks().into_iter().map(|value| (scale.place(value), short(value))).collect();
    let body = html! {
        @for (place, _) in &ticks { (svg::line("p-grid", (*place, 0.0), (*place, bottom))) }
        @for (at, pair) in (0_u32..).zip(pairs) {
            @let top = f64::from(at) * height;
            (svg::text(0.0, top + 12.0, Anchor::RIGHT, "p-halo", &pair.name))
            (bar(scale, NOW, pair.now, top + NAME))
            @if let Some(advised) = pair.advised { (bar(scale, THEN, advised, top + NAME + BAR)) }
        }
        @for (place, text) in ticks.iter().filter(|_| !sound.is_empty()) {
            // The text at the start of the axis stays inside the picture.
            @let anchor = if *place < 0.02 { Anchor::RIGHT } else { Anchor::MIDDLE };
            (svg::text(*place, bottom + 12.0, anchor, "p-small", text))
        }
    };
    let texts = ["Data blocks read for a lookup", &description(pairs)];
    plot::frame(texts, &body, bottom + 22.0, &keys(has_second, matches!(scale, Scale::Log(_))))
}

fn keys(has_second: bool, is_log: bool) -> Vec<Key> {
    let key =
        |(class, shape), text| if is_log { Key::mark(class, shape, text) } else { Key::field(class, text) };
    let second = has_second.then(|| key(THEN, "advised"));
    let log = is_log.then(|| Key::text("logarithmic: ten times as many at each step"));
    let interval = Key::line("", "p-whisker", None, "95 % interval");
    [key(NOW, "now")].into_iter().chain(second).chain([interval]).chain(log).collect()
}

/// A mark on a logarithmic scale. "not known" if the interval is not sound.
fn bar(scale: Scale, (class, shape): (&str, Shape), interval: Interval, top: f64) -> Markup {
    if !interval.is_sound() {
        return svg::text(0.0, top + 11.0, Anchor::RIGHT, "p-dim", "not known");
    }
    let Interval { value, low, high } = interval;
    let title = format!("{} ({} to {})", told(interval), short(low), short(high));
    let middle = top + BAR / 2.0;
    let [place, from, to] = [value, low, high].map(|value| scale.place(value));
    html! {
        @match scale {
            Scale::Linear(_) => (svg::rectangle(class, (0.0, place), top + 1.0, BAR - 2.0, &title)),
            Scale::Log(_) => (svg::mark(class, shape, (place, middle), 4.5, &title)),
        }
        @if low < high {
            (svg::line("p-whisker", (from, middle), (to, middle)))
            @for end in [from, to] { (svg::line("p-whisker", (end, middle - 3.0), (end, middle + 3.0))) }
        }
        (plot::after(to, middle + 4.0, told(interval)))
    }
}

/// Writes as the table next to the picture does; a dash if not sound.
fn told(interval: Interval) -> String {
    let Interval { value, low, high } = interval;
    if interval.is_sound() { estimate(Estimate { value, low, high }) } else { "-".to_owned() }
}

/// Three significant digits, or an integer with more. Exponential below 10⁻⁶ and from 10⁶ on; a dash if not finite.
fn short(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    if value != 0.0 && !(1e-6..1e6).contains(&value.abs()) {
        return format!("{value:.1e}");
    }
    let digits = if value == 0.0 { 0.0 } else { value.abs().log10().floor() };
    let decimals = (2.0 - digits).clamp(0.0, 9.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn description(pairs: &[ReadsPair]) -> String {
    let text = |pair: &ReadsPair| {
        let then = pair.advised.map(|then| format!(", advised {}", told(then)));
        format!("{}: {}{}", pair.name, told(pair.now), then.unwrap_or_default())
    };
    match pairs {
        [] => "Nothing is known.".to_owned(),
        _ => format!("{}.", pairs.iter().map(text).collect::<Vec<_>>().join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(now: f64, advised: f64) -> ReadsPair {
        let around = |value: f64| Interval { value, low: value * 0.9, high: value * 1.25 };
        ReadsPair { name: "absent".to_owned(), now: around(now), advised: Some(around(advised)) }
    }

    #[test]
    fn bars_begin_at_0() {
        let text = reads(&[pair(0.8, 0.2)]).into_string();
        // The scale ends with the interval, at 1.
        assert!(text.contains(r#"<rect class="p-now" x="0%" y="19" width="60.8%""#), "{text}");
        assert!(text.contains(r#"<rect class="p-then" x="0%" y="33" width="15.2%""#), "{text}");
        assert!(text.contains("absent: 0.8, advised 0.20"), "{text}");
        assert!(text.contains(r#"<line class="p-whisker" x1="54.72%" y1="25" x2="76%" y2="25">"#), "{text}");
        assert!(!text.contains("logarithmic"));
    }

    #[test]
    fn numbers_far_apart_are_marks_on_a_logarithmic_scale() {
        let text = reads(&[pair(1.0, 0.01)]).into_string();
        assert!(text.contains("logarithmic") && text.contains("<circle class=\"p-now\""), "{text}");
        // The scale goes from 0.01 to 10, in three decades.
        let Scale::Log(scale) = Scale::of(&[pair(1.0, 0.01).now, pair(1.0, 0.01).advised.unwrap()]) else {
            panic!("linear");
        };
        assert!((scale.share(1.0) - 2.0 / 3.0).abs() < 1e-9);
        // 0 is not a reason for a logarithmic scale.
        assert!(matches!(Scale::of(&[Interval::exact(0.0), Interval::exact(2.0)]), Scale::Linear(_)));
    }

    #[test]
    fn numbers_have_three_digits() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.0809, "0.0809"),
            (0.018_94, "0.0189"),
            (12.345, "12.3"),
            (1234.5, "1234"),
            (100.0, "100"),
            (1e-9, "1.0e-9"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn what_is_not_known_is_said() {
        let text = reads(&[pair(f64::NAN, 0.5)]).into_string();
        assert!(text.contains("not known") && text.contains("absent: -, advised 0.5"), "{text}");
    }
}
