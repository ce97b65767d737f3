//! Parts of SVG.

use maud::{Markup, html};

/// A picture of any width. `height`: in pixels.
pub(super) fn frame(title: &str, description: &str, height: f64, body: Markup) -> Markup {
    html! {
        svg.p-picture role="img" width="100%" height=(number(height)) {
            title { (title) }
            desc { (description) }
            (body)
        }
    }
}

/// A number of at most two decimals; 0 if it is not finite.
pub(super) fn number(value: f64) -> String {
    let value = if value.is_finite() { value } else { 0.0 };
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}
