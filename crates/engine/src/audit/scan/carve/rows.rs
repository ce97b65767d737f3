//! The entries of the data blocks that are found by their checksums.

use std::{ops::Range, path::PathBuf, sync::Arc};

use filterblock::table::{BlockCursor, BlockHandle, Footer, Meter, ReadAt, ReadOptions};
use filterblock::{Error, InternalKey, KeyFormat};

use super::finder::{BlockFinder, Region};
use super::kind::{BlockKind, KnownBlocks};
use crate::audit::correct::Budget;
use crate::audit::scan::range::ScanRequest;
use crate::audit::scan::rows::{Moved, PASSED, Rows};
use crate::audit::scan::table::{KeyFormGuess, NewestVersions};
use crate::report::{EntryRef, ErrorKind, Fault};

/// The times of Riak's keys, in microseconds since 1970: from 1978 to 4253. In RocksDB's keys, whose types mean other
/// things, the bytes at the position of the time are hardly ever in this range.
const TIMES: Range<u64> = 1 << 48..1 << 56;

pub(crate) struct CarvedRows<R> {
    finder: BlockFinder<R>,
    known: KnownBlocks,
    options: ReadOptions,
    path: PathBuf,
    versions: NewestVersions,
    /// The format of the keys has been decided.
    is_tried: bool,
    block: Option<(BlockHandle, BlockCursor<'static>)>,
    blocks: u64,
    /// Of data blocks and their keys.
    shown: Budget,
    /// Of all blocks: each data block is decoded up to four times.
    decoded: Budget,
    ended: bool,
}

impl<R: ReadAt> CarvedRows<R> {
    /// `meter`: counts everything that is decoded. `limit`: bytes of data blocks and their keys to decode. `request` and
    /// `internal`: as for `TableRows::new`, which is for a table that opens.
    pub(crate) fn new(
        source: R,
        options: &ReadOptions,
        meter: Arc<Meter>,
        limit: u64,
        path: PathBuf,
        request: Arc<ScanRequest>,
        internal: Option<bool>,
    ) -> std::io::Result<Self> {
        let format = internal.unwrap_or_default().then_some(KeyFormat::LevelDb);
        let decoded = Budget::of_meter(meter, limit.saturating_mul(4));
        Ok(Self {
            finder: BlockFinder::new(source)?,
            known: KnownBlocks::default(),
            options: decoded.options(options),
            path,
            versions: NewestVersions::new(format, request),
            is_tried: internal == Some(false),
            block: None,
            blocks: 0,
            shown: Budget::new(limit),
            decoded,
            ended: false,
        })
    }

    /// Moves to the next data block. Returns false at the end.
    fn next_block(&mut self) -> Result<bool, Fault> {
        loop {
            let (options, decoded) = (&self.options, &self.decoded);
            let found = self
                .finder
                .next(|source, handle| !decoded.is_spent() && KnownBlocks::is_block(source, handle, options));
            let stretch = found.map_err(|error| {
                self.ended = true;
                Fault::new(error.to_string(), ErrorKind::of_io(&error))
            })?;
            match stretch {
                None => return Ok(false),
                Some(Region::Gap(gap)) => {
                    let len = gap.end - gap.start;
                    self.known.add_gap(&gap);
                    if len == Footer::LEN as u64 && self.ends_in_magic(gap.end) {
                        continue;
                    }
                    let what = format!("offset {}", gap.start);
                    let expected = "blocks with right checksums".to_owned();
                    return Err(Fault::damage(&what, gap.start, expected, format!("none in {len} bytes")));
                }
                Some(Region::Block(handle)) => {
                    if self.decoded.is_spent() {
                        return Err(self.limit_reached(handle));
                    }
                    let kind = self.known.kind(self.finder.source(), handle, &self.options);
                    self.known.add(handle);
                    if kind == BlockKind::Data {
                        self.try_keys(handle);
                        let block = BlockCursor::read(self.finder.source(), handle, &self.options)?;
                        self.shown.spend(block.size() as u64);
                        if self.shown.is_spent() {
                            return Err(self.limit_reached(handle));
                        }
                        self.block = Some((handle, block));
                        self.blocks += 1;
                        return Ok(true);
                    }
                }
            }
        }
    }

    /// Ends the search in the block at `handle`, where the limit is exceeded.
    fn limit_reached(&mut self, handle: BlockHandle) -> Fault {
        self.ended = true;
        self.block = None;
        Fault::over_limit(handle.offset, self.shown.limit())
    }

    fn ends_in_magic(&self, end: u64) -> bool {
        let magic = Footer::MAGIC.to_le_bytes();
        let start = end.saturating_sub(magic.len() as u64);
        self.finder.source().read_at(start, magic.len()).is_ok_and(|found| *found == magic)
    }

    /// Decides by the first data block whether keys are internal keys. Riak's are recognized by the first block with a
    /// time in its keys: keys without a time look like LevelDB's.
    fn try_keys(&mut self, handle: BlockHandle) {
        if self.is_tried {
            return;
        }
        let Ok(mut entries) = BlockCursor::read(self.finder.source(), handle, &self.options) else {
            return;
        };
        let mut plain = KeyFormGuess::new(KeyFormat::LevelDb);
        let mut timed = KeyFormGuess::new(KeyFormat::Basho);
        let mut are_times = true;
        while let Ok(true) = entries.next() {
            let key = entries.key();
            let time = InternalKey::parse(key, KeyFormat::Basho).and_then(|key| key.time);
            are_times &= time.is_none_or(|time| TIMES.contains(&time));
            let more = plain.add(key);
            if !timed.add(key) && !more {
                break;
            }
        }
        if plain.is_internal() {
            self.versions.format = Some(KeyFormat::LevelDb);
        } else if timed.is_internal() && are_times {
            self.versions.format = Some(KeyFormat::Basho);
            self.is_tried = true;
        } else if self.versions.format.is_none() {
            self.is_tried = true;
        }
    }
}

impl<R: ReadAt> Rows for CarvedRows<R> {
    fn advance(&mut self) -> Result<Moved, Fault> {
        for _ in 0..PASSED {
            if self.ended {
                return Ok(Moved::ToEnd);
            }
            if let Some((handle, block)) = &mut self.block {
                let moved: Result<bool, Error> = block.next();
                if matches!(moved, Ok(true)) {
                    let handle = *handle;
                    if self.shown.take(block.key()).is_none() {
                        return Err(self.limit_reached(handle));
                    }
                    if self.versions.shows(block.key(), handle.offset)? {
                        return Ok(Moved::ToEntry);
                    }
                    continue;
                }
                self.block = None;
                moved?;
            }
            if !self.next_block()? {
                self.ended = true;
            }
        }
        Ok(Moved::On)
    }

    fn row(&self) -> Option<EntryRef<'_>> {
        let (handle, block) = self.block.as_ref()?;
        Some(self.versions.row(&self.path, handle.offset, block.key(), block.value()))
    }

    fn note(&self) -> Option<String> {
        Some(format!("data blocks found by their checksums: {}", self.blocks))
    }
}
