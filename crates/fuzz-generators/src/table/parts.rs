//! Sound tables taken apart, to be damaged and put together again, with correct checksums around the damage.

use bytes::Bytes;
use filterblock::Result;
use filterblock::table::{BlockHandle, Codec, ReadOptions, Table};
use miniz_oxide::deflate;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::damage::Damage;
use crate::model;

/// A key and its value.
pub type Entry = (Vec<u8>, Vec<u8>);

/// One data block.
#[derive(Clone, Debug)]
pub struct DataBlock {
    /// The block's key in the index.
    pub index_key: Vec<u8>,
    /// The bytes in the file, without compression type and checksum.
    pub stored: Vec<u8>,
    /// The compression type.
    pub kind: u8,
    /// The decompressed contents. If the block is compressed by a codec other than Snappy, a block of the same entries
    /// with a restart at each.
    pub contents: Vec<u8>,
    /// The block's entries.
    pub entries: Vec<Entry>,
}

/// A table without the parts that follow from its data blocks. Filters, metaindex, index and footer
/// are built again.
#[derive(Clone, Debug)]
pub struct Parts {
    /// True if the keys are a database's.
    pub internal: bool,
    /// The data blocks in order.
    pub data: Vec<DataBlock>,
}

impl Parts {
    /// Takes a sound table apart. `internal`: its keys are those of a database, each a user key and eight bytes.
    /// Filters then hold the user keys.
    ///
    /// # Errors
    ///
    /// If the table is not sound, or compressed by a codec that is not known.
    pub fn of(file: &[u8], internal: bool) -> Result<Self> {
        let options = ReadOptions::default().internal_keys(internal).verify_checksums(true);
        let table = Table::open(Bytes::copy_from_slice(file), &options)?;
        let (mut index, mut data) = (table.index(), Vec::new());
        while index.next()? {
            let handle = index.handle()?;
            let mut block = table.block_cursor(handle)?;
            let mut entries = Vec::new();
            while block.next()? {
                entries.push((block.key().to_vec(), block.value().to_vec()));
            }
            // The block was just read from there.
            let stored = file[handle.offset as usize..][..handle.size as usize].to_vec();
            let kind = table.compression_of(handle)?;
            let unpacked = match kind {
                0 => Some(stored.clone()),
                1 => snap::raw::Decoder::new().decompress_vec(&stored).ok(),
                _ => None,
            };
            // Else the same entries, with a restart at each.
            let contents =
                unpacked.unwrap_or_else(|| entry_block(entries.iter().map(|(key, value)| (key, value))));
            data.push(DataBlock { index_key: index.key().to_vec(), stored, kind, contents, entries });
        }
        Ok(Self { internal, data })
    }

    /// Returns the part of a stored key that the table's filters hold.
    pub fn filter_key<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        if self.internal { &key[..key.len().saturating_sub(8)] } else { key }
    }
}

/// Builds the contents of a block in which every entry is a restart.
pub fn entry_block<K: AsRef<[u8]>, V: AsRef<[u8]>>(entries: impl IntoIterator<Item = (K, V)>) -> Vec<u8> {
    let (mut bytes, mut restarts) = (Vec::new(), Vec::new());
    for (key, value) in entries {
        let (key, value) = (key.as_ref(), value.as_ref());
        restarts.push(bytes.len() as u32);
        bytes.push(0);
        for len in [key.len(), value.len()] {
            put_len(len, &mut bytes);
        }
        bytes.extend([key, value].concat());
    }
    bytes.extend(restarts.iter().flat_map(|restart| restart.to_le_bytes()));
    bytes.extend((restarts.len() as u32).to_le_bytes());
    bytes
}

/// Writes a length as a varint, of two bytes even if one would do.
fn put_len(mut len: usize, to: &mut Vec<u8>) {
    to.push(len as u8 | 0x80);
    len >>= 7;
    while len >= 0x80 {
        to.push(len as u8 | 0x80);
        len >>= 7;
    }
    to.push(len as u8);
}

/// Encodes a handle as in an index.
pub fn encoded_handle(handle: BlockHandle) -> Vec<u8> {
    let mut bytes = Vec::new();
    handle.encode(&mut bytes);
    bytes
}

pub(crate) fn encode(codec: Codec, contents: &[u8]) -> Vec<u8> {
    match codec {
        Codec::None => contents.to_vec(),
        Codec::Snappy => snap::raw::Encoder::new().compress_vec(contents).unwrap(),
        Codec::Zstd => compress_to_vec(contents, CompressionLevel::Fastest),
        Codec::Zlib => deflate::compress_to_vec_zlib(contents, 6),
        Codec::Deflate => deflate::compress_to_vec(contents, 6),
        Codec::Lz4 => lz4_flex::block::compress_prepend_size(contents),
        _ => panic!("{codec:?}"),
    }
}

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
