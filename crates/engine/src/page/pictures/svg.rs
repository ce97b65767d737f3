//! Parts of SVG. Horizontal coordinates are shares of the width from 0 to 1, vertical ones are in pixels.

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

/// Reaches from `top` to `height` pixels below it. `title`: shown when the mouse is over it; empty for none.
pub(super) fn rectangle(class: &str, ends: (f64, f64), top: f64, height: f64, title: &str) -> Markup {
    let (left, right) = (ends.0.clamp(0.0, 1.0), ends.1.clamp(0.0, 1.0));
    html! {
        rect class=(class) x=(x(left)) y=(number(top)) width=(x(right - left)) height=(number(height.max(0.0))) {
            @if !title.is_empty() { title { (title) } }
        }
    }
}

/// An upright line.
pub(super) fn upright(class: &str, share: f64, from: f64, to: f64) -> Markup {
    html! {
        line class=(class) x1=(x(share)) x2=(x(share)) y1=(number(from)) y2=(number(to)) {}
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
        let titled = rectangle("c", (0.0, 1.0), 0.0, 1.0, "<i>").into_string();
        assert!(titled.contains("<title>&lt;i&gt;</title>"), "{titled}");
    }
}
