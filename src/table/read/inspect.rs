//! Inspecting the parts of a table.

use super::Table;
use super::block_types::DataBlockTypes;
use super::blocks::{BlockCursor, DataBlocks};
use super::filters::MAX_NAME;
use crate::key::parts::has_time;
use crate::table::block::{Block, Position};
use crate::table::format::BlockHandle;
use crate::table::source::ReadAt;
use crate::{Error, KeyFormat, Origin, Result};

impl<R> Table<R> {
    /// The name of the filters in the metaindex, without `filter.`: the name of the policy that
    /// reads them, or the name of filters that are not used for the reason in
    /// [`filter_error`](Self::filter_error). The name of an unknown policy is
    /// [escaped](crate::escape()). `None` if no filter block was looked for or found, or if its name
    /// is that of an unknown policy and longer than 4 KiB: then the error quotes its beginning.
    pub fn filter_name(&self) -> Option<&str> {
        self.filter.as_ref()?.filters.name()
    }

    /// The handle of the filter block, as the metaindex gives it, even if the block cannot be read.
    /// `None` in the same cases as [`filter_name`](Self::filter_name).
    pub fn filter_handle(&self) -> Option<BlockHandle> {
        Some(self.filter.as_ref()?.filters.found.as_ref()?.handle)
    }

    /// The origin of the table, according to a mark in its metaindex. `None` if there is no mark,
    /// as in LevelDB's own tables, or if the metaindex cannot be read.
    pub fn origin(&self) -> Option<Origin> {
        self.index.origin
    }

    /// The format of the keys, if they are a database's internal keys: [`KeyFormat::Basho`] in a table with [Basho's
    /// mark](Origin::Basho), and in one whose metaindex cannot be read.
    ///
    /// Such a table may be LevelDB's or Basho's. LevelDB writes keys of types 0 and 1 only, which are split and ordered
    /// alike in both formats, so that its keys are read rightly in either case. A key of type 2 or 3 is Basho's, unless
    /// some other program wrote it. Lookups and a database's scans therefore return an error if they meet such a key
    /// in such a table.
    pub fn key_format(&self) -> KeyFormat {
        self.index.key_format()
    }

    /// The error for a stored key whose type calls for a time, if only the metaindex, which cannot be read, shows
    /// whether it has one.
    #[inline]
    pub(crate) fn doubt_about(&self, key: &[u8]) -> Option<Error> {
        let doubt = self.index.doubt.as_ref()?;
        let (_, tag) = KeyFormat::LevelDb.split(key)?;
        has_time(tag).then(|| self.in_file(doubt.noted("", "")))
    }

    /// The size of the file when it was opened, in bytes.
    pub fn file_size(&self) -> u64 {
        self.blocks.file_len
    }

    /// The limit on the bytes that a walk decodes, as it was set with
    /// [`ReadOptions::max_output`](crate::table::ReadOptions::max_output) and
    /// [`max_output_factor`](crate::table::ReadOptions::max_output_factor).
    pub fn max_output(&self) -> u64 {
        self.index.options.max_output_of(self.index.file_len)
    }

    /// The handle of the index.
    pub fn index_handle(&self) -> BlockHandle {
        self.index.footer.index
    }

    /// The handle of the metaindex, as the footer gives it. Offset 0 and size 0 mean that there is
    /// no metaindex: such tables are sound, and have no filters.
    pub fn metaindex_handle(&self) -> BlockHandle {
        self.index.footer.metaindex
    }

    /// The entries of the index, one for each data block: a key at or after the block's last key,
    /// and the block's handle.
    pub fn index(&self) -> BlockCursor<'_> {
        BlockCursor::new(self.index.block.clone(), self.path.as_deref())
    }

    /// The handles of the data blocks, as the index gives them. A damaged index may give any
    /// handles, and the same handle many times.
    pub fn data_blocks(&self) -> DataBlocks<'_> {
        DataBlocks::new(self.index())
    }

    /// Roughly the offset in the file at which the data of `key` begins, or would begin if the key
    /// were stored: the offset of the data block that may hold the key, or of the metaindex if `key`
    /// is after all keys of the index (LevelDB's `Table::ApproximateOffsetOf`). The difference for
    /// two keys is about the compressed size of the data between them. If the table has
    /// [no metaindex](Self::metaindex_handle), its offset counts as 0.
    ///
    /// For a key that is not after all keys, this is the offset to check filters with
    /// ([`FilterBlockReader::key_may_match`](crate::FilterBlockReader::key_may_match)).
    ///
    /// This reads nothing. If the index is damaged, the result is the offset of the metaindex, as
    /// in LevelDB.
    pub fn approximate_offset_of(&self, key: &[u8]) -> u64 {
        let mut at = Position::default();
        let index = &self.index.block;
        let handle = match self.order.seek(&mut at, index, key) {
            Ok(true) => at.handle(index).ok(),
            _ => None,
        };
        handle.unwrap_or(self.metaindex_handle()).offset
    }

    /// The entries of the metaindex: names and handles. The names of filters begin with `filter.`. `None`
    /// if the metaindex cannot be read; [`filter_error`](Self::filter_error) gives the reason. Also
    /// `None`, without an error, if the table has [no metaindex](Self::metaindex_handle).
    ///
    /// The cursor returns [`Error::Limit`](crate::Error::Limit) at a name of more than 4 KiB that
    /// shares bytes with the previous name.
    pub fn metaindex(&self) -> Option<BlockCursor<'_>> {
        let metaindex = self.index.metaindex.clone()?;
        Some(BlockCursor::with_max_key(metaindex, self.path.as_deref(), MAX_NAME))
    }

    /// The memory that the open table keeps, in bytes: the table itself, index, metaindex and
    /// filter block, including views of the source's own memory.
    pub fn memory_usage(&self) -> usize {
        let path = self.path.as_ref().map_or(0, |path| path.as_os_str().len());
        let filter = self.filter.as_ref().map_or(0, |filter| filter.held(filter.memory_usage()));
        let parts = self.index.held(self.index.memory_usage()).saturating_add(filter);
        size_of::<Self>().saturating_add(parts).saturating_add(path)
    }
}

impl<R: ReadAt> Table<R> {
    /// Reads the block at `handle`, and returns a cursor before its first entry.
    /// [`BlockCursor::enter`] moves on to other blocks.
    ///
    /// # Errors
    ///
    /// If the block is not within the file, cannot be read or is damaged.
    pub fn block_cursor(&self, handle: BlockHandle) -> Result<BlockCursor<'_>> {
        Ok(BlockCursor::new(self.block(handle, Block::default())?, self.path.as_deref()))
    }

    /// Reads the compression type stored after the block at `handle`.
    /// [`Compression::from_id`](crate::table::Compression::from_id) interprets it. Reads five bytes
    /// and verifies no checksum.
    ///
    /// # Errors
    ///
    /// If the block is not within the file, or if its compression type cannot be read.
    pub fn compression_of(&self, handle: BlockHandle) -> Result<u8> {
        let id = self.blocks.span(handle, handle.offset).and_then(|span| self.blocks.compression(span));
        id.map_err(|error| self.in_file(error))
    }

    /// Iterates over the data blocks with the compression type stored after each, as
    /// [`compression_of`](Self::compression_of) returns it. Trailers close together are
    /// read together, up to 64 KiB of the file at a time. If the blocks are in order and all reads
    /// succeed, no byte is read twice.
    pub fn data_block_types(&self) -> DataBlockTypes<'_, R> {
        DataBlockTypes::new(self, self.data_blocks())
    }
}
