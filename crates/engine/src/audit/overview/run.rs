//! The overview of a database: reads each table in part, and verifies it if wanted.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use filterblock::database::FileKind;
use filterblock::table::ReadAt;

use super::database::{Kind, Overview};
use super::spans::{Extent, Spans};
use crate::audit::inspect::{InspectTask, lookup_weights, missing_tables, unreadable};
use crate::audit::rates::TableWeight;
use crate::audit::state::huge_manifest;
use crate::audit::verify::{VerifyTask, Versions, other, verdicts_on_folder};
use crate::engine::Engine;
use crate::report::{CheckNote, Checked, ErrorKind, Fault, Inspected, Problem, name_of};
use crate::run::{Event, ListedFolder, LogUse, TableFile, Task};
use crate::walk::{Folder, Inputs, OtherFile};

impl Engine {
    /// Reads the one database, folder or table that `inputs` lead to, with `verify` every block and every entry. Fails
    /// if there is nothing to show.
    pub(crate) fn overview(&self, inputs: Inputs, verify: bool) -> Result<Overview, Fault> {
        let task = OverviewTask {
            inspect: InspectTask::of(self),
            verify: verify.then(|| VerifyTask { engine: self.clone(), notes_keys: true }),
        };
        let mut fold = Fold {
            overview: Overview::new(Kind::Table),
            versions: Versions::default(),
            begun: None,
            failed: None,
        };
        fold.overview.found.verified = verify;
        fold.overview.depth = self.depth;
        let result = self.run(inputs, &task, &mut |event| {
            fold.take(event, self);
            Ok(())
        });
        result?;
        // A table is shown though its folder cannot be listed.
        let is_shown = fold.begun.is_some() || !fold.overview.tables.is_empty();
        fold.failed.filter(|_| !is_shown).map_or(Ok(fold.overview), Err)
    }
}

struct OverviewTask {
    inspect: InspectTask,
    verify: Option<VerifyTask>,
}

enum Looked {
    /// The verdict on it if it was verified.
    Table(Box<Inspected>, Option<Box<Checked>>),
    Log(Box<Checked>),
}

impl Task for OverviewTask {
    type Found = Looked;

    const IS_LONG: bool = true;

    fn logs(&self) -> LogUse {
        if self.verify.is_some() { LogUse::ReadAll } else { LogUse::Named }
    }

    fn table<R: ReadAt>(&self, target: &TableFile, source: &R, progress: &dyn Fn(u64)) -> Looked {
        let mut found = self.inspect.look(target, source);
        // Those of all tables together would need much memory.
        found.filters = None;
        let verify = self.verify.as_ref();
        let verdict = verify.map(|verify| verify.table(target, source, progress));
        Looked::Table(found, verdict.map(Box::new))
    }

    fn other(&self, kind: OtherFile, target: &TableFile, contents: &mut dyn Read) -> Option<Looked> {
        let verdict = other(kind, target, contents).filter(|_| target.listed)?;
        Some(Looked::Log(Box::new(verdict)))
    }
}

struct Fold {
    overview: Overview,
    versions: Versions,
    /// As it was first listed.
    begun: Option<ListedFolder>,
    /// Why there is nothing to show.
    failed: Option<Fault>,
}

impl Fold {
    fn take(&mut self, event: Event<Looked>, engine: &Engine) {
        match event {
            // A listed path is reported at the beginning of its folder.
            Event::Failed(file, _) if file.listed => {}
            Event::Failed(file, error) => {
                self.unreadable(&file.path, "a folder that can be listed", error.clone());
                self.failed = Some(error);
            }
            Event::Folder { place, logs, unread, .. } => self.begin(place, &logs, unread),
            Event::Found(file, None, result) => self.table(&file, result),
            Event::Found(file, Some(_), result) => self.log(&file, result),
            Event::End(newest) => self.end(&newest, engine),
        }
    }

    /// `wanted`: what was expected, unless `error` itself says that.
    fn unreadable(&mut self, path: &Path, wanted: &str, error: Fault) {
        let verdict = Checked::of_problem(Problem::unreadable(wanted, error));
        self.overview.found.add(name_of(path), verdict, true);
    }

    fn begin(&mut self, place: ListedFolder, logs: &[PathBuf], unread: Vec<(PathBuf, Fault)>) {
        let (overview, folder) = (&mut self.overview, &place.folder);
        overview.kind = if folder.is_database() { Kind::Database } else { Kind::Folder };
        overview.comparator = folder.comparator().map(<[u8]>::to_vec);
        overview.is_bytewise = folder.is_bytewise();
        overview.has_records = folder.has_records();
        overview.has_undo = folder.has_undo();
        overview.manifest = huge_manifest(folder);
        // Logs that are read are added once it is known what they hold.
        let named = BTreeSet::from_iter(logs.iter().filter(|_| !overview.found.verified));
        let logs = folder.logs().filter(|(log, _)| named.contains(&log.path));
        overview.logs = logs.map(|(log, _)| (name_of(&log.path).to_vec(), log.len)).collect();
        let (files, checked) = verdicts_on_folder(&place);
        files.into_iter().for_each(|file| overview.found.add(name_of(&file.path), file.checked, true));
        overview.found.add(name_of(folder.path()), checked, false);
        for (log, error) in unread {
            match error.kind {
                ErrorKind::Damaged => self.overview.found.see_log(name_of(&log), error.to_string()),
                _ => self.unreadable(&log, "a log", error),
            }
        }
        self.begun = Some(place);
    }

    fn log(&mut self, target: &TableFile, result: Result<Looked, Fault>) {
        let mut verdict = match result {
            Ok(Looked::Log(verdict)) => *verdict,
            Ok(Looked::Table(..)) => return,
            Err(error) if error.kind == ErrorKind::Vanished => return,
            Err(error) => Checked::of_problem(Problem::unreadable("a log", error)),
        };
        self.versions.add(target, &mut verdict);
        let folder = target.folder.as_ref();
        let files = folder.map(|folder| folder.database().files());
        let file = files.and_then(|files| files.of_kind(FileKind::Log).find(|log| *log.path == *target.path));
        let is_obsolete = verdict.notes.contains(&CheckNote::ObsoleteLog);
        if !is_obsolete && (verdict.writes != Some(0) || !verdict.problems.is_empty()) {
            let len = file.map(|file| file.len).unwrap_or_default();
            self.overview.logs.push((name_of(&target.path).to_vec(), len));
        }
        self.overview.found.add(name_of(&target.path), verdict, true);
    }

    fn table(&mut self, target: &TableFile, result: Result<Looked, Fault>) {
        let (mut found, verdict) = match result {
            Ok(Looked::Table(found, verdict)) => (found, verdict.map(|verdict| *verdict)),
            Ok(Looked::Log(_)) => return,
            Err(error) => {
                let problem = Problem::unreadable("a table that can be read", error.clone());
                let verdict = self.overview.found.verified.then(|| Checked::of_problem(problem));
                (unreadable(&error), verdict)
            }
        };
        let around = target.folder.as_ref().filter(|folder| !target.listed && folder.is_database());
        self.overview.around = around.map(|folder| folder.path().to_owned());
        found.about(&target.subject(&[]), target.record(), target.listed);
        match verdict {
            Some(mut verdict) => {
                found.count(&mut verdict);
                self.versions.add(target, &mut verdict);
                self.overview.found.add(found.table.name(), verdict, true);
            }
            None => self.overview.found.see(&found),
        }
        self.overview.add(*found);
    }

    /// Adds the live tables that have no file, unless a later listing had them, and sets weights and positions.
    fn end(&mut self, newest: &ListedFolder, engine: &Engine) {
        let Self { overview, versions, begun: Some(begun), .. } = self else { return };
        if let Some(problem) = versions.problem(&newest.folder, engine) {
            overview.found.add(name_of(&newest.path), Checked::of_problem(problem), false);
        }
        let known = BTreeSet::from_iter(overview.tables.iter().filter_map(|table| table.number));
        let is_new = |number: Option<u64>| number.is_some_and(|number| !known.contains(&number));
        let missing: Vec<_> = missing_tables(begun).filter(|table| is_new(table.number)).collect();
        overview.tables.splice(0..0, missing);
        let entries = |found: &mut Inspected| {
            let (entries, marks) = (found.table.entries?.value, std::mem::take(&mut found.marks));
            Some((found.number?, TableWeight { entries, marks }))
        };
        let entries = BTreeMap::from_iter(overview.tables.iter_mut().filter_map(entries));
        overview.weights = lookup_weights(&newest.folder, &entries);
        overview.spans = spans(&begun.folder);
        overview.spans.extend(spans(&newest.folder));
    }
}

fn spans(folder: &Folder) -> Spans {
    let Ok(manifest) = folder.database().manifest() else { return Spans::default() };
    let extents: Vec<_> = manifest.tables().iter().map(Extent::of).collect();
    if folder.is_bytewise() { Spans::bytewise(&extents) } else { Spans::side_by_side(&extents) }
}
