//! What is asked for.

use std::path::PathBuf;

use filterblock::LegacyHash;

use super::failure::{Failure, Result};
use crate::{report::RebuildStatus, run::Watch};

/// What is to be done with a database.
#[derive(Clone, Debug)]
pub enum Request {
    /// Make a second one in this folder, which appears whole or not at all.
    To(PathBuf, Options),
    /// Replace its tables.
    InPlace(Options, InPlace),
    /// Bring back the tables from before they were replaced, if nothing was written since.
    Undo,
    /// Remove the tables from before they were replaced.
    Discard,
}

impl Request {
    /// What has become of a database once this is done.
    pub(super) const fn status(&self) -> RebuildStatus {
        match self {
            Self::To(_, options) | Self::InPlace(options, _) if options.dry_run => RebuildStatus::DryRun,
            Self::To(..) | Self::InPlace(..) => RebuildStatus::Rebuilt,
            Self::Undo => RebuildStatus::Undone,
            Self::Discard => RebuildStatus::Discarded,
        }
    }
}

/// What new tables are to be like, and how they are made.
#[derive(Clone, Debug)]
pub struct Options {
    /// Their filters.
    pub filters: FilterRequest,
    /// Tables whose blocks cannot be decoded keep their bytes.
    pub keep_undecodable: bool,
    /// Keys that are equal to the comparator have equal bytes, whatever comparator it is.
    pub assume_bytewise_equality: bool,
    /// The new tables are verified before they take the place of the old ones.
    pub verify: bool,
    /// The most tables to work on at once; as many as there are processors if `None`.
    pub jobs: Option<u16>,
    /// Nothing is written.
    pub dry_run: bool,
}

/// What is special to a rebuild in place.
#[derive(Clone, Debug)]
pub struct InPlace {
    /// The most bytes of tables to replace with one commit.
    pub batch: Option<u64>,
    /// The old tables are kept for [`Request::Undo`].
    pub keeps_undo: bool,
}

/// Fails once the program is asked to stop.
pub(super) fn check(watch: &dyn Watch) -> Result<()> {
    if watch.is_interrupted() { Err(Failure::interrupted()) } else { Ok(()) }
}

/// The filters that are asked for.
#[derive(Clone, Debug)]
pub enum FilterRequest {
    /// None.
    Drop,
    /// New ones.
    Make {
        /// Bits a key.
        bits: BitsByLevel,
        /// The policy's name; `None`: that of the tables.
        policy: Option<String>,
        /// For the policy whose name stands for two hashes.
        hash: Option<LegacyHash>,
        /// `None`: that of each table.
        base_lg: Option<u8>,
    },
}

/// Bits a key: one number for all levels, or one for each of some.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BitsByLevel(Vec<(u8, u32)>);

impl BitsByLevel {
    /// The same number for all levels.
    pub fn all(bits: u32) -> Self {
        Self(vec![(0, bits)])
    }

    /// Numbers by level, of which there is at least one. `None` if a level comes twice.
    pub fn new(mut levels: Vec<(u8, u32)>) -> Option<Self> {
        levels.sort_unstable();
        let twice = levels.iter().zip(levels.iter().skip(1)).any(|(a, b)| a.0 == b.0);
        (!twice && !levels.is_empty()).then_some(Self(levels))
    }

    /// The number for a level: that of the nearest level above it that has one, else that of the
    /// first.
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
