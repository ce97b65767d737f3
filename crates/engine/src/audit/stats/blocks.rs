//! The data blocks that the index names.

use std::{collections::BTreeSet, fmt::Display};

use filterblock::table::{BlockHandle, ReadAt, Table};
use filterblock::{Error, Result, Structure};

use super::offsets::Offsets;
use crate::{
    audit::key_encoding::KeyEncoding,
    audit::lost_keys::LostKeys,
    audit::reading::is_unreadable,
    report::{ErrorKind, Fault},
};

/// The data blocks of a table, each once however often the index lists it.
#[derive(Default, PartialEq, Eq, Debug)]
pub(crate) struct Blocks {
    pub offsets: Offsets,
    /// Of the index.
    pub(super) entries: u64,
    pub damage: Damage,
}

impl Blocks {
    /// Lists the blocks within the file, but does not read them.
    pub(crate) fn list<R>(table: &Table<R>) -> Self {
        let mut blocks = Self::default();
        table.data_blocks().for_each(|handle| blocks.add(table, handle));
        blocks
    }

    /// Lists the blocks with readable trailers, and the compression types there.
    pub(crate) fn list_with_types<R: ReadAt>(table: &Table<R>) -> (Self, BTreeSet<u8>) {
        let (mut blocks, mut types) = (Self::default(), BTreeSet::new());
        for block in table.data_block_types() {
            types.extend(block.iter().map(|(_, id)| *id));
            blocks.add(table, block.map(|(handle, _)| handle));
        }
        (blocks, types)
    }

    /// True if the index lists as many different sound blocks as it has entries.
    pub(crate) const fn are_distinct(&self) -> bool {
        self.entries == self.offsets.len()
    }

    /// A block with a fault is noted as damage and not listed.
    fn add<R>(&mut self, table: &Table<R>, handle: Result<BlockHandle>) {
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
            // No sound index lists the same offset twice, so the offset identifies a block.
            Ok(BlockHandle { offset, .. }) if self.offsets.contains(offset) => {
                let text = format_args!(
                    "index: expected each data block once, found the one at offset {offset} again"
                );
                self.damage.note(text, ErrorKind::Damaged, None);
            }
            Ok(handle) => self.offsets.insert(handle.offset),
            Err(error) => {
                let block = match error.without_path() {
                    Error::Corrupt { what: Structure::BlockHandle, offset, .. } => Some(*offset),
                    _ => None,
                };
                self.damage.note_error(&error, block);
            }
        }
    }
}

/// Faults of a table outside its filters: the first one, and the number of others.
#[derive(Default, PartialEq, Eq, Debug)]
pub(crate) struct Damage {
    first: Option<(String, ErrorKind)>,
    /// Where the first fault is; `None`: in no data block.
    block: Option<u64>,
    /// Lost because of the first fault. `None`: the fault is in no data block, or the keys are unknown.
    pub lost: Option<LostKeys>,
    more: u64,
    /// A part of the table could not be read and may be sound.
    pub unreadable: bool,
}

impl Damage {
    /// False, and nothing is noted, if the block may be sound: unsupported compression, or more than a limit allows.
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

    pub(super) const fn is_none(&self) -> bool {
        self.first.is_none()
    }

    pub(super) fn find_lost_keys<R>(&mut self, table: &Table<R>, encoding: KeyEncoding) {
        self.lost = self.block.and_then(|offset| LostKeys::of_block(table, offset, encoding));
    }

    pub(crate) fn fault(&self) -> Option<Fault> {
        let (mut text, kind) = self.first.clone()?;
        if let Some(lost) = &self.lost {
            let how = if self.unreadable { "not looked at" } else { "lost" };
            text += &format!("; {how}: {lost}");
        }
        if self.more > 0 {
            text += &format!(" (and {} more)", self.more);
        }
        Some(Fault::new(text, kind))
    }
}
