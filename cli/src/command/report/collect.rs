//! Collects what a page tells of a database: a look at each table, and its verification.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use filterblock::table::{Meter, ReadOptions};

use super::jobs::{Done, Job, Jobs, TableJob, verify};
use crate::command::inspect::look_at;
use crate::io::progress::Progress;
use filterblock_engine::audit::inspect::report::TableReport;
use filterblock_engine::audit::overview::database::{Kind, Overview};
use filterblock_engine::audit::overview::spans::{Extent, Spans};
use filterblock_engine::audit::overview::table::TableFacts;
use filterblock_engine::audit::rates::effort::Effort;
use filterblock_engine::audit::verify::VerifyOptions;
use filterblock_engine::report::error_kind::ErrorKind;
use filterblock_engine::report::verify::{About, Finding, Status, Verdict};
use filterblock_engine::run::in_order::InOrder;
use filterblock_engine::run::in_use;
use filterblock_engine::run::watch::Watch as _;
use filterblock_engine::walk::folder::{Folder, Source};
use filterblock_engine::walk::input::PathError;
use filterblock_engine::walk::paths::Given;

/// The number of results for each thread that may wait to be taken over.
const TABLES_A_THREAD: usize = 16;

/// How tables are looked at.
pub(super) struct Collector<'a> {
    pub(super) read: ReadOptions,
    pub(super) meter: Arc<Meter>,
    pub(super) max_output: Option<u64>,
    /// As many as there are processors if `None`.
    pub(super) jobs: Option<u16>,
    /// Every block and every entry is read.
    pub(super) verify: bool,
    pub(super) progress: &'a Progress,
}

/// What one job gave.
enum Outcome {
    Table {
        name: Vec<u8>,
        looked: Box<Looked>,
    },
    /// It was listed, and gone when it was its turn.
    Vanished {
        path: PathBuf,
        is_live: bool,
    },
    Done(Done),
    EndFolder(Arc<Folder>),
}

/// What was found out about a table.
struct Looked {
    facts: TableFacts,
    /// `None` if it was not verified.
    verdict: Option<Verdict>,
    /// What the look alone showed.
    seen: Vec<String>,
    unreadable: bool,
}

impl Collector<'_> {
    /// Looks at the database, folder or table at `path`. Fails with a message if there is nothing to
    /// tell of.
    pub(super) fn collect(&self, path: &Path, source: &Source) -> Result<Overview, String> {
        let mut overview = match source {
            Source::File => Overview::new(Kind::Table),
            Source::Folder(folder) if folder.is_nothing() => {
                return Err(folder.nothing_here().to_string());
            }
            Source::Folder(folder) => begin(folder),
        };
        let tables = match source {
            Source::File => 1,
            Source::Folder(folder) => folder.tables().count(),
        };
        let effort = Effort::for_each_of(tables);
        let options = self.verify_options();
        overview.found.verified = self.verify;
        let mut vanished = Vec::new();
        let given = Given { input: path.into(), path: Ok(path.to_owned()) };
        let mut jobs = Jobs::new(std::iter::once(given), false);
        let result = InOrder::run(self.jobs, TABLES_A_THREAD, |in_order| {
            let mut take = |outcome| {
                self.take(outcome, &mut overview, &mut vanished, effort, &options);
                Ok(())
            };
            while let Some(job) = jobs.next() {
                self.progress.expect(jobs.take_bytes(), jobs.are_all_known());
                in_order.work(|| self.work(job, effort, &options), &mut take)?;
            }
            in_order.finish(&mut take)
        });
        result
            .map_err(|error| format!("starting threads: {error}"))?
            .map_err(|error: io::Error| error.to_string())?;
        Ok(overview)
    }

    fn verify_options(&self) -> VerifyOptions {
        VerifyOptions {
            read: self.read.clone(),
            meter: Arc::clone(&self.meter),
            bytewise: false,
            max_output: self.max_output,
            seed: 0,
        }
    }

    fn work(&self, job: Job, effort: Effort, options: &VerifyOptions) -> Outcome {
        match job {
            Job::Table(table) => self.table(&table, effort, options),
            Job::Done(done) => Outcome::Done(done),
            Job::EndFolder { folder, .. } => Outcome::EndFolder(folder),
        }
    }

    fn table(&self, table: &TableJob, effort: Effort, options: &VerifyOptions) -> Outcome {
        let record = table.folder.as_deref().and_then(|folder| folder.record(&table.path));
        let mut report = look_at(&table.path, table.listed, &self.read, effort).with_record(record);
        let has_vanished = |report: &TableReport<'_>, verdict: Option<&Verdict>| {
            let kind = verdict.and_then(|verdict| verdict.findings.kind());
            table.listed && record.is_some() && (report.has_vanished() || kind == Some(ErrorKind::Vanished))
        };
        let is_live = record.is_some_and(|record| record.live.is_some());
        if has_vanished(&report, None) {
            return Outcome::Vanished { path: table.path.clone(), is_live };
        }
        if table.listed {
            report.allow_unfinished();
        }
        let verdict = self.verify.then(|| verify(table, options, self.progress));
        if has_vanished(&report, verdict.as_ref()) {
            return Outcome::Vanished { path: table.path.clone(), is_live };
        }
        let name = name_of(&table.path);
        let seen = report.findings().filter(|_| !report.is_not_live);
        let seen = seen.map(|(what, text)| format!("{what}: {text}")).collect();
        let facts = TableFacts::of(name.clone(), &report);
        Outcome::Table {
            name,
            looked: Box::new(Looked { facts, verdict, seen, unreadable: report.unreadable }),
        }
    }

    fn take(
        &self,
        outcome: Outcome,
        overview: &mut Overview,
        vanished: &mut Vec<PathBuf>,
        effort: Effort,
        options: &VerifyOptions,
    ) {
        match outcome {
            Outcome::Table { name, looked } => {
                let Looked { facts, verdict, seen, unreadable } = *looked;
                match verdict {
                    Some(verdict) => overview.found.add(&name, verdict, true),
                    None => overview.found.see(&name, seen, unreadable),
                }
                overview.tables.push(facts);
            }
            Outcome::Vanished { path, is_live } => vanished.extend(is_live.then_some(path)),
            Outcome::Done(Done { path, of, verdict, .. }) => {
                let counts = of != About::Folder || verdict.status() != Status::Sound;
                overview.found.add(&name_of(&path), verdict, counts);
            }
            Outcome::EndFolder(folder) => {
                let vanished = std::mem::take(vanished);
                self.end_folder(&folder, overview, vanished, effort, options);
            }
        }
    }

    /// Looks at the tables in the place of those that vanished, and gives all their places.
    fn end_folder(
        &self,
        folder: &Arc<Folder>,
        overview: &mut Overview,
        vanished: Vec<PathBuf>,
        effort: Effort,
        options: &VerifyOptions,
    ) {
        let files = |folder: &Arc<Folder>| folder.tables().map(Path::to_owned).collect();
        let input: Arc<Path> = folder.path().into();
        let mut newest = None;
        let lost = in_use::go_on(folder, files, vanished, |path, folder| {
            newest = Some(Arc::clone(folder));
            let (input, folder) = (Arc::clone(&input), Some(Arc::clone(folder)));
            let job = TableJob { input, path, listed: true, folder };
            let mut gone = Vec::new();
            self.take(self.table(&job, effort, options), overview, &mut gone, effort, options);
            Ok(gone.is_empty())
        });
        // Looking gives no errors: what is wrong with a table is found out, and told.
        for path in lost.unwrap_or_default() {
            let finding = Finding::unreadable("a table that can be read", PathError::vanished());
            overview.found.add(&name_of(&path), Verdict::of_finding(finding), true);
        }
        missing(folder, overview);
        overview.place(&spans(folder));
        if let Some(newest) = newest {
            overview.place(&spans(&newest));
        }
    }
}

/// The facts about a folder before its tables are looked at.
fn begin(folder: &Folder) -> Overview {
    let kind = if folder.is_database() { Kind::Database } else { Kind::Folder };
    let mut remarks = Vec::new();
    let logs = folder.logs_with_data(|log, error| remarks.push((name_of(log), error.to_string())));
    let size = |log: &Path| fs::metadata(log).map_or(0, |metadata| metadata.len());
    Overview {
        comparator: folder.comparator().map(<[u8]>::to_vec),
        is_bytewise: folder.is_bytewise(),
        has_records: folder.has_records(),
        logs: logs.into_iter().map(|log| (name_of(log), size(log))).collect(),
        remarks,
        ..Overview::new(kind)
    }
}

/// Adds the live tables that have no file, unless a newer reading of the folder has them.
fn missing(folder: &Folder, overview: &mut Overview) {
    let known: BTreeSet<u64> = overview.tables.iter().filter_map(|table| table.number).collect();
    let missing = folder.missing().filter(|(_, table, _)| !known.contains(&table.number));
    let facts: Vec<_> = missing
        .map(|(path, _, record)| TableFacts::of(name_of(&path), &TableReport::missing(String::new(), record)))
        .collect();
    overview.tables.splice(0..0, facts);
}

fn spans(folder: &Folder) -> Spans {
    let Ok(manifest) = folder.database().manifest() else { return Spans::default() };
    let extents: Vec<_> = manifest.tables().iter().map(Extent::of).collect();
    if folder.is_bytewise() { Spans::bytewise(&extents) } else { Spans::side_by_side(&extents) }
}

/// The name of a file, or the whole path if it has none.
fn name_of(path: &Path) -> Vec<u8> {
    path.file_name().unwrap_or(path.as_os_str()).as_encoded_bytes().to_vec()
}
