//! Tables by level, each over its range of keys.

use maud::{Markup, html};

use super::legend;
use super::merge::{self, Block, MapLevel, Row};
use super::svg::{number, rectangle};
use crate::text::{count, counted, percent, size};

/// Rectangles in a picture.
const MOST: usize = 2000;
/// Of a level, for tables that overlap.
const MOST_LANES: usize = 16;
/// Of a level without tables that overlap, in pixels; then of each lane.
const HEIGHTS: [f64; 2] = [22.0, 9.0];
/// Of a rectangle that has room next to it, as a share of the width.
const LEAST_WIDTH: f64 = 0.003;
/// Rectangles in a lane that are drawn with edges. More edges would hide the rectangles.
const MOST_WITH_EDGES: usize = 150;
/// The greatest rates of these colours.
const RATE_GOOD: f64 = 0.02;
const RATE_FAIR: f64 = 0.1;
/// The classes and their meaning, from the best to the worst.
const CLASSES: [(&str, &str); 6] = [
    ("t-good", "false-positive rate of at most 2%"),
    ("t-fair", "false-positive rate of at most 10%"),
    ("t-poor", "false-positive rate of more than 10%"),
    ("t-none", "no filters"),
    ("t-grey", ""),
    ("t-bad", ""),
];

/// Draws each table as wide as its keys, in the colour of its false-positive rate, and hatched if it has no filters. With
/// too many tables, neighbours share a rectangle, which has the worst of them. `plain` and `bad`: what tables of these
/// colours are.
pub(crate) fn map(levels: &[MapLevel], plain: &str, bad: &str) -> Markup {
    let rows = merge::rows(levels, MOST, MOST_LANES);
    let classes: Vec<_> = rows.iter().flat_map(Row::blocks).map(class).collect();
    let text = |class, text| match class {
        "t-grey" => plain.to_owned(),
        "t-bad" => bad.to_owned(),
        _ => String::from(text),
    };
    let fields = CLASSES.map(|(class, meaning)| (class, text(class, meaning)));
    let fields: Vec<_> = fields
        .iter()
        .filter(|(class, _)| classes.contains(class))
        .map(|(class, text)| (*class, &**text))
        .collect();
    html! {
        figure.rows {
            @for row in &rows {
                div.lane {
                    p { b { (row.name) } " " span.dim { (about(row)) } }
                    (level(row, bad))
                }
            }
            @if rows.iter().any(|row| !row.lanes.is_empty()) {
                p.ends aria-hidden="true" { span { "first key" } span { "last key" } }
            }
            (legend(&fields))
        }
    }
}

fn about(row: &Row<'_>) -> String {
    let mut text = format!("{}, {}", counted(row.all.tables, "table"), size(row.all.size));
    if row.all.missing > 0 {
        text += &format!(", {} without filters", count(row.all.missing));
    }
    let unplaced = row.unplaced.iter().map(|block| block.tables).sum();
    if unplaced > 0 && !row.lanes.is_empty() {
        text += &format!(", {} of no known range of keys", count(unplaced));
    }
    text
}

fn level(row: &Row<'_>, bad: &str) -> Markup {
    let lanes: Vec<&[Block]> = row
        .lanes
        .iter()
        .map(Vec::as_slice)
        .chain((!row.unplaced.is_empty()).then_some(&*row.unplaced))
        .collect();
    let height = if lanes.len() > 1 { HEIGHTS[1] } else { HEIGHTS[0] };
    let all = height * lanes.len() as f64;
    let has_edges = lanes.iter().all(|blocks| blocks.len() <= MOST_WITH_EDGES);
    html! {
        svg class=(if has_edges { "pic map" } else { "pic" }) height=(number(all)) role="img"
            aria-label={ (row.name) ": " (about(row)) @if row.all.bad > 0 { ", " (count(row.all.bad)) ": " (bad) } } {
            rect.g-track width="100%" height=(number(all)) {}
            @for (lane, blocks) in (0_u32..).zip(&lanes) {
                @for (at, block) in blocks.iter().enumerate() {
                    @let before = at.checked_sub(1).and_then(|before| blocks.get(before));
                    @let room = (before.map_or(0.0, |before| before.end), blocks.get(at + 1).map_or(1.0, |next| next.start));
                    (rectangle(class(block), range(block, room), f64::from(lane) * height, height, &title(block, bad)))
                }
            }
        }
    }
}

/// Wide enough to be seen, if there is `room`: from the end of the rectangle before to the start of the next.
fn range(block: &Block, room: (f64, f64)) -> (f64, f64) {
    let end = block.end.max(block.start + LEAST_WIDTH).min(1.0);
    let start = block.start.min(end - LEAST_WIDTH);
    (block.start.min(start.max(room.0)), block.end.max(end.min(room.1)))
}

/// Of the worst table.
fn class(block: &Block) -> &'static str {
    match block.worst {
        _ if block.bad > 0 => "t-bad",
        _ if block.missing > 0 => "t-none",
        Some(rate) => of_rate(rate),
        None => "t-grey",
    }
}

/// The class of a false-positive rate.
pub(crate) fn of_rate(rate: f64) -> &'static str {
    match rate {
        ..=RATE_GOOD => "t-good",
        ..=RATE_FAIR => "t-fair",
        _ => "t-poor",
    }
}

/// The classes of these rates, with their meaning.
pub(crate) fn rate_fields(rates: impl IntoIterator<Item = f64>) -> Vec<(&'static str, &'static str)> {
    let classes: Vec<_> = rates.into_iter().map(of_rate).collect();
    CLASSES.into_iter().filter(|(class, _)| classes.contains(class)).collect()
}

fn title(block: &Block, bad: &str) -> String {
    let rate = block.worst.map(|rate| format!("false-positive rate {}", percent(rate)));
    let bytes = size(block.size);
    let parts = if block.tables == 1 {
        let missing = (block.missing > 0).then(|| "no filters".to_owned());
        let bad = (block.bad > 0).then(|| bad.to_owned());
        [Some(format!("{}: {bytes}", block.first)), rate, missing, bad]
    } else {
        let name = format!("{}, {} to {}: {bytes}", counted(block.tables, "table"), block.first, block.last);
        let some = |number: u64, what: &str| (number > 0).then(|| format!("{} {what}", count(number)));
        let missing = some(block.missing, "without filters");
        [Some(name), rate.map(|rate| format!("at worst {rate}")), missing, some(block.bad, bad)]
    };
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
