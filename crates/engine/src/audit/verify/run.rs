//! The verification of everything that the given paths lead to.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use filterblock::Error;
use filterblock::database::FileKind;
use filterblock::table::ReadAt;

use super::{Versions, check::table, log};
use crate::audit::current_manifest::{NO_CURRENT, current, missing_manifest};
use crate::audit::order::KeyOrder;
use crate::audit::skipped::Skipped;
use crate::audit::{correct, lost_keys::LostKeys, state};
use crate::engine::Engine;
use crate::report::{
    About, CheckNote, Checked, Code, ErrorKind, Outcome, Problem, StateFault, Subject, Verdict, Verified,
};
use crate::run::{Event, ListedFolder, LogUse, TableFile, Task};
use crate::walk::{Folder, Inputs, OtherFile, Sequential};

impl Engine {
    /// Reads every block of the tables that `inputs` lead to, with every entry in the blocks, and looks up every key in
    /// the filters. `sink` takes a verdict on each table and log, then on their folder as a whole, and on each path that
    /// could not be read.
    ///
    /// # Errors
    ///
    /// Those of `sink`.
    pub fn verify(
        &self,
        inputs: Inputs,
        sink: &mut impl FnMut(Verified) -> io::Result<()>,
    ) -> io::Result<Outcome> {
        let (outcome, versions) = (Outcome::default(), Versions::default());
        let mut fold = Fold { engine: self, outcome, versions, folder: None };
        let task = VerifyTask { engine: self.clone(), notes_keys: false };
        let list_failed = self.run(inputs, &task, &mut |event| fold.take(event, sink))?;
        Ok(Outcome { list_failed, ..fold.outcome })
    }
}

pub(crate) struct VerifyTask {
    pub(crate) engine: Engine,
    /// The verdicts note the different keys of the tables.
    pub(crate) notes_keys: bool,
}

impl Task for VerifyTask {
    type Found = Checked;

    const IS_LONG: bool = true;

    fn logs(&self) -> LogUse {
        LogUse::ReadAll
    }

    fn table<R: ReadAt>(&self, target: &TableFile, source: &R, progress: &dyn Fn(u64)) -> Checked {
        table(source, target.record().as_ref(), target.listed, &self.engine, self.notes_keys, progress)
    }

    fn other(&self, kind: OtherFile, target: &TableFile, contents: &mut dyn Read) -> Option<Checked> {
        other(kind, target, contents)
    }
}

/// `None`: neither a log nor a MANIFEST.
pub(crate) fn other(kind: OtherFile, file: &TableFile, contents: &mut dyn Read) -> Option<Checked> {
    let folder = file.folder.as_deref();
    match kind {
        OtherFile::Log => {
            let listed = folder.filter(|_| file.listed);
            let order = listed.and_then(Folder::comparator).and_then(KeyOrder::of);
            let mut verdict = log(contents, order);
            if listed.is_some_and(|folder| !folder.is_log_live(&file.path)) {
                verdict.notes.push(CheckNote::ObsoleteLog);
                let damage = std::mem::take(&mut verdict.problems);
                let damage =
                    damage.first().map(|first| CheckNote::DamagedObsoleteLog(Box::new(first.clone())));
                verdict.notes.extend(damage);
                verdict.stretches.clear();
            }
            Some(verdict)
        }
        OtherFile::Manifest => {
            let is_missing = |folder: &Arc<Folder>| {
                state::faults(folder).iter().any(|fault| matches!(fault, StateFault::Unlisted(_)))
            };
            Some(super::log::manifest(contents, file.folder.as_ref().is_some_and(is_missing)))
        }
        _ => None,
    }
}

type Show<'a> = dyn FnMut(Verified) -> io::Result<()> + 'a;

struct Fold<'e> {
    engine: &'e Engine,
    outcome: Outcome,
    versions: Versions,
    /// On the current folder as a whole, and the worst on one of its files.
    folder: Option<(Checked, Verdict)>,
}

impl Fold<'_> {
    fn take(&mut self, event: Event<Checked>, show: &mut Show<'_>) -> io::Result<()> {
        let unreadable = |wanted, error| Checked::of_problem(Problem::unreadable(wanted, error));
        match event {
            // A listed path is reported at the beginning of its folder.
            Event::Failed(file, _) if file.listed => Ok(()),
            Event::Failed(file, error) => {
                let checked = unreadable("a table or a database folder", error);
                self.verified(Verified::new(file.subject(&[]), About::Unreadable, checked), show)
            }
            Event::Folder { place, .. } => {
                self.versions = Versions::default();
                let (files, folder) = verdicts_on_folder(&place);
                self.folder = Some((folder, Verdict::Fine));
                files.into_iter().try_for_each(|verified| self.verified(verified, show))
            }
            // The writes of a log that is gone are in a table by now.
            Event::Found(_, Some(_), Err(error)) if error.kind == ErrorKind::Vanished => Ok(()),
            Event::Found(file, kind, result) => {
                let (about, wanted) = match kind {
                    None => (About::Table, "a table that can be read"),
                    Some(OtherFile::Manifest) => (About::Manifest, "a MANIFEST"),
                    Some(_) => (About::Log, "a log"),
                };
                let mut checked = result.unwrap_or_else(|error| unreadable(wanted, error));
                self.versions.add(&file, &mut checked);
                let folder = file.folder.clone().filter(|folder| file.listed || folder.is_database());
                self.verified(Verified { folder, ..Verified::new(file.subject(&[]), about, checked) }, show)
            }
            Event::End(place) => {
                let (mut checked, files) = self.folder.take().unwrap_or_default();
                if let Some(problem) = self.versions.problem(&place.folder, self.engine) {
                    checked.problems.push(problem);
                }
                let verified = Verified::new(place.subject(&[]), About::Folder, checked);
                let (verdict, folder) = (verified.verdict.max(files), Some(Arc::clone(&place.folder)));
                self.verified(Verified { verdict, folder, ..verified }, show)
            }
        }
    }

    fn verified(&mut self, verified: Verified, show: &mut Show<'_>) -> io::Result<()> {
        match &mut self.folder {
            Some((folder, worst)) => {
                folder.entries += verified.checked.entries;
                folder.distinct_keys += verified.checked.distinct_keys;
                folder.false_negatives += verified.checked.false_negatives;
                *worst = verified.verdict.max(*worst);
            }
            None => self.outcome.verdicts.add(verified.verdict),
        }
        show(verified)
    }
}

/// Judges files that are not read as tables and logs: a damaged MANIFEST, skipped files, missing live tables. Then, the
/// folder as a whole.
pub(crate) fn verdicts_on_folder(place: &ListedFolder) -> (Vec<Verified>, Checked) {
    let folder = &place.folder;
    let of = |path: &Path, about, problem| {
        let (folder, checked) = (Some(Arc::clone(folder)), Checked::of_problem(problem));
        Verified { folder, ..Verified::new(Subject { path, ..Subject::of(&place.input) }, about, checked) }
    };
    let skipped = folder.skipped().into_iter().map(|(path, error)| {
        let is_log = path.extension().is_some_and(|extension| extension == "log");
        let is_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        let about = if is_log || is_folder { About::Unreadable } else { About::Table };
        of(path, about, Problem::unreadable("a table", error))
    });
    let (manifest, checked) = manifest(folder);
    let manifest = manifest.map(|(path, problem)| of(path, About::Manifest, problem));
    let missing = folder.missing().map(|(path, table, _)| {
        let expected = format!("a table of {} bytes on level {}", table.size, table.level);
        let found = format!("no such file{}", folder.copy_text(table));
        let problem = Problem::new(Code::TableMissing, None, expected, found);
        of(&path, About::Table, problem.with_lost(LostKeys::of_table(table)))
    });
    (skipped.chain(manifest).chain(missing).collect(), checked)
}

/// Finds the byte with the only wrong bit in the MANIFEST.
fn wrong_bit(folder: &Folder, path: &Path, error: &Error) -> Option<u64> {
    let (FileKind::Manifest, _) = FileKind::parse(path.file_name()?.to_str()?)? else { return None };
    let source = folder.open_file(path).ok().filter(|_| ErrorKind::of(error) == ErrorKind::Damaged)?;
    let (_, bits) = correct::log::manifest(&source)?;
    <[u64; 1]>::try_from(bits).ok().map(|[bit]| bit)
}

/// The problem of the MANIFEST and its path, and the verdict on the database as a whole.
pub(crate) fn manifest(folder: &Arc<Folder>) -> (Option<(&Path, Problem)>, Checked) {
    let mut checked = Checked::default();
    if let Some((path, error)) = folder.manifest_error() {
        let problem = Problem::of(error).with_wrong_bit(wrong_bit(folder, path, error));
        // A missing MANIFEST is a fault of the database; a MANIFEST that may not be read is not.
        let problem = match folder.database().manifest().err().and_then(missing_manifest) {
            Some(title) => {
                let is_current = path.file_name().is_some_and(|name| name == "CURRENT");
                let code = if is_current { Code::CurrentMissing } else { Code::ManifestMissing };
                let plain = match is_current {
                    true => title.clone(),
                    false => format!("{title}, so LevelDB does not open the database"),
                };
                checked.warnings.extend(is_current.then(|| NO_CURRENT.to_owned()));
                Problem { code, plain: Some(plain), title: Some(title), ..problem }
            }
            None if problem.code == Code::CurrentDamaged => {
                Problem { title: problem.plain.clone(), ..problem }
            }
            None => return (Some((path, problem)), checked),
        };
        checked.problems.push(problem);
        return (None, checked);
    }
    let faults = state::faults(folder);
    faults.iter().for_each(|fault| checked.problems.push(fault.problem()));
    checked.warnings = faults.iter().filter_map(StateFault::warning).collect();
    // Tables that the MANIFEST misses show what was at its end.
    if !faults.iter().any(|fault| matches!(fault, StateFault::Unlisted(_))) {
        checked.take_end(folder.incomplete_tail(), skipped(folder));
    }
    state::huge_manifest(folder).iter().for_each(|huge| checked.problems.push(huge.problem()));
    (None, checked)
}

/// What LevelDB silently skips in the MANIFEST, or takes as it is. `None`: nothing, or the MANIFEST can no longer be
/// read.
fn skipped(folder: &Folder) -> Option<Skipped> {
    let last = folder.database().manifest().ok()?.last_sequence();
    Skipped::sequence(last).or_else(|| {
        let manifest = folder.open_file(&current(folder)?).ok()?;
        Skipped::zeros(Sequential::new(manifest)).ok()?
    })
}
