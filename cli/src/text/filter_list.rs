//! The filters of a block as lines of a listing.

use std::io::{self, Write as _};

use super::columns::{Cell, Column, Layout};
use crate::io::console::{Console, Tone};
use filterblock_engine::audit::stats::filter::State;
use filterblock_engine::audit::stats::filters::FilterStats;
use filterblock_engine::audit::stats::table::TableStats;
use filterblock_engine::words::numbers::{count, or_dash, percent, ratio, size};

/// The most data blocks to name for a filter on a terminal, whose width is limited. All are
/// counted.
const NAMED_BLOCKS: usize = 4;
const BLOCK_NAMES: &str = "data blocks at";

pub(crate) fn write(
    filters: &FilterStats,
    table: Option<&TableStats>,
    console: &mut Console,
) -> io::Result<()> {
    let last = (filters.reader().num_filters() as u64).saturating_sub(1);
    let layout = Layout::new(
        vec![
            Column::right("filter", 8, 0),
            Column::right("data offsets", range(filters, last).len(), 1),
            Column::right("blocks", 6, 2),
            Column::right("bytes", 10, 0),
            Column::right("set", 6, 3),
            Column::right("k", 3, 4),
            Column::right("rate", 7, 0),
            Column::left("state", 9, 0),
            Column::left(BLOCK_NAMES, 30, 5),
        ],
        console.width(),
    );
    layout.write_titles(console)?;
    let named = match console.width() {
        None => usize::MAX,
        Some(_) if layout.hidden().contains(&BLOCK_NAMES) => 0,
        Some(_) => NAMED_BLOCKS,
    };
    for (index, filter) in (0u64..).zip(filters.iter()) {
        let blocks = || table.into_iter().flat_map(|table| table.blocks.offsets.range(filters.range(index)));
        let number = blocks().count();
        let tone = match filter.state {
            State::Ok => Tone::Plain,
            State::Empty => Tone::Dim,
            State::Malformed => Tone::Bad,
        };
        let if_ok = |text: String| if filter.state == State::Ok { text } else { "-".to_owned() };
        let cells = vec![
            count(index).into(),
            range(filters, index).into(),
            if table.is_some() { count(number as u64) } else { "-".to_owned() }.into(),
            if_ok(size(filter.bytes)).into(),
            if_ok(percent(ratio(filter.bits_set, filter.bits))).into(),
            or_dash(filter.probes).into(),
            percent(filter.rate).into(),
            Cell::toned(filter.state.name(), tone),
            blocks().next().map(|offset| offset.to_string()).unwrap_or_default().into(),
        ];
        layout.write_open(console, cells)?;
        // Written one by one, as all of them as text might be larger than the file.
        for offset in blocks().take(named).skip(1) {
            write!(console, " {offset}")?;
        }
        if named > 0 && number > named {
            write!(console, " and {} more", count((number - named) as u64))?;
        }
        writeln!(console)?;
    }
    Ok(())
}

fn range(filters: &FilterStats, index: u64) -> String {
    let range = filters.range(index);
    format!("{}-{}", range.start(), range.end())
}
