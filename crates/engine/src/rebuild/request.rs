//! The request to rebuild a database, and its options.

use std::path::PathBuf;

use filterblock::LegacyHash;

use super::failure::{Failure, Result};
use crate::{report::RebuildStatus, run::Watch};

/// The work to do on a database.
#[derive(Clone, Debug)]
pub enum Request {
    /// Make a second database in this folder, which appears complete or not at all.
    To(PathBuf, Options),
    /// Replace the tables of the database.
    InPlace(Options, InPlace),
    /// Bring back the old tables, if nothing was written since they were replaced.
    Undo,
    /// Remove the old tables that were kept for [`Undo`](Self::Undo).
    Discard,
}

impl Request {
    /// The status of the report once the request is carried out.
    pub(super) const fn status(&self) -> RebuildStatus {
        match self {
            Self::To(_, options) | Self::InPlace(options, _) if options.dry_run => RebuildStatus::DryRun,
            Self::To(..) | Self::InPlace(..) => RebuildStatus::Rebuilt,
            Self::Undo => RebuildStatus::Undone,
            Self::Discard => RebuildStatus::Discarded,
        }
    }
}

/// Options for the new tables and for making them.
#[derive(Clone, Debug)]
pub struct Options {
    /// The filters of the new tables.
    pub filters: FilterRequest,
    /// Tables that a rebuild would refuse, such as those whose blocks cannot be decoded, keep their bytes.
    pub keep_undecodable: bool,
    /// Keys that the comparator treats as equal are assumed to have equal bytes, whatever the comparator is.
    pub assume_bytewise_equality: bool,
    /// The new tables are verified before they take the place of the old ones.
    pub verify: bool,
    /// The maximum number of tables to work on simultaneously; `None`: as many as there are processors.
    pub jobs: Option<u16>,
    /// Nothing is written.
    pub dry_run: bool,
}

/// The options that only a rebuild in place has.
#[derive(Clone, Debug)]
pub struct InPlace {
    /// The maximum total size in bytes of the tables that one commit replaces; a larger table has a commit of its own.
    /// `None`: one commit replaces all tables.
    pub batch: Option<u64>,
    /// The old tables are kept for [`Request::Undo`].
    pub keeps_undo: bool,
}

/// Fails once the program is asked to stop.
pub(crate) fn check(watch: &dyn Watch) -> Result<()> {
    if watch.is_interrupted() { Err(Failure::interrupted()) } else { Ok(()) }
}

/// The requested filters.
#[derive(Clone, Debug)]
pub enum FilterRequest {
    /// No filters.
    Drop,
    /// New filters.
    Make {
        /// The numbers of bits a key.
        bits: BitsByLevel,
        /// The policy's name; `None`: that of the tables.
        policy: Option<String>,
        /// The hash, for the policy whose name stands for two hashes; `None`: the one that the filters of the tables
        /// were made with.
        hash: Option<LegacyHash>,
        /// The binary logarithm of a filter's range; `None`: each table keeps its own. A table whose own is not known
        /// gets the most common one or, if no table's is known, LevelDB's.
        base_lg: Option<u8>,
    },
}

/// Bits a key: one number for all levels, or numbers for some levels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BitsByLevel(Vec<(u8, u32)>);

impl BitsByLevel {
    /// The same number for all levels.
    pub fn all(bits: u32) -> Self {
        Self(vec![(0, bits)])
    }

    /// Numbers for levels, given as pairs of a level and its number. `None` if there are no numbers, or two for one
    /// level.
    pub fn new(mut levels: Vec<(u8, u32)>) -> Option<Self> {
        levels.sort_unstable();
        let twice = levels.iter().zip(levels.iter().skip(1)).any(|(a, b)| a.0 == b.0);
        (!twice && !levels.is_empty()).then_some(Self(levels))
    }

    /// The number for a level: its own, that of the nearest level above it that has a number, or else that of
    /// the nearest level below it that has a number.
    pub fn of(&self, level: u8) -> u32 {
        let above = self.0.iter().rev().find(|&&(of, _)| of <= level);
        above.or(self.0.first()).map_or(0, |&(_, bits)| bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_without_a_number_have_that_of_the_level_above() {
        let bits = BitsByLevel::new(vec![(3, 9), (1, 20)]).unwrap();
        assert_eq!([0, 1, 2, 3, 4, 6].map(|level| bits.of(level)), [20, 20, 20, 9, 9, 9]);
        assert_eq!(BitsByLevel::all(7).of(5), 7);
        assert_eq!(BitsByLevel::new(vec![(1, 2), (1, 2)]), None);
        assert_eq!(BitsByLevel::new(vec![]), None);
    }
}
