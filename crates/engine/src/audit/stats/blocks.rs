//! The data blocks that the index names.

use std::{collections::BTreeSet, fmt::Display};

use filterblock::table::{BlockHandle, ReadAt, Table};
use filterblock::{Error, Result, Structure};

use super::offsets::Offsets;
use crate::{
    audit::key_encoding::KeyEncoding, audit::lost_keys::LostKeys, audit::reading::is_unreadable,
    report::ErrorKind,
};

/// The data blocks of a table, each once however often the index names it.
#[derive(Default, PartialEq, Eq, Debug)]
pub(crate) struct Blocks {
    pub offsets: Offsets,
    /// The number of entries of the index.
    pub(super) entries: u64,
    pub damage: Damage,
}

impl Blocks {
    /// Lists the blocks that lie within the file. Their bytes are not read.
    pub(crate) fn list<R>(table: &Table<R>) -> Result<Self> {
        let mut blocks = Self::default();
        table.data_blocks().try_for_each(|handle| blocks.add(table, handle))?;
        Ok(blocks)
    }

    /// Lists the blocks whose trailers can be read, and the compression types found in the trailers.
    pub(crate) fn list_with_types<R: ReadAt>(table: &Table<R>) -> Result<(Self, BTreeSet<u8>)> {
        let (mut blocks, mut types) = (Self::default(), BTreeSet::new());
        for block in table.data_block_types() {
            types.extend(block.iter().map(|(_, id)| *id));
            blocks.add(table, block.map(|(handle, _)| handle))?;
        }
        Ok((blocks, types))
    }

    /// Returns true if the index names as many different sound blocks as it has entries.
    pub(crate) const fn are_distinct(&self) -> bool {
        self.entries == self.offsets.len()
    }

    /// Adds the block of the next entry of the index. A block with a fault is noted as damage and
    /// not listed.
    fn add<R>(&mut self, table: &Table<R>, handle: Result<BlockHandle>) -> Result<()> {
        self.entries += 1;
        let file_size = table.file_size();
        match handle {
            Ok(handle) if handle.end().is_none_or(|end| end > file_size) => {
                let (index, BlockHandle { offset, size }) = (table.index_handle().offset, handle);
                let text = format_args!(
                    "block handle at offset {index}: expected a block that ends by {file_size}, found offset {offset} \
                     and size {size}"
                );
                self.damage.note(text, ErrorKind::Damaged, Some(offset));
            }
            // A block is identified by its offset: no sound index names the same offset twice.
            Ok(BlockHandle { offset, .. }) if self.offsets.contains(offset) => {
                let text = format_args!(
                    "index: expected each data block once, found the one at offset {offset} again"
                );
                self.damage.note(text, ErrorKind::Damaged, None);
            }
            Ok(handle) => self.offsets.insert(handle.offset),
            Err(error) if error.needs_range() => return Err(error),
            Err(error) => {
                let block = match error.without_path() {
                    Error::Corrupt { what: Structure::BlockHandle, offset, .. } => Some(*offset),
                    _ => None,
                };
                self.damage.note_error(&error, block);
            }
        }
        Ok(())
    }
}

/// The faults of a table outside its filters: the first fault, and the number of further faults.
#[derive(Default, PartialEq, Eq, Debug)]
pub(crate) struct Damage {
    first: Option<(String, ErrorKind)>,
    /// The offset of the data block that the first fault is in; `None` if it is in no data block.
    block: Option<u64>,
    /// The keys that cannot be read because of the first fault. `None`: the fault is in no data block, or these keys
    /// are not known.
    pub lost: Option<LostKeys>,
    more: u64,
    /// A part of the table could not be read; its contents may be sound.
    pub unreadable: bool,
}

impl Damage {
    /// Notes that the data block at `offset` does not decode. Returns false, and notes nothing, if
    /// the block may be sound: this build does not support its compression, or a limit forbids
    /// decoding it.
    pub(super) fn note_block(&mut self, error: &Error, offset: u64) -> bool {
        let is_damage = !matches!(error.without_path(), Error::Unsupported { .. } | Error::Limit { .. });
        if is_damage {
            self.note_error(error, Some(offset));
        }
        is_damage
    }

    fn note_error(&mut self, error: &Error, block: Option<u64>) {
        self.unreadable |= is_unreadable(error);
        self.note(error.without_path(), ErrorKind::of(error), block);
    }

    fn note(&mut self, text: impl Display, kind: ErrorKind, block: Option<u64>) {
        match self.first {
            None => (self.first, self.block) = (Some((text.to_string(), kind)), block),
            Some(_) => self.more += 1,
        }
    }

    /// The kind of the first fault.
    pub(crate) fn kind(&self) -> Option<ErrorKind> {
        self.first.as_ref().map(|(_, kind)| *kind)
    }

    pub(super) const fn is_none(&self) -> bool {
        self.first.is_none()
    }

    /// Finds the keys that cannot be read because of the first fault.
    pub(super) fn find_lost_keys<R>(&mut self, table: &Table<R>, encoding: KeyEncoding) {
        self.lost = self.block.and_then(|offset| LostKeys::of_block(table, offset, encoding));
    }

    pub(crate) fn text(&self) -> Option<String> {
        let (mut text, _) = self.first.clone()?;
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
