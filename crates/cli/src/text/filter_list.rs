//! The filters of a block as lines of a listing.

use std::io;

use filterblock_engine::report::{FilterState, Filters, ListedFilter};
use filterblock_engine::text::{count, or_dash, percent, ratio, size};

use super::columns::{Cell, Column, Layout};
use crate::io::{Console, Tone};

/// Data blocks named for a filter on a terminal, whose width is limited. All blocks are counted.
const NAMED_BLOCKS: usize = 4;
const BLOCK_NAMES: &str = "data blocks at";

type CellOf<'a> = &'a dyn Fn(&ListedFilter<'_>) -> Cell;

pub(crate) fn write(filters: &Filters, console: &mut Console) -> io::Result<()> {
    let (left, right) = (Column::left, Column::right);
    let last = filters.last_range();
    let widest = range(*last.start(), *last.end()).len();
    let if_ok = |filter: &ListedFilter<'_>, text: String| match filter.state {
        FilterState::Ok => Cell::from(text),
        FilterState::Empty | FilterState::Malformed => "-".into(),
    };
    let blocks = |filter: &ListedFilter<'_>| {
        let number = filters.has_blocks().then(|| count(filter.data_blocks.iter().count() as u64));
        or_dash(number).into()
    };
    let set = |filter: &ListedFilter<'_>| percent(ratio(filter.bits_set, filter.bits));
    let columns: [(Column, CellOf<'_>); 9] = [
        (right("filter", 8, 0), &|filter| count(filter.index).into()),
        (right("data offsets", widest, 1), &|filter| range(filter.first_offset, filter.last_offset).into()),
        (right("blocks", 6, 2), &blocks),
        (right("bytes", 10, 0), &|filter| if_ok(filter, size(filter.bytes))),
        (right("set", 6, 3), &|filter| if_ok(filter, set(filter))),
        (right("k", 3, 4), &|filter| or_dash(filter.probes).into()),
        (right("rate", 7, 0), &|filter| percent(filter.estimated_fpr).into()),
        (left("state", 9, 0), &state),
        (left(BLOCK_NAMES, 30, 5), &|filter| {
            filter.data_blocks.iter().next().map(|offset| offset.to_string()).unwrap_or_default().into()
        }),
    ];
    let (columns, cells): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let layout = Layout::new(columns, console.width());
    layout.write_titles(console)?;
    let named = match console.width() {
        None => usize::MAX,
        Some(_) if layout.hidden().contains(&BLOCK_NAMES) => 0,
        Some(_) => NAMED_BLOCKS,
    };
    for filter in filters.iter() {
        layout.write_open(console, cells.iter().map(|cell| cell(&filter)).collect())?;
        // Offsets are written one by one, since all of them as text might be larger than the file.
        for offset in filter.data_blocks.iter().take(named).skip(1) {
            write!(console, " {offset}")?;
        }
        let more = if named > 0 { filter.data_blocks.iter().skip(named).count() } else { 0 };
        if more > 0 {
            write!(console, " and {} more", count(more as u64))?;
        }
        writeln!(console)?;
    }
    Ok(())
}

fn range(first: u64, last: u64) -> String {
    format!("{first}-{last}")
}

fn state(filter: &ListedFilter<'_>) -> Cell {
    let tone = match filter.state {
        FilterState::Ok => Tone::Plain,
        FilterState::Empty => Tone::Dim,
        FilterState::Malformed => Tone::Bad,
    };
    Cell::toned(filter.state.name(), tone)
}
