//! The facts about a folder, reported before its tables, and about paths that cannot be looked at.

use std::{path::PathBuf, sync::Arc};

use serde::{Serialize, Serializer};

use super::frame::{Frame, Remark, Subject};
use super::problems::Problem;
use super::strings::{Name, json_path};
use super::verdict::Verdict;
use super::verify::Checked;
use crate::audit::current_manifest::manifest_fault;
use crate::report::Fault;
use crate::text::repair_command;
use crate::walk::{Folder as Listed, FoundFormat};

/// A folder, reported before its tables.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FolderData {
    /// The folder.
    #[serde(flatten)]
    pub frame: Frame<'static>,
    /// True if the folder has a MANIFEST, or a file that implies one: CURRENT, or a log that is neither empty
    /// nor a link.
    pub database: bool,
    /// Comparator that the MANIFEST names. `None`: there is no MANIFEST that can be relied on, or it names no
    /// comparator.
    pub comparator: Option<Name>,
    /// Number of table files in the folder.
    pub tables: u64,
    /// Paths of the logs whose writes may be in no table yet. No filter covers such writes.
    #[serde(serialize_with = "paths")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub logs: Vec<PathBuf>,

    /// The files of the folder.
    #[serde(skip)]
    pub listed: Arc<Listed>,
    /// The remarks, which the notes of `frame` have as text.
    #[serde(skip)]
    pub remarks: Vec<Remark>,
    /// What is known of the database as a whole.
    #[serde(skip)]
    pub checked: Box<Checked>,
}

/// A path that could not be looked at.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unreadable {
    /// The path.
    #[serde(flatten)]
    pub frame: Frame<'static>,
    /// How the path is.
    pub verdict: Verdict,

    /// The other format, if that is the reason.
    #[serde(skip)]
    pub other_format: Option<FoundFormat>,
}

impl FolderData {
    /// Returns true if the MANIFEST cannot be relied on, so that all tables are taken to be live.
    pub fn is_unreadable(&self) -> bool {
        self.listed.manifest_error().is_some()
    }

    /// Why the MANIFEST cannot be used, in a few words. `None`: it can be.
    pub fn manifest_fault(&self) -> Option<String> {
        self.listed.database().manifest().err().filter(|_| self.is_unreadable()).map(manifest_fault)
    }

    /// `logs`: of the folder, with writes that may be in no table yet. `checked`: what is known of the database as a
    /// whole.
    pub fn new(subject: &Subject<'_>, folder: &Arc<Listed>, logs: Vec<PathBuf>, checked: Checked) -> Self {
        let error = checked.problems.worst();
        let frame = Frame::new("folder", subject, error.map(|error| error.kind));
        let is_damage = checked.problems.counts().any(|(code, _)| code.is_damage());
        let remedy =
            is_damage.then(|| format!("to save what can be saved: {}", repair_command(subject.path)));
        Self {
            frame: frame.error(error.map(Problem::text)).note(remedy.into_iter()).into_owned(),
            database: folder.is_database(),
            comparator: folder.comparator().map(Name::cut),
            tables: folder.tables().count() as u64,
            logs,
            listed: Arc::clone(folder),
            remarks: subject.remarks.to_vec(),
            checked: Box::new(checked),
        }
    }
}

impl Unreadable {
    /// The path that `subject` names, and the reason why it cannot be looked at.
    pub fn new(subject: &Subject<'_>, error: &Fault) -> Self {
        let frame = Frame::new("unreadable", subject, Some(error.kind)).error(Some(error.to_string()));
        Self {
            frame: frame.into_owned(),
            verdict: Verdict::CannotTell,
            other_format: error.other_format().cloned(),
        }
    }
}

fn paths<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| json_path(path)))
}
