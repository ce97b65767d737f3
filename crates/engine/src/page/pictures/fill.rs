//! The fill of filters along tables.

use maud::{Markup, html};

use super::colours;
use super::plot::{self, Key};
use super::svg::{self, Anchor, number};
use crate::words::{FillBin, FillBins, count, counted, percent, ratio};

/// The filters of a table from its start to its end.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct FillStrip {
    /// The name of the file, safe to print.
    pub name: String,
    /// The share of all bits of the filters that are set; `None`: no bits are known.
    pub set: Option<f64>,
    pub bins: FillBins,
}

/// The height of each line of text above a strip, in pixels.
const NAME: f64 = 18.0;
/// The height of the bars of a strip, in pixels.
const BARS: f64 = 40.0;
/// The height of the line below the bars that shows empty filters, in pixels.
const EMPTY: f64 = 6.0;
/// The height of the gap below a strip, in pixels.
const GAP: f64 = 14.0;
/// The greatest number of characters shown of a file's name, so that the numbers after it can be seen.
const MOST_NAME: usize = 24;

/// Draws the share of bits set along each table as a strip.
pub(crate) fn fill(strips: &[FillStrip]) -> Markup {
    let mut bottom = 0.0;
    let keys = [
        Key::line("", "p-mean", None, "share of bits set, the mean (top: all, dots: half)"),
        Key::field("p-band", "from the least to the greatest"),
        Key::field("p-e4", "ranges without keys: an empty filter"),
        Key::field(colours::UNKNOWN, "filters that are malformed or not known"),
    ];
    let body = html! {
        @for strip in strips {
            @let names = names(strip);
            (draw(strip, &names, bottom))
            @let () = bottom += names.len() as f64 * NAME + BARS + EMPTY + GAP;
        }
        @if !strips.is_empty() {
            (svg::text(0.0, bottom + 2.0, Anchor::RIGHT, "p-dim", "start of the table"))
            (svg::text(1.0, bottom + 2.0, Anchor::LEFT, "p-dim", "end"))
        }
    };
    plot::frame(["Fill of the filters along tables", &description(strips)], &body, bottom + 10.0, &keys)
}

fn description(strips: &[FillStrip]) -> String {
    let filters = strips.iter().map(|strip| strip.bins.sum().filters).fold(0, u64::saturating_add);
    let (strips, filters) = (counted(strips.len() as u64, "table"), counted(filters, "filter"));
    format!("The share of bits set in each of {filters} of {strips}, from the start of the table to its end.")
}

/// The lines above a strip: one, or two if some filters are empty or not known.
fn names(strip: &FillStrip) -> Vec<String> {
    let sum = strip.bins.sum();
    let set = strip.set.map(|set| format!(", {} set", percent(set))).unwrap_or_default();
    let first = format!("{}: {}{set}", svg::cut(&strip.name, MOST_NAME), counted(sum.filters, "filter"));
    let empty = (sum.empty > 0).then(|| format!("{} empty", percent(ratio(sum.empty, sum.filters))));
    let unknown = (sum.unknown > 0).then(|| format!("{} not known", count(sum.unknown)));
    let second =
        [empty, unknown].into_iter().flatten().reduce(|empty, unknown| format!("{empty}, {unknown}"));
    [Some(first), second].into_iter().flatten().collect()
}

fn draw(strip: &FillStrip, names: &[String], top: f64) -> Markup {
    let (bars, bins) = (top + names.len() as f64 * NAME, &strip.bins.bins);
    html! {
        @for (at, name) in (0_u32..).zip(names) {
            @let class = if at > 0 { "p-dim" } else { "" };
            (svg::text(0.0, top + f64::from(at) * NAME + 12.0, Anchor::RIGHT, class, name))
        }
        (svg::rectangle("p-track", (0.0, 1.0), bars, BARS, ""))
        // The picture has one unit per bin, and is stretched to any width.
        svg y=(number(bars)) width="100%" height=(number(BARS + EMPTY)) preserveAspectRatio="none"
            viewBox={ "0 0 " (bins.len().max(1)) " " (number(BARS + EMPTY)) } {
            (path("p-band", &band(bins)))
            (path(colours::UNKNOWN, &runs(bins, 0.0, BARS, |bin| bin.unknown > 0)))
            (path("p-mean", &means(bins)))
            @for (number, class) in (1..=4).zip(["p-e1", "p-e2", "p-e3", "p-e4"]) {
                (path(class, &runs(bins, BARS, EMPTY, |bin| empty_class(bin) == number)))
            }
        }
        (svg::line("p-half", (0.0, bars + BARS / 2.0), (1.0, bars + BARS / 2.0)))
    }
}

fn path(class: &str, path: &str) -> Markup {
    html! { @if !path.is_empty() { path class=(class) d=(path) {} } }
}

/// The class of the share of empty filters: 0 if no filter is empty, 4 if all filters are, and 1 to 3 for the
/// thirds in between.
fn empty_class(bin: &FillBin) -> u64 {
    match bin.empty {
        0 => 0,
        empty if empty == bin.filters => 4,
        empty => (empty.saturating_mul(3) / bin.filters.max(1)).saturating_add(1).min(3),
    }
}

fn y(share: f64) -> String {
    number((1.0 - share) * BARS)
}

/// The path of the rectangles from the smallest to the greatest share of each bin.
fn band(bins: &[FillBin]) -> String {
    let known = bins.iter().enumerate().filter(|(_, bin)| bin.known() > 0);
    known.map(|(at, bin)| format!("M{at} {}h1V{}h-1z", y(bin.max), y(bin.min))).collect()
}

/// The path of the means: a step for each bin, with gaps where there is no mean.
fn means(bins: &[FillBin]) -> String {
    let mut path = String::new();
    let mut is_open = false;
    for (at, bin) in bins.iter().enumerate() {
        let was_open = std::mem::replace(&mut is_open, bin.known() > 0);
        if is_open {
            path += &if was_open { "V".to_owned() } else { format!("M{at} ") };
            path += &format!("{}h1", y(bin.mean));
        }
    }
    path
}

/// The path of rectangles around the `chosen` bins. Neighbouring bins share a rectangle.
fn runs(bins: &[FillBin], top: f64, height: f64, chosen: impl Fn(&FillBin) -> bool) -> String {
    let mut path = String::new();
    let mut at = 0;
    for run in bins.chunk_by(|a, b| chosen(a) == chosen(b)) {
        if run.first().is_some_and(&chosen) {
            path += &format!("M{at} {}h{}v{}h-{}z", number(top), run.len(), number(height), run.len());
        }
        at += run.len();
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Fill;

    fn bins(fills: &[Fill]) -> Vec<FillBin> {
        FillBins::new(fills.len() as u64, 400, fills.iter().copied()).bins
    }

    #[test]
    fn empty_ranges_are_gaps() {
        let bins = bins(&[Fill::Share(0.5), Fill::Share(0.25), Fill::Empty, Fill::Empty, Fill::Share(1.0)]);
        assert_eq!(means(&bins), "M0 20h1V30h1M4 0h1");
        assert_eq!(band(&bins), "M0 20h1V20h-1zM1 30h1V30h-1zM4 0h1V0h-1z");
        assert_eq!(runs(&bins, 40.0, 6.0, |bin| bin.empty > 0), "M2 40h2v6h-2z");
        assert_eq!(runs(&bins, 40.0, 6.0, |bin| bin.unknown > 0), "");
    }

    #[test]
    fn a_part_with_some_empty_filters_is_told_from_an_empty_one() {
        let of = |empty| empty_class(&FillBin { filters: 100, empty, ..FillBin::default() });
        assert_eq!([0, 1, 33, 34, 67, 99, 100].map(of), [0, 1, 1, 2, 3, 3, 4]);
    }

    #[test]
    fn strips_say_what_they_are_of() {
        let fills = [Fill::Share(0.5), Fill::Empty, Fill::Unknown, Fill::Empty];
        let strip =
            FillStrip { name: "7.ldb".to_owned(), set: Some(0.48), bins: FillBins::new(4, 400, fills) };
        assert_eq!(names(&strip), ["7.ldb: 4 filters, 48.0% set", "50.0% empty, 1 not known"]);
        let none = FillStrip { name: "8.ldb".to_owned(), set: None, bins: FillBins::default() };
        assert_eq!(names(&none), ["8.ldb: 0 filters"]);
        let text = fill(&[strip, none]).into_string();
        assert!(text.contains("each of 4 filters of 2 tables") && text.contains("0 0 1 46"), "{text}");
    }
}
