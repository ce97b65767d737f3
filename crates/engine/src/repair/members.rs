//! The files of a damaged database, each with its readable parts and its standing.

use filterblock::KeyFormat;
use filterblock::table::IdbComparator;

use super::log::SavedLog;
use super::lost::Place;
use super::order::KeyOrder;
use super::table::SavedTable;

/// A file, or a table that is missing.
pub(super) struct OldFile {
    pub(super) name: String,
    pub(super) number: u64,
    pub(super) len: u64,
    pub(super) saved: Salvaged,
    pub(super) place: Place,
    pub(super) role: Role,
}

pub(super) enum Salvaged {
    Table(SavedTable),
    Log(SavedLog),
    /// There is no such file.
    Missing(SavedTable),
    /// A table that cannot be read, and why.
    Unreadable(SavedTable, String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Live,
    /// Its entries are in other files, or were deleted. They count only where entries of live files are lost.
    Obsolete,
    /// Only between these user keys.
    ObsoleteBetween(Vec<u8>, Vec<u8>),
}

impl OldFile {
    /// `None`: a log.
    pub(super) const fn table(&self) -> Option<&SavedTable> {
        match &self.saved {
            Salvaged::Table(table) | Salvaged::Missing(table) | Salvaged::Unreadable(table, _) => Some(table),
            Salvaged::Log(_) => None,
        }
    }

    pub(super) const fn log(&self) -> Option<&SavedLog> {
        match &self.saved {
            Salvaged::Log(log) => Some(log),
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
        match &self.role {
            Role::Live => false,
            Role::Obsolete => true,
            Role::ObsoleteBetween(low, high) => {
                order.compare(low, user_key).is_le() && order.compare(user_key, high).is_le()
            }
        }
    }

    /// Returns the ends of the sound blocks of a table. `None`: there are none, or this is a log.
    pub(super) fn ends(&self) -> Option<(&[u8], &[u8])> {
        let facts = &self.table()?.facts;
        let [low, high] = [facts.smallest.as_deref()?, facts.largest.as_deref()?];
        Some((KeyFormat::LevelDb.user_key(low)?, KeyFormat::LevelDb.user_key(high)?))
    }
}
