//! Damage to one structure of a table, and the answers that it leaves unchanged.

use arbitrary::Arbitrary;
use filterblock::table::BlockHandle;

use super::parts::encoded_handle;
use crate::damage::Edit;

/// A handle that points elsewhere.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Elsewhere {
    /// Any offset and size.
    At(u64, u64),
    /// The handle of the block of this number in the file, with the other two numbers added to its offset and its size.
    /// The block's number is taken modulo the number of blocks.
    Near(u8, i8, i8),
}

impl Elsewhere {
    pub(super) fn handle(self, blocks: &[BlockHandle]) -> BlockHandle {
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
pub enum Name<'a> {
    /// One of nine names that LevelDB, its relatives or this library write. The number is taken modulo nine.
    Known(u8),
    /// These bytes.
    Any(&'a [u8]),
}

/// Names that reveal whose table it is, or how its filters are read. No fuzzer guesses them.
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
    pub(super) fn bytes(self) -> &'a [u8] {
        match self {
            Self::Known(number) => NAMES[usize::from(number) % NAMES.len()].as_bytes(),
            Self::Any(name) => name,
        }
    }
}

/// The target of a name in the metaindex.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Value<'a> {
    /// A handle.
    Handle(Elsewhere),
    /// These bytes.
    Any(&'a [u8]),
}

impl Value<'_> {
    pub(super) fn bytes(self, blocks: &[BlockHandle]) -> Vec<u8> {
        match self {
            Self::Handle(elsewhere) => encoded_handle(elsewhere.handle(blocks)),
            Self::Any(value) => value.to_vec(),
        }
    }
}

/// The one structure that is damaged. Numbers of data blocks are taken modulo their count.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Damage<'a> {
    /// No damage.
    Nothing,
    /// The entries or restarts of a data block, which is stored uncompressed.
    Contents(u8, Edit<'a>),
    /// A data block as stored, perhaps compressed.
    Stored(u8, Edit<'a>),
    /// A data block's compression type.
    Kind(u8, u8),
    /// A data block's checksum, combined with this by XOR.
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
    /// An entry added to the metaindex, before that of the filter block.
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

/// The answers that damage leaves unchanged, in a reader that takes the table as damaged and goes
/// on with the rest. Unless all answers stay, a reader may also refuse to open the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intact {
    /// All answers.
    All,
    /// Answers about other data blocks than this one. No filter denies a key of this one.
    AllBut(usize),
    /// Answers about other data blocks than this one. Filters may deny keys of this one.
    AllButLost(usize),
    /// All answers, except where a filter denies the key.
    AllButFilters,
    /// No answers.
    Nothing,
}

impl Damage<'_> {
    /// Returns the number of the damaged data block, out of `count`. `None` if no data block is damaged.
    pub(super) fn block(self, count: usize) -> Option<usize> {
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

    /// Returns the answers that stay unchanged, in a table of `count` data blocks.
    pub fn leaves(self, count: usize) -> Intact {
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
