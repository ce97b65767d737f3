//! The facts about a folder, reported before its tables, and about paths that cannot be looked at.

use std::{path::PathBuf, sync::Arc};

use filterblock::escape_path;
use serde::{Serialize, Serializer};

use super::frame::{ErrorKind, Frame, Remark, Subject};
use super::inspect::InspectStatus;
use super::state::StateFault;
use super::strings::{Name, json_path};
use crate::walk::{Folder as Listed, FoundFormat, PathError};
use crate::words::remedy_of_current;

/// A folder, reported before its tables.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Folder {
    /// The folder.
    #[serde(flatten)]
    pub frame: Frame<'static>,
    /// True if the folder has a MANIFEST, or a file that implies one: CURRENT, or a log that is neither empty
    /// nor a link.
    pub database: bool,
    /// Comparator that the MANIFEST names. `None`: there is no MANIFEST that can be relied on, or it names no
    /// comparator.
    pub comparator: Option<Name>,
    /// Reason why the MANIFEST cannot be relied on, so that all tables are taken to be live. `None`: it can
    /// be relied on, or there is no database.
    pub error: Option<String>,
    /// Number of table files in the folder.
    pub tables: u64,
    /// Paths of the logs whose writes may be in no table yet. No filter covers such writes.
    #[serde(serialize_with = "paths")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub logs: Vec<PathBuf>,

    /// The path of the folder.
    #[serde(skip)]
    pub path: PathBuf,
    /// The files of the folder.
    #[serde(skip)]
    pub listed: Arc<Listed>,
    /// The remarks, which the notes of `frame` have as text.
    #[serde(skip)]
    pub remarks: Vec<Remark>,
    /// The faults of the database as a whole, which the notes of `frame` have as text.
    #[serde(skip)]
    pub faults: Vec<StateFault>,
}

/// A path that could not be looked at.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unreadable {
    /// The path.
    #[serde(flatten)]
    pub frame: Frame<'static>,
    /// Always `error`.
    pub status: InspectStatus,
    /// Reason why the path cannot be looked at.
    pub error: String,

    /// The path.
    #[serde(skip)]
    pub path: PathBuf,
    /// The other format, if that is the reason.
    #[serde(skip)]
    pub other_format: Option<FoundFormat>,
}

impl Folder {
    /// The folder that `subject` names. `logs`: its logs whose writes may be in no table yet. `faults`: those of the
    /// database as a whole.
    pub fn new(
        subject: &Subject<'_>,
        folder: &Arc<Listed>,
        logs: Vec<PathBuf>,
        faults: Vec<StateFault>,
    ) -> Self {
        let fault = folder.manifest_error();
        let kind = fault.map(|(_, error)| ErrorKind::of(error));
        let kind = kind.or_else(|| (!faults.is_empty()).then_some(ErrorKind::Damaged));
        let frame = Frame::new("folder", subject, kind);
        Self {
            frame: frame.note(faults.iter().map(StateFault::text)).into_owned(),
            database: folder.is_database(),
            comparator: folder.comparator().map(Name::cut),
            error: fault
                .map(|(path, error)| format!("{}: {error}{}", escape_path(path), remedy_of_current(folder))),
            tables: folder.tables().count() as u64,
            logs,
            path: subject.path.to_owned(),
            listed: Arc::clone(folder),
            remarks: subject.remarks.to_vec(),
            faults,
        }
    }
}

impl Unreadable {
    /// The path that `subject` names, and the reason why it cannot be looked at.
    pub fn new(subject: &Subject<'_>, error: &PathError) -> Self {
        Self {
            frame: Frame::new("unreadable", subject, Some(error.kind())).into_owned(),
            status: InspectStatus::Error,
            error: error.to_string(),
            path: subject.path.to_owned(),
            other_format: error.other_format().cloned(),
        }
    }
}

fn paths<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| json_path(path)))
}
