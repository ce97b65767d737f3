//! One structure of a table damaged, and the table put together around it with correct checksums.

use arbitrary::Arbitrary;
use filterblock::table::BlockHandle;

use super::parts::{Parts, entry_block};
use crate::model;

/// A change to a run of bytes. Positions are taken modulo its length.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Edit<'a> {
    /// Other bytes from here on.
    Overwrite(u16, &'a [u8]),
    /// Bits flipped.
    Flip(u16, u8),
    /// Cut off here.
    Cut(u16),
    /// Bytes inserted here.
    Insert(u16, &'a [u8]),
    /// A 32-bit number, this many words before the end: counts, offsets.
    Word(u8, u32),
    /// Entirely different bytes.
    Replace(&'a [u8]),
}

impl Edit<'_> {
    fn apply(self, bytes: &mut Vec<u8>) {
        let len = bytes.len();
        let place = |at: u16| usize::from(at).checked_rem(len).unwrap_or_default();
        match self {
            Self::Overwrite(at, with) => {
                bytes.iter_mut().skip(place(at)).zip(with).for_each(|(byte, &new)| *byte = new);
            }
            Self::Flip(at, bits) => bytes.iter_mut().skip(place(at)).take(1).for_each(|byte| *byte ^= bits),
            Self::Cut(at) => bytes.truncate(place(at)),
            Self::Insert(at, with) => drop(bytes.splice(place(at)..place(at), with.iter().copied())),
            Self::Word(back, value) => {
                let start = len.checked_sub(4 * (usize::from(back) % 32 + 1));
                if let Some(word) = start.and_then(|start| bytes.get_mut(start..start + 4)) {
                    word.copy_from_slice(&value.to_le_bytes());
                }
            }
            Self::Replace(with) => *bytes = with.to_vec(),
        }
    }
}

/// A handle that points elsewhere.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Elsewhere {
    /// Any place.
    At(u64, u64),
    /// The block of this number in the file, or near it.
    Near(u8, i8, i8),
}

impl Elsewhere {
    fn handle(self, blocks: &[BlockHandle]) -> BlockHandle {
        match self {
            Self::At(offset, size) => BlockHandle { offset, size },
            Self::Near(number, offset_by, size_by) => {
                let near = usize::from(number).checked_rem(blocks.len()).map(|at| blocks[at]);
                let BlockHandle { offset, size } = near.unwrap_or_default();
                let offset = offset.saturating_add_signed(offset_by.into());
                BlockHandle { offset, size: size.saturating_add_signed(size_by.into()) }
            }
        }
    }
}

/// A name in the metaindex.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Name<'a> {
    /// One of [`NAMES`].
    Known(u8),
    Any(&'a [u8]),
}

/// Names that tell whose table it is, or how its filters are read. No fuzzer guesses them.
const NAMES: [&str; 9] = [
    "filter.filterblock.CassandraBloomFilter1",
    "filter.filterblock.Murmur3BloomFilter1",
    "filter.leveldb.BuiltinBloomFilter",
    "filter.leveldb.BuiltinBloomFilter2",
    "filter.rocksdb.BuiltinBloomFilter",
    "fullfilter.rocksdb.BuiltinBloomFilter",
    "partitionedfilter.rocksdb.BuiltinBloomFilter",
    "rocksdb.properties",
    "stats.sst1",
];

impl<'a> Name<'a> {
    fn bytes(self) -> &'a [u8] {
        match self {
            Self::Known(number) => NAMES[usize::from(number) % NAMES.len()].as_bytes(),
            Self::Any(name) => name,
        }
    }
}

/// The target of a name in the metaindex.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    Handle(Elsewhere),
    Any(&'a [u8]),
}

impl Value<'_> {
    fn bytes(self, blocks: &[BlockHandle]) -> Vec<u8> {
        match self {
            Self::Handle(elsewhere) => encoded(elsewhere.handle(blocks)),
            Self::Any(value) => value.to_vec(),
        }
    }
}

/// The one structure that is damaged.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Damage<'a> {
    /// None.
    Nothing,
    /// The entries or restarts of a data block, which is stored uncompressed.
    Contents(u8, Edit<'a>),
    /// A data block as stored, perhaps compressed.
    Stored(u8, Edit<'a>),
    /// A data block's compression type.
    Kind(u8, u8),
    /// A data block's checksum.
    Checksum(u8, u32),
    /// A data block's handle in the index.
    Handle(u8, Elsewhere),
    /// The filter block.
    Filter(Edit<'a>),
    /// The filter block's compression type.
    FilterKind(u8),
    /// The filter block's handle.
    FilterHandle(Elsewhere),
    /// The metaindex.
    Metaindex(Edit<'a>),
    /// An entry before that of the filter block.
    MetaindexEntry(Name<'a>, Value<'a>),
    /// The metaindex's handle.
    MetaindexHandle(Elsewhere),
    /// A data block's key in the index.
    IndexKey(u8, &'a [u8]),
    /// The index.
    Index(Edit<'a>),
    /// The index's compression type.
    IndexKind(u8),
    /// The index's handle.
    IndexHandle(Elsewhere),
    /// The footer, before the magic number.
    Footer(Edit<'a>),
    /// The file, without correcting anything.
    File(Edit<'a>),
}

/// The answers that the damage leaves unchanged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Intact {
    /// All.
    All,
    /// Those about the other data blocks. No key of this block is denied.
    AllBut(usize),
    /// Those about the other data blocks.
    AllButLost(usize),
    /// All, except where a filter denies the key.
    AllButFilters,
    /// None.
    Nothing,
}

impl Damage<'_> {
    /// The damaged data block, out of `count`.
    fn block(self, count: usize) -> Option<usize> {
        match self {
            Self::Contents(block, _)
            | Self::Stored(block, _)
            | Self::Kind(block, _)
            | Self::Checksum(block, _)
            | Self::Handle(block, _)
            | Self::IndexKey(block, _) => usize::from(block).checked_rem(count),
            _ => None,
        }
    }

    /// The answers that must be unchanged, in a table of `count` data blocks.
    pub(super) fn leaves(self, count: usize) -> Intact {
        match self {
            Self::Nothing => Intact::All,
            Self::Contents(..) | Self::Stored(..) | Self::Kind(..) | Self::Checksum(..) => {
                self.block(count).map_or(Intact::All, Intact::AllBut)
            }
            // The filter asked is the one at the place where the handle points.
            Self::Handle(..) => self.block(count).map_or(Intact::All, Intact::AllButLost),
            Self::Filter(_)
            | Self::FilterKind(_)
            | Self::FilterHandle(_)
            | Self::Metaindex(_)
            | Self::MetaindexEntry(..)
            | Self::MetaindexHandle(_) => Intact::AllButFilters,
            Self::IndexKey(..) | Self::Index(_) | Self::IndexKind(_) | Self::IndexHandle(_) => {
                Intact::Nothing
            }
            Self::Footer(_) | Self::File(_) => Intact::Nothing,
        }
    }
}

/// A file being put together.
#[derive(Default)]
pub(crate) struct File {
    pub(crate) bytes: Vec<u8>,
    blocks: Vec<BlockHandle>,
}

impl File {
    /// Appends a block and its trailer.
    pub(crate) fn block(&mut self, stored: &[u8], kind: u8, checksum_xor: u32) -> BlockHandle {
        let handle = BlockHandle { offset: self.bytes.len() as u64, size: stored.len() as u64 };
        self.bytes.extend(stored);
        self.bytes.push(kind);
        let crc = crc32c::crc32c(&self.bytes[handle.offset as usize..]);
        let masked = crc.rotate_right(15).wrapping_add(0xa282_ead8);
        self.bytes.extend((masked ^ checksum_xor).to_le_bytes());
        self.blocks.push(handle);
        handle
    }
}

/// Encodes a handle as in an index.
pub(crate) fn encoded(handle: BlockHandle) -> Vec<u8> {
    let mut bytes = Vec::new();
    handle.encode(&mut bytes);
    bytes
}

/// Builds the file from these parts, with filters of this base_lg, and the damage.
pub(super) fn assemble(parts: &Parts, base_lg: Option<u8>, damage: Damage<'_>) -> Vec<u8> {
    let mut file = File::default();
    let target = damage.block(parts.data.len());
    let (mut handles, mut filter_keys) = (Vec::new(), Vec::new());
    for (number, block) in parts.data.iter().enumerate() {
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
        handles.push(handle);
        let keys = block.entries.iter().map(|(key, _)| (handle.offset, parts.filter_key(key)));
        filter_keys.extend(keys);
    }

    let mut meta: Vec<(&[u8], Vec<u8>)> = Vec::new();
    if let Some(base_lg) = base_lg {
        let last = handles.last().and_then(BlockHandle::end).unwrap_or_default();
        let mut filter = model::filter_block(&filter_keys, last, base_lg, 10);
        if let Damage::Filter(edit) = damage {
            edit.apply(&mut filter);
        }
        let kind = if let Damage::FilterKind(kind) = damage { kind } else { 0 };
        let mut handle = file.block(&filter, kind, 0);
        if let Damage::FilterHandle(elsewhere) = damage {
            handle = elsewhere.handle(&file.blocks);
        }
        meta.push((b"filter.leveldb.BuiltinBloomFilter2", encoded(handle)));
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

    let index = parts.data.iter().zip(handles).enumerate().map(|(number, (block, handle))| match damage {
        Damage::IndexKey(_, key) if target == Some(number) => (key, encoded(handle)),
        Damage::Handle(_, elsewhere) if target == Some(number) => {
            (&block.index_key[..], encoded(elsewhere.handle(&file.blocks)))
        }
        _ => (&block.index_key[..], encoded(handle)),
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

    let mut footer = [encoded(metaindex), encoded(index)].concat();
    if let Damage::Footer(edit) = damage {
        edit.apply(&mut footer);
    }
    footer.resize(40, 0);
    let mut bytes = [file.bytes, footer, 0xdb47_7524_8b80_fb57_u64.to_le_bytes().to_vec()].concat();
    if let Damage::File(edit) = damage {
        edit.apply(&mut bytes);
    }
    bytes
}
