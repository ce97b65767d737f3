//! The effects of filters, in use or tried, and the reasons why `tune` has no results for a database, or leaves out a
//! table.

use super::estimate::Estimate;
use super::strings::words;
use crate::audit::rates::Rate;

/// The effects of some filters: those in use, or those of a candidate.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Effect {
    /// Bytes of all filter blocks.
    pub size: Estimate,
    /// False-positive rates.
    pub rates: Rates,
    /// Data blocks that lookups read. `None`: the order of keys is not known, or a table was given by itself.
    pub reads: Option<Reads>,
    /// The effects on each level of the tuning.
    pub levels: Vec<LevelEffect>,
}

impl Effect {
    /// Data blocks that a lookup saves with `then`, of an absent or a stored key, whichever saves more.
    pub(crate) fn saved(&self, then: &Self) -> f64 {
        self.reads.zip(then.reads).map_or(0.0, |(now, then)| {
            (now.absent.value - then.absent.value).max(now.stored.value - then.stored.value)
        })
    }
}

/// The effects of some filters on one level.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct LevelEffect {
    /// The level. `None`: the table was given by itself.
    pub number: Option<u8>,
    /// Bytes of the filter blocks of this level.
    pub size: Estimate,
    /// Mean number of data blocks of this level that a lookup of an absent key reads. `None`: as for [`Effect::reads`].
    pub reads: Option<Estimate>,
}

/// The shares of absent keys that may match, out of those that reach a table: all without filters. `None`: no such key
/// was looked up.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Rates {
    /// Of random keys, which do not resemble stored ones.
    pub random: Option<Rate>,
    /// Of keys similar to stored ones, in the order of [`SimilarKind::ALL`].
    pub similar: [Option<Rate>; 4],
    /// The greatest of `similar` among the kinds that a program with such keys is likely to look up.
    pub worst: Option<Rate>,
    /// Of the absent keys of `--lookups`.
    pub lookups: Option<Rate>,
}

/// The mean numbers of data blocks that lookups read.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Reads {
    /// Of absent keys: those of `--lookups` where some were given, 0 if all of these are stored, or else random ones.
    pub absent: Estimate,
    /// Of stored keys: those of `--lookups` where some were given.
    pub stored: Estimate,
    /// Of random absent keys.
    pub random: Estimate,
    /// Of absent keys similar to stored ones, in the order of [`SimilarKind::ALL`]. `None`: no such key was looked up.
    pub similar: [Option<Estimate>; 4],
    /// The kind that reads most among those that a program with such keys is likely to look up.
    pub worst: Option<SimilarKind>,
}

impl Reads {
    /// The reads of this kind of keys similar to stored ones.
    pub fn of_kind(&self, kind: SimilarKind) -> Option<Estimate> {
        self.similar.get(kind as usize).copied().flatten()
    }
}

words! {
    /// A kind of absent key similar to stored ones.
    SimilarKind {
        /// A stored key with a byte changed.
        Changed = "changed",
        /// A stored key whose number is changed to a missing number between its own and that of the next stored key or,
        /// where that key's number is not known or is far away, to a number close by. In a key without a number, the
        /// last bytes are taken as its number.
        Between = "between-numbers",
        /// A stored key without its last bytes.
        CutShort = "cut-short",
        /// A stored key with some bytes appended.
        Lengthened = "lengthened",
    }
}
