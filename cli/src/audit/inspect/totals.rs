//! Sums over the tables of a folder, and over the tables of each level.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use super::report::Facts;
use crate::audit::stats::Summary;
use crate::io::console::{Console, Tone};
use crate::render::show::{count, or_dash, percent, ratio, size};
use crate::render::text::columns::{Cell, Column, Layout};

/// Sums over the tables of a folder.
#[derive(Default)]
pub(crate) struct Totals {
    pub(crate) tables: u64,
    pub(crate) damaged: u64,
    pub(crate) unreadable: u64,
    /// Tables that were opened and have no filter block.
    pub(crate) unfiltered: u64,
    pub(crate) file_size: u64,
    pub(crate) data_blocks: u64,
    /// Of filter blocks.
    pub(crate) filter_size: u64,
    pub(crate) summary: Summary,
    rate: MeanRate,
    pub(crate) levels: Levels,
}

impl Totals {
    pub(crate) fn add(&mut self, facts: &Facts<'_>) {
        self.tables += 1;
        self.unreadable += u64::from(facts.unreadable);
        self.damaged += u64::from(!facts.unreadable && facts.is_damaged());
        self.file_size = self.file_size.saturating_add(facts.file_size.unwrap_or_default());
        self.data_blocks += facts.survey.map_or(0, |survey| survey.blocks.offsets.len());
        self.unfiltered += u64::from(is_unfiltered(facts));
        self.levels.add(facts);
        let Some(filter) = &facts.filter else { return };
        self.filter_size = self.filter_size.saturating_add(filter.size);
        self.summary.filters += filter.summary.filters;
        self.summary.empty += filter.summary.empty;
        self.summary.bits += filter.summary.bits;
        self.summary.bits_set += filter.summary.bits_set;
        self.summary.array_bytes += filter.summary.array_bytes;
        self.rate.add(facts);
    }

    /// The mean rate over the keys of all tables with filters.
    pub(crate) fn rate(&self) -> Option<f64> {
        self.rate.mean()
    }
}

fn is_unfiltered(facts: &Facts<'_>) -> bool {
    facts.survey.is_some() && facts.filter.is_none()
}

/// What share of absent keys passes, in the mean over the keys that filters are for.
#[derive(Default)]
struct MeanRate {
    weighted: f64,
    keys: f64,
}

impl MeanRate {
    fn add(&mut self, facts: &Facts<'_>) {
        let rate = facts.filter.as_ref().and_then(|filter| filter.rate);
        if let (Some(rate), Some(count)) = (rate, facts.keys()) {
            let keys = count.keys as f64;
            self.weighted += rate * keys;
            self.keys += keys;
        }
    }

    fn mean(&self) -> Option<f64> {
        (self.keys > 0.0).then(|| self.weighted / self.keys)
    }
}

/// Sums over the tables of each level that the MANIFEST has, and over those that it has on none.
#[derive(Default)]
pub(crate) struct Levels(BTreeMap<Place, Level>);

/// A level; behind all of them what is obsolete.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Level(u8),
    Obsolete,
}

#[derive(Default)]
struct Level {
    tables: u64,
    file_size: u64,
    keys: u64,
    /// Whether that is an estimate.
    estimated: bool,
    filter_size: u64,
    rate: MeanRate,
    unfiltered: u64,
}

/// What a listing calls a table's place in the database.
pub(crate) fn place_name(level: Option<u8>) -> String {
    level.map_or_else(|| "obsolete".to_owned(), |level| level.to_string())
}

impl Levels {
    fn add(&mut self, facts: &Facts<'_>) {
        let Some(place) = facts.place else { return };
        let level = place.live.map_or(Place::Obsolete, |live| Place::Level(live.level));
        let level = self.0.entry(level).or_default();
        level.tables += 1;
        level.file_size = level.file_size.saturating_add(facts.file_size.unwrap_or_default());
        let count = facts.keys();
        level.keys = level.keys.saturating_add(count.map_or(0, |count| count.keys));
        level.estimated |= count.is_none_or(|count| !count.exact);
        let filter_size = facts.filter.as_ref().map_or(0, |filter| filter.size);
        level.filter_size = level.filter_size.saturating_add(filter_size);
        level.rate.add(facts);
        level.unfiltered += u64::from(is_unfiltered(facts));
    }

    /// Writes a line for each level, if the MANIFEST tells the levels.
    pub(crate) fn write(&self, console: &mut Console) -> io::Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        writeln!(console)?;
        let columns = vec![
            Column::right("level", 8, 0),
            Column::right("tables", 6, 0),
            Column::right("no filter", 9, 1),
            Column::right("size", 10, 4),
            Column::right("keys", 12, 2),
            Column::right("of all", 7, 0),
            Column::right("filter size", 11, 3),
            Column::right("rate", 7, 0),
        ];
        let layout = Layout::new(columns, console.width());
        layout.write_titles(console)?;
        let all = self.0.values().fold(0u64, |sum, level| sum.saturating_add(level.keys));
        for (&place, level) in &self.0 {
            let name = match place {
                Place::Level(level) => place_name(Some(level)),
                Place::Obsolete => place_name(None),
            };
            let about = if level.estimated { "~" } else { "" };
            let cells = vec![
                name.into(),
                count(level.tables).into(),
                Cell::toned(
                    count(level.unfiltered),
                    if level.unfiltered > 0 { Tone::Bad } else { Tone::Plain },
                ),
                size(level.file_size).into(),
                format!("{about}{}", count(level.keys)).into(),
                percent(ratio(level.keys, all)).into(),
                size(level.filter_size).into(),
                or_dash(level.rate.mean().map(percent)).into(),
            ];
            layout.write(console, cells)?;
        }
        if self.0.values().any(|level| level.estimated) {
            let note = "(~: keys are estimated from up to 16 data blocks of each table)";
            let note = console.tone(Tone::Dim, note);
            writeln!(console, "{note}")?;
        }
        Ok(())
    }
}
