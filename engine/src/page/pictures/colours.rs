//! Colours for rates of false positives.

use maud::{Markup, html};

use super::svg::{self, Anchor};

/// The classes of rates. Each has the smallest rate that is above it, the name of that rate on the
/// scale, and the CSS class.
const CLASSES: [(f64, &str, &str); 6] = [
    (0.001, "0.1 %", "p-r0"),
    (0.003, "0.3 %", "p-r1"),
    (0.01, "1 %", "p-r2"),
    (0.03, "3 %", "p-r3"),
    (0.1, "10 %", "p-r4"),
    (f64::INFINITY, "", "p-r5"),
];
/// The CSS class of tables whose rate is not known.
pub(super) const UNKNOWN: &str = "p-unknown";
/// The CSS class of tables without filters. [`hatching`] has its pattern.
pub(super) const MISSING: &str = "p-missing";

/// The width of the legend in pixels.
const LEGEND_WIDTH: f64 = 310.0;
/// The height of the legend in pixels.
pub(super) const LEGEND_HEIGHT: f64 = 62.0;

/// The CSS class for a rate.
pub(super) fn of_rate(rate: f64) -> &'static str {
    let class = CLASSES.iter().find(|(end, _, _)| rate < *end);
    // Only infinity and values that are not numbers are in no class.
    class.map_or(UNKNOWN, |(_, _, class)| class)
}

/// The pattern that [`MISSING`] is filled with. It has an `id`, so a page may hold it only once.
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

/// Draws the legend of the colours, from `top` down.
pub(super) fn legend(top: f64) -> Markup {
    let segment = 0.5 / CLASSES.len() as f64 * 1.6;
    let place = |index: usize| index as f64 * segment;
    html! {
        svg y=(svg::number(top)) width=(svg::number(LEGEND_WIDTH)) height=(svg::number(LEGEND_HEIGHT)) {
            (svg::text(0.0, 11.0, Anchor::RIGHT, "p-dim", "false positives:"))
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
        for (rate, class) in [
            (0.0, "p-r0"),
            (0.000_99, "p-r0"),
            (0.001, "p-r1"),
            (0.008, "p-r2"),
            (0.022, "p-r3"),
            (0.099, "p-r4"),
            (0.1, "p-r5"),
            (1.0, "p-r5"),
            (f64::NAN, UNKNOWN),
            (f64::INFINITY, UNKNOWN),
        ] {
            assert_eq!(of_rate(rate), class, "{rate}");
        }
        for (end, name, _) in &CLASSES[..5] {
            assert_eq!(format!("{} %", end * 100.0), *name);
        }
    }
}
