//! The request for a scan, and the outcome.

use super::range::KeyRange;
use crate::report::{ErrorKind, Fault};

/// The entries to show.
#[derive(Clone, Debug, Default)]
pub struct ScanRequest {
    /// Shows every version of each key and every deletion. Otherwise, a database, or a table that is shown by itself,
    /// shows the newest version of each key, unless it is a deletion; a log that is shown by itself leaves out
    /// deletions only.
    pub all: bool,
    /// Finds the data blocks of tables by their checksums, without footer and index.
    #[cfg(feature = "fs")]
    pub carve: bool,
    /// Corrects one wrong bit of each block of tables and of each fragment of logs and MANIFESTs, if the checksum
    /// reveals which bit it is.
    #[cfg(feature = "fs")]
    pub correct: bool,
    /// The range of keys to show.
    pub range: KeyRange,
    /// The greatest number of entries to show; `None`: all entries.
    pub limit: Option<u64>,
    /// True if the keys of tables that are shown one by one are internal keys. `None`: the keys of a database's tables
    /// are internal keys; for other tables, their filters or first keys decide.
    pub internal_keys: Option<bool>,
}

// Without the feature `fs`, nothing is compiled for what cannot be asked for: these functions are constant there.
impl ScanRequest {
    pub(super) const fn carves(&self) -> bool {
        #[cfg(feature = "fs")]
        return self.carve;
        #[cfg(not(feature = "fs"))]
        false
    }

    pub(super) const fn corrects(&self) -> bool {
        #[cfg(feature = "fs")]
        return self.correct;
        #[cfg(not(feature = "fs"))]
        false
    }
}

/// The outcome of a scan.
#[derive(Clone, Copy, Default, Debug)]
pub struct ScanOutcome {
    /// A file is damaged, and the damaged part was passed over.
    pub is_damaged: bool,
    /// An input, a file or a part of a file could not be looked at for a reason other than damage, or a MANIFEST cannot
    /// be relied on.
    pub has_failed: bool,
    /// A list of paths could not be read to its end.
    pub list_failed: bool,
}

impl ScanOutcome {
    pub(super) fn count(&mut self, fault: &Fault) {
        match fault.kind {
            ErrorKind::Damaged => self.is_damaged = true,
            _ => self.has_failed = true,
        }
    }
}
