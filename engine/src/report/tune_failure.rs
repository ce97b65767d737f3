//! The reasons why `tune` has no results for a database, or leaves out a table.

use std::path::{Path, PathBuf};

use filterblock::Error;
use serde::{Serialize, Serializer};

use super::{error_kind::ErrorKind, strings::json_path};
use crate::walk::FoundFormat;

/// The reason why there is nothing to show for a database or table.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct TuneFailure {
    /// The reason in words.
    pub text: String,
    /// The kind of fault; `None` if nothing is wrong with the files that were read.
    pub kind: Option<ErrorKind>,
    /// The other format, if that is the reason.
    pub other_format: Option<FoundFormat>,
    /// The command that comes first, as the database is damaged. `None`: it is not damaged as a whole, or could not be
    /// read.
    pub first: Option<String>,
}

impl TuneFailure {
    /// The failure for this reason.
    pub fn new(text: impl Into<String>, kind: impl Into<Option<ErrorKind>>) -> Self {
        Self { text: text.into(), kind: kind.into(), other_format: None, first: None }
    }

    /// The failure for `error`. Its text does not contain the path, which messages show before the
    /// text.
    pub fn of(error: &Error) -> Self {
        Self::new(error.without_path().to_string(), ErrorKind::of(error))
    }
}

impl From<Error> for TuneFailure {
    fn from(error: Error) -> Self {
        Self::of(&error)
    }
}

/// A table that could not be read, or whose filters deny stored keys.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TuneFault {
    /// Path of the table.
    #[serde(serialize_with = "path")]
    pub path: PathBuf,
    /// Reason why the table could not be read, or the number of stored keys that its filters deny.
    pub error: String,
    /// The name of the table's file.
    #[serde(skip)]
    pub name: String,
    /// See [`TuneFailure::kind`].
    #[serde(skip)]
    pub kind: Option<ErrorKind>,
    /// The number of stored keys that the filters deny. 0: the table could not be read.
    #[serde(skip)]
    pub denied: u64,
}

fn path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&json_path(path))
}
