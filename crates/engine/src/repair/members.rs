//! The files of a damaged database, each with its readable parts and its standing.

use std::collections::{BTreeMap, BTreeSet};

use filterblock::KeyFormat;
use filterblock::table::IdbComparator;

use super::log::SavedLog;
use super::lost::Place;
use super::order::KeyOrder;
use super::table::SavedTable;

/// A file, or a table that is missing.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) number: u64,
    pub(super) len: u64,
    pub(super) saved: Saved,
    pub(super) place: Place,
    pub(super) standing: Standing,
}

pub(super) enum Saved {
    Table(SavedTable),
    Log(SavedLog),
    /// There is no such file.
    Missing(SavedTable),
    /// A table that cannot be read, and why.
    Unreadable(SavedTable, String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Standing {
    Live,
    /// Its entries are in other files, or were deleted. They count only where entries of live files are lost.
    Obsolete,
    /// Only between these user keys.
    ObsoleteBetween(Vec<u8>, Vec<u8>),
}

impl Member {
    /// `None`: a log.
    pub(super) const fn table(&self) -> Option<&SavedTable> {
        match &self.saved {
            Saved::Table(table) | Saved::Missing(table) | Saved::Unreadable(table, _) => Some(table),
            Saved::Log(_) => None,
        }
    }

    pub(super) const fn log(&self) -> Option<&SavedLog> {
        match &self.saved {
            Saved::Log(log) => Some(log),
            _ => None,
        }
    }

    pub(super) fn last_sequence(&self) -> u64 {
        self.log()
            .map_or(0, |log| log.last_sequence)
            .max(self.table().map_or(0, |table| table.facts.last_sequence))
    }

    /// True if the comparator may treat keys with other bytes as equal to one of the file's.
    pub(super) fn has_ambiguous_keys(&self) -> bool {
        self.log().is_some_and(|log| log.has_ambiguous_keys)
            || self.table().is_some_and(|table| table.facts.has_ambiguous_keys)
    }

    /// True if all keys of a log, or the ends of a table, have the form of Chromium's IndexedDB.
    pub(super) fn may_be_chromiums(&self) -> bool {
        let ends = self
            .ends()
            .is_none_or(|(first, last)| [first, last].iter().all(|key| IdbComparator::is_decodable(key)));
        ends && self.log().is_none_or(|log| log.are_chromiums)
    }

    /// True if the key's entries here count only where entries of live files are lost.
    pub(super) fn is_obsolete_at(&self, user_key: &[u8], order: &KeyOrder) -> bool {
        match &self.standing {
            Standing::Live => false,
            Standing::Obsolete => true,
            Standing::ObsoleteBetween(low, high) => {
                order.compare(low, user_key).is_le() && order.compare(user_key, high).is_le()
            }
        }
    }

    /// Returns the ends of the sound blocks of a table. `None`: there are none, or this is a log.
    fn ends(&self) -> Option<(&[u8], &[u8])> {
        let facts = &self.table()?.facts;
        let [low, high] = [facts.smallest.as_deref()?, facts.largest.as_deref()?];
        Some((KeyFormat::LevelDb.user_key(low)?, KeyFormat::LevelDb.user_key(high)?))
    }
}

/// Later files to pair a file with for one shared entry: thousands of files may have it.
const MOST_SHARING: usize = 32;

/// Pairs of files that share an entry: one of them was made from the other.
#[derive(Default)]
pub(super) struct Shares {
    key: Vec<u8>,
    sequence: u64,
    files: Vec<usize>,
    pairs: BTreeSet<(usize, usize)>,
}

impl Shares {
    /// Takes entries in the order of keys and then of sequence numbers.
    pub(super) fn add(&mut self, user_key: &[u8], sequence: u64, file: usize, order: &KeyOrder) {
        if self.files.is_empty() || self.sequence != sequence || order.compare(&self.key, user_key).is_ne() {
            self.end_of_group();
            self.key.clear();
            self.key.extend_from_slice(user_key);
            self.sequence = sequence;
        }
        self.files.push(file);
    }

    fn end_of_group(&mut self) {
        for (at, &one) in self.files.iter().enumerate() {
            let others = self.files.iter().skip(at.saturating_add(1)).take(MOST_SHARING);
            self.pairs.extend(others.map(|&other| (one, other)));
        }
        self.files.clear();
    }

    /// Decides without a MANIFEST. Of tables that share an entry, the one with the lower number is obsolete between the
    /// ends of all tables made from it, or completely if these have no sound blocks. A log that shares an entry with a
    /// table is obsolete.
    pub(super) fn decide(mut self, members: &mut [Member], order: &KeyOrder) {
        self.end_of_group();
        let mut made_of: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (one, other) in self.pairs {
            let (Some(a), Some(b)) = (members.get(one), members.get(other)) else { continue };
            let is_log = |member: &Member| member.log().is_some();
            let (old, new) = match (is_log(a), is_log(b)) {
                (true, true) => continue,
                (true, false) => (one, other),
                (false, true) => (other, one),
                (false, false) if a.number < b.number => (one, other),
                (false, false) if a.number > b.number => (other, one),
                // Two tables with the same number.
                _ => continue,
            };
            made_of.entry(old).or_default().insert(new);
        }
        let mut decided = Vec::new();
        for (old, new) in made_of {
            let ends = new.iter().filter_map(|&at| members.get(at)?.ends());
            let hull = ends.reduce(|(low, high), (next_low, next_high)| {
                let low = if order.compare(next_low, low).is_lt() { next_low } else { low };
                let high = if order.compare(next_high, high).is_gt() { next_high } else { high };
                (low, high)
            });
            let is_log = members.get(old).is_some_and(|member| member.log().is_some());
            let standing = match hull {
                Some((low, high)) if !is_log => Standing::ObsoleteBetween(low.to_vec(), high.to_vec()),
                _ => Standing::Obsolete,
            };
            decided.push((old, standing));
        }
        for (at, standing) in decided {
            if let Some(member) = members.get_mut(at) {
                member.standing = standing;
            }
        }
    }
}
