//! Tables put together from their parts, with correct checksums around the damage.

use filterblock::table::BlockHandle;

use super::damage::Damage;
use super::parts::{Parts, encoded_handle, entry_block};
use crate::model;

/// A table being put together block by block.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// The bytes written so far.
    pub bytes: Vec<u8>,
    blocks: Vec<BlockHandle>,
}

impl File {
    /// Appends a block and its trailer: the compression type, and the checksum combined with
    /// `checksum_xor` by XOR, so that 0 gives the right one.
    pub fn block(&mut self, stored: &[u8], kind: u8, checksum_xor: u32) -> BlockHandle {
        let handle = BlockHandle { offset: self.bytes.len() as u64, size: stored.len() as u64 };
        self.bytes.extend(stored);
        self.bytes.push(kind);
        let crc = crc32c::crc32c(&self.bytes[handle.offset as usize..]);
        let masked = crc.rotate_right(15).wrapping_add(0xa282_ead8);
        self.bytes.extend((masked ^ checksum_xor).to_le_bytes());
        self.blocks.push(handle);
        handle
    }

    /// Appends the footer and returns the table.
    pub fn finish(mut self, metaindex: BlockHandle, index: BlockHandle) -> Vec<u8> {
        self.bytes.extend(footer([encoded_handle(metaindex), encoded_handle(index)].concat()));
        self.bytes
    }
}

/// Fills the footer up and ends it with the magic number.
fn footer(mut handles: Vec<u8>) -> Vec<u8> {
    handles.resize(40, 0);
    handles.extend(0xdb47_7524_8b80_fb57_u64.to_le_bytes());
    handles
}

impl Parts {
    /// Puts the table together, with the damage.
    ///
    /// With a `base_lg` the table has a filter block, made by [`model::filter_block`](crate::model) with 10 bits a
    /// key, under LevelDB's name. Filters, metaindex, index and footer are written anew around the data blocks, so
    /// that handles and checksums are right but for the damage.
    ///
    /// # Panics
    ///
    /// If `base_lg` is above 63, and overflows are checked.
    pub fn assemble(&self, base_lg: Option<u8>, damage: Damage<'_>) -> Vec<u8> {
        let mut file = File::default();
        let target = damage.block(self.data.len());
        let (mut places, mut filter_keys) = (Vec::new(), Vec::new());
        for (number, block) in self.data.iter().enumerate() {
            let (mut stored, mut kind, mut checksum_xor) = (block.stored.clone(), block.kind, 0);
            match damage {
                _ if target != Some(number) => {}
                Damage::Contents(_, edit) => {
                    (stored, kind) = (block.contents.clone(), 0);
                    edit.apply(&mut stored);
                }
                Damage::Stored(_, edit) => edit.apply(&mut stored),
                Damage::Kind(_, other) => kind = other,
                Damage::Checksum(_, xor) => checksum_xor = xor,
                _ => {}
            }
            let handle = file.block(&stored, kind, checksum_xor);
            places.push(handle);
            let keys = block.entries.iter().map(|(key, _)| (handle.offset, self.filter_key(key)));
            filter_keys.extend(keys);
        }

        let mut meta: Vec<(&[u8], Vec<u8>)> = Vec::new();
        if let Some(base_lg) = base_lg {
            let last = places.last().and_then(BlockHandle::end).unwrap_or_default();
            let mut filter = model::filter_block(&filter_keys, last, base_lg, 10);
            if let Damage::Filter(edit) = damage {
                edit.apply(&mut filter);
            }
            let kind = if let Damage::FilterKind(kind) = damage { kind } else { 0 };
            let mut handle = file.block(&filter, kind, 0);
            if let Damage::FilterHandle(elsewhere) = damage {
                handle = elsewhere.handle(&file.blocks);
            }
            meta.push((b"filter.leveldb.BuiltinBloomFilter2", encoded_handle(handle)));
        }
        if let Damage::MetaindexEntry(name, value) = damage {
            meta.insert(0, (name.bytes(), value.bytes(&file.blocks)));
        }
        let mut metaindex = entry_block(meta);
        if let Damage::Metaindex(edit) = damage {
            edit.apply(&mut metaindex);
        }
        let mut metaindex = file.block(&metaindex, 0, 0);
        if let Damage::MetaindexHandle(elsewhere) = damage {
            metaindex = elsewhere.handle(&file.blocks);
        }

        let index = self.data.iter().zip(places).enumerate().map(|(number, (block, handle))| match damage {
            Damage::IndexKey(_, key) if target == Some(number) => (key, encoded_handle(handle)),
            Damage::Handle(_, elsewhere) if target == Some(number) => {
                (&block.index_key[..], encoded_handle(elsewhere.handle(&file.blocks)))
            }
            _ => (&block.index_key[..], encoded_handle(handle)),
        });
        let mut index = entry_block(index);
        if let Damage::Index(edit) = damage {
            edit.apply(&mut index);
        }
        let kind = if let Damage::IndexKind(kind) = damage { kind } else { 0 };
        let mut index = file.block(&index, kind, 0);
        if let Damage::IndexHandle(elsewhere) = damage {
            index = elsewhere.handle(&file.blocks);
        }

        let mut handles = [encoded_handle(metaindex), encoded_handle(index)].concat();
        if let Damage::Footer(edit) = damage {
            edit.apply(&mut handles);
        }
        let mut bytes = [file.bytes, footer(handles)].concat();
        if let Damage::File(edit) = damage {
            edit.apply(&mut bytes);
        }
        bytes
    }
}
