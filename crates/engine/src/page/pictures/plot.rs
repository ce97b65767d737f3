//! The common parts of pictures: the frame with its list of marks and their meanings, axes, and bars.

use maud::{Markup, html};

use super::scale::{Linear, Log};
use super::svg::{self, Anchor, Shape, number};
use crate::audit::rates::MeasuredRate;
use crate::report::Estimate;

/// The room above a plot for the name of its vertical axis, in pixels.
const TITLE: f64 = 20.0;
/// The room below a plot for the values and the name of its horizontal axis, in pixels.
const BELOW: f64 = 42.0;
/// The greatest number of characters in a line of a list, to the right of its mark.
const MOST_TEXT: usize = 50;
/// The height of a line of a list, in pixels.
const LINE: f64 = 18.0;
/// The width of the room for the mark of a line, in pixels.
const MARK: f64 = 28.0;
/// The left padding of pictures of the class `p-axes`: the room for values of the vertical axis.
const PADDING: f64 = 56.0;
/// The lowest and the highest rate that an axis may hold.
const RATES: (f64, f64) = (1e-7, 1.0);

/// The share of the width that bars may take, so that their numbers have room after them.
pub(super) const BARS: f64 = 0.76;

/// A number with the ends of its 95 % interval. For an exact number, both ends are the number itself.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct Interval {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// A number that is known exactly.
    #[cfg(test)]
    pub(crate) const fn exact(value: f64) -> Self {
        Self { value, low: value, high: value }
    }

    /// Returns true if all three numbers are finite, not negative and in order.
    pub(super) fn is_sound(&self) -> bool {
        let Self { value, low, high } = *self;
        0.0 <= low && low <= value && value <= high && high.is_finite()
    }

    /// The rate at which a point is drawn: the measured one or, if no false positive was found, the greatest
    /// likely one.
    pub(super) fn shown_rate(self) -> f64 {
        if self.value > 0.0 { self.value } else { self.high }
    }
}

impl From<MeasuredRate> for Interval {
    fn from(rate: MeasuredRate) -> Self {
        Self { value: rate.rate, low: rate.low, high: rate.high }
    }
}

impl From<Estimate> for Interval {
    fn from(of: Estimate) -> Self {
        Self { value: of.value, low: of.low, high: of.high }
    }
}

/// Writes a number after a bar or mark that ends at `share`.
pub(super) fn after(share: f64, y: f64, text: impl ToString) -> Markup {
    html! { text class="p-text p-small p-halo" x=(svg::x(share)) y=(number(y)) dx="5" { (text.to_string()) } }
}

/// The area of a plot of rates, as wide as the picture, from `TITLE` down. The axis of rates is vertical and
/// logarithmic.
pub(super) struct RatePlot {
    height: f64,
    pub(super) across: Linear,
    rates: Log,
}

impl RatePlot {
    /// A plot whose axis of rates holds those of `rates` that are finite and above 0, as far as [`RATES`]
    /// allows.
    pub(super) fn new(height: f64, across: Linear, rates: impl IntoIterator<Item = f64>) -> Self {
        Self { height, across, rates: Log::around(rates, RATES.0, RATES.1) }
    }

    /// Returns true if a point can be drawn in a plot.
    pub(super) fn can_show(across: f64, rate: Interval) -> bool {
        across.is_finite() && across >= 0.0 && rate.is_sound() && rate.high > 0.0
    }

    /// The position of a point on both axes, from 0 to 1.
    pub(super) fn shares(&self, across: f64, rate: f64) -> (f64, f64) {
        (self.across.share(across), self.rates.share(rate))
    }

    /// The position of a point in the picture.
    pub(super) fn place(&self, across: f64, rate: f64) -> (f64, f64) {
        let (x, y) = self.shares(across, rate);
        (x, self.y(y))
    }

    /// The vertical coordinate for a share of the axis, 0 being at the bottom.
    pub(super) fn y(&self, share: f64) -> f64 {
        TITLE + (1.0 - share) * self.height
    }

    /// Draws a line from each of `places` to the next.
    pub(super) fn path(class: &str, places: &[(f64, f64)]) -> Markup {
        html! { @for (from, to) in places.iter().zip(places.iter().skip(1)) { (svg::line(class, *from, *to)) } }
    }

    /// A picture of the plot: the axes, `body`, and the list. `name`: the name of the horizontal axis. `values`: the
    /// values to mark on that axis, each with its text.
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
    /// An entry of the list that is text alone.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self(html! {}, text.into())
    }

    /// An entry whose mark is in the middle of the room for marks.
    pub(super) fn mark(class: &str, shape: Shape, text: impl Into<String>) -> Self {
        Self(html! { g class="" { (svg::mark(class, shape, (0.5, 8.0), 4.0, "")) } }, text.into())
    }

    /// An entry with a line drawn across the room for marks, and a mark on it if `shape` is given. `group`: the class
    /// of the group around both.
    pub(super) fn line(group: &str, class: &str, shape: Option<Shape>, text: impl Into<String>) -> Self {
        let mark = html! {
            g class=(group) {
                (svg::line(class, (0.0, 8.0), (1.0, 8.0)))
                @if let Some(shape) = shape { (svg::mark("", shape, (0.5, 8.0), 3.0, "")) }
            }
        };
        Self(mark, text.into())
    }

    /// An entry whose mark is a filled rectangle, for bars and areas.
    pub(super) fn field(class: &str, text: impl Into<String>) -> Self {
        Self(svg::rectangle(class, (0.0, 1.0), 3.0, 10.0, ""), text.into())
    }
}

/// A picture of any width: a title and a description, `body` down to `bottom` in pixels, and the list
/// below it.
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

/// A share in percent as axes have it: `0.01 %`.
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
