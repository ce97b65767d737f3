//! Rectangles for tables.

use maud::{Markup, html};

use super::super::colours::{self, LEGEND_HEIGHT};
use super::super::svg::{self, Anchor};
use super::merge::{self, Block, Row};
use super::model::Tree;
use crate::render::numbers::{count, counted, percent, size};

/// The most rectangles.
const MOST: usize = 2000;
/// The most lanes of a level, for tables that overlap.
const MOST_LANES: usize = 16;
/// The room for all lanes, and the least and most for one, in pixels.
const ALL_LANES: f64 = 360.0;
const LANE: (f64, f64) = (10.0, 36.0);
/// The room for a level's name above its lanes, and that below them.
const NAME: f64 = 18.0;
const GAP: f64 = 10.0;
/// The least share of the width for a rectangle that has room beside it.
const LEAST_WIDTH: f64 = 0.003;
/// The least height of a rectangle, and of the part of it that is hatched.
const LEAST_HEIGHT: f64 = 3.0;
/// A lane of more rectangles has them without edges, which would hide them.
const MOST_WITH_EDGES: usize = 150;

/// Draws each table as a rectangle: as wide as its key range, as high as it is large, in the colour
/// of its rate of false positives, hatched without filters. If there are over 2,000, neighbours share
/// one, which is as high as its tables are large in the mean and has the colour of the worst rate. The
/// part of its tables that have no filters is hatched.
pub(crate) fn tree(tree: &Tree) -> Markup {
    let rows = merge::rows(tree, MOST, MOST_LANES);
    let lanes: usize = rows.iter().map(|row| row.lanes.len()).sum();
    let lane = (ALL_LANES / lanes.max(1) as f64).clamp(LANE.0, LANE.1);
    let blocks = || rows.iter().flat_map(|row| &row.lanes).flatten();
    let largest = blocks().map(Block::mean_size).fold(1.0, f64::max);
    let mut top = 0.0;
    let drawn: Vec<Markup> = rows
        .iter()
        .map(|row| {
            let markup = level(row, top, lane, largest);
            top += NAME + row.lanes.len() as f64 * lane + GAP;
            markup
        })
        .collect();
    let body = html! {
        (colours::hatching())
        @for row in drawn { (row) }
        (svg::text(0.0, top + 4.0, Anchor::Right, "p-dim", "first key"))
        (svg::text(1.0, top + 4.0, Anchor::Left, "p-dim", "last key"))
        (colours::legend(top + 14.0))
    };
    let description = description(&rows, blocks().count());
    svg::frame("The tables by level and key range", &description, top + 14.0 + LEGEND_HEIGHT, body)
}

fn description(rows: &[Row<'_>], blocks: usize) -> String {
    let sum = |of: fn(&Row<'_>) -> u64| rows.iter().map(of).fold(0, u64::saturating_add);
    let tables = sum(|row| row.all.tables);
    let (missing, unplaced) = (sum(|row| row.all.missing), sum(|row| row.unplaced));
    let mut text = format!(
        "A row for each of {}, from the top, with {} in {}. From left to right: the key range of each. Height: \
         its size. Colour: its rate of false positives; hatched: no filters.",
        counted(rows.len() as u64, "level"),
        counted(tables, "table"),
        counted(blocks as u64, "rectangle"),
    );
    if blocks as u64 + unplaced < tables {
        text += " Neighbours share a rectangle, which has the mean size and the worst rate.";
    }
    if missing > 0 {
        text += &format!(" Without filters: {}.", counted(missing, "table"));
    }
    if unplaced > 0 {
        text += &format!(" Not drawn, as their key ranges are not known: {}.", counted(unplaced, "table"));
    }
    text
}

/// Draws a level from `top` down. `lane`: the height of each lane. `largest`: the size that fills it.
fn level(row: &Row<'_>, top: f64, lane: f64, largest: f64) -> Markup {
    let height = row.lanes.len() as f64 * lane;
    html! {
        (svg::text(0.0, top + 12.0, Anchor::Right, "", &name(row)))
        @if !row.lanes.is_empty() { (svg::rectangle("p-track", (0.0, 1.0), top + NAME, height, "")) }
        @for (number, blocks) in (0_u32..).zip(&row.lanes) {
            @let bottom = top + NAME + f64::from(number + 1) * lane;
            @let has_edges = blocks.len() <= MOST_WITH_EDGES;
            g class=(if has_edges { "p-edges" } else { "" }) {
                @for (at, drawn) in blocks.iter().enumerate() {
                    @let next = blocks.get(at + 1).map_or(1.0, |next| next.start);
                    @let height = (drawn.mean_size() / largest * (lane - 1.0)).max(LEAST_HEIGHT);
                    (block(drawn, next, bottom, height))
                }
            }
        }
    }
}

/// The name of a level, and what it has in numbers.
fn name(row: &Row<'_>) -> String {
    if row.all.tables == 0 {
        return format!("{}: no tables", row.name);
    }
    let mut text = format!("{}: {}, {}", row.name, counted(row.all.tables, "table"), size(row.all.size));
    if row.all.missing > 0 {
        text += &format!(", {} without filters", count(row.all.missing));
    }
    if row.unplaced > 0 {
        text += &format!(", {} not drawn", count(row.unplaced));
    }
    text
}

/// Draws a rectangle above `bottom`. `next`: where the next one begins.
fn block(block: &Block, next: f64, bottom: f64, height: f64) -> Markup {
    let least = (block.start + LEAST_WIDTH).min(next);
    let mut range = (block.start, block.end.max(least));
    // At the right edge there is room on the left only.
    if range.0 > 1.0 - LEAST_WIDTH && next >= 1.0 {
        range = (1.0 - LEAST_WIDTH, 1.0);
    }
    let title = title(block);
    if block.missing == block.tables {
        return svg::rectangle(colours::MISSING, range, bottom - height, height, &title);
    }
    let class = block.worst.map_or(colours::UNKNOWN, colours::of_rate);
    let share = block.missing as f64 / block.tables.max(1) as f64;
    let hatched = (height * share).clamp(LEAST_HEIGHT.min(height), height);
    html! {
        (svg::rectangle(class, range, bottom - height, height, &title))
        @if block.missing > 0 {
            (svg::rectangle(colours::MISSING, range, bottom - hatched, hatched, &title))
        }
    }
}

fn title(block: &Block) -> String {
    let bytes = size(block.size);
    if block.tables == 1 {
        let filter = match block.worst {
            Some(rate) => format!("{} false positives", percent(rate)),
            None if block.missing > 0 => "no filters".to_owned(),
            None => "rate not known".to_owned(),
        };
        return format!("{}: {bytes}, {filter}", block.first);
    }
    let mut text = format!("{}, {} to {}: {bytes}", counted(block.tables, "table"), block.first, block.last);
    if let Some(rate) = block.worst {
        text += &format!(", at worst {} false positives", percent(rate));
    }
    for (number, what) in [(block.missing, "without filters"), (block.unknown, "of unknown rate")] {
        if number > 0 {
            text += &format!(", {} {what}", count(number));
        }
    }
    text
}
