//! Rectangles for tables.

use maud::{Markup, html};

use super::super::colours::{self, LEGEND_HEIGHT};
use super::super::plot::frame;
use super::super::svg::{self, Anchor};
use super::merge::{self, Block, Row, Tree};
use crate::words::{count, counted, percent, size};

/// Rectangles in a picture.
const MOST: usize = 2000;
/// Of a level, for tables that overlap.
const MOST_LANES: usize = 16;
/// In pixels, of all lanes, as far as [`LANE`] allows.
const ALL_LANES: f64 = 360.0;
/// The smallest and the greatest height of a lane, in pixels.
const LANE: (f64, f64) = (10.0, 36.0);
/// In pixels, above a level's lanes.
const NAME: f64 = 18.0;
/// In pixels, below a level.
const GAP: f64 = 10.0;
/// In pixels, for the texts at both ends of the keys.
const BELOW: f64 = 18.0;
/// In pixels, of the line that shows where filters are missing.
const LINE: f64 = 4.0;
/// Of a rectangle that has room next to it, as a share of the width.
const LEAST_WIDTH: f64 = 0.003;
/// Of a rectangle and of its hatched part, in pixels.
const LEAST_HEIGHT: f64 = 3.0;
/// Rectangles in a lane that are drawn with edges. More edges would hide the rectangles.
const MOST_WITH_EDGES: usize = 150;

/// Draws each table as wide as its keys and as high as it is large, in a colour for its false-positive rate, and
/// hatched if it has no filters.
///
/// With too many tables, neighbours share a rectangle, which has their mean size and the greatest multiple of the
/// expected rate. A line below a level shows where tables without filters are, even narrow ones.
pub(crate) fn tree(tree: &Tree) -> Markup {
    let rows = merge::rows(tree, MOST, MOST_LANES);
    let lanes: usize = rows.iter().map(lanes_of).sum();
    let lane = (ALL_LANES / lanes.max(1) as f64).clamp(LANE.0, LANE.1);
    let blocks = || rows.iter().flat_map(Row::blocks);
    let largest = blocks().map(Block::mean_size).fold(1.0, f64::max);
    let mut top = 0.0;
    let body = html! {
        (colours::hatching())
        @for row in &rows {
            @let lane = lane_of(row, lane, largest);
            (level(row, top, lane, largest))
            @let () = top += height(row, lane.height);
        }
        @if rows.iter().any(|row| !row.lanes.is_empty()) {
            (svg::text(0.0, top + 8.0, Anchor::RIGHT, "p-dim", "first key"))
            (svg::text(1.0, top + 8.0, Anchor::LEFT, "p-dim", "last key"))
        }
        (colours::legend(top + BELOW))
    };
    let texts = ["The tables by level and key range", &description(&rows, blocks().count())];
    frame(texts, &body, top + BELOW + LEGEND_HEIGHT, &[])
}

fn description(rows: &[Row<'_>], blocks: usize) -> String {
    let sum = |of: fn(&Row<'_>) -> u64| rows.iter().map(of).fold(0, u64::saturating_add);
    let tables = sum(|row| row.all.tables);
    let missing = sum(|row| row.all.missing);
    let unplaced = sum(|row| row.unplaced.iter().map(|block| block.tables).sum());
    let mut text = format!(
        "A row for each of {}, from the top, with {} in {}. From left to right: the key range of each. Height: \
         its size. Colour: its rate of false positives; hatched: no filters.",
        counted(rows.len() as u64, "level"),
        counted(tables, "table"),
        counted(blocks as u64, "rectangle"),
    );
    if (blocks as u64) < tables {
        text += " Neighbours share a rectangle, which has the mean size and the worst rate.";
    }
    if missing > 0 {
        text += &format!(" Without filters: {}.", counted(missing, "table"));
    }
    if unplaced > 0 {
        text += &format!(" Side by side, as their key ranges are not known: {}.", counted(unplaced, "table"));
    }
    text
}

fn lanes_of(row: &Row<'_>) -> usize {
    row.lanes.len() + usize::from(!row.unplaced.is_empty())
}

/// `of_largest`: the height of the largest tables.
#[derive(Clone, Copy)]
struct Lane {
    height: f64,
    of_largest: f64,
}

/// The lanes of small tables are lower, so that a level that holds little takes little room. `lane`: for the largest
/// tables.
fn lane_of(row: &Row<'_>, lane: f64, largest: f64) -> Lane {
    let own = row.blocks().map(Block::mean_size).fold(0.0, f64::max);
    Lane { height: (lane * own / largest).max(LANE.0), of_largest: lane - 1.0 }
}

/// Includes the gap below.
fn height(row: &Row<'_>, lane: f64) -> f64 {
    let unplaced = if row.unplaced.is_empty() { 0.0 } else { below_lanes(row) + NAME };
    NAME + unplaced + lanes_of(row) as f64 * lane + GAP
}

/// Leaves room for the line that shows missing filters.
fn below_lanes(row: &Row<'_>) -> f64 {
    if row.lanes.is_empty() { 0.0 } else { LINE + 2.0 }
}

/// `largest`: the greatest mean size of the tables in a rectangle.
fn level(row: &Row<'_>, top: f64, lane: Lane, largest: f64) -> Markup {
    let below = top + NAME + row.lanes.len() as f64 * lane.height + below_lanes(row);
    let number = row.unplaced.iter().map(|block| block.tables).sum();
    html! {
        (svg::text(0.0, top + 12.0, Anchor::RIGHT, "", &name(row)))
        (strip(&row.lanes, top + NAME, lane, largest))
        @if !row.unplaced.is_empty() {
            @let text = format!("{} of no known key range, side by side", counted(number, "table"));
            (svg::text(0.0, below + 13.0, Anchor::RIGHT, "p-dim", &text))
            (strip(std::slice::from_ref(&row.unplaced), below + NAME, lane, largest))
        }
    }
}

/// Draws lanes, and below them the line that shows missing filters.
fn strip(lanes: &[Vec<Block>], top: f64, lane: Lane, largest: f64) -> Markup {
    let height = lanes.len() as f64 * lane.height;
    html! {
        @if !lanes.is_empty() { (svg::rectangle("p-track", (0.0, 1.0), top, height, "")) }
        @for range in missing(lanes) {
            (svg::rectangle("p-lack", range, top + height + 1.0, LINE, ""))
        }
        @for (number, blocks) in (0_u32..).zip(lanes) {
            @let bottom = top + f64::from(number + 1) * lane.height;
            @let has_edges = blocks.len() <= MOST_WITH_EDGES;
            g class=(if has_edges { "p-edges" } else { "" }) {
                @for (at, drawn) in blocks.iter().enumerate() {
                    @let before = at.checked_sub(1).and_then(|before| blocks.get(before));
                    @let next = blocks.get(at + 1);
                    @let left = before.map_or(0.0, |before| before.end);
                    @let room = (left, next.map_or(1.0, |next| next.start));
                    @let height = drawn.mean_size() / largest * lane.of_largest;
                    @let height = height.max(LEAST_HEIGHT).min(lane.height - 1.0);
                    (block(drawn, room, bottom, height))
                }
            }
        }
    }
}

/// Finds blocks with tables without filters, makes them wide enough to be seen, and joins them where they touch.
fn missing(lanes: &[Vec<Block>]) -> Vec<(f64, f64)> {
    let lacking = lanes.iter().flatten().filter(|block| block.missing > 0);
    let mut ranges: Vec<(f64, f64)> = lacking.map(visible_range).collect();
    ranges.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut joined: Vec<(f64, f64)> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.0 <= last.1 => last.1 = last.1.max(range.1),
            _ => joined.push(range),
        }
    }
    joined
}

/// Wide enough to be seen.
fn visible_range(block: &Block) -> (f64, f64) {
    let end = block.end.max(block.start + LEAST_WIDTH).min(1.0);
    (block.start.min(end - LEAST_WIDTH), end)
}

fn name(row: &Row<'_>) -> String {
    if row.all.tables == 0 {
        return format!("{}: no tables", row.name);
    }
    let mut text = format!("{}: {}, {}", row.name, counted(row.all.tables, "table"), size(row.all.size));
    if row.all.missing > 0 {
        text += &format!(", {} without filters", count(row.all.missing));
    }
    text
}

/// `room`: from the end of the previous rectangle to the start of the next.
fn block(block: &Block, room: (f64, f64), bottom: f64, height: f64) -> Markup {
    let visible = visible_range(block);
    let range = (block.start.min(visible.0.max(room.0)), block.end.max(visible.1.min(room.1)));
    let title = title(block);
    if block.missing == block.tables {
        return svg::rectangle(colours::MISSING, range, bottom - height, height, &title);
    }
    let class = block.worst.map_or(colours::UNKNOWN, |_| colours::of_multiple(block.multiple));
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

#[cfg(test)]
mod tests {
    use super::super::super::plot::Interval;
    use super::super::merge::{TableFilter, TreeLevel, TreeTable};
    use super::*;

    fn table(number: u32, range: (f64, f64), size: u64, filter: TableFilter) -> TreeTable {
        TreeTable { name: format!("{number}.ldb"), range: Some(range), size, filter }
    }

    /// Filters with this rate, of which a rate of 0.01 is expected.
    fn rate(rate: f64) -> TableFilter {
        TableFilter::Rate { measured: Interval::exact(rate), expected: 0.01 }
    }

    fn drawn(tables: Vec<TreeTable>) -> String {
        tree(&Tree { levels: vec![TreeLevel { name: "level 1".to_owned(), tables }] }).into_string()
    }

    #[test]
    fn rectangles_have_place_height_colour_and_name() {
        let text = drawn(vec![
            table(1, (0.0, 0.25), 1000, rate(0.02)),
            table(2, (0.25, 1.0), 500, TableFilter::Missing),
        ]);
        for part in [
            // A lane is 36 pixels high, the largest table 35.
            r#"<rect class="p-r3" x="0%" y="19" width="25%" height="35"><title>1.ldb: 1000 B, 2.00% false positives"#,
            r#"<rect class="p-missing" x="25%" y="36.5" width="75%" height="17.5"><title>2.ldb: 500 B, no filters"#,
            r#"<rect class="p-lack" x="25%" y="55" width="75%" height="4">"#,
            ">level 1: 2 tables, 1.5 KiB, 1 without filters<",
            "A row for each of 1 level, from the top, with 2 tables in 2 rectangles.",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    /// Level 0 has eight small tables that overlap, and level 1 has one large table.
    #[test]
    fn a_level_that_holds_little_takes_little_room() {
        let small = (0..8).map(|at| table(at, (0.0, 1.0), 100, rate(0.01))).collect();
        let levels = [("level 0", small), ("level 1", vec![table(9, (0.0, 1.0), 10_000, rate(0.01))])];
        let levels = levels.map(|(name, tables)| TreeLevel { name: name.to_owned(), tables });
        let text = tree(&Tree { levels: levels.into() }).into_string();
        // Eight lanes of ten pixels below a name of 18, a gap of ten, and the baseline of the next name.
        assert!(text.contains(r#"y="120" text-anchor="start">level 1"#), "{text}");
        assert!(
            text.contains(r#"height="35"><title>9.ldb"#) && text.contains(r#"height="3"><title>7.ldb"#),
            "{text}"
        );
    }

    #[test]
    fn narrow_tables_can_be_seen_and_hide_no_others() {
        let at = |start: f64, end: f64| table(0, (start, end), 100, TableFilter::Unknown);
        let text = drawn(vec![at(0.0, 0.0), at(0.5, 0.5), at(0.501, 0.8), at(1.0, 1.0)]);
        let places: Vec<_> = text.split("<rect class=\"p-unknown\" x=\"").skip(1).collect();
        let starts = [
            r#"0%" y="19" width="0.3%"#,
            r#"50%" y="19" width="0.1%"#,
            "50.1%",
            r#"99.7%" y="19" width="0.3%"#,
        ];
        assert!(places.iter().zip(starts).all(|(place, start)| place.starts_with(start)), "{places:?}");
    }

    #[test]
    fn tables_of_no_known_range_are_drawn_too() {
        let unplaced = |filter| TreeTable { range: None, ..table(7, (0.0, 0.0), 1000, filter) };
        let text = drawn(vec![unplaced(rate(0.02)), unplaced(TableFilter::Missing)]);
        for part in [
            r#"<rect class="p-r3" x="0%" y="37" width="50%" height="35">"#,
            r#"<rect class="p-missing" x="50%" y="37" width="50%" height="35">"#,
            r#"<rect class="p-lack" x="50%" y="73" width="50%" height="4">"#,
            ">2 tables of no known key range, side by side<",
            "Side by side, as their key ranges are not known: 2 tables.",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("first key"), "{text}");
    }

    #[test]
    fn levels_lie_below_each_other() {
        let table = |range| TreeTable { range, ..table(7, (0.0, 1.0), 1000, TableFilter::Missing) };
        let level = |name: &str, tables| TreeLevel { name: name.to_owned(), tables };
        let levels = vec![
            level("first", vec![table(Some((0.0, 1.0))), table(None)]),
            level("second", vec![table(Some((0.0, 1.0)))]),
        ];
        let text = tree(&Tree { levels }).into_string();
        // Name 18, lane 36, line 6, name 18, lane 36, gap 10; the baseline is 12 below the top.
        for part in [r#"y="136" text-anchor="start">second"#, r#"y="73" text-anchor="start">1 table of no"#] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn missing_filters_among_many_tables_stay_visible() {
        let place = |at: u32| (f64::from(at) / 20_000.0, f64::from(at + 1) / 20_000.0);
        let filter = |at| if at == 9999 { TableFilter::Missing } else { rate(0.002) };
        let text = drawn((0..20_000).map(|at| table(at, place(at), 1000, filter(at))).collect());
        assert_eq!(text.matches("<rect class=\"p-r0\"").count(), 2000 + 1, "and one in the legend");
        assert_eq!(text.matches("<rect class=\"p-missing\"").count(), 1 + 1);
        assert!(
            text.contains(r#"height="35"><title>10 tables, 0.ldb to 9.ldb: 9.8 KiB, at worst"#),
            "{text}"
        );
        // Ten tables share a rectangle, and one of them has no filters: the line is wide enough to be seen.
        assert!(text.contains(r#"<rect class="p-lack" x="49.95%" y="55" width="0.3%""#), "{text}");
        assert!(text.contains(
            "10 tables, 9990.ldb to 9999.ldb: 9.8 KiB, at worst 0.20% false positives, 1 without filters"
        ));
        // A tenth of the rectangle is hatched.
        assert!(
            text.contains(r#"<rect class="p-missing" x="49.95%" y="50.5" width="0.05%" height="3.5""#),
            "{text}"
        );
        assert!(text.contains("Neighbours share a rectangle") && text.contains("Without filters: 1 table."));
    }
}
