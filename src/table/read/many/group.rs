//! Takes a group of keys through index, filters and blocks: each step is done for all keys before the next step. If the
//! blocks take much memory, some are searched before others are read.

use std::ops::Range;

use bytes::Bytes;

use crate::Result;
use crate::kernel::prefetch;
use crate::table::block::{Block, Contents, Position, TOGETHER};
use crate::table::format::BlockHandle;
use crate::table::read::Table;
use crate::table::read::block_reader::Span;
use crate::table::source::ReadAt;

/// The number of bytes of blocks in memory beyond which blocks that have been read are searched
/// before more are read.
const MAX_BYTES: usize = 1 << 20;
/// The length of nearly all processors' cache lines, in bytes.
const CACHE_LINE: usize = 64;

/// The lookup that is made for each key of a group. Keys are referred to by their numbers in the group.
pub(super) trait Ask {
    type Answer;
    /// The answer for a key that the index or the filter excludes.
    const ABSENT: Self::Answer;

    /// Looks up one key by itself.
    fn alone(&self, number: usize) -> Result<Self::Answer>;

    /// The answer for the key with this number, from `block`, the only block that may hold the key. The search
    /// in the block begins at `restart`.
    fn find(&self, number: usize, block: Block<impl Contents>, restart: usize) -> Result<Self::Answer>;
}

/// Buffers that all groups of a call share.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) places: Vec<KeyBlock>,
    stored: Vec<Stored>,
    opened: Vec<Opened>,
}

/// The block that may hold a key.
#[derive(Clone, Copy)]
pub(super) struct KeyBlock {
    /// The number of the key.
    pub(super) number: usize,
    span: Span,
}

/// The block that may hold a key, as it was read, with its trailer. `bytes` is `None` if the previous key has
/// the same block.
struct Stored {
    place: KeyBlock,
    bytes: Option<Bytes>,
}

/// A block to be searched, and the restart at which the search begins.
struct Opened<B = Bytes> {
    place: KeyBlock,
    block: Block<B>,
    restart: usize,
}

/// Sets the result for the key with this number.
#[inline(always)]
fn put<T>(results: &mut [Result<T>], number: usize, result: Result<T>) {
    debug_assert!(number < results.len(), "there is a result for each key");
    if let Some(slot) = results.get_mut(number) {
        *slot = result;
    }
}

impl<R: ReadAt> Table<R> {
    /// Looks up at most [`TOGETHER`] keys, and appends a result for each to `results`.
    pub(super) fn look_up_group<A: Ask>(
        &self,
        keys: &[&[u8]],
        ask: &A,
        results: &mut Vec<Result<A::Answer>>,
        scratch: &mut Scratch,
    ) {
        let first = results.len();
        results.extend(keys.iter().map(|_| Ok(A::ABSENT)));
        let results = results.get_mut(first..).unwrap_or_default();
        self.locate_group(keys, scratch, |number| put(results, number, ask.alone(number)));
        self.announce(&scratch.places);
        if self.search_in_place(keys, ask, &scratch.places, results) {
            return;
        }
        let Scratch { places, stored, opened } = scratch;
        let mut bytes = 0_usize;
        for place in &*places {
            self.read_stored(*place, stored, results);
            bytes = bytes.saturating_add(place.span.len);
            if bytes > MAX_BYTES {
                self.search_stored(keys, ask, stored, opened, results);
                bytes = 0;
            }
        }
        self.search_stored(keys, ask, stored, opened, results);
    }

    /// Finds the block that may hold each key, for at most [`TOGETHER`] keys, and puts these blocks into
    /// `scratch.places`. A key that the index or the filter excludes gets no block. Calls `alone` for keys whose place
    /// in the index cannot be found because the index is damaged or has no entries.
    fn locate_group(&self, keys: &[&[u8]], scratch: &mut Scratch, mut alone: impl FnMut(usize)) {
        let index = &self.index.block;
        let restarts = self.order.restarts(index, keys);
        let mut queries = [(0, &[][..]); TOGETHER];
        let places = &mut scratch.places;
        places.clear();
        let mut at = Position::default();
        for (number, (&key, restart)) in keys.iter().zip(restarts).enumerate() {
            match restart.and_then(|restart| self.place_from(&mut at, restart, key).ok()) {
                Some(Some(span)) => {
                    if let Some(query) = queries.get_mut(places.len()) {
                        *query = (span.offset, key);
                    }
                    places.push(KeyBlock { number, span });
                }
                Some(None) => {}
                None => alone(number),
            }
        }
        if let Some(filter) = self.filter() {
            let mut answers = [true; TOGETHER];
            let queries = queries.get(..places.len()).unwrap_or_default();
            filter.few_may_match::<TOGETHER>(queries, answers.get_mut(..queries.len()).unwrap_or_default());
            let mut answers = answers.iter();
            places.retain(|_| answers.next().is_none_or(|may_match| *may_match));
        }
    }

    /// The block that may hold `key`, according to the index, which is searched from `restart`. `None` if
    /// `key` is after all keys of the index.
    #[inline(always)]
    fn place_from(&self, at: &mut Position, restart: usize, key: &[u8]) -> Result<Option<Span>> {
        let index = &self.index.block;
        if !self.order.seek_from(at, index, restart, key)? {
            return Ok(None);
        }
        let handle: BlockHandle = at.handle(index)?;
        self.blocks.span(handle, self.index.footer.index.offset).map(Some)
    }

    /// Announces the upcoming reads to the source, if there are several.
    fn announce(&self, places: &[KeyBlock]) {
        if places.len() < 2 {
            return;
        }
        let mut ranges: [Range<u64>; TOGETHER] = [const { 0..0 }; TOGETHER];
        for (range, place) in ranges.iter_mut().zip(places) {
            *range = place.span.offset..place.span.end();
        }
        self.blocks.source.will_need(ranges.get(..places.len()).unwrap_or_default());
    }

    /// Searches the blocks in the source's own memory. Returns false, and searches nothing, if the source does not
    /// have all of these blocks in memory, or if one of them is compressed.
    #[inline(always)]
    fn search_in_place<A: Ask>(
        &self,
        keys: &[&[u8]],
        ask: &A,
        places: &[KeyBlock],
        results: &mut [Result<A::Answer>],
    ) -> bool {
        for place in places {
            let Some(stored) = self.blocks.source.slice_at(place.span.offset, place.span.len) else {
                return false;
            };
            stored.last().into_iter().for_each(prefetch);
            stored.iter().nth_back(CACHE_LINE).into_iter().for_each(prefetch);
        }
        // A compressed block is read instead, so that neighbouring keys share its decompressed contents.
        if !places.iter().all(|place| self.blocks.shows(place.span)) {
            return false;
        }
        let room = self.room();
        let mut opened: Vec<Opened<_>> = Vec::with_capacity(places.len());
        for &place in places {
            let same = opened.last().filter(|before| before.place.span == place.span);
            let block = match same {
                Some(before) => Ok(Some(before.block.clone())),
                None => self.blocks.in_place(place.span, room),
            };
            match block {
                Ok(Some(block)) => {
                    block.prefetch_restarts();
                    opened.push(Opened { place, block, restart: 0 });
                }
                Ok(None) => put(results, place.number, ask.alone(place.number)),
                Err(error) => put(results, place.number, Err(self.in_file(error))),
            }
        }
        self.search_opened(keys, ask, &mut opened, results);
        true
    }

    /// Reads a block, unless the previous key has the same block, and prefetches the parts that are needed first
    /// when the block is opened: the trailer, and the restarts before it.
    #[inline(always)]
    fn read_stored<T>(&self, place: KeyBlock, stored: &mut Vec<Stored>, results: &mut [Result<T>]) {
        if stored.last().is_some_and(|before| before.place.span == place.span) {
            return stored.push(Stored { place, bytes: None });
        }
        match self.blocks.read(place.span.offset, place.span.len) {
            Ok(bytes) => {
                bytes.last().into_iter().for_each(prefetch);
                bytes.iter().nth_back(CACHE_LINE).into_iter().for_each(prefetch);
                stored.push(Stored { place, bytes: Some(bytes) });
            }
            Err(error) => put(results, place.number, Err(self.in_file(error))),
        }
    }

    /// Opens and searches the blocks that have been read.
    fn search_stored<A: Ask>(
        &self,
        keys: &[&[u8]],
        ask: &A,
        stored: &mut Vec<Stored>,
        opened: &mut Vec<Opened>,
        results: &mut [Result<A::Answer>],
    ) {
        let room = self.room();
        let mut size = 0_usize;
        for Stored { place, bytes } in stored.drain(..) {
            let same = opened.last().filter(|before| before.place.span == place.span);
            let block = match (bytes, same) {
                (Some(bytes), _) => self.blocks.entries(bytes, place.span.offset, room, &mut Vec::new()),
                (None, Some(before)) => Ok(before.block.clone()),
                // The same block could not be opened for the previous key, or has already been searched.
                (None, None) => {
                    put(results, place.number, ask.alone(place.number));
                    continue;
                }
            };
            match block {
                Ok(block) => {
                    block.prefetch_restarts();
                    size = size.saturating_add(block.size());
                    opened.push(Opened { place, block, restart: 0 });
                }
                Err(error) => put(results, place.number, Err(self.in_file(error))),
            }
            if size > MAX_BYTES {
                self.search_opened(keys, ask, opened, results);
                size = 0;
            }
        }
        self.search_opened(keys, ask, opened, results);
    }

    /// Searches blocks: first the restarts of all of them, then the entries that follow the restarts found,
    /// which have been prefetched by then.
    fn search_opened<A: Ask, B: Contents>(
        &self,
        keys: &[&[u8]],
        ask: &A,
        opened: &mut Vec<Opened<B>>,
        results: &mut [Result<A::Answer>],
    ) {
        opened.retain_mut(|opened| {
            let number = opened.place.number;
            let key = keys.get(number).copied().unwrap_or_default();
            match self.order.restart_of(&opened.block, key) {
                Ok(restart) => opened.restart = restart,
                Err(error) => {
                    put(results, number, Err(self.in_file(error)));
                    return false;
                }
            }
            true
        });
        for Opened { place, block, restart } in opened.drain(..) {
            let found = ask.find(place.number, block, restart);
            put(results, place.number, found.map_err(|error| self.in_file(error)));
        }
    }
}
