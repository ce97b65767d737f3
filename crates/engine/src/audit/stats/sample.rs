//! A few data blocks, read to learn what the other data blocks are likely to hold.

use std::collections::BTreeSet;

use filterblock::table::{BlockHandle, Codec, ReadAt, Table};
use filterblock::{BashoInternalFilterPolicy, FilterBlockReader, FilterPolicy as _, Result};

use super::block_keys::{BlockKeys, KeyCounter, keys_before};
use super::blocks::Blocks;
use super::dialect::{HashReaders, HashTrial};
use super::filters::FilterStats;
use super::offsets::Offsets;
use crate::audit::key_encoding::{KeyEncoding, has_timed_type, is_internal};
use crate::audit::rates::{ChangedKeys, Rate, RateGroups};
use crate::audit::reading::decode_limit_of;
use crate::report::{Dialect, ErrorKind, Fault};

pub(crate) use crate::report::KeyFormat;

const MAX_BLOCKS: usize = 16;
/// Keys of a block to check its filter for.
const KEYS_PER_BLOCK: u64 = 256;
/// Bytes of keys to check filters for, over all blocks.
const MAX_KEY_BYTES: usize = 8 << 20;
/// The ways to read keys while their format is unknown.
const ENCODINGS: [KeyEncoding; 2] = [KeyEncoding::Internal, KeyEncoding::Whole];
/// The most bytes that zlib decompresses one byte to.
const FAILED_EXPANSION: u64 = 1032;

#[derive(Default, PartialEq, Debug)]
pub(crate) struct Sample {
    /// The offset of each block, and its counts; `None`: it could not be decoded.
    blocks: Vec<(u64, Option<BlockKeys>)>,
    keys: KeyCounter,
    /// Of all blocks, as stored.
    bytes: u64,
    /// Keys that filters were checked for. A filter that rules nothing out is not checked.
    asked: u64,
    matched_whole: u64,
    matched_user_part: u64,
    /// Compression types, and the codecs that their blocks turned out to need.
    codecs: BTreeSet<(u8, Codec)>,
    hashes: HashTrial,
    /// Of keys in each of `ENCODINGS`.
    neighbours: [RateGroups; 2],
    /// Why a block could not be decoded that may be sound.
    unsupported: Option<String>,
}

struct MemoryLeft {
    /// Bytes of keys that filters may still be checked for.
    key_bytes: usize,
    /// Neighbours to make for a data block.
    count: usize,
    /// Made from keys in each of `ENCODINGS`.
    neighbours: [ChangedKeys; 2],
}

impl Sample {
    /// Reads up to 16 data blocks, evenly spread over the index, and notes damage in `blocks`. `types`: of all data
    /// blocks; empty if codecs are not wanted. `neighbours`: keys to make and check for each block.
    pub(crate) fn take<R: ReadAt>(
        table: &Table<R>,
        blocks: &mut Blocks,
        types: &BTreeSet<u8>,
        filters: Option<&FilterStats>,
        neighbours: usize,
    ) -> Self {
        Self::of(spread(table, blocks), table, blocks, types, filters, neighbours)
    }

    /// Like [`take`](Self::take), for the blocks at `handles`.
    pub(crate) fn of<R: ReadAt>(
        handles: impl IntoIterator<Item = BlockHandle>,
        table: &Table<R>,
        blocks: &mut Blocks,
        types: &BTreeSet<u8>,
        filters: Option<&FilterStats>,
        neighbours: usize,
    ) -> Self {
        let mut sample = Self { keys: KeyCounter::new(blocks.entries), ..Self::default() };
        let handles: Vec<BlockHandle> = handles.into_iter().collect();
        let mut offsets: Vec<u64> = handles.iter().map(|handle| handle.offset).collect();
        offsets.sort_unstable();
        let before = keys_before(table, &offsets);
        let mut room = MemoryLeft {
            key_bytes: MAX_KEY_BYTES,
            count: neighbours,
            neighbours: [0, 1].map(ChangedKeys::new),
        };
        let mut left = decode_limit_of(table);
        for handle in handles {
            // A block is read even if it exceeds what is left: the limit on a block bounds its size.
            if left == 0 {
                break;
            }
            // A block that cannot be decoded counts as if zlib had expanded it most.
            let failed = left.saturating_sub(handle.size.saturating_mul(FAILED_EXPANSION));
            let before = before.get(&handle.offset).copied();
            let read = sample.read(table, (handle, before), types, filters, &blocks.offsets, &mut room);
            sample.blocks.push((handle.offset, read.as_ref().ok().map(|(keys, _)| *keys)));
            sample.bytes = sample.bytes.saturating_add(handle.size);
            match read {
                Ok((_, decoded)) => left = left.saturating_sub(decoded),
                Err(error) => {
                    left = failed;
                    if !blocks.damage.note_block(&error, handle.offset) {
                        sample.unsupported.get_or_insert_with(|| error.without_path().to_string());
                    }
                }
            }
        }
        sample
    }

    /// `before`: the hash of the user key in the index entry of the block before. Returns the block's counts, and its
    /// size once decompressed.
    fn read<R: ReadAt>(
        &mut self,
        table: &Table<R>,
        (handle, before): (BlockHandle, Option<u64>),
        types: &BTreeSet<u8>,
        filters: Option<&FilterStats>,
        offsets: &Offsets,
        room: &mut MemoryLeft,
    ) -> Result<(BlockKeys, u64)> {
        let mut entries = table.block_cursor(handle)?;
        if let Some(&first) = types.first() {
            let id = if types.len() == 1 { first } else { table.compression_of(handle)? };
            self.codecs.insert((id, entries.codec()));
        }
        // A filter that lets every key match says nothing about the format of the keys.
        let reader = filters.filter(|filters| filters.rate_at(handle.offset) < 1.0).map(FilterStats::reader);
        // This wrapper for internal keys also knows Riak's keys.
        let internal = reader.map(|reader| {
            FilterBlockReader::new(BashoInternalFilterPolicy::new(reader.policy()), reader.contents())
        });
        let by_hash = reader.and_then(|reader| HashReaders::new(reader.policy().name(), reader.contents()));
        let mut asked = 0;
        self.keys.begin();
        let encodings = filters.filter(|_| room.count > 0).map(|_| self.encodings()).unwrap_or_default();
        let is_shared = filters.is_some_and(|filters| filters.is_shared(handle.offset, offsets));
        room.neighbours.iter_mut().for_each(|made| made.begin(room.count, is_shared));
        while entries.next()? {
            let key = entries.key();
            self.keys.add(key, before);
            for (encoding, made) in encodings.iter().zip(&mut room.neighbours) {
                if let Some(key) = encoding.and_then(|encoding| encoding.filtered(key)) {
                    made.key(key);
                }
            }
            let (Some(reader), Some(internal)) = (reader, &internal) else { continue };
            if asked < KEYS_PER_BLOCK && key.len() <= room.key_bytes {
                asked += 1;
                room.key_bytes -= key.len();
                self.asked += 1;
                self.matched_whole += u64::from(reader.key_may_match(handle.offset, key));
                let user_part = is_internal(key) && internal.key_may_match(handle.offset, key);
                self.matched_user_part += u64::from(user_part);
                if let Some(by_hash) = &by_hash {
                    self.hashes.ask(by_hash, handle.offset, key);
                }
            }
        }
        for (made, answers) in room.neighbours.iter_mut().zip(&mut self.neighbours) {
            let (passed, asked) = match (&by_hash, filters) {
                (Some(by_hash), _) => made.ask(by_hash.by(self.hashes.fitting()), handle.offset),
                (None, Some(filters)) => made.ask(filters.reader(), handle.offset),
                (None, None) => continue,
            };
            // Lookups reach a block in proportion to its entries.
            answers.add(passed, asked, self.keys.end().entries as f64);
        }
        Ok((self.keys.end(), entries.size() as u64))
    }

    /// The format of the keys that filters are made from, or why it is unknown.
    pub(crate) fn key_format(&self) -> std::result::Result<KeyFormat, String> {
        let user_part = self.matched_user_part == self.asked;
        let whole = self.matched_whole == self.asked;
        match (user_part, whole) {
            _ if self.asked == 0 => Err(match &self.unsupported {
                Some(error) => format!("no data block could be read: {error}"),
                None => "no filter covers a sampled key".to_owned(),
            }),
            (true, false) => Ok(KeyFormat::Internal),
            (false, true) => Ok(KeyFormat::User),
            (true, true) => Err("the keys tried match either way".to_owned()),
            (false, false) => Err("the filters hide stored keys either way".to_owned()),
        }
    }

    /// The encodings that fit the keys tried, each at its index in `ENCODINGS`.
    fn encodings(&self) -> [Option<KeyEncoding>; 2] {
        let [internal, whole] = ENCODINGS.map(Some);
        match self.key_format() {
            Ok(KeyFormat::Internal) => [internal, None],
            Ok(KeyFormat::User) => [None, whole],
            Err(_) => [internal, whole],
        }
    }

    /// `None`: no neighbour was checked, or the format of the keys is unknown.
    pub(crate) fn neighbour_rate(&self, blocks: &Blocks) -> Option<Rate> {
        let [internal, whole] = &self.neighbours;
        let answers = if self.key_format().ok()? == KeyFormat::Internal { internal } else { whole };
        answers.rate(self.blocks.len() as u64 == blocks.offsets.len())
    }

    /// True if more of the keys tried match by their user part than as a whole.
    pub(crate) const fn looks_internal(&self) -> bool {
        self.matched_user_part > self.matched_whole
    }

    /// `None`: the policy's name does not leave the hash open, no hash fits, or no key was checked.
    pub(crate) fn fitting_hash(&self) -> Option<Dialect> {
        self.hashes.fitting()
    }

    /// None if no block of the type could be read.
    pub(crate) fn codecs_of(&self, id: u8) -> impl Iterator<Item = Codec> {
        self.codecs.iter().filter(move |(of, _)| *of == id).map(|&(_, codec)| codec)
    }

    /// Why filters cannot be trusted, though their structure may be sound.
    pub(crate) fn false_negatives(&self) -> Option<Fault> {
        let hidden = self.asked - self.matched_user_part.max(self.matched_whole);
        let text = "expected filters that match all stored keys, found that they hide";
        let text = format!("{text} {hidden} of {} tried", self.asked);
        (hidden > 0).then(|| Fault::new(text, ErrorKind::Damaged))
    }

    pub(super) const fn keys(&self) -> &KeyCounter {
        &self.keys
    }

    /// Judges by the filters or, if these do not reveal it, by the look of all keys that `counter` saw.
    pub(super) fn has_internal_keys(&self, counter: &KeyCounter) -> bool {
        self.key_format().map_or(counter.looks_internal(), |format| format == KeyFormat::Internal)
    }

    /// `None`: the block was not read; `Some(None)`: it could not be decoded.
    pub(super) fn keys_of(&self, offset: u64) -> Option<Option<BlockKeys>> {
        self.blocks.iter().find(|(at, _)| *at == offset).map(|(_, keys)| *keys)
    }

    /// Counts them as they are stored.
    pub(super) const fn bytes_read(&self) -> u64 {
        self.bytes
    }
}

/// Chooses up to 16 data blocks, each once. Together they are no larger than the file, even if they overlap.
fn spread<R: ReadAt>(table: &Table<R>, blocks: &Blocks) -> Vec<BlockHandle> {
    let mut chosen: Vec<BlockHandle> = Vec::with_capacity(MAX_BLOCKS);
    let mut room = table.file_size();
    let most = MAX_BLOCKS as u64;
    for (at, handle) in (0u64..).zip(table.data_blocks()) {
        // The first entry of each of 16 equal parts of the index is due.
        let due = blocks.entries <= most || at * most % blocks.entries < most;
        let Ok(handle) = handle else { continue };
        let is_new = blocks.offsets.contains(handle.offset)
            && chosen.iter().all(|other| other.offset != handle.offset);
        if due && is_new && chosen.len() < MAX_BLOCKS && handle.size <= room {
            room -= handle.size;
            chosen.push(handle);
        }
    }
    chosen
}

/// A deletion and a put.
const TYPES: [u8; 2] = [0, 1];

/// Takes keys for internal keys if filters reveal it, or else if all keys of the first data block end like them.
pub(crate) fn encoding_of<R: ReadAt>(table: &Table<R>) -> Result<KeyEncoding> {
    let filters = table.filter().cloned().map(FilterStats::new);
    let mut blocks = Blocks::list(table);
    let sample = Sample::take(table, &mut blocks, &BTreeSet::new(), filters.as_ref(), 0);
    match sample.key_format() {
        Ok(KeyFormat::Internal) => return Ok(KeyEncoding::Internal),
        Ok(KeyFormat::User) => return Ok(KeyEncoding::Whole),
        Err(_) => {}
    }
    let Some(first) = table.data_blocks().next() else { return Ok(KeyEncoding::Whole) };
    let mut entries = table.block_cursor(first?)?;
    while entries.next()? {
        let key = entries.key();
        let of_leveldb = |key: &[u8]| {
            let kind = key.len().checked_sub(8).and_then(|at| key.get(at));
            kind.is_some_and(|kind| TYPES.contains(kind))
        };
        if !is_internal(key) || !(of_leveldb(key) || has_timed_type(key)) {
            return Ok(KeyEncoding::Whole);
        }
    }
    Ok(KeyEncoding::Internal)
}

#[cfg(test)]
mod tests {
    use filterblock::table::{TableBuilder, WriteOptions};

    use super::*;
    use crate::audit::reading::read_options;

    #[test]
    fn a_sample_is_spread_over_the_whole_table() {
        let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default().block_size(1));
        (0..100_u8).for_each(|key| builder.add(&[key], b"value").unwrap());
        let table = Table::open(builder.finish().unwrap().0, &read_options()).unwrap();
        let blocks = Blocks::list(&table);
        let all: Vec<u64> = table.data_blocks().map(|handle| handle.unwrap().offset).collect();
        let chosen = spread(&table, &blocks);
        let places: Vec<_> =
            chosen.iter().map(|handle| all.iter().position(|at| *at == handle.offset).unwrap()).collect();
        assert_eq!(places.len(), MAX_BLOCKS);
        assert!(places.windows(2).all(|pair| (6..=7).contains(&(pair[1] - pair[0]))), "{places:?}");
        assert!(places[0] == 0 && places[15] > 90, "{places:?}");
    }
}
