//! Fewer rectangles for many tables: neighbours share a rectangle, and no table is lost.

#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct MapLevel {
    /// Such as "Level 0", or "Tables".
    pub name: String,
    pub tables: Vec<MapTable>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct MapTable {
    /// Safe to print.
    pub name: String,
    /// Of the table's keys among all, from 0 to 1. Tables without it are drawn next to each other below the others.
    pub range: Option<(f64, f64)>,
    /// Of the file, in bytes.
    pub size: u64,
    pub mark: Mark,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Mark {
    /// The false-positive rate of its filters, from 0 to 1.
    Rate(f64),
    /// The rate was not measured, or filters are not the question.
    Plain,
    NoFilters,
    /// It is damaged, or its filters hide keys.
    Bad,
}

/// Tables that share a rectangle.
#[derive(Clone, PartialEq, Default, Debug)]
pub(super) struct Block {
    pub(super) tables: u64,
    /// Without filters.
    pub(super) missing: u64,
    /// Damaged, or with filters that hide keys.
    pub(super) bad: u64,
    /// Of the known rates.
    pub(super) worst: Option<f64>,
    /// In bytes.
    pub(super) size: u64,
    /// The smallest start of the known ranges, from 0 to 1; 1 if none is known.
    pub(super) start: f64,
    /// The greatest end of the known ranges, from 0 to 1; 0 if none is known.
    pub(super) end: f64,
    /// The name of the first table; below, of the last.
    pub(super) first: String,
    pub(super) last: String,
}

impl Block {
    fn of<'a>(tables: impl IntoIterator<Item = &'a MapTable>) -> Self {
        let mut block = Self { start: 1.0, ..Self::default() };
        for table in tables {
            block.tables = block.tables.saturating_add(1);
            match table.mark {
                Mark::Rate(rate) if rate.is_finite() => {
                    block.worst = Some(block.worst.map_or(rate, |worst| worst.max(rate)));
                }
                Mark::Rate(_) | Mark::Plain => {}
                Mark::NoFilters => block.missing = block.missing.saturating_add(1),
                Mark::Bad => block.bad = block.bad.saturating_add(1),
            }
            block.size = block.size.saturating_add(table.size);
            if let Some((start, end)) = sound_range(table) {
                (block.start, block.end) = (block.start.min(start), block.end.max(end));
            }
            if block.first.is_empty() {
                block.first.clone_from(&table.name);
            }
            block.last.clone_from(&table.name);
        }
        block
    }
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Row<'a> {
    pub(super) name: &'a str,
    /// As one block.
    pub(super) all: Block,
    /// Blocks that do not overlap, from left to right.
    pub(super) lanes: Vec<Vec<Block>>,
    /// Without a known range, in the order given.
    pub(super) unplaced: Vec<Block>,
}

impl Row<'_> {
    pub(super) fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.lanes.iter().flatten().chain(&self.unplaced)
    }
}

/// Makes at most `most` blocks in all, and `most_lanes` lanes each. But a level has at least one block for tables with
/// known ranges, and one for the others.
pub(super) fn rows(levels: &[MapLevel], most: usize, most_lanes: usize) -> Vec<Row<'_>> {
    let split = |level: &MapLevel| {
        let placed = level.tables.iter().filter(|table| sound_range(table).is_some()).count();
        [placed, level.tables.len().saturating_sub(placed)]
    };
    let numbers: Vec<usize> = levels.iter().flat_map(split).collect();
    let shares = shares(&numbers, most);
    let rows = levels.iter().zip(shares.chunks(2));
    rows.map(|(level, shares)| row(level, shares, most_lanes)).collect()
}

/// Divides `most`: small numbers get as much as they ask for, the others even parts of what is left, each at least 1.
fn shares(numbers: &[usize], most: usize) -> Vec<usize> {
    let mut by_number: Vec<usize> = (0..numbers.len()).collect();
    let number = |index: &usize| numbers.get(*index).copied().unwrap_or_default();
    by_number.sort_by_key(number);
    let mut shares = vec![1; numbers.len()];
    let mut left = most;
    for (done, index) in by_number.iter().enumerate() {
        let even = left / numbers.len().saturating_sub(done).max(1);
        let share = number(index).min(even);
        left = left.saturating_sub(share);
        if let Some(place) = shares.get_mut(*index) {
            *place = share.max(1);
        }
    }
    shares
}

/// `shares`: blocks for tables with known ranges, and for the others.
fn row<'a>(level: &'a MapLevel, shares: &[usize], most_lanes: usize) -> Row<'a> {
    let (mut placed, others): (Vec<&MapTable>, Vec<&MapTable>) =
        level.tables.iter().partition(|table| sound_range(table).is_some());
    placed.sort_by(|a, b| {
        let (a, b) = (sound_range(a).unwrap_or_default(), sound_range(b).unwrap_or_default());
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let together = |tables: &[&MapTable], share: Option<&usize>| {
        tables.len().div_ceil(share.copied().unwrap_or_default().max(1)).max(1)
    };
    let mut placed_together = together(&placed, shares.first());
    let mut lanes = in_lanes(&placed, placed_together);
    // This ends at the latest when all tables share one block, which needs one lane.
    while lanes.len() > most_lanes.max(1) {
        placed_together = placed_together.saturating_mul(2);
        lanes = in_lanes(&placed, placed_together);
    }
    let unplaced = side_by_side(&others, together(&others, shares.get(1)));
    Row { name: &level.name, all: Block::of(&level.tables), lanes, unplaced }
}

/// `together` neighbours in each, all of the same width.
fn side_by_side(tables: &[&MapTable], together: usize) -> Vec<Block> {
    let width = 1.0 / tables.len().div_ceil(together.max(1)).max(1) as f64;
    let blocks = tables.chunks(together.max(1)).enumerate();
    let block = |(at, tables): (usize, &[&MapTable])| {
        let start = at as f64 * width;
        Block { start, end: (start + width).min(1.0), ..Block::of(tables.iter().copied()) }
    };
    blocks.map(block).collect()
}

/// `together` neighbours in each; those that overlap in different lanes.
fn in_lanes(tables: &[&MapTable], together: usize) -> Vec<Vec<Block>> {
    /// The least part of a lane for a block, so that blocks at one position do not hide each other.
    const LEAST: f64 = 1e-4;
    let mut lanes: Vec<(f64, Vec<Block>)> = Vec::new();
    for tables in tables.chunks(together.max(1)) {
        let block = Block::of(tables.iter().copied());
        let end = block.end.max(block.start + LEAST);
        // A slight overlap counts as a rounding error.
        match lanes.iter_mut().find(|(taken, _)| *taken <= block.start + LEAST / 2.0) {
            Some((taken, lane)) => {
                *taken = end;
                lane.push(block);
            }
            None => lanes.push((end, vec![block])),
        }
    }
    lanes.into_iter().map(|(_, lane)| lane).collect()
}

/// Clamped to 0 to 1; `None` if unknown or not valid.
fn sound_range(table: &MapTable) -> Option<(f64, f64)> {
    let (start, end) = table.range?;
    (start <= end).then(|| (start.clamp(0.0, 1.0), end.clamp(0.0, 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(number: u64, start: f64, end: f64, mark: Mark) -> MapTable {
        MapTable { name: format!("{number}.ldb"), range: Some((start, end)), size: number, mark }
    }

    fn rate(rate: f64) -> Mark {
        Mark::Rate(rate)
    }

    fn even(number: u64) -> MapLevel {
        let place = |at: u64| at as f64 / number as f64;
        let filter = |at| match at % 7 {
            0 => Mark::NoFilters,
            1 => Mark::Bad,
            at => rate(at as f64 / 100.0),
        };
        let tables = (0..number).map(|at| table(at, place(at), place(at + 1), filter(at)));
        MapLevel { name: number.to_string(), tables: tables.collect() }
    }

    fn sums<'a>(blocks: impl IntoIterator<Item = &'a Block>) -> (u64, u64, u64, u64) {
        blocks.into_iter().fold((0, 0, 0, 0), |sums, block| {
            (sums.0 + block.tables, sums.1 + block.missing, sums.2 + block.bad, sums.3 + block.size)
        })
    }

    #[test]
    fn few_tables_have_a_block_each() {
        let levels = vec![even(3), even(0), even(40)];
        let rows = rows(&levels, 43, 16);
        let shown: Vec<_> = rows.iter().map(|row| (row.name, row.lanes.len(), row.unplaced.len())).collect();
        assert_eq!(shown, [("3", 1, 0), ("0", 0, 0), ("40", 1, 0)]);
        assert!(rows[2].lanes[0].iter().all(|block| block.tables == 1 && block.first == block.last));
        assert!(rows[2].lanes[0].is_sorted_by(|a, b| a.start < b.start && a.end <= b.start + 1e-9));
    }

    #[test]
    fn merging_keeps_sums_worst_rates_and_missing_filters() {
        let mut levels = vec![even(4), even(10_000), even(900), even(101)];
        levels[1].tables[5000].mark = rate(0.5);
        levels[1].tables.reverse();
        let rows = rows(&levels, 2000, 16);
        let blocks: usize = rows.iter().flat_map(|row| &row.lanes).map(Vec::len).sum();
        assert!((1500..=2000).contains(&blocks), "{blocks}");
        // Only the tables of the level that has too many tables are merged.
        for row in &rows {
            let all: Vec<_> = row.lanes.iter().flatten().collect();
            assert_eq!(all.len() as u64 == row.all.tables, row.name != "10000", "{}", row.name);
            assert_eq!(sums(all), sums([&row.all]), "{}", row.name);
        }
        let big = &rows[1].lanes[0];
        let worst: Vec<_> = big.iter().filter(|block| block.worst == Some(0.5)).collect();
        assert!(matches!(worst[..], [block] if block.tables > 1 && block.start <= 0.5 && 0.5 <= block.end));
        assert_eq!((big[0].start, big[0].first.as_str()), (0.0, "0.ldb"));
        assert_eq!((big.last().unwrap().end, big.last().unwrap().last.as_str()), (1.0, "9999.ldb"));
    }

    #[test]
    fn overlapping_tables_lie_in_lanes_of_their_own() {
        let of = |ranges: &[(f64, f64)]| {
            let filter = Mark::Plain;
            let tables =
                ranges.iter().enumerate().map(|(at, range)| table(at as u64, range.0, range.1, filter));
            let levels = vec![MapLevel { name: String::new(), tables: tables.collect() }];
            let lanes = rows(&levels, 2000, 4).remove(0).lanes;
            lanes.iter().map(|lane| lane.iter().map(|block| block.tables).collect()).collect::<Vec<Vec<_>>>()
        };
        assert_eq!(of(&[(0.0, 0.6), (0.5, 1.0), (0.7, 0.8)]), [vec![1, 1], vec![1]]);
        // All tables are in one place.
        assert_eq!(of(&[(0.5, 0.5); 4]), [[1], [1], [1], [1]]);
        assert_eq!(of(&[(0.0, 1.0); 5]), [vec![2], vec![2], vec![1]]);
        assert_eq!(of(&[(0.0, 1.0); 1000]), [[256], [256], [256], [232]]);
    }

    #[test]
    fn tables_of_no_known_range_lie_side_by_side() {
        let filter = rate(f64::NAN);
        let strange = [(f64::NAN, 1.0), (0.7, 0.2), (-3.0, 7.0), (0.0, f64::INFINITY)];
        let mut tables: Vec<_> = strange.map(|(start, end)| table(2, start, end, filter)).into();
        tables.push(MapTable { range: None, ..tables[0].clone() });
        let levels = vec![MapLevel { name: String::new(), tables }];
        let row = rows(&levels, 2000, 16).remove(0);
        assert_eq!((row.all.tables, row.all.bad, row.all.size), (5, 0, 10));
        let beside: Vec<_> = row.unplaced.iter().map(|block| (block.tables, block.start)).collect();
        assert_eq!(beside, [(1, 0.0), (1, 1.0 / 3.0), (1, 2.0 / 3.0)]);
        let ranges: Vec<_> = row.lanes.iter().flatten().map(|block| (block.start, block.end)).collect();
        assert_eq!(ranges, [(0.0, 1.0), (0.0, 1.0)]);
    }

    #[test]
    fn tables_of_no_known_range_are_merged_too() {
        let mut level = even(9000);
        level.tables.iter_mut().skip(4000).for_each(|table| table.range = None);
        let levels = vec![level];
        let row = rows(&levels, 2000, 16).remove(0);
        assert!((900..=1000).contains(&row.unplaced.len()), "{}", row.unplaced.len());
        assert_eq!((sums(row.blocks()), row.blocks().count() <= 2000), (sums([&row.all]), true));
        assert_eq!(row.unplaced.last().unwrap().end, 1.0);
    }

    #[test]
    fn shares_are_as_even_as_they_can_be() {
        assert_eq!(shares(&[4, 10_000, 900], 2000), [4, 1096, 900]);
        assert_eq!(shares(&[5000, 5000, 0], 2000), [1000, 1000, 1]);
        assert_eq!(shares(&[], 2000), [0; 0]);
        assert_eq!(shares(&[9, 9], 0), [1, 1]);
    }
}
