//! Pictures, as SVG within a page that has its style once. What they show stands beside or below them in words.
//!
//! Inputs may be any numbers. Horizontal coordinates are in percent and vertical ones in pixels, so that a picture fits
//! any width.

mod bars;
mod map;
mod merge;
mod strip;
mod svg;

pub(super) use bars::{Bar, Lane, bars, lanes};
pub(super) use map::{map, of_rate, rate_fields};
pub(super) use merge::{MapLevel, MapTable, Mark};
pub(super) use strip::{Damaged, StripFile, strip};

/// A field of a legend: its class, and what it stands for.
fn legend(fields: &[(&str, &str)]) -> maud::Markup {
    maud::html! {
        ul.legend {
            @for (class, text) in fields {
                li {
                    svg aria-hidden="true" { rect class=(class) width="100%" height="100%" rx="1.5" {} }
                    (text)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
