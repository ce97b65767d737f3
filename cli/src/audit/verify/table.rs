//! Everything that can be checked of one table.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use filterblock::table::{Meter, ReadOptions, Table};
use filterblock::{Error, LegacyHash, escape, quote};

use super::batch::Batch;
use super::budget::Budget;
use super::denials::Stored;
use super::extents::Places;
use super::finding::{Code, Finding};
use super::fpr_sampler::Absent;
use super::order::{Expectation, Order};
use super::verdict::Verdict;
use super::walk::Walk;
use crate::audit::key_encoding::Reading;
use crate::audit::stats::{Blocks, Census, KeyFormat, Metaindex, Offsets, Sample, TableCensus, within};
use crate::io::database::Database;
use crate::io::input;
use crate::io::read_ahead::ReadAhead;
use crate::render::show::counted_as;

/// Progress is told in steps of so many bytes: it takes time to show.
const PROGRESS_STEP: u64 = 256 << 10;

/// How tables are checked.
pub(crate) struct Checks {
    pub(crate) options: ReadOptions,
    /// Counts the work of all tables.
    pub(crate) meter: Arc<Meter>,
    /// Whether it was said that the order of keys is bytewise.
    pub(crate) bytewise: bool,
    /// The most bytes of blocks and keys to decode of one file; if none is given, in proportion to the file.
    pub(crate) max_output: Option<u64>,
    /// What the absent keys depend on.
    pub(crate) seed: u64,
}

impl Checks {
    /// Checks the table at `path`. `listed`: its name was found in a folder. `progress` is told of bytes that have been gone through.
    pub(crate) fn table(
        &self,
        path: &Path,
        listed: bool,
        database: Option<&Database>,
        progress: &dyn Fn(u64),
    ) -> Verdict {
        let mut verdict = Verdict::new(path);
        let opened = input::open_file(path, listed)
            .and_then(|file| ReadAhead::new(file).map_err(|error| error.to_string()));
        let source = match opened {
            Ok(source) => source,
            Err(message) => {
                let expected = "a table that can be read";
                verdict.findings.push(Finding::new(Code::Unreadable, None, expected, message));
                return verdict;
            }
        };
        let size = filterblock::table::ReadAt::len(&source).unwrap_or_default();
        let (told, gone_through) = (Cell::new(0_u64), Cell::new(0_u64));
        let meter = Arc::new(Meter::default());
        match Table::open(source, &self.options.clone().meter(Arc::clone(&meter))) {
            Ok(table) => {
                self.opened(&table, &meter, database, &mut verdict, &|bytes: u64| {
                    // A handle may name any size.
                    gone_through.set(gone_through.get().saturating_add(bytes).min(size));
                    let untold = gone_through.get() - told.get();
                    if untold >= PROGRESS_STEP {
                        told.set(gone_through.get());
                        progress(untold);
                    }
                });
            }
            Err(error) => {
                let finding = Finding::of(&error);
                let is_unused = database
                    .is_some_and(|database| database.manifest.is_ok() && database.live(path).is_none());
                // A writer that was stopped leaves the table behind that it was at, and LevelDB removes it.
                match finding.code {
                    Code::NotATable if is_unused => {
                        verdict.notes.push(format!("the table is not whole: {finding}"))
                    }
                    _ => verdict.findings.push(finding),
                }
            }
        }
        self.meter.add(&meter);
        if let Some(database) = database {
            compare_recorded(path, size, database, &mut verdict);
        }
        // Index and filter, and whatever could not be gone through.
        progress(size.saturating_sub(told.get()));
        verdict
    }

    fn opened(
        &self,
        table: &Table<ReadAhead>,
        meter: &Arc<Meter>,
        database: Option<&Database>,
        verdict: &mut Verdict,
        progress: &dyn Fn(u64),
    ) {
        let census = table.filter().map(Census::new);
        // Of damage in the index and the blocks sampled, the walk will find the same.
        let mut blocks = Blocks::default();
        blocks.visit(table, |handle| within(table, handle));
        let readings = readings(table, &mut blocks, census.as_ref(), database);
        let expectation = self.expectation(database);

        filter_block(table, verdict);
        table.source().go_ahead();
        let mut walk = Walk {
            table,
            order: Order::new(expectation, &readings),
            stored: table.filter().map(|filters| Stored::new(filters, &readings)),
            absent: census.as_ref().map(|census| {
                let mut last = None;
                let filters = blocks.offsets.iter().map(|offset| census.index_for(offset));
                let used = filters.filter(|&filter| last.replace(filter) != Some(filter)).count() as u64;
                Absent::new(census.reader(), blocks.offsets.len(), used, self.seed)
            }),
            reading: readings.first().copied().unwrap_or(Reading::Whole),
            is_internal: readings == [Reading::Internal],
            first_key: None,
            places: Places::default(),
            seen: (!blocks.are_distinct()).then(Offsets::default),
            cursor: None,
            batch: Batch::default(),
            budget: Budget::new(Arc::clone(meter), self.max_output, table.file_size()),
            complete: true,
            verdict,
        };
        walk.all(progress);
        let Walk { order, stored, absent, first_key, places, complete, .. } = walk;

        // Filters that are not asked, for whatever reason, have no rate.
        if table.filter_error().is_none() {
            verdict.estimated_fpr = census.as_ref().and_then(|census| census.mean_rate(&blocks.offsets));
            verdict.measured_fpr = absent.and_then(Absent::finish);
        }
        if let Some((denied, findings, hash)) = stored.map(Stored::finish) {
            verdict.denied = denied;
            verdict.findings.append(findings);
            if hash == Some(LegacyHash::Signed) {
                let note = "the filters fit the signed hash of LevelDB up to 1.17 on x86; by goleveldb's they would deny stored keys";
                verdict.notes.push(note.to_owned());
            }
        }
        if complete && let Some(live) = database.and_then(|database| database.live(&verdict.path)) {
            for (end, recorded, found) in
                [("first", &live.smallest, first_key.as_deref()), ("last", &live.largest, order.last_key())]
            {
                if found != Some(&recorded[..]) {
                    let expected = format!("{} as the {end} key, as the MANIFEST has it", quote(recorded));
                    let found = found.map_or_else(|| "no key".to_owned(), |key| quote(key).to_string());
                    verdict.findings.push(Finding::new(Code::TableRange, None, expected, found));
                }
            }
        }
        match order.finish() {
            Ok(findings) => verdict.findings.append(findings),
            Err(reason) => verdict.notes.push(reason),
        }
        let unused = places.finish(table.file_size(), &mut verdict.findings);
        if unused > 0 && complete {
            let unused = counted_as(unused, "byte of the file is", "bytes of the file are");
            verdict.notes.push(format!("{unused} in none of its blocks"));
        }
    }

    fn expectation(&self, database: Option<&Database>) -> Expectation {
        match database.and_then(Database::comparator) {
            _ if self.bytewise => Expectation::Bytewise,
            Some(_) if database.is_some_and(Database::is_bytewise) => Expectation::Bytewise,
            Some(name) => Expectation::Custom(quote(name).to_string()),
            None => Expectation::Presumed,
        }
    }
}

/// How the keys may be read: in one way if that is known, or can be told from the filters.
fn readings(
    table: &Table<ReadAhead>,
    blocks: &mut Blocks,
    census: Option<&TableCensus<'_>>,
    database: Option<&Database>,
) -> Vec<Reading> {
    if database.is_some_and(|database| database.manifest.is_ok()) {
        return vec![Reading::Internal];
    }
    let sample = Sample::take(table, blocks, census);
    match sample.key_format() {
        Ok(KeyFormat::Internal) => vec![Reading::Internal],
        Ok(KeyFormat::User) => vec![Reading::Whole],
        Err(_) if sample.looks_internal() => vec![Reading::Internal, Reading::Whole],
        Err(_) => vec![Reading::Whole, Reading::Internal],
    }
}

/// What is wrong with the filter block as such, or why it cannot be asked.
fn filter_block(table: &Table<ReadAhead>, verdict: &mut Verdict) {
    let metaindex = Metaindex::read(table);
    if let Some(error) = table.filter_error() {
        let finding = Finding::of(error);
        let code = if finding.code.hides() { finding.code } else { Code::FilterUnusable };
        let found = match error.without_path() {
            Error::Corrupt { what, .. } => format!("{} ({what})", finding.found),
            _ => finding.found,
        };
        verdict.findings.push(Finding { code, found, ..finding });
        return;
    }
    if let Some(error) = &metaindex.error {
        let offset = table.metaindex_handle().offset;
        let expected = "a metaindex that can be read to its end";
        verdict.findings.push(Finding::new(Code::FilterUnusable, offset, expected, error.clone()));
    }
    let Some(filters) = table.filter() else {
        let names: Vec<_> = metaindex.filter_names().map(|name| escape(name).to_string()).collect();
        verdict.notes.push(match names.is_empty() {
            true => "there is no filter".to_owned(),
            false => format!("the filter is of a policy that is not known here: {}", names.join(", ")),
        });
        return;
    };
    if let Err(error) = filters.check() {
        let start = table.filter_handle().unwrap_or_default().offset;
        let finding = Finding::of(&error);
        let offset = finding.offset.map(|offset| start.saturating_add(offset));
        verdict.findings.push(Finding { offset, ..finding });
    }
}

/// What the MANIFEST records has to hold: the size of a live table, as LevelDB looks for the footer there, and that it lies apart
/// from the others on its level.
fn compare_recorded(path: &Path, size: u64, database: &Database, verdict: &mut Verdict) {
    let Some(live) = database.live(path) else {
        if database.manifest.is_ok() {
            verdict.notes.push("the table is obsolete: the database does not use it".to_owned());
        }
        return;
    };
    if let Some(before) = database.overlapped(live) {
        let expected = format!(
            "a first key after {}, the last of table {} on the same level {}",
            quote(&before.largest),
            before.number,
            live.level
        );
        verdict.findings.push(Finding::new(
            Code::TableOverlap,
            None,
            expected,
            quote(&live.smallest).to_string(),
        ));
    }
    if live.size != size {
        let expected = format!("{} bytes, as the MANIFEST has it", live.size);
        verdict.findings.push(Finding::new(Code::TableSize, None, expected, format!("{size} bytes")));
    }
}
