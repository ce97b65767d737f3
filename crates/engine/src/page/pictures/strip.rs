//! Files from start to end, with the places that are damaged.

use maud::{Markup, html};

use super::legend;
use super::svg::{number, x};

/// Marks of a file. More would hide each other.
const MOST: usize = 200;
/// In pixels, so that a mark can be seen.
const LEAST: f64 = 4.0;
const HEIGHT: f64 = 18.0;

/// A damaged place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Damaged {
    Lost,
    Corrected,
}

impl Damaged {
    const fn class(self) -> &'static str {
        match self {
            Self::Lost => "t-bad",
            Self::Corrected => "t-fixed",
        }
    }
}

/// A file with damaged places.
#[derive(Clone, Debug)]
pub(crate) struct StripFile {
    /// Safe to print.
    pub(crate) name: String,
    /// More about it. May be empty.
    pub(crate) about: String,
    /// In bytes.
    pub(crate) size: u64,
    /// With offset and bytes.
    pub(crate) places: Vec<(Damaged, u64, u64)>,
    /// How much is damaged, and where, in words.
    pub(crate) text: [String; 2],
}

pub(crate) fn strip(files: &[StripFile]) -> Markup {
    let has = |kind| files.iter().flat_map(|file| &file.places).any(|place| place.0 == kind);
    let mut fields = Vec::new();
    for (kind, text) in [(Damaged::Lost, "lost"), (Damaged::Corrected, "corrected")] {
        fields.extend(has(kind).then(|| (kind.class(), text)));
    }
    fields.push(("t-grey", "not damaged"));
    html! {
        figure.rows {
            @for file in files {
                div class="lane val" {
                    p { code { (file.name) } " " span.dim { (file.about) } }
                    svg.pic height=(HEIGHT) role="img" aria-label=(label(file)) {
                        rect.t-grey width="100%" height=(HEIGHT) {}
                        @for place in file.places.iter().take(MOST) { (mark(file, *place)) }
                    }
                    p { b { (file.text[0]) } " " span.dim { (file.text[1]) } }
                }
            }
            p class="ends val" aria-hidden="true" { span { "start of the file" } span { "end" } }
            (legend(&fields))
        }
    }
}

fn label(file: &StripFile) -> String {
    format!("{}: {}, {}", file.name, file.text[0], file.text[1])
}

fn mark(file: &StripFile, (kind, offset, bytes): (Damaged, u64, u64)) -> Markup {
    let share = |bytes: u64| bytes as f64 / file.size.max(1) as f64;
    html! {
        svg.pic x=(x(share(offset))) y="0" width=(x(share(bytes))) height=(HEIGHT) {
            rect class=(kind.class()) width="100%" height=(HEIGHT) {}
            rect class=(kind.class()) x=(number(-LEAST / 2.0)) width=(number(LEAST)) height=(HEIGHT) {}
        }
    }
}
