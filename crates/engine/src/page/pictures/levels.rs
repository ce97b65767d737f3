//! The size of the filters by level.

use maud::{Markup, html};

use super::plot::{self, Key};
use super::scale::Linear;
use super::svg::{self, Anchor};
use crate::words::{count, counted, size};

#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct LevelSize {
    /// The name of the level, such as "level 0", or "tables".
    pub name: String,
    pub tables: u64,
    /// The number of tables without filters.
    pub unfiltered: u64,
    /// The size of the tables in bytes.
    pub size: u64,
    /// The size of the tables' filter blocks in bytes.
    pub filters: u64,
    /// The size in bytes of the filter blocks that are advised; `None` if no other filters are advised for the
    /// level.
    pub advised: Option<u64>,
}

/// The height of a level's name, in pixels.
const NAME: f64 = 18.0;
/// The height of a bar, in pixels.
const BAR: f64 = 13.0;
/// The height of the gap below a level, in pixels.
const GAP: f64 = 10.0;

/// Draws a bar for each level, and a second one if a size is advised for the level.
pub(crate) fn levels(levels: &[LevelSize]) -> Markup {
    let sizes = levels.iter().flat_map(|level| [Some(level.filters), level.advised]).flatten();
    let scale = Linear::from_zero(sizes.map(|bytes| bytes as f64));
    let has_second = levels.iter().any(|level| level.advised.is_some());
    let keys = [Key::field("p-now", "now"), Key::field("p-then", "advised")];
    let bars = if has_second { 2.0 * BAR } else { BAR };
    let height = NAME + bars + GAP;
    let bar = |class, bytes: u64, top: f64| {
        let end = scale.share(bytes as f64) * plot::BARS;
        html! {
            (svg::rectangle(class, (0.0, end), top, BAR - 2.0, ""))
            (plot::after(end, top + BAR - 3.0, size(bytes)))
        }
    };
    let body = html! {
        @for (at, level) in (0_u32..).zip(levels) {
            @let top = f64::from(at) * height;
            (svg::text(0.0, top + 12.0, Anchor::RIGHT, "", &name(level)))
            (svg::rectangle("p-track", (0.0, 1.0), top + NAME, bars, ""))
            (bar("p-now", level.filters, top + NAME + 1.0))
            @if let Some(bytes) = level.advised { (bar("p-then", bytes, top + NAME + BAR + 1.0)) }
        }
    };
    let texts = ["Size of the filters by level", &description(levels)];
    plot::frame(texts, &body, levels.len() as f64 * height, if has_second { &keys } else { &[] })
}

fn name(level: &LevelSize) -> String {
    let mut text = format!("{}: {}, {}", level.name, counted(level.tables, "table"), size(level.size));
    if level.unfiltered > 0 {
        text += &format!(", {} without filters", count(level.unfiltered));
    }
    text
}

fn description(levels: &[LevelSize]) -> String {
    let sum = |of: fn(&LevelSize) -> u64| size(levels.iter().map(of).fold(0, u64::saturating_add));
    let now = sum(|level| level.filters);
    let levels_text = counted(levels.len() as u64, "level");
    if levels.iter().any(|level| level.advised.is_some()) {
        let then = sum(|level| level.advised.unwrap_or(level.filters));
        return format!("A pair of bars for each of {levels_text}: {now} in all now, {then} advised.");
    }
    format!("A bar for each of {levels_text}: {now} in all.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_sizes_are() {
        let level = |filters, advised| LevelSize {
            name: "level 1".to_owned(),
            tables: 3,
            unfiltered: 1,
            size: 4096,
            filters,
            advised,
        };
        let text = levels(&[level(1024, Some(2048)), level(512, None)]).into_string();
        let bars: Vec<_> = ["<rect class=\"p-now\"", "<rect class=\"p-then\""]
            .iter()
            .flat_map(|start| text.split(start).skip(1))
            .filter_map(|rest| rest.split("width=\"").nth(1)?.split('"').next())
            .collect();
        // The last rectangle of each class is in the list below the picture.
        assert_eq!(bars, ["38%", "19%", "100%", "76%", "100%"]);
        let names = ["level 1: 3 tables, 4 KiB, 1 without filters", ">1 KiB<", ">2 KiB<", ">512 B<"];
        names.iter().for_each(|name| assert!(text.contains(name), "{name}: {text}"));
        assert!(text.contains("1.5 KiB in all now, 2.5 KiB advised"), "{text}");
        assert!(levels(&[level(7, None)]).into_string().contains("A bar for each of 1 level: 7 B in all."));
    }
}
