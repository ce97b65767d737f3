//! A table and what can be asked of it.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use bytes::Bytes;

use super::block::Block;
use super::block_cursor::{BlockCursor, DataBlocks};
use super::block_reader::BlockReader;
use super::comparator::SharedComparator;
use super::cursor::{Cursor, Iter};
use super::filters::Filters;
use super::format::{BlockHandle, Footer};
use super::open::{Opened, open};
use super::position::Position;
use super::read_at::ReadAt;
use super::read_options::ReadOptions;
use crate::{Error, FilterBlockReader, Result, SharedPolicy};

/// An open table (LevelDB's `table/table.cc`).
///
/// Opening reads footer, index, metaindex and filter block, which stay in memory; data blocks are read when they are needed and
/// not kept. All methods take `&self`, and may be called from many threads where the source allows it.
///
/// # Reads
///
/// Opening asks the source for its length, then reads the last 64 KiB ([`ReadOptions::tail_size`]). For most
/// tables that is all: **one read**. What lies before them takes one more for index and metaindex together, or two where
/// they lie apart, and one for the filter block: **at most four**. (One more if reading index and metaindex together
/// fails, as either may be to blame.) Afterwards, a lookup takes one read, or none if the filter denies
/// the key; a walk takes one for each data block.
///
/// # Memory
///
/// Opening takes at most twice the file's size, 64 KiB and [`ReadOptions::max_block_size`], and so does the open table with one data
/// block. Every length in the file is checked against
/// the file's before anything is allocated for it. BlockReader that a source gives out as views of
/// its own memory stay such views where they are not compressed.
///
/// # Errors
///
/// No bytes make a method panic or wait forever. Besides the errors named with each method, all that read
/// return [`Error::Io`] where the source fails or gives other lengths than asked for, and
/// [`Error::NeedRange`] where it says so; [`Error::Corrupt`], [`Error::Unsupported`] or [`Error::Limit`] where a block
/// they need is damaged, of an unknown kind, or too large.
///
/// ```
/// use filterblock::table::{ReadOptions, Table};
///
/// # fn example() -> filterblock::Result<()> {
/// let table = Table::open_path("db/000005.ldb", &ReadOptions::default().internal_keys(true))?;
/// let mut cursor = table.cursor();
/// while cursor.next()? {
///     println!("{}: {} bytes", filterblock::escape(cursor.key()), cursor.value().len());
/// }
/// # Ok(())
/// # }
/// ```
pub struct Table<R> {
    blocks: BlockReader<R>,
    path: Option<PathBuf>,
    pub(super) order: SharedComparator,
    /// The order of the user keys, where the keys are a database's.
    pub(super) user_order: Option<SharedComparator>,
    pub(super) max_output: u64,
    footer: Footer,
    index: Block,
    metaindex: Option<Block>,
    filters: Filters,
}

impl<R: ReadAt> Table<R> {
    /// Opens the table that `source` holds.
    ///
    /// Trouble with the metaindex or the filter block is no error: the table then works without filters, as in
    /// LevelDB, and [`filter_error`](Self::filter_error) gives the reason. Only where bytes have to be fetched for them first is
    /// that an error, so that they can be.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the source is under 48 bytes, does not end in LevelDB's magic, or its index cannot be
    /// read; [`Error::Unsupported`] if it is a table of RocksDB's or Pebble's own kind.
    pub fn open(source: R, options: &ReadOptions) -> Result<Self> {
        let file_len = source.len().map_err(|error| Error::io("asking for the length", 0, error))?;
        let blocks = BlockReader {
            source,
            file_len,
            verify_checksums: options.verify_checksums,
            max_block_size: options.max_block_size,
        };
        let Opened { footer, index, metaindex, filters } = open(&blocks, options)?;
        Ok(Self {
            blocks,
            path: None,
            order: options.order(),
            user_order: options.internal_keys.then(|| options.user_order()),
            max_output: options.max_output,
            footer,
            index,
            metaindex,
            filters,
        })
    }

    /// Names the file that the source stands for: all later errors of this table carry it.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        self.filters.error = self.filters.error.map(|error| error.with_path(&path));
        self.path = Some(path);
        self
    }

    /// The first entry whose key is `key` or after it, as [`get`](Self::get) would come by it: key and value.
    ///
    /// This is a lookup (LevelDB's `Table::InternalGet`), not the start of a range: only the one data block that may hold
    /// `key` is looked at, and none if its filter denies `key`. `None` therefore does not mean that no later keys
    /// follow; [`Cursor::seek`] finds those.
    ///
    /// # Errors
    ///
    /// If the index or the data block is damaged.
    pub fn seek(&self, key: &[u8]) -> Result<Option<(Bytes, Bytes)>> {
        let found = self.find(key)?;
        Ok(found.map(|(block, at)| (at.key_bytes(&block), at.value_bytes(&block))))
    }

    /// The value of the entry whose stored key is equal to `key`, by the table's comparator.
    ///
    /// In a database's tables stored keys are internal keys; [`get_at`](Self::get_at) takes a user key.
    ///
    /// The value is a view of its data block, which stays in memory as long as the value does. Nothing is allocated
    /// besides that block.
    ///
    /// # Errors
    ///
    /// If the index or the data block is damaged.
    pub fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        let found = self.find(key)?.filter(|(block, at)| self.order.compare(at.key(block), key).is_eq());
        Ok(found.map(|(block, at)| at.value_bytes(&block)))
    }

    /// Whether `key` may be stored: false if it is after all keys of the index, or if the filter denies it.
    /// Without a filter only the index decides.
    ///
    /// Reads nothing and, with LevelDB's index, allocates nothing.
    ///
    /// # Errors
    ///
    /// If the index is damaged.
    pub fn may_contain(&self, key: &[u8]) -> Result<bool> {
        Ok(self.locate(key)?.is_some())
    }

    /// The handle of the data block to look into for `key`, unless the index or the filter says there is none.
    fn locate(&self, key: &[u8]) -> Result<Option<BlockHandle>> {
        let handle = || {
            let mut at = Position::default();
            if !at.seek(&self.index, key, &*self.order)? {
                return Ok(None);
            }
            let handle = at.handle(&self.index)?;
            self.blocks.span(handle, self.footer.index.offset)?;
            Ok(Some(handle))
        };
        let handle = handle().map_err(|error| self.in_file(error))?;
        let denied =
            |offset| self.filters.reader.as_ref().is_some_and(|filter| !filter.key_may_match(offset, key));
        Ok(handle.filter(|handle| !denied(handle.offset)))
    }

    /// The entry at or after `key` in the one data block that may hold `key`.
    pub(super) fn find(&self, key: &[u8]) -> Result<Option<(Block, Position)>> {
        let Some(handle) = self.locate(key)? else { return Ok(None) };
        let block = self.block(handle)?;
        let mut at = Position::default();
        let found = at.seek(&block, key, &*self.order).map_err(|error| self.in_file(error))?;
        Ok(found.then_some((block, at)))
    }

    /// A cursor before the first entry.
    pub fn cursor(&self) -> Cursor<'_, R> {
        Cursor::new(self)
    }

    /// All entries in the order of the file: key and value.
    ///
    /// Each key is copied, unless it lies whole in the block, and each value is a view that keeps its data
    /// block in memory. A [`Cursor`] does neither.
    pub fn iter(&self) -> Iter<'_, R> {
        Iter::new(self.cursor())
    }

    /// Reads and decodes a block of entries.
    pub(super) fn block(&self, handle: BlockHandle) -> Result<Block> {
        let block =
            self.blocks.span(handle, handle.offset).and_then(|span| self.blocks.block(span, self.held()));
        block.map_err(|error| self.in_file(error))
    }

    /// Reads the one block of `handle`, to go through its entries.
    ///
    /// # Errors
    ///
    /// If the block does not lie within the file or is damaged.
    pub fn block_cursor(&self, handle: BlockHandle) -> Result<BlockCursor<'_>> {
        Ok(BlockCursor::new(Cow::Owned(self.block(handle)?), self.path.as_deref()))
    }

    /// The compression type stored behind the block of `handle`, which
    /// [`Compression::from_id`](super::Compression::from_id) interprets. Reads five bytes and verifies no checksum.
    ///
    /// # Errors
    ///
    /// If the block does not lie within the file.
    pub fn compression_of(&self, handle: BlockHandle) -> Result<u8> {
        let id = self.blocks.span(handle, handle.offset).and_then(|span| self.blocks.compression(span));
        id.map_err(|error| self.in_file(error))
    }
}

impl<R> Table<R> {
    /// The filters, if the table has some that can be read and whose policy was asked for.
    ///
    /// They may be malformed ([`FilterBlockReader::check`]); such filters let keys match, as in LevelDB.
    pub fn filter(&self) -> Option<&FilterBlockReader<SharedPolicy>> {
        self.filters.reader.as_ref()
    }

    /// Why there are no filters though there might be: the metaindex or the filter block could not be read, or is not what its
    /// name says. `None` if all is well, also where a table was written without filters.
    ///
    /// With `stats.sst1` in the metaindex, the mark of Basho's LevelDB, filters under the name
    /// `leveldb.BuiltinBloomFilter2` are in another encoding, and would deny keys that are there if they were used.
    pub fn filter_error(&self) -> Option<&Error> {
        self.filters.error.as_ref()
    }

    /// The name of the policy that was found in the metaindex, without `filter.`, also where its filters cannot be read.
    pub fn filter_name(&self) -> Option<&str> {
        self.filters.found.as_ref().map(|(policy, _)| policy.name())
    }

    /// Where the metaindex says the filter block is, also where it cannot be read.
    pub fn filter_handle(&self) -> Option<BlockHandle> {
        self.filters.found.as_ref().map(|&(_, handle)| handle)
    }

    /// The size of the file when it was opened, in bytes.
    pub fn file_size(&self) -> u64 {
        self.blocks.file_len
    }

    /// Where the index is.
    pub fn index_handle(&self) -> BlockHandle {
        self.footer.index
    }

    /// Where the metaindex is said to be.
    pub fn metaindex_handle(&self) -> BlockHandle {
        self.footer.metaindex
    }

    pub(super) fn index_block(&self) -> &Block {
        &self.index
    }

    /// The entries of the index, one for each data block: a key at or after the block's last one, and the block's handle.
    pub fn index(&self) -> BlockCursor<'_> {
        BlockCursor::new(Cow::Borrowed(&self.index), self.path.as_deref())
    }

    /// The handles of the data blocks, as the index gives them. A damaged index may name any, and the same many times.
    pub fn data_blocks(&self) -> DataBlocks<'_> {
        DataBlocks::new(self.index())
    }

    /// The entries of the metaindex: names, of which those of filters begin with `filter.`, and handles. `None` if
    /// it cannot be read; [`filter_error`](Self::filter_error) says why.
    pub fn metaindex(&self) -> Option<BlockCursor<'_>> {
        let metaindex = self.metaindex.as_ref()?;
        Some(BlockCursor::new(Cow::Borrowed(metaindex), self.path.as_deref()))
    }

    /// Bytes of memory that the open table keeps: itself, index, metaindex and filter block, also where
    /// they are views of the source's own memory.
    pub fn memory_usage(&self) -> usize {
        let path = self.path.as_ref().map_or(0, |path| path.as_os_str().len());
        size_of::<Self>().saturating_add(self.held()).saturating_add(path)
    }

    /// The size of the blocks that the table keeps.
    fn held(&self) -> usize {
        let metaindex = self.metaindex.as_ref().map_or(0, Block::size);
        let filter = self.filters.reader.as_ref().map_or(0, |filter| filter.contents().len());
        self.index.size().saturating_add(metaindex).saturating_add(filter)
    }

    /// The source.
    pub fn source(&self) -> &R {
        &self.blocks.source
    }

    /// The source, to be added to. It has to stand for the same file as before.
    pub fn source_mut(&mut self) -> &mut R {
        &mut self.blocks.source
    }

    /// Gives back the source.
    pub fn into_source(self) -> R {
        self.blocks.source
    }

    pub(super) fn in_file(&self, error: Error) -> Error {
        match &self.path {
            Some(path) => error.with_path(path),
            None => error,
        }
    }
}

#[cfg(any(unix, windows))]
impl Table<std::fs::File> {
    /// Opens the table in the file at `path`, for reading only and without a lock. All errors of this table name the file.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), and [`Error::Io`] if there is no regular file, which also means that a pipe is not waited for,
    /// or it may not be read.
    pub fn open_path(path: impl Into<PathBuf>, options: &ReadOptions) -> Result<Self> {
        let path = path.into();
        match open_file(&path).and_then(|file| Self::open(file, options)) {
            Ok(table) => Ok(table.with_path(path)),
            Err(error) => Err(error.with_path(path)),
        }
    }
}

#[cfg(any(unix, windows))]
fn open_file(path: &std::path::Path) -> Result<std::fs::File> {
    let regular = |metadata: std::fs::Metadata| {
        if metadata.is_file() { Ok(()) } else { Err(std::io::Error::other("not a regular file")) }
    };
    // Opening a pipe would wait for its other end, so this is asked before; and after, since the file may be another by then.
    let open = || {
        regular(std::fs::metadata(path)?)?;
        let file = std::fs::File::open(path)?;
        regular(file.metadata()?)?;
        Ok(file)
    };
    open().map_err(|error| Error::io("opening", 0, error))
}

impl<'t, R: ReadAt> IntoIterator for &'t Table<R> {
    type Item = Result<(Bytes, Bytes)>;
    type IntoIter = Iter<'t, R>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<R> fmt::Debug for Table<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("path", &self.path)
            .field("file_size", &self.file_size())
            .field("index", &self.footer.index)
            .field("metaindex", &self.footer.metaindex)
            .field("filter", &self.filters.reader)
            .field("filter_error", &self.filters.error)
            .finish_non_exhaustive()
    }
}
