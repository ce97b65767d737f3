//! Parts of SVG. Horizontal coordinates are shares of the width from 0 to 1, vertical ones are in pixels.

use std::borrow::Cow;

use maud::{Markup, html};

/// Writes at most two decimals; 0 if it is not finite.
pub(super) fn number(value: f64) -> String {
    let value = if value.is_finite() { value } else { 0.0 };
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A share out of range is at the edge.
pub(super) fn x(share: f64) -> String {
    format!("{}%", number(share.clamp(0.0, 1.0) * 100.0))
}

/// The side of a point on which its text is. SVG has the end of the text that is at the point.
pub(super) struct Anchor(&'static str);

impl Anchor {
    pub(super) const RIGHT: Self = Self("start");
    pub(super) const MIDDLE: Self = Self("middle");
    pub(super) const LEFT: Self = Self("end");
}

/// Characters of a text in a picture: as many as fit on the screen of a phone.
const MOST_TEXT: usize = 56;

pub(super) fn cut(text: &str, most: usize) -> Cow<'_, str> {
    let Some((end, _)) = text.char_indices().nth(most) else { return text.into() };
    let start: String = text.get(..end).unwrap_or_default().chars().take(most.saturating_sub(1)).collect();
    format!("{start}…").into()
}

/// The baseline is at `y`. `class`: further classes, or nothing.
pub(super) fn text(share: f64, y: f64, anchor: Anchor, class: &str, text: &str) -> Markup {
    let text = cut(text, MOST_TEXT);
    html! {
        text class={ "p-text " (class) } x=(x(share)) y=(number(y)) text-anchor=(anchor.0) { (text) }
    }
}

pub(super) fn line(class: &str, from: (f64, f64), to: (f64, f64)) -> Markup {
    html! {
        line class=(class) x1=(x(from.0)) y1=(number(from.1)) x2=(x(to.0)) y2=(number(to.1)) {}
    }
}

/// Reaches from `top` to `height` pixels below it. `title`: shown when the mouse is over it; empty for none.
pub(super) fn rectangle(class: &str, ends: (f64, f64), top: f64, height: f64, title: &str) -> Markup {
    let (left, right) = (ends.0.clamp(0.0, 1.0), ends.1.clamp(0.0, 1.0));
    html! {
        rect class=(class) x=(x(left)) y=(number(top)) width=(x(right - left)) height=(number(height.max(0.0))) {
            @if !title.is_empty() { title { (title) } }
        }
    }
}

/// Tells marks apart without colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    Circle,
    Diamond,
}

impl Shape {
    /// Around 0, 0, about twice `r` wide.
    fn path(self, r: f64) -> String {
        let (r, d) = (number(r), number(r * 1.35));
        match self {
            Self::Circle => format!("M-{r} 0a{r} {r} 0 1 1 0 .01z"),
            Self::Diamond => format!("M0-{d}L{d} 0L0 {d}L-{d} 0z"),
        }
    }
}

/// `r`: about half its width in pixels. `title`: as for [`rectangle`].
pub(super) fn mark(class: &str, shape: Shape, (share, y): (f64, f64), r: f64, title: &str) -> Markup {
    let title = html! { @if !title.is_empty() { title { (title) } } };
    if shape == Shape::Circle {
        return html! { circle class=(class) cx=(x(share)) cy=(number(y)) r=(number(r)) { (title) } };
    }
    // A path cannot have percentages, but the `svg` element around it can.
    html! {
        svg.p-mark x=(x(share)) y=(number(y)) width="1" height="1" {
            path class=(class) d=(shape.path(r)) { (title) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_finite() {
        for (value, text) in [
            (0.0, "0"),
            (-0.001, "0"),
            (1.0, "1"),
            (100.0, "100"),
            (12.345, "12.35"),
            (-2.5, "-2.5"),
            (f64::NAN, "0"),
            (f64::INFINITY, "0"),
        ] {
            assert_eq!(number(value), text, "{value}");
        }
    }

    #[test]
    fn places_stay_within_the_picture() {
        for (share, text) in [(-1.0, "0%"), (0.125, "12.5%"), (7.0, "100%"), (f64::NAN, "0%")] {
            assert_eq!(x(share), text);
        }
        let wide = rectangle("a", (0.5, 9.0), 1.0, -2.0, "").into_string();
        assert_eq!(wide, r#"<rect class="a" x="50%" y="1" width="50%" height="0"></rect>"#);
    }

    #[test]
    fn long_texts_are_cut() {
        for (given, shown) in [("", ""), ("abcd", "abcd"), ("abcde", "abc…"), ("äöüäö", "äöü…")] {
            assert_eq!(cut(given, 4), shown);
        }
        assert!(text(0.0, 1.0, Anchor::LEFT, "", &"a".repeat(10_000)).into_string().len() < 150);
    }

    #[test]
    fn text_is_escaped() {
        let text = text(0.0, 1.0, Anchor::MIDDLE, "", "<script>&\"").into_string();
        assert!(text.contains("&lt;script&gt;&amp;") && !text.contains("<script"), "{text}");
        let titled = rectangle("c", (0.0, 1.0), 0.0, 1.0, "<i>").into_string();
        assert!(titled.contains("<title>&lt;i&gt;</title>"), "{titled}");
    }
}
