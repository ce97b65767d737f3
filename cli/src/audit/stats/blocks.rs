//! The data blocks that the index names.

use filterblock::table::{BlockHandle, Table};
use filterblock::{Error, Structure};

use super::Offsets;
use crate::io::input::is_unreadable;

/// The data blocks of a table, each once however often the index names it.
#[derive(Default)]
pub(crate) struct Blocks {
    pub(crate) offsets: Offsets,
    /// What they take together, as stored.
    pub(super) bytes: u64,
    /// How many entries the index has.
    pub(super) entries: u64,
    pub(crate) damage: Damage,
}

impl Blocks {
    /// Whether the index names that many different blocks as it has entries, all of them sound by `visit`.
    pub(crate) const fn are_distinct(&self) -> bool {
        self.entries == self.offsets.len()
    }

    /// Goes through the index. A block that `visit` finds fault with is damage, and not one of the table's.
    pub(crate) fn visit<R>(
        &mut self,
        table: &Table<R>,
        mut visit: impl FnMut(BlockHandle) -> Result<(), Error>,
    ) {
        for handle in table.data_blocks() {
            self.entries += 1;
            let visited = handle.and_then(|handle| {
                // A block is where it starts: no sound index names one twice.
                if self.offsets.contains(handle.offset) {
                    self.damage.note_repeated(handle.offset);
                    return Ok(());
                }
                visit(handle)?;
                self.offsets.insert(handle.offset);
                self.bytes = self.bytes.saturating_add(handle.size);
                Ok(())
            });
            if let Err(error) = visited {
                self.damage.note(&error);
            }
        }
    }
}

/// Whether a block lies in the file. Its bytes are not looked at.
pub(crate) fn within<R>(table: &Table<R>, handle: BlockHandle) -> Result<(), Error> {
    let size = table.file_size();
    if handle.end().is_some_and(|end| end <= size) {
        return Ok(());
    }
    Err(Error::Corrupt {
        what: Structure::BlockHandle,
        offset: table.index_handle().offset,
        expected: format!("a block that ends by {size}").into(),
        found: format!("offset {} and size {}", handle.offset, handle.size).into(),
    })
}

/// What is wrong with a table besides its filters.
#[derive(Default)]
pub(crate) struct Damage {
    first: Option<String>,
    more: u64,
    /// Whether something could not be read, which says nothing about what is in it.
    pub(crate) unreadable: bool,
}

impl Damage {
    pub(super) fn note(&mut self, error: &Error) {
        self.unreadable |= is_unreadable(error);
        self.add(|| error.without_path().to_string());
    }

    fn note_repeated(&mut self, offset: u64) {
        self.add(|| format!("index: expected each data block once, found the one at offset {offset} again"));
    }

    fn add(&mut self, text: impl FnOnce() -> String) {
        match self.first {
            None => self.first = Some(text()),
            Some(_) => self.more += 1,
        }
    }

    /// The first finding, and how many more there are.
    pub(crate) fn text(&self) -> Option<String> {
        let first = self.first.as_ref()?;
        Some(if self.more == 0 { first.clone() } else { format!("{first} (and {} more)", self.more) })
    }
}
