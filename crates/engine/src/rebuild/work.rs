//! A database, and the work on its tables: the common part of rebuilding in place and into another folder.

use filterblock::database::LiveTable;

use super::filters::{Filters, survey};
use super::request::{FilterRequest, RebuildOptions};
use super::source::{SourceDatabase, SourceTable};
use super::table::{Rewritten, Target, rewrite};
use crate::report::{FiltersReport, RebuiltData, RebuiltStatus, RebuiltTable};
use crate::run::try_map;
use crate::walk::TableRecord;
use crate::write::{Failure, Output, Result, read_back, release};

pub(super) struct RebuildWork<'r> {
    pub(super) source: SourceDatabase<'r>,
    pub(super) filters: Filters,
    options: &'r RebuildOptions,
    /// The filters that each table has now; `None`: it has no filters, or they are not known.
    before: Vec<Option<FiltersReport>>,
}

/// A table with the number that it will have.
#[derive(Clone, Copy)]
pub(super) struct RebuildTable<'w> {
    pub(super) table: &'w SourceTable,
    before: Option<&'w FiltersReport>,
    pub(super) number: u64,
}

impl<'r> RebuildWork<'r> {
    /// `is_written`: the new tables will be, and are read back.
    pub(super) fn new(
        source: SourceDatabase<'r>,
        options: &'r RebuildOptions,
        is_written: bool,
    ) -> Result<Self> {
        let makes_filters = !matches!(options.filters, FilterRequest::Drop);
        if makes_filters && !options.assume_bytewise_equality {
            source.check_comparator()?;
        }
        let input = source.input;
        let look = |table: &SourceTable| {
            input.check()?;
            survey(input, &table.name, options.keep_undecodable)
        };
        let before = try_map(input.engine.jobs, source.tables.iter().collect(), look)?;
        let found: Vec<_> =
            source.tables.iter().map(|table| table.name.clone()).zip(before.iter().cloned()).collect();
        let idb_keys = source.has_idb_keys() && !options.assume_bytewise_equality;
        let filters = Filters::choose(options, idb_keys, input, &found)?;
        let passes = if is_written { 2 } else { 1 };
        input.engine.progress.expect(source.table_bytes().saturating_mul(passes), true);
        Ok(Self { source, filters, options, before })
    }

    /// Returns all tables, the oldest first, with new numbers, which are greater than every number that was used.
    fn jobs(&self) -> Vec<RebuildTable<'_>> {
        let tables = self.source.tables.iter().zip(&self.before);
        let numbers = self.source.first_free..;
        tables
            .zip(numbers)
            .map(|((table, before), number)| RebuildTable { table, before: before.as_ref(), number })
            .collect()
    }

    pub(super) fn jobs_with_old_numbers(&self) -> Vec<RebuildTable<'_>> {
        self.jobs().into_iter().map(|job| RebuildTable { number: job.table.record.number, ..job }).collect()
    }

    pub(super) fn newest_first(&self) -> Vec<RebuildTable<'_>> {
        self.jobs().into_iter().rev().collect()
    }

    /// The bytes of the tables, and their number.
    pub(super) fn size(&self) -> (u64, u64) {
        (self.source.table_bytes(), self.source.tables.len() as u64)
    }

    /// Rewrites tables, several at once, and reads each back before it leaves. `name`: that of the new file. Without an
    /// output, only finds the tables' sizes.
    pub(super) fn rewrite(
        &self,
        jobs: &[RebuildTable<'_>],
        output: Option<&dyn Output>,
        name: impl Fn(&RebuildTable<'_>) -> String + Sync,
    ) -> Result<Vec<NewTable>> {
        let rewrite = |job: &RebuildTable<'_>| {
            let name = name(job);
            let target = output.map(|output| Target { output, name: &name });
            let table = self.rewrite_one(job, target)?;
            if let Some(target) = target {
                self.read_back(&table, target)?;
                release(target.output, target.name)?;
            }
            Ok(table)
        };
        try_map(self.source.input.engine.jobs, jobs.iter().collect(), rewrite)
    }

    fn rewrite_one(&self, job: &RebuildTable<'_>, target: Option<Target<'_>>) -> Result<NewTable> {
        let input = self.source.input;
        input.check()?;
        let old = &job.table.record;
        let filters = self.filters.of(job.before);
        let Rewritten { size, filter_size, entries, kept } =
            rewrite(input, &job.table.name, target, filters.as_ref(), self.options.keep_undecodable)?;
        let mut record = old.clone();
        (record.number, record.size) = (job.number, size);
        let new_filters = match (&kept, filters, filter_size) {
            (Some(_), ..) => job.before.cloned(),
            (None, Some(filters), Some(size)) => Some(FiltersReport {
                policy: filters.policy.name().to_owned(),
                size,
                base_lg: Some(filters.base_lg),
                bits_per_key: Some(filters.bits_per_key),
            }),
            _ => None,
        };
        let (error_kind, error) = kept.map_or((None, None), |why| (why.kind, Some(why.text)));
        let data = RebuiltData {
            status: if error.is_some() { RebuiltStatus::Unchanged } else { RebuiltStatus::Rebuilt },
            level: old.level,
            new_name: job.new_name(),
            entries,
            old_size: old.size,
            new_size: size,
            old_filters: job.before.cloned(),
            new_filters,
        };
        let report = RebuiltTable { old_name: job.table.name.clone(), data, error, error_kind };
        Ok(NewTable { old_number: old.number, record, report })
    }

    fn read_back(&self, table: &NewTable, target: Target<'_>) -> Result<()> {
        let input = self.source.input;
        input.check()?;
        // A table is kept because the rebuild refused it, so it may have faults.
        if table.report.data.status == RebuiltStatus::Unchanged {
            return Ok(());
        }
        let manifest = &self.source.manifest;
        let record = TableRecord {
            comparator: manifest.comparator(),
            is_bytewise: manifest.is_bytewise(),
            live: Some(&table.record),
            is_unlisted: false,
            overlapped: manifest.table(table.old_number).and_then(|old| manifest.overlapped_by(old)),
        };
        let checked = read_back(target.output, target.name, &record, input.engine)?;
        let problems = checked.problems.to_list();
        let Some(problem) = problems.first() else { return Ok(()) };
        let failure = match problem.code {
            code if code.is_of_filters() => {
                let path = target.output.path_of(&table.report.data.new_name);
                Failure::refused(&path, problem).and("this is a fault of this program")
            }
            // The old table is named, as the new one is about to be removed.
            _ => Failure::refused(&input.path_of(&table.report.old_name), problem)
                .and("the table was so before; `filterblock verify` tells more"),
        };
        Err(Failure { kind: checked.problems.kind(), ..failure })
    }
}

pub(super) struct NewTable {
    old_number: u64,
    pub(super) record: LiveTable,
    pub(super) report: RebuiltTable,
}

impl RebuildTable<'_> {
    /// The new file's name, with the old one's extension.
    pub(super) fn new_name(&self) -> String {
        let name = &self.table.name;
        if self.number == self.table.record.number {
            return name.clone();
        }
        let extension = name.rsplit_once('.').map_or("ldb", |(_, extension)| extension);
        format!("{:06}.{extension}", self.number)
    }
}
