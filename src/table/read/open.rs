//! Opening a table: footer, index, metaindex and filter block, in as few reads as possible.

use bytes::{Buf as _, Bytes};

use super::block_reader::{BlockReader, Span};
use super::filters::Filters;
use super::options::ReadOptions;
use crate::table::block::Block;
use crate::table::format::{BlockHandle, FOOTER_LEN, Footer};
use crate::table::source::ReadAt;
use crate::{Error, Result, Structure};

/// Index and metaindex are read together if at most this many bytes lie between them.
const MAX_GAP: u64 = 4 << 10;

/// Keys of the index up to this length, in bytes, can always be put together.
pub(in crate::table) const MIN_MAX_KEY: usize = 64 << 10;

/// The parts of a table that opening reads.
pub(in crate::table) struct Opened {
    pub(in crate::table) footer: Footer,
    pub(in crate::table) index: Block,
    /// `None` if the table has no metaindex. Also `None` if the metaindex cannot be read: then the
    /// filters' error gives the reason.
    pub(in crate::table) metaindex: Option<Block>,
    pub(in crate::table) filters: Filters,
}

/// A part of the file that has been read.
struct ReadChunk {
    offset: u64,
    bytes: Bytes,
    /// True if nobody else holds these bytes. A small slice would then keep all of them in memory.
    owned: bool,
}

impl ReadChunk {
    fn new(offset: u64, bytes: Bytes) -> Self {
        let owned = bytes.is_unique();
        Self { offset, bytes, owned }
    }

    fn get(&self, span: Span) -> Option<Bytes> {
        self.slice(span).map(|part| self.bytes.slice_ref(part))
    }

    /// The bytes of `span`, if this chunk has them.
    fn slice(&self, span: Span) -> Option<&[u8]> {
        let start = usize::try_from(span.offset.checked_sub(self.offset)?).ok()?;
        self.bytes.get(start..start.checked_add(span.len)?)
    }

    /// Like [`take`](Self::take), but for the last part of this chunk that is needed.
    fn into_taken(self, span: Span) -> Option<Bytes> {
        let part = self.slice(span)?;
        if self.owned {
            return Some(Bytes::copy_from_slice(part));
        }
        // Unlike a slice, this hands on the chunk's reference instead of counting another.
        let start = usize::try_from(span.offset.checked_sub(self.offset)?).ok()?;
        let mut bytes = self.bytes;
        bytes.truncate(start.checked_add(span.len)?);
        bytes.advance(start);
        Some(bytes)
    }

    /// The bytes of `span`, if this chunk has them. They are copied if a slice would keep this
    /// whole chunk in memory.
    fn take(&self, span: Span) -> Option<Bytes> {
        if self.owned { self.slice(span).map(Bytes::copy_from_slice) } else { self.get(span) }
    }
}

pub(in crate::table) fn open<R: ReadAt>(blocks: &BlockReader<R>, options: &ReadOptions) -> Result<Opened> {
    let Some(footer_at) = blocks.file_len.checked_sub(FOOTER_LEN as u64) else {
        let expected = format!("a table of at least {FOOTER_LEN} bytes");
        return Err(Error::corrupt(Structure::Table, 0, expected, format!("{} bytes", blocks.file_len)));
    };
    let tail = read_tail(blocks, footer_at, options.tail_size)?;
    let footer = Span { offset: footer_at, len: FOOTER_LEN };
    let footer = tail.slice(footer);
    debug_assert!(footer.is_some(), "the tail holds the footer");
    // Were the footer missing, decoding the empty slice would fail.
    let footer = Footer::decode(footer.unwrap_or_default(), footer_at)?;

    let index_span = blocks.span(footer.index, footer_at)?;
    // Some writers write no metaindex, and a handle of zeros shows this (bedrock-leveldb 0.3.1). No real
    // metaindex has size 0.
    let metaindex_span =
        (footer.metaindex != BlockHandle::default()).then(|| blocks.span(footer.metaindex, footer_at));
    let known = metaindex_span.as_ref().and_then(|span| span.as_ref().ok().copied());
    let (index, metaindex) = read_indexes(blocks, &tail, index_span, known)?;

    let index = blocks.entries(index, index_span.offset, blocks.memory_budget(1, 0), &mut Vec::new())?;
    let index = with_max_index_key(index, blocks.file_len);
    let Some(metaindex_span) = metaindex_span else {
        return Ok(Opened { footer, index, metaindex: None, filters: Filters::default() });
    };
    let metaindex = metaindex_span.and_then(|span| {
        let stored = metaindex.unwrap_or_else(|| blocks.read(span.offset, span.len))?;
        Ok((
            span,
            blocks.entries(stored, span.offset, blocks.memory_budget(1, index.size()), &mut Vec::new())?,
        ))
    });

    let (metaindex, filters) = match metaindex {
        Err(error) if error.needs_range() => return Err(error),
        Err(error) => (None, Filters::unreadable(error)),
        Ok((span, metaindex)) => {
            let mut filters = Filters::find(&metaindex, options);
            let resident = index.size().saturating_add(metaindex.size());
            filters.load(|handle| {
                let filter = blocks.span(handle, span.offset)?;
                // Sound files have no such overlap. It would let a small file occupy memory for the
                // same bytes more than once.
                if filter.overlaps(index_span) || filter.overlaps(span) {
                    let expected = "a filter block apart from index and metaindex";
                    let found = format!("offset {} and size {}", handle.offset, handle.size);
                    return Err(Error::corrupt(Structure::BlockHandle, span.offset, expected, found));
                }
                let stored =
                    tail.into_taken(filter).map_or_else(|| blocks.read(filter.offset, filter.len), Ok)?;
                Ok(blocks
                    .decode(stored, filter.offset, blocks.memory_budget(1, resident), &mut Vec::new())?
                    .0)
            })?;
            (Some(metaindex), filters)
        }
    };
    Ok(Opened { footer, index, metaindex, filters })
}

/// Limits the length of the keys of an index that have to be put together. In a sound index no key
/// is longer than the file, unless the file is small: for small files the limit is
/// [`MIN_MAX_KEY`].
pub(in crate::table) fn with_max_index_key(index: Block, file_len: u64) -> Block {
    let max_key = usize::try_from(file_len).unwrap_or(usize::MAX).max(MIN_MAX_KEY).min(index.size());
    index.with_max_key(max_key)
}

/// Reads the last `tail_size` bytes of the file. If that fails, reads the footer alone; the rest is
/// then read when it is needed.
fn read_tail<R: ReadAt>(blocks: &BlockReader<R>, footer_at: u64, tail_size: usize) -> Result<ReadChunk> {
    let len = usize::try_from(blocks.file_len).unwrap_or(usize::MAX).min(tail_size).max(FOOTER_LEN);
    let offset = blocks.file_len.saturating_sub(len as u64);
    match blocks.read(offset, len) {
        Ok(bytes) => Ok(ReadChunk::new(offset, bytes)),
        Err(error) if len > FOOTER_LEN => match blocks.read(footer_at, FOOTER_LEN) {
            Ok(bytes) => Ok(ReadChunk::new(footer_at, bytes)),
            Err(_) => Err(error),
        },
        Err(error) => Err(error),
    }
}

/// Reads index and metaindex as stored, unless `tail` has them: in one read if they lie close
/// together.
///
/// The metaindex is `None` if it is still to be read, or if the table has no metaindex within the
/// file.
fn read_indexes<R: ReadAt>(
    blocks: &BlockReader<R>,
    tail: &ReadChunk,
    index: Span,
    metaindex: Option<Span>,
) -> Result<(Bytes, Option<Result<Bytes>>)> {
    let metaindex_bytes = metaindex.and_then(|span| tail.take(span)).map(Ok);
    if let Some(index) = tail.take(index) {
        return Ok((index, metaindex_bytes));
    }
    if let (Some(metaindex), None) = (metaindex, &metaindex_bytes) {
        let start = index.offset.min(metaindex.offset);
        let end = index.end().max(metaindex.end());
        let apart = index.offset.max(metaindex.offset).saturating_sub(index.end().min(metaindex.end()));
        if apart <= MAX_GAP
            && let Ok(len) = usize::try_from(end.saturating_sub(start))
        {
            match blocks.read(start, len) {
                Ok(bytes) => {
                    let both = ReadChunk::new(start, bytes);
                    // The index is nearly all of these bytes, so it may be a slice. As a slice the
                    // metaindex would keep all of them in memory, even after the index is
                    // decompressed.
                    if let (Some(index), Some(metaindex)) = (both.get(index), both.take(metaindex)) {
                        return Ok((index, Some(Ok(metaindex))));
                    }
                }
                Err(error) if error.needs_range() => return Err(error),
                // Either block may be to blame. The index is tried alone, since a table opens
                // without its metaindex.
                Err(_) => {}
            }
        }
    }
    Ok((blocks.read(index.offset, index.len)?, metaindex_bytes))
}
