//! Small pictures made from characters, for terminals.

use filterblock_engine::words::{FillBin, FillBins};

use crate::io::Signs;

/// A share from 0 to 1 as a bar of `width` characters in brackets.
pub(super) fn bar(share: f64, width: usize, signs: Signs) -> String {
    let steps = match signs {
        Signs::Blocks => {
            &["", "\u{258f}", "\u{258e}", "\u{258d}", "\u{258c}", "\u{258b}", "\u{258a}", "\u{2589}"][..]
        }
        Signs::Ascii => &[""],
    };
    let full = if signs == Signs::Blocks { "\u{2588}" } else { "#" };
    let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
    let all = width.saturating_mul(steps.len());
    let mut filled = ((share * all as f64).round() as usize).min(all);
    // With two steps or more, only a share of 0 is drawn empty, and only a share of 1 full.
    if share > 0.0 && share < 1.0 && all > 1 {
        filled = filled.clamp(1, all - 1);
    }
    let rest = steps.get(filled % steps.len()).copied().unwrap_or_default();
    let signs = filled / steps.len();
    let used = signs + usize::from(!rest.is_empty());
    format!("[{}{rest}{}]", full.repeat(signs), " ".repeat(width.saturating_sub(used)))
}

/// The fill of filters within brackets, one character for each part: the higher or denser it is,
/// the more bits are set. A part without a key is blank. A part whose filters with keys are all
/// malformed or unknown has a question mark.
pub(super) fn fill_line(fill: &FillBins, signs: Signs) -> String {
    let signs: String = fill.bins.iter().map(|bin| fill_sign(bin, signs)).collect();
    format!("[{signs}]")
}

fn fill_sign(bin: &FillBin, signs: Signs) -> char {
    const BLOCKS: [char; 8] =
        ['\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}'];
    const ASCII: [char; 8] = ['_', '.', ':', '-', '=', '+', '*', '#'];
    if bin.known() == 0 {
        return if bin.unknown > 0 { '?' } else { ' ' };
    }
    let ramp = if signs == Signs::Blocks { BLOCKS } else { ASCII };
    let step = ((bin.mean * ramp.len() as f64) as usize).min(ramp.len() - 1);
    ramp.get(step).copied().unwrap_or(' ')
}

#[cfg(test)]
mod tests {
    use super::*;
    use filterblock_engine::words::Fill;

    #[test]
    fn bars_are_as_long_as_their_share() {
        for (share, blocks, ascii) in [
            (0.0, "[    ]", "[    ]"),
            (0.001, "[\u{258f}   ]", "[#   ]"),
            (0.5, "[\u{2588}\u{2588}  ]", "[##  ]"),
            (0.64, "[\u{2588}\u{2588}\u{258c} ]", "[### ]"),
            (0.999, "[\u{2588}\u{2588}\u{2588}\u{2589}]", "[### ]"),
            (1.0, "[\u{2588}\u{2588}\u{2588}\u{2588}]", "[####]"),
            (7.0, "[\u{2588}\u{2588}\u{2588}\u{2588}]", "[####]"),
            (-1.0, "[    ]", "[    ]"),
            (f64::NAN, "[    ]", "[    ]"),
        ] {
            assert_eq!(bar(share, 4, Signs::Blocks), blocks, "{share}");
            assert_eq!(bar(share, 4, Signs::Ascii), ascii, "{share}");
        }
        assert_eq!(
            (bar(0.5, 0, Signs::Blocks), bar(0.5, 1, Signs::Ascii)),
            ("[]".to_owned(), "[#]".to_owned())
        );
    }

    #[test]
    fn fill_shows_gaps_and_what_is_not_known() {
        let fills = [0.0, 0.124, 0.125, 0.5, 0.874, 0.875, 1.0].map(Fill::Share);
        let fills = fills.into_iter().chain([Fill::Empty, Fill::Unknown, Fill::Share(0.5)]);
        let fill = FillBins::new(10, 10, fills);
        let blocks = "[\u{2581}\u{2581}\u{2582}\u{2585}\u{2587}\u{2588}\u{2588} ?\u{2585}]";
        assert_eq!(fill_line(&fill, Signs::Blocks), blocks);
        assert_eq!(fill_line(&fill, Signs::Ascii), "[__.=*## ?=]");
        // A part with some empty filters is not a gap.
        let fill = FillBins::new(4, 2, [Fill::Empty, Fill::Share(0.9), Fill::Unknown, Fill::Share(0.1)]);
        assert_eq!(fill_line(&fill, Signs::Ascii), "[#_]");
        assert_eq!(fill_line(&FillBins::default(), Signs::Ascii), "[]");
    }
}
