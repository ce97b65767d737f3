//! The reasons why a rebuild or a repair is refused or fails.

use std::fmt::{self, Display};
use std::{io, path::Path};

use filterblock::{Error, escape_path};

use crate::audit::stats::LEGACY_POLICY_NAME;
use crate::report::{ErrorKind, RebuildData, RebuildReport, RebuildStatus};
use crate::text::{error_text, path_word, repair_command};
use crate::walk::FoundFormat;

/// What helps where a database cannot be changed in place.
pub(crate) const COPY: &str = "--to NEW makes a copy";

const NOTHING: &str = "nothing was changed";

/// Why a run did not finish. The database is as before the run, or as after one of the run's commits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// [`Refused`](RebuildStatus::Refused), [`InUse`](RebuildStatus::InUse), [`Failed`](RebuildStatus::Failed) or
    /// [`Interrupted`](RebuildStatus::Interrupted).
    pub status: RebuildStatus,
    /// The reason in words, with the path at fault if there is one.
    pub text: String,
    /// The kind of fault in the files; `None`: the files are not at fault.
    pub kind: Option<ErrorKind>,
    /// The options or commands that help, each with what it is for.
    pub remedies: Vec<String>,
    /// The text says what was changed.
    pub(crate) tells_state: bool,
}

/// A refusal and what helps, as the payload of an [`io::Error`] where only that can be returned.
#[derive(Debug)]
pub(super) struct Refusal(pub(super) String, pub(super) Option<&'static str>);

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

/// The result of a rebuild or a repair, or of one of their steps.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub(crate) fn refused(path: &Path, why: impl Display) -> Self {
        Self { status: RebuildStatus::Refused, ..Self::failed(format!("{}: {why}", escape_path(path)), None) }
    }

    /// The refusal of a database of another format.
    pub(crate) fn other_format(path: &Path, found: &FoundFormat) -> Self {
        let not = if found.format().is_encrypted() { ", not damaged" } else { "" };
        let failure = Self::refused(path, format_args!("{found}{not}"));
        failure.and_state(NOTHING).of_kind(ErrorKind::Unsupported)
    }

    pub(crate) const fn failed(text: String, kind: Option<ErrorKind>) -> Self {
        Self { status: RebuildStatus::Failed, text, kind, remedies: Vec::new(), tells_state: false }
    }

    pub(crate) fn in_use(text: String) -> Self {
        Self { status: RebuildStatus::InUse, ..Self::failed(text, None) }
    }

    pub(crate) fn interrupted() -> Self {
        Self { status: RebuildStatus::Interrupted, ..Self::failed("interrupted".to_owned(), None) }
    }

    /// A failure of the system during `action` at `path`, or a refusal if the error holds a [`Refusal`].
    pub(crate) fn system(action: &str, path: &Path, error: &io::Error) -> Self {
        if let Some(Refusal(why, remedy)) = error.get_ref().and_then(|error| error.downcast_ref()) {
            return Self {
                remedies: remedy.iter().map(ToString::to_string).collect(),
                ..Self::refused(path, why)
            };
        }
        let text = format!("{}: {action}: {error}{}", escape_path(path), advice(error.kind()));
        Self::failed(text, Some(ErrorKind::of_io(error)))
    }

    /// A failure of the system during `action` at `path`, where a new database was asked for.
    pub(crate) fn at_target(action: &str, path: &Path, error: &io::Error) -> Self {
        let failure =
            Self::failed(format!("{}: {action}: {error}", escape_path(path)), Some(ErrorKind::of_io(error)));
        match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                failure.and("choose a folder in which you can write")
            }
            _ => Self::system(action, path, error),
        }
    }

    pub(crate) fn of(error: Error, path: &Path) -> Self {
        let error = if error.path().is_some() { error } else { error.with_path(path) };
        if error.is_in_use() {
            let path = escape_path(error.path().unwrap_or(path));
            return Self::in_use(format!("{path}: another program has it open: close it"));
        }
        let advice = match error.without_path() {
            Error::Io { source, .. } => advice(source.kind()),
            _ => "",
        };
        let status = if is_system(&error) { RebuildStatus::Failed } else { RebuildStatus::Refused };
        let text = match error.without_path() {
            Error::Corrupt { .. } => {
                format!("{}: {}", escape_path(error.path().unwrap_or(path)), error_text(&error))
            }
            _ => format!("{error}{advice}"),
        };
        Self { status, ..Self::failed(text, Some(ErrorKind::of(&error))) }
    }

    /// Turns a failure to read a damaged database into a refusal with the command that saves it.
    pub(crate) fn while_reading(self, path: &Path) -> Self {
        if !matches!(self.kind, Some(ErrorKind::Damaged | ErrorKind::Missing)) {
            return self;
        }
        let first = format!("first: {}", repair_command(path));
        Self { status: RebuildStatus::Refused, ..self.remedy(first) }
    }

    pub(crate) fn of_kind(self, kind: ErrorKind) -> Self {
        Self { kind: Some(kind), ..self }
    }

    pub(crate) fn is_refusal(&self) -> bool {
        self.status == RebuildStatus::Refused
    }

    /// Appends `more` to the message, after a semicolon.
    pub(crate) fn and(self, more: &str) -> Self {
        Self { text: format!("{}; {more}", self.text), ..self }
    }

    /// Appends what was changed, unless that was said before.
    pub(crate) fn and_state(self, state: &str) -> Self {
        if self.tells_state { self } else { Self { tells_state: true, ..self.and(state) } }
    }

    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedies.push(remedy.into());
        self
    }

    /// The failure of a whole run. A refusal says that nothing was changed, unless it says what was.
    pub(crate) fn of_run(self) -> Self {
        if self.is_refusal() { self.and_state(NOTHING) } else { self }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<&Failure> for RebuildReport {
    fn from(failure: &Failure) -> Self {
        let Failure { status, text, kind, remedies: notes, .. } = failure.clone();
        let data = RebuildData { status, ..RebuildData::default() };
        Self { data, error: Some(text), error_kind: kind, notes, ..Self::default() }
    }
}

/// The refusal to make filters for the policy whose name stands for two hashes.
pub(crate) fn needs_hash(database: &Path, why: &str) -> Failure {
    Failure::refused(database, format_args!("{LEGACY_POLICY_NAME} stands for two hashes, and {why}"))
        .remedy("--hash unsigned  goleveldb, and LevelDB before 1.18 on ARM")
        .remedy("--hash signed    LevelDB before 1.18 on x86")
}

/// Why a file is not taken for a database, and what to give instead.
pub(crate) fn not_a_folder(file: &Path) -> String {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    format!("a file; give its folder: {}", path_word(folder))
}

/// Advice on an error; empty if there is no advice.
const fn advice(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::PermissionDenied => "; run this as the user that the database belongs to",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space; in place, --no-undo does with less"
        }
        io::ErrorKind::ReadOnlyFilesystem => "; --to makes a copy elsewhere",
        _ => "",
    }
}

/// Returns true if the system is at fault rather than the file.
pub(crate) fn is_system(error: &Error) -> bool {
    matches!(error.without_path(), Error::Io { .. } | Error::OutOfMemory { .. })
}
