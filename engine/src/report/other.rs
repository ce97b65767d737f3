//! The facts about a log or a MANIFEST that the user named.

use serde::Serialize;

use super::inspect::InspectStatus;
use super::verify::{Verified, VerifyStatus};
use super::{frame::Frame, subject::Subject};

/// A log or a MANIFEST that was named.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Other {
    /// The file.
    #[serde(flatten)]
    pub frame: Frame<'static>,
    /// `ok`: nothing wrong was found; `error`: the file is damaged, or cannot be read.
    pub status: InspectStatus,
    /// The first fault. `None`: no fault was found.
    pub error: Option<String>,
    /// Size of the file in bytes.
    pub file_size: Option<u64>,
    /// Number of writes in a log that can be read. `None`: the file is a MANIFEST.
    pub writes: Option<u64>,
    /// Number of batches that these writes are in. `None`: the file is a MANIFEST.
    pub batches: Option<u64>,
    /// The verdict.
    #[serde(skip)]
    pub verified: Verified,
}

impl Other {
    pub(crate) fn new(subject: &Subject<'_>, verified: Verified, file_size: u64) -> Self {
        let (verdict, object) = (&verified.verdict, verified.about.name());
        let frame = Frame::new(object, subject, verdict.findings.kind());
        let is_sound = verified.status == VerifyStatus::Sound;
        Self {
            frame: frame.note(verdict.notes.iter().map(ToString::to_string)).into_owned(),
            status: if is_sound { InspectStatus::Ok } else { InspectStatus::Error },
            error: verdict.findings.first().map(ToString::to_string),
            file_size: Some(file_size),
            writes: verdict.writes,
            batches: verdict.batches,
            verified,
        }
    }
}
