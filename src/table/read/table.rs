//! An open table.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::ReadOptions;
use super::block_reader::{BlockReader, InPlace};
use super::open::{MIN_MAX_KEY, Opened, open};
use super::order::KeyOrder;
use super::parts::{Identity, Part, TableFilter, TableIndex};
#[cfg(doc)]
use crate::Origin;
use crate::key::comparator::SharedComparator;
use crate::table::block::Block;
use crate::table::format::BlockHandle;
use crate::table::source::ReadAt;
use crate::{Error, FilterBlockReader, Result, SharedPolicy};

/// An open table (LevelDB's `table/table.cc`).
///
/// Opening reads the footer, the index, the metaindex and the filter block, which stay in memory.
/// Data blocks are read when they are needed, and not kept. Reading takes `&self`, and many threads
/// may read at once if the source allows it.
///
/// # Reads
///
/// Opening gets the source's length, then reads the last 64 KiB ([`ReadOptions::tail_size`]).
/// For most tables that is all: **one read**. Parts that begin before these bytes take one more
/// read for index and metaindex together, or two if they are apart, and one for the filter block:
/// **at most four**. If a read of several parts together fails, more reads follow: each part is then
/// read by itself, so that damage to one part does not affect the others.
///
/// Afterwards, a lookup takes at most one read, and none if the index or the filter excludes the key.
/// A walk takes one read for each data block.
///
/// # Memory
///
/// Opening takes at most twice the file's size plus 64 KiB plus [`ReadOptions::max_block_size`]
/// (counted as at least 5 MiB for Zstandard), and so does the open table with one data block. Every
/// length in the file is checked against the file's size or a limit before anything is allocated for
/// it. If a source returns views of its own memory, blocks that are not compressed stay views of that
/// memory, except for a small metaindex.
///
/// # Errors
///
/// No bytes make a method panic or wait forever. In addition to the errors named with each method,
/// all methods that read return
///
/// - [`Error::Io`] if the source fails or returns another number of bytes than it should,
/// - [`Error::NeedRange`] if the source returns that error,
/// - [`Error::Corrupt`], [`Error::Unsupported`] or [`Error::Limit`] if a block that the method needs
///   is damaged, of an unknown kind, or too large.
///
/// ```
/// use filterblock::table::{Lookup, ReadOptions, Table};
///
/// let options = ReadOptions::default().internal_keys(true);
/// let table = Table::open_path("testdata/databases/levels/000009.ldb", &options)?;
/// assert!(matches!(table.get_at(b"item/0005/595", u64::MAX)?, Lookup::Value(_)));
/// assert_eq!(table.get_at(b"item/0000/0", u64::MAX)?, Lookup::Deleted);
/// assert_eq!(table.get_at(b"item/0000/1", u64::MAX)?, Lookup::Absent);
///
/// let (mut cursor, mut entries) = (table.cursor(), 0);
/// while cursor.next()? {
///     entries += 1;
/// }
/// assert_eq!(entries, 146);
/// # Ok::<(), filterblock::Error>(())
/// ```
pub struct Table<R> {
    pub(in crate::table) blocks: BlockReader<R>,
    pub(in crate::table) path: Option<PathBuf>,
    pub(in crate::table) order: KeyOrder,
    /// The order of the user keys, if the keys are a database's internal keys.
    pub(in crate::table) user_order: Option<SharedComparator>,
    pub(in crate::table) index: Part<TableIndex>,
    pub(in crate::table) filter: Option<Part<TableFilter>>,
}

impl<R: ReadAt> Table<R> {
    /// Opens the table that `source` holds.
    ///
    /// Trouble with the metaindex or the filter block is not an error: the table then works without
    /// filters, as in LevelDB, and [`filter_error`](Self::filter_error) gives the reason. The
    /// exception is [`Error::NeedRange`], so that the caller can fetch the missing bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the source is shorter than 48 bytes, does not end in LevelDB's magic,
    /// or has a damaged footer or index; [`Error::Unsupported`] if the table is in RocksDB's or
    /// Pebble's own format.
    pub fn open(source: R, options: &ReadOptions) -> Result<Self> {
        let blocks = BlockReader::new(source, options)?;
        let file_len = blocks.file_len;
        let Opened { footer, index, metaindex, filters } = open(&blocks.erased(), options)?;
        let identity = Identity::new();
        let index = TableIndex {
            file_len,
            options: options.without_policies(),
            footer,
            block: index,
            metaindex,
            origin: filters.origin,
            doubt: filters.doubt.clone(),
            identity,
        };
        let filter = TableFilter { filters, identity };
        Ok(Self::of_parts(blocks, Part::Own(index), Some(Part::Own(filter))))
    }

    /// The block at `handle`, in place. `None` if the source does not have the block in memory, or if
    /// the block is compressed.
    #[inline(always)]
    pub(in crate::table) fn block_in_place(
        &self,
        handle: BlockHandle,
    ) -> Result<Option<Block<InPlace<'_, R>>>> {
        let span = self.blocks.span(handle, handle.offset);
        let block = span.and_then(|span| self.blocks.in_place(span, self.room()));
        block.map_err(|error| self.in_file(error))
    }

    /// Reads and decodes a block of entries, in the memory of `before` if possible. Otherwise, that
    /// memory is released.
    pub(in crate::table) fn block(&self, handle: BlockHandle, before: Block) -> Result<Block> {
        let span = self.blocks.span(handle, handle.offset);
        let block = span.and_then(|span| self.blocks.block(span, self.room(), before));
        block.map_err(|error| self.in_file(error))
    }

    /// The memory that a data block may take, stored and decompressed together, in bytes.
    #[inline(always)]
    pub(in crate::table) fn room(&self) -> u64 {
        // A cursor also holds a key of the index. Only its bytes beyond `MIN_MAX_KEY` count: a
        // shorter key fits in the memory that opening took for the file's tail.
        let resident =
            self.resident_len().saturating_add(self.index.block.max_key.saturating_sub(MIN_MAX_KEY));
        self.blocks.memory_budget(2, resident)
    }
}

impl<R> Table<R> {
    /// Sets the path of the file that the source reads. Later errors of this table carry the path, and
    /// so does [`filter_error`](Self::filter_error) unless a cache shares that error.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        if let Some(Part::Own(filter)) = &mut self.filter {
            let error = filter.filters.error.take().map(|error| match Arc::try_unwrap(error) {
                Ok(error) => Arc::new(error.with_path(&path)),
                Err(shared) => shared,
            });
            filter.filters.error = error;
        }
        self.path = Some(path);
        self
    }

    /// The filters, if the table has any that can be read and whose policy is one of the
    /// [options'](ReadOptions::filter_policies). Filters that would be misread by that policy come with an
    /// [`OpaquePolicy`](crate::OpaquePolicy) instead, for which every key may match: see
    /// [`filter_error`](Self::filter_error).
    ///
    /// Takes internal keys if the table was opened with [`internal_keys`](ReadOptions::internal_keys).
    ///
    /// The filters may be malformed ([`FilterBlockReader::check`]). Their answers are then those of
    /// LevelDB.
    pub fn filter(&self) -> Option<&FilterBlockReader<SharedPolicy>> {
        self.filter.as_ref()?.filters.reader.as_ref()
    }

    /// Why filters are not used though the table may have some: the metaindex or the filter block
    /// could not be read, or no policy of the options reads the filters. `None` if filters are used, if the
    /// options have no policy, or if the table was written without filters or without a metaindex. Also
    /// `None` if the table was [opened from parts](Self::from_parts) without filters.
    ///
    /// [`Error::Unsupported`] means that no policy of the options reads the filters, which may be
    /// right, or that this build cannot decompress the metaindex or the filter block. In a
    /// table with [Basho's mark](Origin::Basho), filters under the name
    /// `leveldb.BuiltinBloomFilter2` would hide stored keys if they were read as LevelDB's filters.
    /// [`filter`](Self::filter) then gives access to the structure of the filter block, with an
    /// [`OpaquePolicy`](crate::OpaquePolicy), for which every key may match. There is no such
    /// access to a RocksDB filter of the whole table, since it is not a filter block.
    pub fn filter_error(&self) -> Option<&Error> {
        self.filter.as_ref()?.filters.error.as_deref()
    }

    /// The size of the blocks that the table keeps, in bytes.
    pub(in crate::table) fn resident_len(&self) -> usize {
        let filter = self.filter.as_ref().map_or(0, |filter| filter.filters.contents_len());
        self.index.blocks_len().saturating_add(filter)
    }

    /// The source that the table is read from.
    pub fn source(&self) -> &R {
        &self.blocks.source
    }

    /// Returns the source.
    pub fn into_source(self) -> R {
        self.blocks.source
    }

    pub(in crate::table) fn in_file(&self, error: Error) -> Error {
        match &self.path {
            Some(path) => error.with_path(path),
            None => error,
        }
    }

    /// The index, for a cache to hold: a copy that shares the bytes of the blocks, or the part that the table was
    /// [opened from](Self::from_parts).
    pub fn index_part(&self) -> Arc<TableIndex> {
        self.index.share(TableIndex::copy)
    }

    /// The filters, if any, or why they are not used, for a cache to hold. `None` only if
    /// the table was [opened from parts](Self::from_parts) without this part.
    pub fn filter_part(&self) -> Option<Arc<TableFilter>> {
        self.filter.as_ref().map(|filter| filter.share(TableFilter::copy))
    }

    /// Opens a table again from its parts. This reads nothing, not even the source's length.
    ///
    /// `source` has to be a source of the same file as before. The options are those of the first
    /// opening. Without `filter`, every key may match, as in a table written without filters.
    ///
    /// ```
    /// use filterblock::table::{ReadOptions, Table};
    ///
    /// let path = "testdata/databases/levels/000009.ldb";
    /// let options = ReadOptions::default().internal_keys(true);
    /// let table = Table::open_path(path, &options)?;
    /// let (index, filter) = (table.index_part(), table.filter_part());
    /// drop(table); // index and filters stay in the cache
    ///
    /// let table = Table::from_parts(std::fs::File::open(path)?, index, filter)?.with_path(path);
    /// assert_eq!(table.iter().count(), 146);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] if `filter` and `index` do not come from the same opening of a table.
    pub fn from_parts(source: R, index: Arc<TableIndex>, filter: Option<Arc<TableFilter>>) -> Result<Self> {
        if filter.as_ref().is_some_and(|filter| filter.identity != index.identity) {
            return Err(Error::InvalidOption {
                option: "filter",
                expected: "the filters of the same table as the index".into(),
                found: "those of another".into(),
            });
        }
        let options = &index.options;
        let blocks = BlockReader {
            source,
            file_len: index.file_len,
            verify_checksums: options.verify_checksums,
            max_block_size: options.max_block_size,
            meter: options.meter.clone(),
        };
        Ok(Self::of_parts(blocks, Part::Shared(index), filter.map(Part::Shared)))
    }

    fn of_parts(blocks: BlockReader<R>, index: Part<TableIndex>, filter: Option<Part<TableFilter>>) -> Self {
        let options = &index.options;
        Self {
            blocks,
            path: None,
            order: options.order(index.key_format()),
            user_order: options.internal_keys.then(|| options.user_order()),
            index,
            filter,
        }
    }
}

impl Table<std::fs::File> {
    /// Opens the table in the file at `path`, for reading only and without a lock. All errors of
    /// this table name the file.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open), and [`Error::Io`] if `path` does not lead to a regular file,
    /// or if the file cannot be opened. A pipe is not a regular file and is not waited for.
    pub fn open_path(path: impl Into<PathBuf>, options: &ReadOptions) -> Result<Self> {
        let path = path.into();
        match crate::table::source::open_file(&path).and_then(|file| Self::open(file, options)) {
            Ok(table) => Ok(table.with_path(path)),
            Err(error) => Err(error.with_path(path)),
        }
    }
}

impl<R> fmt::Debug for Table<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("path", &self.path)
            .field("file_size", &self.blocks.file_len)
            .field("index", &self.index.footer.index)
            .field("metaindex", &self.index.footer.metaindex)
            .field("filter", &self.filter())
            .field("filter_error", &self.filter_error())
            .finish_non_exhaustive()
    }
}
