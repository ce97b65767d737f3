//! The verification of everything that the given paths lead to.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use filterblock::Error;
use filterblock::database::FileKind;
use filterblock::table::ReadAt;

use super::{Versions, check::table, log};
use crate::audit::current_manifest::{current, missing_manifest, open};
use crate::audit::order::Order;
use crate::audit::passed_over::PassedOver;
use crate::audit::{correct, lost_keys::LostKeys, state};
use crate::engine::{Engine, Sink};
use crate::report::{
    About, Code, ErrorKind, Finding, Note, StateFault, Subject, Verdict, VerdictCounts, Verified, Weight,
};
use crate::run::{Event, InputFile, ListedFolder, LogUse, Observer, Survey};
use crate::walk::{Folder, Inputs, OtherFile, PathError, open_listed};

/// The outcome of a verification.
#[derive(Clone, Default, Debug)]
pub struct VerifyOutcome {
    /// The number of verdicts of each status, and the sums of their entries and denied keys.
    pub counts: VerdictCounts,
    /// A list of paths could not be read to its end.
    pub list_failed: bool,
    /// The first folders that have damage, of more than filters.
    pub damaged: Vec<PathBuf>,
    /// The number of further folders that have damage.
    pub more_damaged: u64,
    /// The last folder that has damage.
    last_damaged: PathBuf,
}

/// The greatest number of damaged folders that are named.
const MAX_DAMAGED: usize = 5;

impl Engine {
    /// Reads every block of the tables that `inputs` lead to, with every entry in the blocks, and asks the filters for
    /// every key. `sink` takes a verdict on each table, on each folder as a whole, and on each path that could not be
    /// looked at.
    ///
    /// # Errors
    ///
    /// Those of `sink`.
    pub fn verify(&self, inputs: Inputs, sink: &mut impl Sink<Verified>) -> io::Result<VerifyOutcome> {
        let mut outcome = VerifyOutcome::default();
        let mut versions = Versions::default();
        self.run(inputs, &VerifySurvey { engine: self.clone(), notes_keys: false }.into(), &mut |event| {
            outcome.take(event, self, &mut versions, &mut |verified| sink.line(verified))
        })?;
        Ok(outcome)
    }
}

/// Verifies each table.
pub(crate) struct VerifySurvey {
    pub(crate) engine: Engine,
    /// The verdicts note the different keys of the tables.
    pub(crate) notes_keys: bool,
}

impl Survey for VerifySurvey {
    type Found = Verdict;

    const IS_LONG: bool = true;

    fn logs(&self) -> LogUse {
        LogUse::ReadAll
    }

    fn table<R: ReadAt>(
        &self,
        target: &InputFile,
        source: &R,
        observer: &dyn Observer,
    ) -> Result<Verdict, Error> {
        table(source, target.record().as_ref(), target.listed, &self.engine, self.notes_keys, observer)
    }

    fn other(&self, kind: OtherFile, target: &InputFile, contents: &mut dyn Read) -> Option<Verdict> {
        other(kind, target, contents)
    }

    fn failed(&self, error: &Error) -> Verdict {
        Verdict::of_finding(Finding::of(error))
    }

    fn has_vanished(&self, verdict: &Verdict) -> bool {
        verdict.findings.kind() == Some(ErrorKind::Vanished)
    }
}

/// Verifies a file that is no table; `None` if it is neither a log nor a MANIFEST.
pub(crate) fn other(kind: OtherFile, file: &InputFile, contents: &mut dyn Read) -> Option<Verdict> {
    let folder = file.folder.as_deref();
    match kind {
        OtherFile::Log => {
            let listed = folder.filter(|_| file.listed);
            let order = listed.and_then(Folder::comparator).and_then(Order::of);
            let mut verdict = log(contents, order);
            if listed.is_some_and(|folder| !folder.is_log_live(&file.path)) {
                verdict.notes.push(Note::ObsoleteLog);
                let damage = std::mem::take(&mut verdict.findings);
                let damage = damage.first().map(|first| Note::DamagedObsoleteLog(Box::new(first.clone())));
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

impl VerifyOutcome {
    fn take(
        &mut self,
        event: Event<Verdict>,
        engine: &Engine,
        versions: &mut Versions,
        show: &mut Show<'_>,
    ) -> io::Result<()> {
        const TABLE: &str = "a table that can be read";
        let unreadable = |wanted, error| Verdict::of_finding(Finding::unreadable(wanted, error));
        match event {
            Event::ListFailed { input, error } => {
                self.list_failed = true;
                self.verdict(
                    Subject::of(&input),
                    About::Unreadable,
                    unreadable("a list of paths", error),
                    show,
                )
            }
            // A listed path is reported at the beginning of its folder.
            Event::Failed { target, .. } if target.listed => Ok(()),
            Event::Failed { target, error } => {
                let verdict = unreadable("a table or a database folder", error);
                self.verdict(target.subject(&[]), About::Unreadable, verdict, show)
            }
            Event::Begin { place, .. } => {
                *versions = Versions::default();
                let verdicts = verdicts_on_folder(&place);
                verdicts.iter().for_each(|verified| self.see(&place.folder, &verified.verdict));
                verdicts.into_iter().try_for_each(|verified| self.verified(verified, show))
            }
            // The writes of a log that is gone are in a table by now.
            Event::Other { result: Err(error), .. } if error.kind() == ErrorKind::Vanished => Ok(()),
            Event::Other { kind, target, result } => {
                let about = if kind == OtherFile::Manifest { About::Manifest } else { About::Log };
                let mut verdict = result.unwrap_or_else(|error| unreadable("a log", error));
                versions.add(&target, &mut verdict);
                self.verdict(target.subject(&[]), about, verdict, show)
            }
            Event::End(place) => match versions.finding(&place.folder, engine) {
                None => Ok(()),
                Some(finding) => {
                    let verdict = Verdict::of_finding(finding);
                    self.see(&place.folder, &verdict);
                    self.verdict(place.subject(&[]), About::Folder, verdict, show)
                }
            },
            Event::Table { target, result } => {
                if let Some((folder, error)) = &target.around {
                    let verdict = unreadable("a folder that can be listed", error.clone());
                    let subject = Subject { path: folder, ..Subject::of(&target.input) };
                    self.verdict(subject, About::Unreadable, verdict, show)?;
                }
                let mut verdict = result.unwrap_or_else(|error| unreadable(TABLE, error));
                versions.add(&target, &mut verdict);
                target.folder.iter().for_each(|folder| self.see(folder, &verdict));
                self.verdict(target.subject(&[]), About::Table, verdict, show)
            }
            Event::Lost(target) => {
                let verdict = unreadable(TABLE, PathError::vanished());
                self.verdict(target.subject(&[]), About::Table, verdict, show)
            }
        }
    }

    /// Notes the folder of a verdict if that tells of damage.
    fn see(&mut self, folder: &Folder, verdict: &Verdict) {
        let is_damage = verdict.findings.counts().any(|(code, _)| code.weight() == Weight::Damage);
        if !is_damage || self.last_damaged == folder.path() {
            return;
        }
        self.last_damaged = folder.path().to_owned();
        match self.damaged.len() < MAX_DAMAGED {
            true => self.damaged.push(folder.path().to_owned()),
            false => self.more_damaged += 1,
        }
    }

    fn verdict(
        &mut self,
        subject: Subject<'_>,
        about: About,
        verdict: Verdict,
        show: &mut Show<'_>,
    ) -> io::Result<()> {
        self.verified(Verified::new(subject, about, verdict), show)
    }

    fn verified(&mut self, verified: Verified, show: &mut Show<'_>) -> io::Result<()> {
        if verified.counts() {
            self.counts.add(&verified.verdict);
        }
        show(verified)
    }
}

/// The verdicts on a folder that precede those on its tables: on files that are not looked at, on the MANIFEST, and
/// on live tables that are not there.
pub(crate) fn verdicts_on_folder(place: &ListedFolder) -> Vec<Verified> {
    let folder = &place.folder;
    let of = |path: &Path, about, verdict| {
        Verified::new(Subject { path, ..Subject::of(&place.input) }, about, verdict)
    };
    let skipped = folder.skipped().into_iter().map(|(path, error)| {
        let is_log = path.extension().is_some_and(|extension| extension == "log");
        let is_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        let about = if is_log || is_folder { About::Unreadable } else { About::Table };
        of(path, about, Verdict::of_finding(Finding::unreadable("a table", error)))
    });
    let (path, verdict) = manifest(folder);
    let missing = folder.missing().map(|(path, table, _)| {
        let expected = format!("a table of {} bytes on level {}", table.size, table.level);
        let found = format!("no such file{}", folder.copy_text(table));
        let finding = Finding::new(Code::TableMissing, None, expected, found);
        of(&path, About::Table, Verdict::of_finding(finding.with_lost(LostKeys::of_table(table))))
    });
    skipped.chain([of(path, About::Folder, verdict)]).chain(missing).collect()
}

/// The offset of the byte with the only wrong bit in the MANIFEST; `None` if no such bit is found.
fn wrong_bit(folder: &Folder, path: &Path, error: &Error) -> Option<u64> {
    let (FileKind::Manifest, _) = FileKind::parse(path.file_name()?.to_str()?)? else { return None };
    let source =
        open_listed(folder.storage(), path).ok().filter(|_| ErrorKind::of(error) == ErrorKind::Damaged)?;
    let (_, bits) = correct::log::manifest(source)?;
    <[u64; 1]>::try_from(bits).ok().map(|[bit]| bit)
}

/// Returns the path that the verdict on a whole folder is about, and the verdict. The verdict names the fault of the
/// MANIFEST or, if there is none, those of the database as a whole.
fn manifest(folder: &Arc<Folder>) -> (&Path, Verdict) {
    let mut verdict = Verdict::default();
    if let Some((path, error)) = folder.manifest_error() {
        let finding = Finding::of(error).with_wrong_bit(wrong_bit(folder, path, error));
        // A missing MANIFEST is a fault of the database; a MANIFEST that may not be read is not.
        let finding = match folder.database().manifest().err().and_then(missing_manifest) {
            Some(text) => {
                let plain = Some(format!("{text}: LevelDB does not open the database"));
                Finding { code: Code::Manifest, plain, ..finding }
            }
            None => finding,
        };
        verdict.findings.push(finding);
        return (path, verdict);
    }
    let faults = state::faults(folder);
    faults.iter().for_each(|fault| verdict.findings.push(fault.finding()));
    // Tables that the MANIFEST misses show what was at its end.
    if !faults.iter().any(|fault| matches!(fault, StateFault::Unlisted(_))) {
        verdict.take_end(folder.incomplete_tail(), passed_over(folder));
    }
    if let Some(huge) = state::huge_manifest(folder) {
        verdict.notes.push(Note::HugeManifest(huge.text(folder.path())));
    }
    (folder.path(), verdict)
}

/// Finds a part of the MANIFEST that LevelDB passes over, or a number that it takes as it is. `None`: there is neither,
/// or the MANIFEST can no longer be read.
fn passed_over(folder: &Folder) -> Option<PassedOver> {
    let last = folder.database().manifest().ok()?.last_sequence();
    PassedOver::sequence(last).or_else(|| {
        let path = current(folder, folder.storage())?;
        PassedOver::zeros(open(&path, true, folder.storage()).ok()?).ok()?
    })
}
