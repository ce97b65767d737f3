//! Axes, and lists of what marks stand for.

use maud::{Markup, html};

use super::svg::{self, Anchor, Shape, number};

/// The room above a plot for the name of its vertical axis, in pixels.
pub(super) const TITLE: f64 = 20.0;
/// The room below a plot for the values and the name of its horizontal axis.
pub(super) const BELOW: f64 = 42.0;
/// The most characters of a line of a list, which has its mark beside it.
const MOST_TEXT: usize = 50;
/// The height of a line of a list.
const LINE: f64 = 18.0;
/// The left padding of pictures of the class `p-axes`: the room for values of the vertical axis.
const PADDING: f64 = 56.0;

/// The share of the width that bars may take, so that their numbers have room behind them.
pub(super) const BARS: f64 = 0.76;

/// Writes a number behind a bar that ends at `share`.
pub(super) fn after(share: f64, y: f64, text: &str) -> Markup {
    html! { text class="p-text p-small p-halo" x=(svg::x(share)) y=(number(y)) dx="5" { (text) } }
}

/// The area of a plot: as wide as the picture, from `TITLE` down.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plot {
    pub(super) height: f64,
}

/// A value named on an axis: its place from 0 to 1, and its text.
pub(super) type Tick = (f64, String);

impl Plot {
    /// The vertical place for a share of the axis, 0 being at the bottom.
    pub(super) fn y(self, share: f64) -> f64 {
        TITLE + (1.0 - share) * self.height
    }

    /// Draws the vertical axis and the lines of its values. `minor`: places of lines without a text.
    pub(super) fn vertical(self, name: &str, ticks: &[Tick], minor: &[f64]) -> Markup {
        html! {
            text.p-text.p-dim x=(number(-PADDING)) y="11" { (name) }
            @for place in minor { (svg::line("p-minor", (0.0, self.y(*place)), (1.0, self.y(*place)))) }
            @for (place, text) in ticks {
                (svg::line("p-grid", (0.0, self.y(*place)), (1.0, self.y(*place))))
                text.p-text.p-small x="-6" y=(number(self.y(*place) + 4.0)) text-anchor="end" { (text) }
            }
        }
    }

    /// Draws the horizontal axis.
    pub(super) fn horizontal(self, name: &str, ticks: &[Tick]) -> Markup {
        let bottom = self.y(0.0);
        html! {
            (svg::line("p-grid", (0.0, bottom), (1.0, bottom)))
            @for (place, text) in ticks {
                (svg::line("p-grid", (*place, bottom), (*place, bottom + 5.0)))
                (svg::text(*place, bottom + 18.0, Anchor::Middle, "p-small", text))
            }
            (svg::text(1.0, bottom + 36.0, Anchor::Left, "p-dim", name))
        }
    }
}

/// A line of a list: how its mark is drawn, and what it stands for.
pub(super) struct Key {
    pub(super) mark: Markup,
    pub(super) text: String,
}

impl Key {
    /// A mark in the middle of the room for it. `group`: the class of the group around it.
    pub(super) fn mark(group: &str, class: &str, shape: Shape, text: impl Into<String>) -> Self {
        let mark = html! { g class=(group) { (svg::mark(class, shape, (0.5, 8.0), 4.0, "")) } };
        Self { mark, text: text.into() }
    }

    /// A line across the room for it, perhaps with a mark on it.
    pub(super) fn line(group: &str, class: &str, shape: Option<Shape>, text: impl Into<String>) -> Self {
        let mark = html! {
            g class=(group) {
                (svg::line(class, (0.0, 8.0), (1.0, 8.0)))
                @if let Some(shape) = shape { (svg::mark("", shape, (0.5, 8.0), 3.0, "")) }
            }
        };
        Self { mark, text: text.into() }
    }

    /// A filled field.
    pub(super) fn field(class: &str, text: impl Into<String>) -> Self {
        Self { mark: svg::rectangle(class, (0.0, 1.0), 3.0, 10.0, ""), text: text.into() }
    }
}

/// Draws a list from `top` down. `axes`: the picture has the class `p-axes`.
pub(super) fn list(top: f64, axes: bool, keys: &[Key]) -> Markup {
    /// The room for marks.
    const MARK: f64 = 28.0;
    let left = if axes { -PADDING } else { 0.0 };
    html! {
        @for (at, key) in (0_u32..).zip(keys) {
            @let top = top + f64::from(at) * LINE;
            svg x=(number(left)) y=(number(top)) width=(number(MARK)) height=(number(LINE)) { (key.mark) }
            text.p-text x=(number(left + MARK + 6.0)) y=(number(top + 12.0)) {
                (svg::cut(&key.text, MOST_TEXT))
            }
        }
    }
}

/// The height of a list.
pub(super) fn list_height(keys: &[Key]) -> f64 {
    keys.len() as f64 * LINE
}

/// A share in percent as axes have it: `0.01 %`.
pub(super) fn axis_percent(share: f64) -> String {
    let percent = share * 100.0;
    // The powers of 10 are exact to one digit.
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
}
