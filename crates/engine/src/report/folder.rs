//! The facts about a folder, reported before its tables, and about paths that cannot be looked at.

use std::path::{Path, PathBuf};
use std::{borrow::Cow, sync::Arc};

use serde::Serialize;

use super::frame::{Frame, Remark, Subject};
use super::problems::Problem;
use super::strings::{Name, json_path};
use super::verdict::Verdict;
use super::verify::Checked;
use crate::audit::current_manifest::manifest_fault;
use crate::report::Fault;
use crate::text::save_remedy;
use crate::walk::Folder as Listed;

/// A folder with its files, and what is known of its database as a whole.
#[derive(Clone, Debug)]
pub struct CheckedFolder {
    /// The path as the user gave it.
    pub input: Arc<Path>,
    /// The path of the folder.
    pub path: PathBuf,
    /// Its files.
    pub listed: Arc<Listed>,
    /// The logs whose writes may be in no table yet.
    pub logs: Vec<PathBuf>,
    /// Facts that are good to know.
    pub remarks: Vec<Remark>,
    /// What is known of the database as a whole.
    pub checked: Checked,
}

/// A folder, reported before its tables.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FolderData<'a> {
    /// The folder.
    #[serde(flatten)]
    pub frame: Frame<'a>,
    /// True if the folder has a MANIFEST, or a file that implies one: CURRENT, or a log that is neither empty
    /// nor a link.
    pub database: bool,
    /// Comparator that the MANIFEST names. `None`: there is no MANIFEST that can be relied on, or it names no
    /// comparator.
    pub comparator: Option<Name>,
    /// Number of table files in the folder.
    pub tables: u64,
    /// Paths of the logs whose writes may be in no table yet. No filter covers such writes.
    pub logs: Vec<Cow<'a, str>>,
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
}

impl CheckedFolder {
    /// Returns true if the MANIFEST cannot be relied on, so that all tables are taken to be live.
    pub fn is_unreadable(&self) -> bool {
        self.listed.manifest_error().is_some()
    }

    /// Why the MANIFEST cannot be used, in a few words. `None`: it can be.
    pub fn manifest_fault(&self) -> Option<String> {
        self.listed.database().manifest().err().filter(|_| self.is_unreadable()).map(manifest_fault)
    }

    /// The folder as JSON.
    pub fn data(&self) -> FolderData<'_> {
        let Self { input, path, listed, logs, remarks, checked } = self;
        let error = checked.problems.worst();
        let frame = Frame::new("folder", &Subject { input, path, remarks }, error.map(|error| error.kind));
        let is_damage = checked.problems.counts().any(|(code, _)| code.is_damage());
        let remedy = is_damage.then(|| save_remedy(path));
        FolderData {
            frame: frame.error(error.map(Problem::text)).note(remedy.into_iter()),
            database: listed.is_database(),
            comparator: listed.comparator().map(Name::cut),
            tables: listed.tables().count() as u64,
            logs: logs.iter().map(|path| json_path(path)).collect(),
        }
    }
}

impl Unreadable {
    /// The path that `subject` names, and the reason why it cannot be looked at.
    pub fn new(subject: &Subject<'_>, error: &Fault) -> Self {
        let frame = Frame::new("unreadable", subject, Some(error.kind)).error(Some(error.to_string()));
        Self { frame: frame.into_owned(), verdict: Verdict::CannotTell }
    }
}
