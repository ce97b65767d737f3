//! A database, and the work on its tables: the common part of rebuilding in place and into another folder.

use std::path::Path;

use filterblock::database::{LiveTable, Manifest};

use super::filters::{Filters, open_file, survey};
use super::request::{FilterRequest, Options, check};
use super::source::{SourceDatabase, SourceTable};
use super::table::{OutputFile, Rewritten, rewrite};
use crate::report::{FiltersReport, TableReport, TableStatus};
use crate::run::{Watch, try_map};
use crate::walk::{READ_AHEAD, TableRecord, Windowed};
use crate::write::Dir;
use crate::write::failure::{Failure, Result};
use crate::{audit::verify, engine::Engine};

pub(super) struct RebuildWork<'r> {
    pub(super) source: SourceDatabase,
    pub(super) filters: Filters,
    request: &'r Options,
    watch: &'r dyn Watch,
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
    pub(super) fn new(source: SourceDatabase, request: &'r Options, watch: &'r dyn Watch) -> Result<Self> {
        let makes_filters = !matches!(request.filters, FilterRequest::Drop);
        if makes_filters && !request.assume_bytewise_equality {
            source.check_comparator()?;
        }
        let look = |table: &SourceTable| {
            check(watch)?;
            survey(&source.dir, &table.name, request.keep_undecodable)
        };
        let before = try_map(request.jobs, source.tables.iter().collect(), look)?;
        let found: Vec<_> =
            source.tables.iter().map(|table| table.name.clone()).zip(before.iter().cloned()).collect();
        let idb_keys = source.has_idb_keys() && !request.assume_bytewise_equality;
        let filters = Filters::choose(request, idb_keys, &source.dir, &found, watch)?;
        let passes = if request.dry_run { 1 } else { 2 };
        watch.expect(source.table_bytes().saturating_mul(passes), true);
        Ok(Self { source, filters, request, watch, before })
    }

    pub(super) const fn watch(&self) -> &'r dyn Watch {
        self.watch
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

    /// Rewrites tables, several at once. `target`: each file's folder and name; `None`: only finds the table's size.
    pub(super) fn rewrite<'t>(
        &self,
        jobs: &[RebuildTable<'_>],
        target: impl Fn(&RebuildTable<'_>) -> Option<(&'t Dir, String)> + Sync,
    ) -> Result<Vec<NewTable>> {
        try_map(self.request.jobs, jobs.iter().collect(), |job| self.rewrite_one(job, target(job)))
    }

    fn rewrite_one(&self, job: &RebuildTable<'_>, target: Option<(&Dir, String)>) -> Result<NewTable> {
        check(self.watch)?;
        let old = &job.table.record;
        let filters = self.filters.of(job.before);
        let source = (&self.source.dir, &*job.table.name);
        let target = target.as_ref().map_or(OutputFile::Nowhere, |(dir, name)| OutputFile::File(dir, name));
        let Rewritten { size, filter_size, entries, kept } =
            rewrite(source, target, filters.as_ref(), self.request, self.watch)?;
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
        let report = TableReport {
            status: if kept.is_some() { TableStatus::Unchanged } else { TableStatus::Rebuilt },
            error_kind: kept.as_ref().and_then(|why| why.kind),
            error: kept.map(|why| why.text),
            level: old.level,
            new_name: job.new_name(),
            entries,
            old_size: old.size,
            new_size: size,
            old_filters: job.before.cloned(),
            new_filters,
            old_name: job.table.name.clone(),
        };
        Ok(NewTable { record, report })
    }

    /// Verifies the rewritten tables in `dir`, and that they are those of the new MANIFEST, given by its contents.
    pub(super) fn verify(&self, dir: &Dir, manifest: &[u8], tables: &[NewTable]) -> Result<()> {
        let manifest =
            Manifest::parse(manifest).map_err(|error| Failure::of(error, Path::new("the new MANIFEST")))?;
        let verify = |table: &NewTable| {
            check(self.watch)?;
            // A table is kept because the rebuild refused it, so it may have faults.
            let is_kept = table.report.status == TableStatus::Unchanged;
            if is_kept { Ok(()) } else { self.verify_table(dir, &manifest, table) }
        };
        try_map(self.request.jobs, tables.iter().collect(), verify).map(|_| ())
    }

    fn verify_table(&self, dir: &Dir, manifest: &Manifest, table: &NewTable) -> Result<()> {
        let name = &table.report.new_name;
        let path = &dir.path_of(name);
        let live = manifest.table(table.record.number);
        if live != Some(&table.record) {
            let why = "is not the table that the new MANIFEST lists";
            return Err(Failure::refused(path, why));
        }
        let record = TableRecord {
            comparator: manifest.comparator(),
            is_bytewise: manifest.is_bytewise(),
            live,
            is_unlisted: false,
            overlapped: manifest.overlapped_by(&table.record),
        };
        let file = open_file(dir, name)?;
        let progress = |bytes| self.watch.add(bytes);
        let verdict = verify::table(
            Windowed::new(file, READ_AHEAD),
            Some(&record),
            false,
            &Engine::new(),
            false,
            &progress,
        );
        let problems = verdict.problems.to_list();
        let Some(problem) = problems.first() else { return Ok(()) };
        let failure = match problem.code {
            code if code.is_of_filters() => {
                Failure::refused(path, problem).and("this is a fault of this program")
            }
            // The old table is named, as the new one is about to be removed.
            _ => Failure::refused(&self.source.dir.path_of(&table.report.old_name), problem)
                .and("the table was so before; `filterblock verify` tells more"),
        };
        Err(Failure { kind: verdict.problems.kind(), ..failure })
    }
}

pub(super) struct NewTable {
    pub(super) record: LiveTable,
    pub(super) report: TableReport,
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
