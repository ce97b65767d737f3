//! The request to rebuild a database, and its options.

use std::path::PathBuf;

use filterblock::LegacyHash;

use crate::report::RebuildStatus;

/// The work to do on a database.
#[derive(Clone, Debug)]
pub enum RebuildMode {
    /// Make a second database in this folder, which appears complete or not at all.
    To(PathBuf, RebuildOptions),
    /// Replace the tables of the database.
    InPlace {
        /// The options.
        options: RebuildOptions,
        /// The old tables are kept for [`Undo`](Self::Undo).
        keeps_undo: bool,
    },
    /// Bring back the old tables, if nothing was written since they were replaced.
    Undo,
    /// Remove the old tables that were kept for [`Undo`](Self::Undo).
    Discard,
}

impl RebuildMode {
    pub(super) const fn status(&self) -> RebuildStatus {
        match self {
            Self::To(_, options) | Self::InPlace { options, .. } if options.dry_run => RebuildStatus::DryRun,
            Self::To(..) | Self::InPlace { .. } => RebuildStatus::Rebuilt,
            Self::Undo => RebuildStatus::Undone,
            Self::Discard => RebuildStatus::Discarded,
        }
    }
}

/// Options for the new tables and for making them.
#[derive(Clone, Debug)]
pub struct RebuildOptions {
    /// The filters of the new tables.
    pub filters: FilterRequest,
    /// Tables that a rebuild would refuse, such as those whose blocks cannot be decoded, keep their bytes.
    pub keep_undecodable: bool,
    /// Keys that the comparator treats as equal are assumed to have equal bytes, whatever the comparator is.
    pub assume_bytewise_equality: bool,
    /// Nothing is written in the folder of the database, or in that of the new one.
    pub dry_run: bool,
}

/// The requested filters.
#[derive(Clone, Debug)]
pub enum FilterRequest {
    /// No filters.
    Drop,
    /// New filters.
    Make {
        /// The bits per key.
        bits: u32,
        /// The policy's name; `None`: that of the tables.
        policy: Option<String>,
        /// The hash, for the policy whose name stands for two; `None`: the one of the tables' filters.
        hash: Option<LegacyHash>,
        /// The binary logarithm of a filter's range; `None`: each table keeps its own. A table whose own is not known
        /// gets the most common one or, if no table's is known, LevelDB's.
        base_lg: Option<u8>,
    },
}
