//! Colours for false-positive rates, relative to those expected of filters of the same size. Differences that may be
//! due to chance have no colour.

use maud::{Markup, html};

use super::svg::{self, Anchor};

/// Each class: the smallest multiple of the expected rate above it, its name on the scale, and the CSS class. Most
/// filters are in the second one.
const CLASSES: [(f64, &str, &str); 5] = [
    (0.5, "half", "p-r0"),
    (1.5, "1.5", "p-r1"),
    (4.0, "4", "p-r3"),
    (20.0, "20 times", "p-r4"),
    (f64::INFINITY, "", "p-r5"),
];
/// For tables of unknown rate, and for filters that are malformed or unknown.
pub(super) const UNKNOWN: &str = "p-unknown";
/// For tables without filters. [`hatching`] has its pattern.
pub(super) const MISSING: &str = "p-missing";

/// In pixels.
const LEGEND_WIDTH: f64 = 310.0;
/// In pixels.
pub(super) const LEGEND_HEIGHT: f64 = 62.0;

pub(super) fn of_multiple(multiple: f64) -> &'static str {
    let class = CLASSES.iter().find(|(end, _, _)| multiple < *end);
    // Only infinity and NaN are in no class.
    class.map_or(UNKNOWN, |(_, _, class)| class)
}

/// Fills [`MISSING`]. It has an `id`, so a page may hold it only once.
pub(super) fn hatching() -> Markup {
    html! {
        defs {
            pattern id="p-hatch" width="6" height="6" patternUnits="userSpaceOnUse"
                patternTransform="rotate(45)" {
                rect class="p-hatch-ground" width="6" height="6" {}
                rect class="p-hatch-line" width="2.5" height="6" {}
            }
        }
    }
}

pub(super) fn legend(top: f64) -> Markup {
    let segment = 0.5 / CLASSES.len() as f64 * 1.6;
    let place = |index: usize| index as f64 * segment;
    html! {
        svg y=(svg::number(top)) width=(svg::number(LEGEND_WIDTH)) height=(svg::number(LEGEND_HEIGHT)) {
            (svg::text(0.0, 11.0, Anchor::RIGHT, "p-dim", "false positives, times those expected of so many bits:"))
            @for (index, (_, _, class)) in CLASSES.iter().enumerate() {
                (svg::rectangle(class, (place(index), place(index + 1)), 16.0, 10.0, ""))
            }
            @for (index, (_, end, _)) in CLASSES.iter().enumerate() {
                (svg::text(place(index + 1), 38.0, Anchor::MIDDLE, "p-small", end))
            }
            (svg::rectangle(MISSING, (0.0, 0.06), 47.0, 9.0, ""))
            (svg::rectangle("p-lack", (0.0, 0.06), 57.0, 4.0, ""))
            (svg::text(0.08, 57.0, Anchor::RIGHT, "", "no filters"))
            (svg::rectangle(UNKNOWN, (0.4, 0.46), 47.0, 12.0, ""))
            (svg::text(0.48, 57.0, Anchor::RIGHT, "", "rate not known"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_the_class_that_the_legend_names() {
        for (multiple, class) in [
            (0.0, "p-r0"),
            (0.49, "p-r0"),
            (0.5, "p-r1"),
            (1.0, "p-r1"),
            (1.5, "p-r3"),
            (4.0, "p-r4"),
            (19.9, "p-r4"),
            (20.0, "p-r5"),
            (f64::NAN, UNKNOWN),
            (f64::INFINITY, UNKNOWN),
        ] {
            assert_eq!(of_multiple(multiple), class, "{multiple}");
        }
    }
}
