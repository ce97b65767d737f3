//! The positions of files in a database, for what outlives a borrow of it.

use std::ptr;

use super::database::{Database, DatabaseLog, DatabaseTable, EntryFile, TableStatus};
use super::folder::FileState;
use super::manifest::Manifest;

/// A table or a log that has a file.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) number: u64,
    role: Role,
    file: FilePlace,
}

#[derive(Clone, Copy)]
enum Role {
    /// A live table: its position in the MANIFEST's list.
    LiveTable(usize),
    Table(TableStatus<'static>),
    Log {
        is_live: bool,
    },
}

/// A position in the list of files, or of those that could not be read.
#[derive(Clone, Copy)]
enum FilePlace {
    Present(usize),
    Unreadable(usize),
}

impl Database {
    /// The place of a table or log of this database. `None` if it is missing.
    pub(super) fn place_of(&self, file: EntryFile<'_>) -> Option<Place> {
        let (number, role, file) = match file {
            EntryFile::Log(DatabaseLog { number, is_live, file }) => (number, Role::Log { is_live }, file),
            EntryFile::Table(DatabaseTable { number, status, file }) => {
                let role = match status {
                    TableStatus::Live(recorded) => {
                        let all = self.manifest().map_or(&[][..], Manifest::tables);
                        Role::LiveTable(position(all, recorded))
                    }
                    TableStatus::Obsolete => Role::Table(TableStatus::Obsolete),
                    TableStatus::Unlisted => Role::Table(TableStatus::Unlisted),
                    TableStatus::Unknown => Role::Table(TableStatus::Unknown),
                };
                (number, role, file)
            }
        };
        let file = match file {
            FileState::Present(file) => FilePlace::Present(position(self.files().iter().as_slice(), file)),
            FileState::Unreadable(file) => {
                FilePlace::Unreadable(position(self.files().unreadable().as_slice(), file))
            }
            FileState::Missing => return None,
        };
        Some(Place { number, role, file })
    }

    /// The table or log at a place that this database has given.
    #[inline]
    pub(super) fn file_at(&self, place: &Place) -> Option<EntryFile<'_>> {
        let file = match place.file {
            FilePlace::Present(at) => FileState::Present(self.files().iter().as_slice().get(at)?),
            FilePlace::Unreadable(at) => FileState::Unreadable(self.files().unreadable().as_slice().get(at)?),
        };
        let number = place.number;
        let table = |status| Some(EntryFile::Table(DatabaseTable { number, status, file }));
        match place.role {
            Role::LiveTable(at) => table(TableStatus::Live(self.manifest().ok()?.tables().get(at)?)),
            Role::Table(status) => table(status),
            Role::Log { is_live } => Some(EntryFile::Log(DatabaseLog { number, is_live, file })),
        }
    }
}

/// The position in `items` of one of them, by address.
fn position<T>(items: &[T], item: &T) -> usize {
    let distance = ptr::from_ref(item).addr().wrapping_sub(items.as_ptr().addr());
    distance.checked_div(size_of::<T>()).unwrap_or(usize::MAX)
}
