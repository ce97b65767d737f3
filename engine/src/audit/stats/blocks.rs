//! The data blocks that the index names.

use std::collections::BTreeSet;
use std::fmt::{self, Display};

use filterblock::table::{BlockHandle, ReadAt, Table};
use filterblock::{Error, Result, Structure};

use super::offsets::Offsets;
use crate::audit::key_encoding::KeyEncoding;
use crate::audit::lost_keys::LostKeys;
use crate::audit::reading::is_unreadable;
use crate::report::error_kind::ErrorKind;

/// The data blocks of a table, each once however often the index names it.
#[derive(Default, PartialEq, Eq, Debug)]
pub struct Blocks {
    pub offsets: Offsets,
    /// The number of entries of the index.
    pub(super) entries: u64,
    pub damage: Damage,
}

impl Blocks {
    /// Lists the blocks that lie within the file. Their bytes are not read.
    pub fn list<R>(table: &Table<R>) -> Result<Self> {
        let mut blocks = Self::default();
        for handle in table.data_blocks() {
            let checked = handle.map_err(BlockFault::from);
            blocks.add(checked.and_then(|handle| lies_in_file(table, handle)))?;
        }
        Ok(blocks)
    }

    /// Lists the blocks whose trailer can be read, and the compression types found there.
    pub fn list_with_types<R: ReadAt>(table: &Table<R>) -> Result<(Self, BTreeSet<u8>)> {
        let mut blocks = Self::default();
        let mut types = BTreeSet::new();
        for block in table.data_block_types() {
            let handle = block.map(|(handle, id)| {
                types.insert(id);
                handle
            });
            blocks.add(handle.map_err(BlockFault::from))?;
        }
        Ok((blocks, types))
    }

    /// Returns true if the index names as many different sound blocks as it has entries.
    pub const fn are_distinct(&self) -> bool {
        self.entries == self.offsets.len()
    }

    /// Adds the block of the next entry of the index. One with a fault is noted as damage and not
    /// listed.
    fn add(&mut self, block: std::result::Result<BlockHandle, BlockFault>) -> Result<()> {
        self.entries += 1;
        match block {
            // A block is identified by its offset: no sound index names one twice.
            Ok(handle) if self.offsets.contains(handle.offset) => {
                self.damage.note(&BlockFault::Repeated { offset: handle.offset });
            }
            Ok(handle) => self.offsets.insert(handle.offset),
            Err(BlockFault::Read(error)) if error.needs_range() => return Err(error),
            Err(fault) => match fault.block() {
                Some(offset) => self.damage.note_block(&fault, offset),
                None => self.damage.note(&fault),
            },
        }
        Ok(())
    }
}

fn lies_in_file<R>(table: &Table<R>, handle: BlockHandle) -> std::result::Result<BlockHandle, BlockFault> {
    let file_size = table.file_size();
    if handle.end().is_some_and(|end| end <= file_size) {
        return Ok(handle);
    }
    Err(BlockFault::BeyondFile { index_offset: table.index_handle().offset, file_size, handle })
}

/// The reason why an entry of the index does not count as a data block.
pub(super) enum BlockFault {
    Read(Error),
    BeyondFile { index_offset: u64, file_size: u64, handle: BlockHandle },
    Repeated { offset: u64 },
}

impl BlockFault {
    /// The offset of the block whose handle is bad.
    fn block(&self) -> Option<u64> {
        match self {
            Self::BeyondFile { handle, .. } => Some(handle.offset),
            Self::Read(error) => match error.without_path() {
                Error::Corrupt { what: Structure::BlockHandle, offset, .. } => Some(*offset),
                _ => None,
            },
            Self::Repeated { .. } => None,
        }
    }

    fn kind(&self) -> ErrorKind {
        match self {
            Self::Read(error) => ErrorKind::of(error),
            Self::BeyondFile { .. } | Self::Repeated { .. } => ErrorKind::Damaged,
        }
    }
}

impl From<Error> for BlockFault {
    fn from(error: Error) -> Self {
        Self::Read(error)
    }
}

impl Display for BlockFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.without_path().fmt(f),
            Self::BeyondFile { index_offset, file_size, handle: BlockHandle { offset, size } } => write!(
                f,
                "block handle at offset {index_offset}: expected a block that ends by {file_size}, \
                 found offset {offset} and size {size}"
            ),
            Self::Repeated { offset } => {
                write!(f, "index: expected each data block once, found the one at offset {offset} again")
            }
        }
    }
}

/// The faults of a table besides its filters: the first one, and the number of others.
#[derive(Default, PartialEq, Eq, Debug)]
pub struct Damage {
    first: Option<(String, ErrorKind)>,
    /// The offset of the data block that the first fault is in.
    block: Option<u64>,
    /// The keys that cannot be read because of the first fault.
    pub lost: Option<LostKeys>,
    more: u64,
    /// Something could not be read, which says nothing about what is in it.
    pub unreadable: bool,
}

impl Damage {
    /// Notes a fault of the data block at this offset.
    pub(super) fn note_block(&mut self, fault: &BlockFault, offset: u64) {
        if self.is_none() {
            self.block = Some(offset);
        }
        self.note(fault);
    }

    pub(super) fn note(&mut self, fault: &BlockFault) {
        self.unreadable |= matches!(fault, BlockFault::Read(error) if is_unreadable(error));
        match self.first {
            None => self.first = Some((fault.to_string(), fault.kind())),
            Some(_) => self.more += 1,
        }
    }

    /// The kind of the first fault.
    pub fn kind(&self) -> Option<ErrorKind> {
        self.first.as_ref().map(|(_, kind)| *kind)
    }

    pub(super) const fn is_none(&self) -> bool {
        self.first.is_none()
    }

    /// Finds the keys that cannot be read because of the first fault.
    pub(super) fn find_lost_keys<R>(&mut self, table: &Table<R>, encoding: KeyEncoding) {
        self.lost = self.block.and_then(|offset| LostKeys::of_block(table, offset, encoding));
    }

    pub fn text(&self) -> Option<String> {
        let mut text = self.first.as_ref().map(|(first, _)| first.clone())?;
        if let Some(lost) = &self.lost {
            let how = if self.unreadable { "not looked at" } else { "lost" };
            text += &format!("; {how}: {lost}");
        }
        if self.more > 0 {
            text += &format!(" (and {} more)", self.more);
        }
        Some(text)
    }
}
