//! Opening a table: footer, index, metaindex and filter block, in as few reads as possible.

use bytes::{Buf as _, Bytes};

use super::block_reader::{BlockReader, Span, max_key};
use super::filters::Filters;
use super::options::ReadOptions;
use crate::table::block::{Block, Layout};
use crate::table::format::{BlockHandle, Footer};
use crate::table::source::ReadAt;
use crate::{Error, Result, Structure};

/// Index and metaindex are read together if at most this many bytes are between them.
const MAX_GAP: u64 = 4 << 10;

/// An uncompressed metaindex in the file's tail is copied if it has at most this many bytes: copying takes less time
/// than counting a reference.
const COPIED: usize = 256;

/// Keys of the index up to this length, in bytes, can always be put together.
pub(in crate::table) const MIN_MAX_KEY: usize = 64 << 10;

/// The parts of a table that opening reads.
pub(in crate::table) struct Opened {
    pub(in crate::table) footer: Footer,
    pub(in crate::table) index: Block,
    /// The metaindex; `None` if the table has none. Also `None` if the metaindex cannot be read: then the filters'
    /// error gives the reason.
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
        self.slice(span).map(|part| self.view(part))
    }

    /// A view of `part`, a slice of this chunk.
    fn view(&self, part: &[u8]) -> Bytes {
        self.bytes.slice_ref(part)
    }

    /// The bytes of `span`, if this chunk has them.
    #[inline]
    fn slice(&self, span: Span) -> Option<&[u8]> {
        let start = usize::try_from(span.offset.checked_sub(self.offset)?).ok()?;
        self.bytes.get(start..start.checked_add(span.len)?)
    }

    /// The bytes of `span`, if this chunk has them. They are copied if a slice would keep this
    /// whole chunk in memory.
    fn take(&self, span: Span) -> Option<Bytes> {
        self.slice(span).map(|part| self.keep(part))
    }

    /// The bytes of `part`, a slice of this chunk, copied if a view would keep the whole chunk in memory.
    fn keep(&self, part: &[u8]) -> Bytes {
        if self.owned { Bytes::copy_from_slice(part) } else { self.view(part) }
    }

    /// Like [`take`](Self::take), but for the first `len` bytes of `span`. Nothing else of this chunk may be needed.
    fn into_taken(self, span: Span, len: usize) -> Bytes {
        let part = self.slice(span).and_then(|part| part.get(..len)).unwrap_or_default();
        if self.owned {
            return Bytes::copy_from_slice(part);
        }
        // Unlike a slice, this hands on the chunk's reference instead of counting another.
        let start = span.offset.saturating_sub(self.offset) as usize;
        let mut bytes = self.bytes;
        bytes.truncate(start.saturating_add(len));
        bytes.advance(start.min(bytes.len()));
        bytes
    }
}

/// The index, once its layout is known to be sound.
enum Index {
    Made(Block),
    /// An uncompressed index in the file's tail, and the length of its contents in bytes. The index is taken from
    /// the tail once nothing else of the tail is needed.
    InTail(Layout, usize),
}

impl Index {
    /// Verifies the index, whose stored bytes `stored` are in the tail, and decodes it if it is compressed.
    fn of(blocks: &BlockReader<&dyn ReadAt>, tail: &ReadChunk, stored: &[u8], offset: u64) -> Result<Self> {
        let room = blocks.memory_budget(1, 0);
        match blocks.plain(stored, offset, room)? {
            Some(contents) => Ok(Self::InTail(Layout::of(contents, offset)?, contents.len())),
            None => blocks.entries(tail.view(stored), offset, room, &mut Vec::new()).map(Self::Made),
        }
    }

    /// The length of the contents, in bytes.
    fn size(&self) -> usize {
        match self {
            Self::Made(block) => block.size(),
            Self::InTail(_, len) => *len,
        }
    }

    fn into_block(self, tail: ReadChunk, span: Span) -> Block {
        match self {
            Self::Made(block) => block,
            Self::InTail(layout, len) => Block::with_layout(tail.into_taken(span, len), span.offset, layout),
        }
    }
}

pub(in crate::table) fn open(blocks: &BlockReader<&dyn ReadAt>, options: &ReadOptions) -> Result<Opened> {
    let Some(footer_at) = blocks.file_len.checked_sub(Footer::LEN as u64) else {
        let expected = format!("a table of at least {} bytes", Footer::LEN);
        return Err(Error::corrupt(Structure::Table, 0, expected, format!("{} bytes", blocks.file_len)));
    };
    let tail = read_tail(blocks, footer_at, options.tail_size)?;
    let footer = Span { offset: footer_at, len: Footer::LEN };
    let footer = tail.slice(footer);
    debug_assert!(footer.is_some(), "the tail holds the footer");
    // Were the footer missing, decoding the empty slice would fail.
    let footer = Footer::decode(footer.unwrap_or_default(), footer_at)?;

    let index_span = blocks.span(footer.index, footer_at)?;
    // Some writers, such as bedrock-leveldb 0.3.1, write no metaindex, and a handle of zeros in the footer.
    // No real metaindex has size 0.
    let metaindex_span =
        (footer.metaindex != BlockHandle::default()).then(|| blocks.span(footer.metaindex, footer_at));
    let known = metaindex_span.as_ref().and_then(|span| span.as_ref().ok().copied());
    let (index, metaindex) = match tail.slice(index_span) {
        Some(stored) => (Index::of(blocks, &tail, stored, index_span.offset)?, None),
        None => {
            let (stored, metaindex) = read_indexes(blocks, &tail, index_span, known)?;
            let room = blocks.memory_budget(1, 0);
            let index = blocks.entries(stored, index_span.offset, room, &mut Vec::new())?;
            (Index::Made(index), metaindex)
        }
    };
    let Some(metaindex_span) = metaindex_span else {
        let index = with_max_index_key(index.into_block(tail, index_span), blocks.file_len);
        return Ok(Opened { footer, index, metaindex: None, filters: Filters::default() });
    };
    let metaindex = metaindex_span.and_then(|span| {
        let room = blocks.memory_budget(1, index.size());
        Ok((span, metaindex_block(blocks, &tail, span, metaindex, room)?))
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
                let room = blocks.memory_budget(1, resident);
                let stored = tail.slice(filter);
                let contents = stored.map(|stored| blocks.plain(stored, filter.offset, room)).transpose()?;
                if let Some(contents) = contents.flatten() {
                    return Ok(tail.keep(contents));
                }
                let stored = match stored {
                    Some(stored) => tail.view(stored),
                    None => blocks.read(filter.offset, filter.len)?,
                };
                Ok(blocks.decode(stored, filter.offset, room, &mut Vec::new())?.0)
            })?;
            (Some(metaindex), filters)
        }
    };
    let index = with_max_index_key(index.into_block(tail, index_span), blocks.file_len);
    Ok(Opened { footer, index, metaindex, filters })
}

/// The metaindex, if it can be read. `read` is what [`read_indexes`] returned for it, if that was called.
fn metaindex_block(
    blocks: &BlockReader<&dyn ReadAt>,
    tail: &ReadChunk,
    span: Span,
    read: Option<Result<Bytes>>,
    room: u64,
) -> Result<Block> {
    let in_tail = tail.slice(span).filter(|_| read.is_none());
    let contents = in_tail.map(|stored| blocks.plain(stored, span.offset, room)).transpose()?;
    if let Some(contents) = contents.flatten() {
        let layout = Layout::of(contents, span.offset)?;
        let bytes =
            if contents.len() <= COPIED { Bytes::copy_from_slice(contents) } else { tail.keep(contents) };
        let max_key = max_key(room, span.len, contents.len());
        return Ok(Block::with_layout(bytes, span.offset, layout).with_max_key(max_key));
    }
    let stored = match (read, in_tail) {
        (Some(read), _) => read?,
        (None, Some(stored)) => tail.view(stored),
        (None, None) => blocks.read(span.offset, span.len)?,
    };
    blocks.entries(stored, span.offset, room, &mut Vec::new())
}

/// Limits the length of the index's keys that have to be put together: to that of the file, or to
/// [`MIN_MAX_KEY`] if the file is shorter. A compressed index of a small file may hold a key longer
/// than the file. The size of the index is a limit as well.
pub(in crate::table) fn with_max_index_key(index: Block, file_len: u64) -> Block {
    let max_key = usize::try_from(file_len).unwrap_or(usize::MAX).max(MIN_MAX_KEY).min(index.size());
    index.with_max_key(max_key)
}

/// Reads the last `tail_size` bytes of the file. If that fails, reads the footer alone; the rest is
/// then read when it is needed.
fn read_tail(blocks: &BlockReader<&dyn ReadAt>, footer_at: u64, tail_size: usize) -> Result<ReadChunk> {
    let len = usize::try_from(blocks.file_len).unwrap_or(usize::MAX).min(tail_size).max(Footer::LEN);
    let offset = blocks.file_len.saturating_sub(len as u64);
    match blocks.read(offset, len) {
        Ok(bytes) => Ok(ReadChunk::new(offset, bytes)),
        Err(error) if len > Footer::LEN => match blocks.read(footer_at, Footer::LEN) {
            Ok(bytes) => Ok(ReadChunk::new(footer_at, bytes)),
            Err(_) => Err(error),
        },
        Err(error) => Err(error),
    }
}

/// Reads the index as stored, and takes the metaindex from `tail` or, if both blocks are close
/// together, reads it with the index.
///
/// The metaindex returned is `None` if it is still to be read, or if the table has no metaindex within the
/// file.
fn read_indexes(
    blocks: &BlockReader<&dyn ReadAt>,
    tail: &ReadChunk,
    index: Span,
    metaindex: Option<Span>,
) -> Result<(Bytes, Option<Result<Bytes>>)> {
    let metaindex_bytes = metaindex.and_then(|span| tail.take(span)).map(Ok);
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
                    // The index is usually nearly all of these bytes, so it may be a slice. As a slice
                    // the metaindex would keep all of them in memory, even after the index is
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
