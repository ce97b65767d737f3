//! The sums over a folder as a JSON object.

use std::io;

use serde::Serialize;

use crate::io::console::Console;
use filterblock_engine::audit::inspect::totals::{FolderTotals, LevelName, LevelTotals};
use filterblock_engine::audit::rates::measured::MeasuredRate;
use filterblock_engine::report::frame::Frame;
use filterblock_engine::report::line::write_line;
use filterblock_engine::report::subject::Subject;

#[derive(Serialize)]
struct JsonTotals<'a> {
    #[serde(flatten)]
    frame: Frame<'a>,
    tables: u64,
    missing: u64,
    damaged: u64,
    not_live: u64,
    unreadable: u64,
    unfiltered: u64,
    file_size: u64,
    data_blocks: u64,
    filter_size: u64,
    filters: u64,
    empty_filters: u64,
    bits: u64,
    bits_set: u64,
    estimated_fpr: Option<f64>,
    random_fpr: Option<MeasuredRate>,
    levels: Vec<JsonLevel>,
}

#[derive(Serialize)]
struct JsonLevel {
    /// `None`: tables that are not live.
    level: Option<u8>,
    tables: u64,
    unfiltered: u64,
    file_size: u64,
    keys: Option<u64>,
    keys_exact: bool,
    filter_size: u64,
    estimated_fpr: Option<f64>,
    random_fpr: Option<MeasuredRate>,
}

pub(super) fn write(subject: Subject<'_>, totals: &FolderTotals, console: &mut Console) -> io::Result<()> {
    let json = JsonTotals {
        frame: Frame::new("totals", &subject, None),
        tables: totals.tables,
        missing: totals.missing,
        damaged: totals.damaged,
        not_live: totals.not_live,
        unreadable: totals.unreadable,
        unfiltered: totals.unfiltered,
        file_size: totals.file_size,
        data_blocks: totals.data_blocks,
        filter_size: totals.filter_size,
        filters: totals.summary.filters,
        empty_filters: totals.summary.empty,
        bits: totals.summary.bits,
        bits_set: totals.summary.bits_set,
        estimated_fpr: totals.rates().estimated(),
        random_fpr: totals.rates().random(),
        levels: totals.levels().iter().map(|(&name, level)| JsonLevel::new(name, level)).collect(),
    };
    write_line(&mut *console, &json)
}

impl JsonLevel {
    fn new(name: LevelName, level: &LevelTotals) -> Self {
        Self {
            level: match name {
                LevelName::Level(level) => Some(level),
                LevelName::Obsolete => None,
            },
            tables: level.tables,
            unfiltered: level.unfiltered,
            file_size: level.file_size,
            keys: level.keys.keys,
            keys_exact: !level.keys.estimated,
            filter_size: level.filter_size,
            estimated_fpr: level.rates().estimated(),
            random_fpr: level.rates().random(),
        }
    }
}
