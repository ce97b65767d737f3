//! The common parts of pictures: the frame with its list of marks, axes, and bars.

use maud::{Markup, html};

use super::scale::{Linear, Log};
use super::svg::{self, Anchor, Shape, number};
use crate::audit::rates::Rate;
use crate::report::Estimate;

/// In pixels, above a plot: for the name of its vertical axis.
const TITLE: f64 = 20.0;
/// In pixels, below a plot: for the values and the name of its horizontal axis.
const BELOW: f64 = 42.0;
/// Characters of a line of a list, to the right of its mark.
const MOST_TEXT: usize = 50;
/// Of a list, in pixels.
const LINE: f64 = 18.0;
/// Room for a line's mark, in pixels.
const MARK: f64 = 28.0;
/// On the left of pictures of the class `p-axes`, in pixels: for values of the vertical axis.
const PADDING: f64 = 56.0;
/// That an axis may hold.
const RATES: (f64, f64) = (1e-7, 1.0);

/// The share of the width for bars, so that their numbers have room after them.
pub(super) const BARS: f64 = 0.76;

/// A number with its interval of 95%. If exact, both ends are the number itself.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct Interval {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Interval {
    #[cfg(test)]
    pub(crate) const fn exact(value: f64) -> Self {
        Self { value, low: value, high: value }
    }

    /// True if all three are finite, not negative and in order.
    pub(super) fn is_sound(&self) -> bool {
        let Self { value, low, high } = *self;
        0.0 <= low && low <= value && value <= high && high.is_finite()
    }

    /// Draws at the rate or, without false positives, at the greatest likely one.
    pub(super) fn shown_rate(self) -> f64 {
        if self.value > 0.0 { self.value } else { self.high }
    }
}

impl From<Rate> for Interval {
    fn from(rate: Rate) -> Self {
        Self { value: rate.rate, low: rate.low, high: rate.high }
    }
}

impl From<Estimate> for Interval {
    fn from(of: Estimate) -> Self {
        Self { value: of.value, low: of.low, high: of.high }
    }
}

/// Writes after a bar or mark that ends at `share`.
pub(super) fn after(share: f64, y: f64, text: impl ToString) -> Markup {
    html! { text class="p-text p-small p-halo" x=(svg::x(share)) y=(number(y)) dx="5" { (text.to_string()) } }
}

/// Fills the picture's width, from `TITLE` down. The axis of rates is vertical and logarithmic.
pub(super) struct RatePlot {
    height: f64,
    pub(super) across: Linear,
    rates: Log,
}

impl RatePlot {
    /// Its axis holds those of `rates` that are finite and above 0, as far as [`RATES`] allows.
    pub(super) fn new(height: f64, across: Linear, rates: impl IntoIterator<Item = f64>) -> Self {
        Self { height, across, rates: Log::around(rates, RATES.0, RATES.1) }
    }

    pub(super) fn can_show(across: f64, rate: Interval) -> bool {
        across.is_finite() && across >= 0.0 && rate.is_sound() && rate.high > 0.0
    }

    /// Returns the position on both axes, from 0 to 1.
    pub(super) fn shares(&self, across: f64, rate: f64) -> (f64, f64) {
        (self.across.share(across), self.rates.share(rate))
    }

    pub(super) fn place(&self, across: f64, rate: f64) -> (f64, f64) {
        let (x, y) = self.shares(across, rate);
        (x, self.y(y))
    }

    /// 0 is at the bottom.
    pub(super) fn y(&self, share: f64) -> f64 {
        TITLE + (1.0 - share) * self.height
    }

    pub(super) fn path(class: &str, places: &[(f64, f64)]) -> Markup {
        html! { @for (from, to) in places.iter().zip(places.iter().skip(1)) { (svg::line(class, *from, *to)) } }
    }

    /// `name` and `values`, each with its text: of the horizontal axis.
    pub(super) fn draw(
        &self,
        [title, description]: [&str; 2],
        name: &str,
        values: &[(f64, String)],
        body: &Markup,
        keys: &[Key],
    ) -> Markup {
        let bottom = self.y(0.0);
        let across = |rate| [0.0, 1.0].map(|end| (end, self.y(self.rates.share(rate))));
        let body = html! {
            text.p-text.p-dim x=(number(-PADDING)) y="11" { "false positives (logarithmic)" }
            @for rate in self.rates.minor_ticks() {
                @let [from, to] = across(rate);
                (svg::line("p-minor", from, to))
            }
            @for rate in self.rates.ticks(7) {
                @let [from, to] = across(rate);
                (svg::line("p-grid", from, to))
                text.p-text.p-small x="-6" y=(number(from.1 + 4.0)) text-anchor="end" { (axis_percent(rate)) }
            }
            (svg::line("p-grid", (0.0, bottom), (1.0, bottom)))
            @for (value, text) in values {
                @let place = self.across.share(*value);
                (svg::line("p-grid", (place, bottom), (place, bottom + 5.0)))
                (svg::text(place, bottom + 18.0, Anchor::MIDDLE, "p-small", text))
            }
            (svg::text(1.0, bottom + 36.0, Anchor::LEFT, "p-dim", name))
            (body)
        };
        framed(PADDING, [title, description], &body, bottom + BELOW, keys)
    }
}

/// A line of a list: the drawing of its mark, and the meaning.
pub(super) struct Key(Markup, String);

impl Key {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self(html! {}, text.into())
    }

    pub(super) fn mark(class: &str, shape: Shape, text: impl Into<String>) -> Self {
        Self(html! { g class="" { (svg::mark(class, shape, (0.5, 8.0), 4.0, "")) } }, text.into())
    }

    /// Draws across the room for marks. `group`: the class of the group around line and mark.
    pub(super) fn line(group: &str, class: &str, shape: Option<Shape>, text: impl Into<String>) -> Self {
        let mark = html! {
            g class=(group) {
                (svg::line(class, (0.0, 8.0), (1.0, 8.0)))
                @if let Some(shape) = shape { (svg::mark("", shape, (0.5, 8.0), 3.0, "")) }
            }
        };
        Self(mark, text.into())
    }

    /// Explains bars and areas.
    pub(super) fn field(class: &str, text: impl Into<String>) -> Self {
        Self(svg::rectangle(class, (0.0, 1.0), 3.0, 10.0, ""), text.into())
    }
}

/// A picture of any width: `body` down to `bottom` in pixels, and the list below it.
pub(super) fn frame(texts: [&str; 2], body: &Markup, bottom: f64, keys: &[Key]) -> Markup {
    framed(0.0, texts, body, bottom, keys)
}

fn framed(padding: f64, [title, description]: [&str; 2], body: &Markup, bottom: f64, keys: &[Key]) -> Markup {
    let height = bottom + keys.len() as f64 * LINE;
    html! {
        svg class={ "p-picture " (if padding > 0.0 { "p-axes" } else { "" }) } role="img" width="100%"
            height=(number(height)) {
            title { (title) }
            desc { (description) }
            (body)
            @for (at, Key(mark, text)) in (0_u32..).zip(keys) {
                @let top = bottom + f64::from(at) * LINE;
                svg x=(number(-padding)) y=(number(top)) width=(number(MARK)) height=(number(LINE)) { (mark) }
                text.p-text x=(number(MARK + 6.0 - padding)) y=(number(top + 12.0)) {
                    (svg::cut(text, MOST_TEXT))
                }
            }
        }
    }
}

fn axis_percent(share: f64) -> String {
    let percent = share * 100.0;
    // The rates on axes are powers of 10, which one significant digit represents exactly.
    let decimals = (-percent.log10()).ceil().clamp(0.0, 9.0) as usize;
    format!("{percent:.decimals$} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_of_axes_have_one_digit() {
        for (share, text) in
            [(1.0, "100 %"), (0.1, "10 %"), (0.01, "1 %"), (0.001, "0.1 %"), (1e-7, "0.00001 %")]
        {
            assert_eq!(axis_percent(share), text);
            assert_eq!(axis_percent(10_f64.powi(share.log10().round() as i32)), text);
        }
    }

    #[test]
    fn titles_are_escaped() {
        let page = frame(["<b>", "a&b"], &html! {}, 1.0, &[]).into_string();
        assert!(page.contains("<title>&lt;b&gt;</title><desc>a&amp;b</desc>"), "{page}");
    }
}
