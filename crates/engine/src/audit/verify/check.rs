//! All checks of one table.

use std::{cell::Cell, collections::BTreeSet, sync::Arc};

use filterblock::table::{Meter, ReadAt, Table};
use filterblock::{Error, LegacyHash, quote};

use super::stretches::TableStretches;
use super::walk::Walk;
use crate::audit::correct::{Budget, key_orders::CandidateOrders, table::Correcting};
use crate::audit::current_manifest::size_conflict;
use crate::audit::reading::{decode_limit, filter_trouble, is_not_whole};
use crate::audit::stats::{Blocks, FilterStats, KeyCounter, Metaindex, Offsets, Sample};
use crate::report::{CheckNote, Checked, Code, Problem};
use crate::{
    audit::key_encoding::KeyEncoding, audit::lost_keys::LostKeys, audit::scan::file_type::explain,
    audit::stats::sample::KeyFormat, engine::Engine, walk::TableRecord,
};

/// Bytes between two reports of progress, because showing one costs time.
const PROGRESS_STEP: u64 = 256 << 10;

/// `may_be_unfinished`: found in a folder, not given by itself. `notes_keys`: the verdict notes the different keys.
/// `report`: gets the bytes that were processed since its last call.
pub(crate) fn table<R: ReadAt>(
    source: R,
    record: Option<&TableRecord<'_>>,
    may_be_unfinished: bool,
    engine: &Engine,
    notes_keys: bool,
    report: &dyn Fn(u64),
) -> Checked {
    // One kind of source, so that what follows is compiled once.
    let source: &dyn ReadAt = &source;
    let size = source.len().unwrap_or_default();
    let meter = Arc::new(Meter::default());
    let (reported, dealt_with) = (Cell::new(0_u64), Cell::new(0_u64));
    let progress = |bytes: u64| {
        // A handle may name any size.
        dealt_with.set(dealt_with.get().saturating_add(bytes).min(size));
        let unreported = dealt_with.get() - reported.get();
        if unreported >= PROGRESS_STEP {
            reported.set(dealt_with.get());
            report(unreported);
        }
    };
    let mut verdict = Checked::default();
    match Table::open(source, &engine.read.clone().meter(Arc::clone(&meter))) {
        Ok(table) => {
            let table = OpenTable { table: &table, meter: &meter, record, engine, notes_keys };
            table.check(&progress, &mut verdict);
        }
        Err(error) => {
            let record = record.filter(|_| may_be_unfinished);
            let live = record.and_then(|record| record.live);
            // It is being written, or a writer that was stopped left it, and LevelDB removes it later.
            if is_not_whole(&error) && record.is_some() && live.is_none() {
                verdict.notes.push(CheckNote::Incomplete);
            } else {
                let problem = Problem::of(&error).with_wrong_bit(wrong_bit(source, size, engine));
                let found = explain(&source, &error, problem.found.clone());
                let lost = live.and_then(LostKeys::of_table);
                verdict.problems.push(Problem { found, ..problem }.with_lost(lost));
            }
        }
    }
    engine.meter.add(&meter);
    if let Some(record) = record {
        compare_record(size, record, &mut verdict);
    }
    // The rest is reported here: index and filter, and all bytes that could not be read.
    report(size.saturating_sub(reported.get()));
    verdict
}

/// Finds the byte with the only wrong bit in the footer or the index of a table that does not open.
fn wrong_bit(source: &dyn ReadAt, size: u64, engine: &Engine) -> Option<u64> {
    let (orders, limit) = (CandidateOrders::known(), decode_limit(engine.max_output, size));
    Correcting::new(source, &orders, &engine.read, limit, Box::new(|_, _| {})).ok()?.last_bit()
}

fn count_keys(counter: KeyCounter, encodings: &[KeyEncoding], verdict: &mut Checked) {
    let is_internal = match encodings {
        [encoding] => *encoding == KeyEncoding::Internal,
        _ => counter.looks_internal(),
    };
    let numbers = counter.end();
    verdict.entries = numbers.entries;
    verdict.distinct_keys = if is_internal { numbers.keys } else { numbers.entries };
    verdict.seen = counter.into_seen(is_internal);
}

struct OpenTable<'a, R> {
    table: &'a Table<R>,
    /// Of this table.
    meter: &'a Arc<Meter>,
    record: Option<&'a TableRecord<'a>>,
    engine: &'a Engine,
    notes_keys: bool,
}

impl<R: ReadAt> OpenTable<'_, R> {
    fn check(&self, progress: &dyn Fn(u64), verdict: &mut Checked) {
        let table = self.table;
        let stats = table.filter().cloned().map(FilterStats::new);
        // Damage in the index and the blocks sampled is found again by the walk.
        let mut blocks = Blocks::list(table);
        verdict.data_blocks = blocks.offsets.len();
        let encodings = self.encodings(&mut blocks, stats.as_ref());
        self.filter_block(verdict);

        let limit = decode_limit(self.engine.max_output, table.file_size());
        let budget = Budget::of_meter(Arc::clone(self.meter), limit);
        let comparator = self.record.and_then(|record| record.comparator);
        let comparator = comparator.or(self.engine.order.as_ref().map(|order| order.name().as_bytes()));
        let mut walk = Walk::new(table, comparator, &encodings, budget, verdict);
        walk.counter = KeyCounter::of_all(self.notes_keys);
        walk.seen = (!blocks.are_distinct()).then(Offsets::default);
        let is_live = self.record.is_some_and(|record| record.live.is_some());
        walk.stretches = is_live.then(|| TableStretches::new(table.file_size()));
        walk.all(progress);

        let Walk { verdict, order, false_negatives, counter, extents, stretches, complete, .. } = walk;
        verdict.stretches = stretches.map(|stretches| stretches.list).unwrap_or_default();
        count_keys(counter, &encodings, verdict);
        verdict.is_complete = complete;
        let (hidden, problems, hash) = false_negatives.finish();
        verdict.false_negatives = hidden;
        verdict.problems.append(problems);
        if hash == Some(LegacyHash::Signed) {
            verdict.notes.push(CheckNote::SignedHash);
        }
        if complete {
            self.compare_range(walk.first_key.as_deref(), order.last_key(), verdict);
        }
        match order.finish() {
            Ok(problems) => verdict.problems.append(problems),
            Err(note) => verdict.notes.push(note),
        }
        let unused = extents.finish(table.file_size(), &mut verdict.problems);
        if unused > 0 && complete {
            verdict.notes.push(CheckNote::UnusedBytes(unused));
        }
    }

    /// The likelier one first; only one if it is known, or if the filters reveal it.
    fn encodings(&self, blocks: &mut Blocks, filters: Option<&FilterStats>) -> Vec<KeyEncoding> {
        if self.record.is_some() {
            return vec![KeyEncoding::Internal];
        }
        let sample = Sample::take(self.table, blocks, &BTreeSet::new(), filters, 0);
        match sample.key_format() {
            Ok(KeyFormat::Internal) => vec![KeyEncoding::Internal],
            Ok(KeyFormat::User) => vec![KeyEncoding::Whole],
            Err(_) if sample.looks_internal() => vec![KeyEncoding::Internal, KeyEncoding::Whole],
            Err(_) => vec![KeyEncoding::Whole, KeyEncoding::Internal],
        }
    }

    /// Checks the filter block itself, or finds out why there is none to check.
    fn filter_block(&self, verdict: &mut Checked) {
        let table = self.table;
        let metaindex = Metaindex::read(table);
        if let Some(error) = filter_trouble(table) {
            let problem = Problem::of(error);
            let code = if problem.code.hides() { problem.code } else { Code::FilterUnreadable };
            let found = match error.without_path() {
                Error::Corrupt { what, .. } => format!("{} ({what})", problem.found),
                _ => problem.found,
            };
            verdict.problems.push(Problem { code, found, ..problem });
            return;
        }
        if let Some(error) = &metaindex.error {
            let offset = table.metaindex_handle().offset;
            let expected = "a metaindex that can be read to its end";
            verdict.problems.push(Problem::new(Code::FilterUnreadable, offset, expected, error.clone()));
        }
        let Some(filters) = table.filter() else {
            let names: Vec<_> = metaindex.filter_names().map(<[u8]>::to_vec).collect();
            let note = if names.is_empty() { CheckNote::NoFilter } else { CheckNote::UnknownPolicy(names) };
            verdict.notes.push(note);
            return;
        };
        if let Err(error) = filters.check() {
            let start = table.filter_handle().unwrap_or_default().offset;
            let problem = Problem::of(&error);
            let offset = problem.offset.map(|offset| start.saturating_add(offset));
            verdict.problems.push(Problem { offset, ..problem });
        }
    }

    /// `first` and `last`: keys of the table.
    fn compare_range(&self, first: Option<&[u8]>, last: Option<&[u8]>, verdict: &mut Checked) {
        let Some(live) = self.record.and_then(|record| record.live) else { return };
        for (end, recorded, found) in [("first", &live.smallest, first), ("last", &live.largest, last)] {
            if found != Some(recorded) {
                let expected = format!("{} as the {end} key, as the MANIFEST has it", quote(recorded));
                let found = found.map_or_else(|| "no key".to_owned(), |key| quote(key).to_string());
                verdict.problems.push(Problem::new(Code::TableRange, None, expected, found));
            }
        }
    }
}

/// LevelDB finds the footer by the size. Ranges must not overlap on a level but 0. A table that is not live gets a
/// note.
fn compare_record(size: u64, record: &TableRecord<'_>, verdict: &mut Checked) {
    let Some(live) = record.live else {
        verdict.notes.push(if record.is_unlisted { CheckNote::Unlisted } else { CheckNote::Obsolete });
        return;
    };
    verdict.level = Some(live.level);
    if let Some(before) = record.overlapped {
        let expected = format!(
            "a first key after {}, the last of table {} on the same level {}",
            quote(&before.largest),
            before.number,
            live.level
        );
        let found = quote(&live.smallest).to_string();
        verdict.problems.push(Problem::new(Code::TableOverlap, None, expected, found));
    }
    if let Some((expected, found)) = size_conflict(live.size, size) {
        verdict.problems.push(Problem::new(Code::TableSize, None, expected, found));
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io;

    use bytes::Bytes;
    use filterblock::table::{Compression, TableBuilder, WriteOptions};

    use super::*;
    use crate::audit::order::KeyOrder;

    /// A table, and all that happens while it is verified.
    struct Watched {
        file: Bytes,
        events: RefCell<Vec<Event>>,
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    enum Event {
        Read { offset: u64 },
        Progress(u64),
    }

    impl ReadAt for Watched {
        fn len(&self) -> io::Result<u64> {
            Ok(self.file.len() as u64)
        }
        fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
            self.events.borrow_mut().push(Event::Read { offset });
            self.file.read_at(offset, len)
        }
    }

    #[test]
    fn blocks_are_read_in_order_and_every_byte_is_reported() {
        let mut builder =
            TableBuilder::new(Vec::new(), WriteOptions::default().compression(Compression::None));
        let entries = 0..20_000_u32;
        entries.for_each(|key| builder.add(&key.to_be_bytes(), &key.to_be_bytes().repeat(16)).unwrap());
        let watched = Watched { file: builder.finish().unwrap().0.into(), events: RefCell::default() };
        let engine = Engine::new().order(Some(KeyOrder::Bytewise));
        let report = |bytes| watched.events.borrow_mut().push(Event::Progress(bytes));
        let verdict = table(&watched, None, true, &engine, false, &report);
        assert_eq!((verdict.entries, verdict.problems.is_empty()), (20_000, true));

        let events = watched.events.into_inner();
        // Before the walk, the end of the file and 16 blocks with their trailers are read, of which the first is first.
        let begin = events.iter().rposition(|event| *event == Event::Read { offset: 0 }).unwrap();
        let (before, walk) = events.split_at(begin);
        let reads = |events: &[Event]| {
            let offset =
                |event: &Event| if let Event::Read { offset } = event { Some(*offset) } else { None };
            events.iter().filter_map(offset).collect::<Vec<_>>()
        };
        let is_progress = |event: &Event| matches!(event, Event::Progress(_));
        assert!(reads(before).len() > 16 && !before.iter().any(is_progress), "{before:?}");
        let in_order = reads(walk);
        assert!(in_order.len() > 100 && in_order.is_sorted(), "{in_order:?}");
        let progress = walk.iter().map(|event| if let Event::Progress(bytes) = event { *bytes } else { 0 });
        assert_eq!(progress.clone().sum::<u64>(), watched.file.len() as u64);
        let steps = progress.filter(|bytes| *bytes > 0).count() as u64;
        assert!(steps > 2 && steps <= 2 + watched.file.len() as u64 / PROGRESS_STEP, "{steps}");
    }
}
