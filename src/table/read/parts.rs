//! The parts of an open table that a cache can hold.

use std::fmt;
use std::sync::Arc;

use super::Table;
use super::block_reader::BlockReader;
use super::filters::Filters;
use super::options::ReadOptions;
use crate::Origin;
use crate::table::block::Block;
use crate::table::format::Footer;
use crate::{Error, Result};

/// The index of an open table, with all that a table needs besides its source and its filters:
/// metaindex, file size, and the options it was opened with.
///
/// A cache may hold it longer than the table: [`Table::index_part`], [`Table::from_parts`].
pub struct TableIndex {
    pub(super) file_len: u64,
    pub(super) options: ReadOptions,
    pub(super) footer: Footer,
    pub(super) block: Block,
    /// `None` if it cannot be read. The filters' error says why.
    pub(super) metaindex: Option<Block>,
    pub(super) origin: Option<Origin>,
    /// Tells this opening of a table from all others.
    pub(super) identity: Arc<()>,
}

impl TableIndex {
    /// The memory that it keeps, in bytes, including views of the source's own memory.
    pub fn memory_usage(&self) -> usize {
        size_of::<Self>().saturating_add(self.options.heap_len()).saturating_add(self.blocks_len())
    }

    /// The size of the file in bytes.
    pub fn file_size(&self) -> u64 {
        self.file_len
    }

    pub(super) fn blocks_len(&self) -> usize {
        self.block.size().saturating_add(self.metaindex.as_ref().map_or(0, Block::size))
    }
}

impl fmt::Debug for TableIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableIndex")
            .field("file_size", &self.file_len)
            .field("index", &self.footer.index)
            .field("metaindex", &self.footer.metaindex)
            .finish_non_exhaustive()
    }
}

/// The filters of an open table, or the reason why they are not used.
///
/// A cache may hold it longer than the table: [`Table::filter_part`], [`Table::from_parts`].
pub struct TableFilter {
    pub(super) filters: Filters,
    /// The same as that of the index these filters belong to. With the index of another table they
    /// would deny keys that are there.
    pub(super) identity: Arc<()>,
}

impl TableFilter {
    /// The memory that it keeps, in bytes, including views of the source's own memory.
    pub fn memory_usage(&self) -> usize {
        size_of::<Self>().saturating_add(self.filters.contents_len())
    }
}

impl fmt::Debug for TableFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableFilter")
            .field("filter", &self.filters.reader)
            .field("error", &self.filters.error)
            .finish_non_exhaustive()
    }
}

impl<R> Table<R> {
    /// The index, for a cache to hold.
    pub fn index_part(&self) -> Arc<TableIndex> {
        Arc::clone(&self.index)
    }

    /// The filters, or the reason why there are none, for a cache to hold. `None` if the table was
    /// [opened from parts](Self::from_parts) without them.
    pub fn filter_part(&self) -> Option<Arc<TableFilter>> {
        self.filter.clone()
    }

    /// Opens a table again from its parts. Reads nothing, and does not ask the source for its
    /// length.
    ///
    /// `source` has to stand for the same file as before. The options are those of the first
    /// opening. Without its filters the table works as one that has none: every key may match.
    ///
    /// ```
    /// use filterblock::table::{ReadOptions, Table};
    ///
    /// let path = "testdata/databases/levels/000005.ldb";
    /// let options = ReadOptions::default().internal_keys(true);
    /// let table = Table::open_path(path, &options)?;
    /// let (index, filter) = (table.index_part(), table.filter_part());
    /// drop(table); // index and filters stay in the cache
    ///
    /// let table = Table::from_parts(std::fs::File::open(path)?, index, filter)?.with_path(path);
    /// assert_eq!(table.iter().count(), 450);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] if `filter` belongs to another table than `index`.
    pub fn from_parts(source: R, index: Arc<TableIndex>, filter: Option<Arc<TableFilter>>) -> Result<Self> {
        if filter.as_ref().is_some_and(|filter| !Arc::ptr_eq(&filter.identity, &index.identity)) {
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
        Ok(Self {
            blocks,
            path: None,
            order: options.order(index.origin),
            user_order: options.internal_keys.then(|| options.user_order()),
            index,
            filter,
        })
    }
}
