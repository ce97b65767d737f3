//! Rewriting a table with other filters.

use std::fmt;
use std::io::Write;

use super::block_writer::BlockWriter;
use super::summary::{FilterBuilder, write_filters};
use super::{FinishError, RewriteSummary, WriteOptions};
use crate::key::parts::TAG_LEN;
use crate::table::Table;
use crate::table::block::{Block, Position};
use crate::table::codec::{Codec, Compression};
use crate::table::format::{FILTER_PREFIX, Footer, origin_of_name};
use crate::table::read::{MAX_NAME, StoredBlocks};
use crate::table::source::ReadAt;
use crate::{Error, Result, Structure, quote};

/// Rewrites an open table with other filters, or without any.
///
/// Data blocks and index are copied byte for byte, whatever their compression. Filter blocks,
/// metaindex and footer are new. A table that LevelDB has written thus becomes the table that
/// LevelDB would have written with these filters.
///
/// ```
/// use filterblock::BloomFilterPolicy;
/// use filterblock::table::{ReadOptions, Rewriter, Table, TableBuilder, WriteOptions};
///
/// let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default());
/// builder.add(b"apple", b"green")?;
/// let (file, _) = builder.finish()?;
/// let table = Table::open(file, &ReadOptions::default())?;
/// assert!(table.filter().is_none());
///
/// // For a database's tables, add .internal_keys(true)
/// let options = WriteOptions::default().filter_policy(BloomFilterPolicy::new(10));
/// let mut rewriter = Rewriter::new(&table, Vec::new(), &options)?; // or a File
/// while rewriter.copy_block()? {
///     println!("{} bytes", rewriter.file_size());
/// }
/// let (file, summary) = rewriter.finish()?; // a File is yet to be synced
/// assert_eq!(summary.num_entries, Some(1));
/// assert!(Table::open(file, &ReadOptions::default())?.filter().is_some());
/// # Ok::<(), filterblock::Error>(())
/// ```
///
/// # Verification
///
/// The checksums of index, metaindex and data blocks are verified, whatever
/// [`ReadOptions::verify_checksums`](crate::table::ReadOptions::verify_checksums) says: damage is
/// never copied under a checksum that hides it. With filter policies, all entries are decoded as
/// well. The old filter block is not read, so it may be damaged, and so may the metaindex, which
/// leads to nothing else in LevelDB's tables.
///
/// Data blocks have to be end to end from the start of the file, in the order of the index, as
/// LevelDB writes them. Each byte is therefore copied at most once. To limit how
/// much of an untrusted file is decoded, open it with
/// [`ReadOptions::max_output`](crate::table::ReadOptions::max_output).
///
/// # Reads and writes
///
/// A data block takes one read; small blocks that follow each other are read together, up to 128 KiB
/// at a time. Each block is handed over in one call of `write`, as by
/// [`TableBuilder`](crate::table::TableBuilder).
///
/// # Memory
///
/// In addition to the open table:
///
/// - one data block, as stored and decoded, and up to 128 KiB that were read together;
/// - the index, as stored and decoded;
/// - for each filter policy the memory of a [`TableBuilder`](crate::table::TableBuilder#memory).
///
/// Measured for 0.9 GB of data (8.6 million 16-byte keys, 100-byte values, 10 bits per key), with the
/// open table: 42 MB with `base_lg` 11, 309 MB with 63, and 16 MB without policies.
#[must_use = "a table is complete only once it is finished"]
pub struct Rewriter<'t, R, W: Write> {
    table: &'t Table<R>,
    stored: StoredBlocks<'t, R>,
    out: BlockWriter<W>,
    /// The builders of filters, in ascending order of the policies' names.
    filters: Vec<FilterBuilder>,
    restart_interval: u32,
    internal_keys: bool,
    /// The current data block, decoded.
    block: Block,
    /// The current entry of `block`.
    entry: Position,
    /// The number of bytes counted against the limit on output.
    output: u64,
    num_entries: u64,
    data_blocks: u64,
    /// The message of the error that left the file incomplete.
    abandoned: Option<String>,
}

impl<'t, R: ReadAt, W: Write> Rewriter<'t, R, W> {
    /// Starts a new table. `writer` has to be at the beginning of its file. Reads the index and the
    /// metaindex, and writes nothing yet.
    ///
    /// Uses the options `filter_policies`, `base_lg`, `max_filter_block_size` and `internal_keys`, and,
    /// if there are several policies, `restart_interval` for the metaindex. Without policies, the table
    /// loses its filters. The metaindex is compressed only if the old metaindex was stored with Snappy.
    ///
    /// # Errors
    ///
    /// - [`Error::InvalidOption`] if the options are invalid.
    /// - [`Error::Unsupported`] if the metaindex has entries that are not filters: the blocks that they
    ///   lead to would be lost. Also if it bears the mark of [another format](crate::Origin), or is
    ///   compressed in a way that this build cannot read.
    /// - [`Error::Corrupt`] if the index is damaged, [`Error::Limit`] if the index, the metaindex or a name
    ///   in the metaindex is too large.
    /// - [`Error::Io`] or [`Error::NeedRange`] if the index or the metaindex cannot be read.
    pub fn new(table: &'t Table<R>, writer: W, options: &WriteOptions) -> Result<Self> {
        let filters = options.filter_builders()?;
        let read = || {
            let stored = StoredBlocks::new(table)?;
            let codec = match stored.metaindex().and_then(|metaindex| check_metaindex(&metaindex)) {
                // The blocks that a damaged metaindex led to can no longer be found. LevelDB goes
                // on without filters.
                Err(Error::Corrupt { .. }) => Codec::None,
                codec => codec?,
            };
            Ok((stored, codec))
        };
        let (stored, codec) = read().map_err(|error| table.in_file(error))?;
        let compression = match codec {
            Codec::Snappy => Compression::Snappy,
            _ => Compression::None,
        };
        Ok(Self {
            table,
            stored,
            out: BlockWriter::new(writer, compression),
            filters,
            restart_interval: options.restart_interval,
            internal_keys: options.internal_keys,
            block: Block::default(),
            entry: Position::default(),
            output: 0,
            num_entries: 0,
            data_blocks: 0,
            abandoned: None,
        })
    }

    /// Copies the next data block. Returns false if there are no more blocks.
    ///
    /// # Errors
    ///
    /// After [`Error::NeedRange`] the call can be repeated. After any other error the new table is
    /// lost, and every further call returns [`Error::TableAbandoned`]. Nothing of the block was
    /// written, unless the writer or a filter failed. Errors about the old table name its file, if
    /// that is known.
    ///
    /// - [`Error::Corrupt`] if the block or the index is damaged.
    /// - [`Error::Unsupported`] if the block does not begin where the previous block ends, or is compressed
    ///   in a way that this build cannot read. Without filter policies, any compression will do.
    /// - [`Error::ShortInternalKey`] if a key should be an internal key and has fewer than eight
    ///   bytes.
    /// - [`Error::Limit`] if the block is too large, or more would be decoded than the table's
    ///   options allow, or a filter block outgrows its limit.
    /// - [`Error::Io`] if the source or the writer fails.
    /// - Any error of a filter policy.
    pub fn copy_block(&mut self) -> Result<bool> {
        self.check_usable()?;
        let result = self.try_copy_block();
        result.inspect_err(|error| {
            if !error.needs_range() {
                self.abandoned = Some(error.to_string());
            }
        })
    }

    /// The number of bytes written so far.
    pub fn file_size(&self) -> u64 {
        self.out.offset()
    }

    /// Copies the data blocks that are left, then writes filter blocks, metaindex, index and
    /// footer. Flushes the writer and returns it with a summary. Syncing is left to the caller.
    ///
    /// # Errors
    ///
    /// Those of [`copy_block`](Self::copy_block). The error gives the writer back; `?` keeps the
    /// [`Error`] alone. After [`Error::NeedRange`], too, the new table is lost, so copy all blocks
    /// beforehand if the source can return that error.
    pub fn finish(mut self) -> std::result::Result<(W, RewriteSummary), FinishError<W>> {
        match self.finish_file() {
            Ok(summary) => Ok((self.out.into_writer(), summary)),
            Err(error) => Err(FinishError { error, writer: self.out.into_writer() }),
        }
    }

    fn check_usable(&self) -> Result<()> {
        match &self.abandoned {
            None => Ok(()),
            Some(error) => Err(Error::TableAbandoned { error: error.clone() }),
        }
    }

    fn finish_file(&mut self) -> Result<RewriteSummary> {
        while self.copy_block()? {}
        let data_size = self.out.offset();
        let num_entries = (!self.filters.is_empty()).then_some(self.num_entries);
        let (metaindex, filters) =
            write_filters(&mut self.out, self.filters.drain(..), self.restart_interval)?;
        let index = self.out.write_stored(self.stored.index())?;
        self.out.finish(&Footer { metaindex, index })?;
        Ok(RewriteSummary {
            file_size: self.out.offset(),
            data_size,
            data_blocks: self.data_blocks,
            num_entries,
            filters,
        })
    }

    fn try_copy_block(&mut self) -> Result<bool> {
        let table = self.table;
        let Some((offset, stored)) = self.stored.next().map_err(|error| table.in_file(error))? else {
            return Ok(false);
        };
        debug_assert_eq!(offset, self.out.offset(), "data blocks begin both files");
        if !self.filters.is_empty() {
            let keys = self.decode(stored.clone(), offset).and_then(|()| self.add_keys());
            keys.map_err(|error| table.in_file(error))?;
        }
        self.out.write_stored(&stored)?;
        self.data_blocks = self.data_blocks.saturating_add(1);
        let offset = self.out.offset();
        self.filters.iter_mut().try_for_each(|(_, filter)| filter.start_block(offset))?;
        Ok(true)
    }

    /// Decodes a data block, in the memory of the previous block if possible.
    fn decode(&mut self, stored: bytes::Bytes, offset: u64) -> Result<()> {
        self.entry.reset();
        let mut buffer = std::mem::take(&mut self.block).into_buffer();
        self.block = self.stored.entries(stored, offset, &mut buffer)?;
        self.output = self.output.saturating_add(self.block.size() as u64);
        self.check_output()
    }

    /// Adds the keys of the current block to the filters.
    fn add_keys(&mut self) -> Result<()> {
        while self.entry.next(&self.block)? {
            let key = self.entry.key(&self.block);
            if self.internal_keys && key.len() < TAG_LEN {
                let index = self.num_entries;
                return Err(Error::ShortInternalKey { index, expected: TAG_LEN, found: key.len() });
            }
            // Keys that share a long beginning can take far more bytes here than in the file.
            if let Some(len) = self.entry.copied_key_len() {
                self.output = self.output.saturating_add(len as u64);
                self.check_output()?;
            }
            let key = self.entry.key(&self.block);
            for (_, filter) in &mut self.filters {
                filter.add_key(key);
            }
            self.num_entries = self.num_entries.saturating_add(1);
        }
        Ok(())
    }

    fn check_output(&self) -> Result<()> {
        let (limit, found) = (self.table.max_output(), self.output);
        if found > limit {
            let offset = self.block.offset();
            return Err(Error::Limit { what: "output of one rewriter", offset, limit, found });
        }
        Ok(())
    }
}

/// Checks that a metaindex names only filters, and bears no mark of another format. Returns its codec.
fn check_metaindex(metaindex: &Block) -> Result<Codec> {
    let mut at = Position::with_max_key(MAX_NAME);
    while at.next(metaindex)? {
        let name = at.key(metaindex);
        let found = match origin_of_name(name) {
            Some(origin) => format!("{}, a mark of {origin:?}", quote(name)),
            None if !name.starts_with(FILTER_PREFIX) => quote(name).to_string(),
            None => continue,
        };
        return Err(Error::Unsupported {
            what: Structure::Metaindex,
            offset: metaindex.offset(),
            expected: "only filters of LevelDB's, whose names begin with \"filter.\"".into(),
            found: found.into(),
        });
    }
    Ok(metaindex.codec())
}

impl<R, W: Write> fmt::Debug for Rewriter<'_, R, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rewriter")
            .field("file_size", &self.out.offset())
            .field("num_entries", &self.num_entries)
            .field("data_blocks", &self.data_blocks)
            .field("filters", &self.filters)
            .finish_non_exhaustive()
    }
}
