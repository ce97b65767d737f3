//! Each filter of a block as a line of a listing.

use std::io;

use crate::console::{Console, Tone};
use crate::layout::{Cell, Column, Layout};
use crate::show::{count, or_dash, percent, ratio, size};
use crate::survey::{State, Survey, TableCensus};

/// How many data blocks are named for a filter; all of them are counted.
const NAMED_BLOCKS: usize = 4;

pub(super) fn write(
    census: &TableCensus<'_>,
    survey: Option<&Survey>,
    console: &mut Console,
) -> io::Result<()> {
    let last = (census.reader().num_filters() as u64).saturating_sub(1);
    let range_width = range(census, last).len();
    let layout = Layout::new(
        vec![
            Column::right("filter", 8, 0),
            Column::right("data offsets", range_width, 1),
            Column::right("blocks", 6, 2),
            Column::right("bytes", 10, 0),
            Column::right("set", 6, 3),
            Column::right("k", 3, 4),
            Column::right("rate", 7, 0),
            Column::left("state", 9, 0),
            Column::left("data blocks at", 30, 5),
        ],
        console.width(),
    );
    layout.write_titles(console)?;
    for (index, filter) in (0u64..).zip(census.iter()) {
        let blocks = survey.map(|survey| survey.blocks.offsets.range(census.range(index)));
        let (number, named) = blocks.map_or_else(Default::default, name_blocks);
        let is_there = filter.state == State::Ok;
        let tone = match filter.state {
            State::Ok => Tone::Plain,
            State::Empty => Tone::Dim,
            State::Malformed => Tone::Bad,
        };
        let shown = |text: String| if is_there { text } else { "-".to_owned() };
        let cells = vec![
            count(index).into(),
            range(census, index).into(),
            if survey.is_some() { count(number) } else { "-".to_owned() }.into(),
            shown(size(filter.bytes)).into(),
            shown(percent(ratio(filter.bits_set, filter.bits))).into(),
            or_dash(filter.probes).into(),
            percent(filter.rate).into(),
            Cell::toned(filter.state.name(), tone),
            named.into(),
        ];
        layout.write(console, cells)?;
    }
    Ok(())
}

fn range(census: &TableCensus<'_>, index: u64) -> String {
    let range = census.range(index);
    format!("{}-{}", range.start(), range.end())
}

/// How many blocks there are, and where the first of them are.
fn name_blocks(mut blocks: impl Iterator<Item = u64>) -> (u64, String) {
    let first: Vec<_> = blocks.by_ref().take(NAMED_BLOCKS).map(|offset| offset.to_string()).collect();
    let more = blocks.count() as u64;
    let named = first.join(" ");
    let number = first.len() as u64 + more;
    (number, if more > 0 { format!("{named} ... ({} more)", count(more)) } else { named })
}
