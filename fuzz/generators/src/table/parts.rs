//! Sound tables taken apart, to be damaged and put together again.

use bytes::Bytes;
use filterblock::Result;
use filterblock::table::{BlockHandle, ReadOptions, Table};

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
