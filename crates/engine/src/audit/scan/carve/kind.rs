//! Distinguishes data blocks from index, metaindex and filter blocks.

use std::{collections::HashSet, ops::Range};

use filterblock::table::{BlockCursor, BlockHandle, ReadAt, ReadOptions};

/// How many block sizes and gaps are remembered. An index names blocks from the first on, so the first ones suffice.
const REMEMBERED: usize = 1 << 16;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BlockKind {
    Data,
    /// An index or a metaindex: the entries are the handles of other blocks.
    Handles,
    /// A block without entries of the table: a filter block, RocksDB's properties, or one that cannot be decoded.
    Other,
}

#[derive(Default)]
pub(crate) struct KnownBlocks {
    /// Sizes, as offsets do not help if the table begins within another file, or lacks its beginning.
    sizes: HashSet<u64>,
    /// The offsets at which runs of damaged blocks begin.
    gaps: HashSet<u64>,
}

impl KnownBlocks {
    pub(crate) fn add(&mut self, handle: BlockHandle) {
        if self.sizes.len() < REMEMBERED {
            self.sizes.insert(handle.size);
        }
    }

    /// Adds a stretch without sound blocks. Its first damaged block began at its start.
    pub(crate) fn add_gap(&mut self, gap: &Range<u64>) {
        if self.gaps.len() < REMEMBERED {
            self.gaps.insert(gap.start);
        }
    }

    fn has(&self, handle: BlockHandle) -> bool {
        self.sizes.contains(&handle.size) || self.gaps.contains(&handle.offset)
    }

    pub(crate) fn kind<R: ReadAt>(
        &self,
        source: &R,
        handle: BlockHandle,
        options: &ReadOptions,
    ) -> BlockKind {
        let kind = BlockCursor::read(source, handle, options).and_then(|mut entries| {
            let (mut handles, mut is_foreign) = (Handles::default(), true);
            while entries.next()? {
                is_foreign &= entries.key().starts_with(b"rocksdb.");
                let is_handle = handles.add(entries.key(), entries.value(), self);
                if !is_handle && !is_foreign {
                    return Ok(BlockKind::Data);
                }
            }
            // An empty block does not reveal its kind, and is considered a data block.
            Ok(match is_foreign && entries.size() > 8 {
                true => BlockKind::Other,
                false if handles.are_meant() => BlockKind::Handles,
                false => BlockKind::Data,
            })
        });
        kind.unwrap_or(BlockKind::Other)
    }

    /// Returns true if the block is longer than its restart count and decodes to its end, as chance bytes hardly do.
    pub(crate) fn is_block<R: ReadAt>(source: &R, handle: BlockHandle, options: &ReadOptions) -> bool {
        let size = BlockCursor::read(source, handle, options).and_then(|mut entries| {
            while entries.next()? {}
            Ok(entries.size())
        });
        size.is_ok_and(|size| size > 4)
    }
}

/// The values of a block, all of which decode as handles.
#[derive(Default)]
struct Handles {
    count: u64,
    /// Handles that have the size of a found block or the offset of a gap, or whose key names a filter.
    known: u64,
    /// Handles whose block begins where that of the handle before ends.
    contiguous: u64,
    end: Option<u64>,
}

impl Handles {
    /// Adds an entry. Returns false if `value` is not a handle.
    fn add(&mut self, key: &[u8], value: &[u8], known: &KnownBlocks) -> bool {
        let Ok((handle, len)) = BlockHandle::decode(value, 0) else { return false };
        let Some(end) = handle.end().filter(|_| len == value.len()) else { return false };
        self.count += 1;
        let is_filter = key.starts_with(b"filter.") || key.starts_with(b"fullfilter.");
        self.known += u64::from(is_filter || known.has(handle));
        self.contiguous += u64::from(self.end == Some(handle.offset));
        self.end = Some(end);
        true
    }

    /// Returns true if the values are meant as handles: others may look so, but hardly name found or contiguous blocks.
    const fn are_meant(&self) -> bool {
        self.count > 0
            && (self.known * 2 >= self.count || self.contiguous + 1 == self.count && self.count > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of these entries in a file of its own.
    fn file(entries: &[(&[u8], &[u8])]) -> (Vec<u8>, BlockHandle) {
        let mut contents = Vec::new();
        for &(key, value) in entries {
            contents.extend([0, key.len() as u8, value.len() as u8]);
            contents.extend([key, value].concat());
        }
        contents.extend([0, 0, 0, 0, 1, 0, 0, 0]);
        stored(contents)
    }

    fn stored(mut contents: Vec<u8>) -> (Vec<u8>, BlockHandle) {
        let handle = BlockHandle { offset: 0, size: contents.len() as u64 };
        contents.push(0);
        let crc = filterblock::table::mask(crc32c::crc32c(&contents));
        contents.extend(crc.to_le_bytes());
        (contents, handle)
    }

    /// The kind of a block of these entries, after a block of 100 bytes and a gap at 2000 were found.
    fn kind(entries: &[(&[u8], &[u8])]) -> BlockKind {
        let mut known = KnownBlocks::default();
        known.add(BlockHandle { offset: 7, size: 100 });
        known.add_gap(&(2000..2100));
        let (file, handle) = file(entries);
        known.kind(&&file[..], handle, &ReadOptions::default())
    }

    /// The handle of a block whose size is known: offset and size, each in one byte.
    const KNOWN: &[u8] = &[50, 100];
    const UNKNOWN: &[u8] = &[50, 60];
    /// Begins where `UNKNOWN` ends, trailer included.
    const NEXT: &[u8] = &[115, 61];
    /// At the offset of the gap: 2000 in two bytes.
    const IN_GAP: &[u8] = &[0xd0, 0x0f, 62];
    const OTHER: &[u8] = &[9, 63];

    #[test]
    fn one_value_that_looks_like_a_handle_is_one_only_of_what_was_found() {
        assert_eq!(kind(&[(b"k", UNKNOWN)]), BlockKind::Data);
        assert_eq!(kind(&[(b"k", KNOWN)]), BlockKind::Handles);
        assert_eq!(kind(&[(b"k", IN_GAP)]), BlockKind::Handles);
        // A byte follows the handle.
        assert_eq!(kind(&[(b"k", &[KNOWN, b"x"].concat())]), BlockKind::Data);
        assert_eq!(kind(&[(b"k", &KNOWN[..1])]), BlockKind::Data);
        assert_eq!(kind(&[(b"k", b"")]), BlockKind::Data);
    }

    #[test]
    fn half_of_the_handles_known_make_an_index() {
        assert_eq!(kind(&[(b"a", KNOWN), (b"b", OTHER)]), BlockKind::Handles);
        assert_eq!(kind(&[(b"a", OTHER), (b"b", IN_GAP)]), BlockKind::Handles);
        assert_eq!(kind(&[(b"a", OTHER), (b"b", KNOWN), (b"c", UNKNOWN)]), BlockKind::Data);
        assert_eq!(kind(&[(b"a", OTHER), (b"b", KNOWN), (b"c", KNOWN)]), BlockKind::Handles);
        // A single entry that is not a handle makes the block a data block.
        assert_eq!(kind(&[(b"a", KNOWN), (b"b", KNOWN), (b"c", b"value")]), BlockKind::Data);
    }

    #[test]
    fn handles_that_all_follow_each_other_make_an_index() {
        assert_eq!(kind(&[(b"a", UNKNOWN), (b"b", NEXT)]), BlockKind::Handles);
        assert_eq!(kind(&[(b"a", NEXT), (b"b", UNKNOWN)]), BlockKind::Data);
        assert_eq!(kind(&[(b"a", UNKNOWN), (b"b", NEXT), (b"c", OTHER)]), BlockKind::Data);
    }

    #[test]
    fn a_metaindex_names_filters() {
        for (key, expected) in [
            (&b"filter.leveldb.BuiltinBloomFilter2"[..], BlockKind::Handles),
            (b"fullfilter.rocksdb.BuiltinBloomFilter", BlockKind::Handles),
            (b"filter", BlockKind::Data),
            (b"a filter.", BlockKind::Data),
        ] {
            assert_eq!(kind(&[(key, UNKNOWN)]), expected, "{key:?}");
        }
    }

    #[test]
    fn rocksdbs_properties_are_no_entries() {
        let (a, b) = ((&b"rocksdb.a"[..], &b"value"[..]), (&b"rocksdb.b"[..], &b"1"[..]));
        assert_eq!(kind(&[a, b]), BlockKind::Other);
        for entries in [[a, (b"s", b"value")], [(b"a", b"value"), a], [(b"rocksdb", b"value"), a]] {
            assert_eq!(kind(&entries), BlockKind::Data, "{entries:?}");
        }
        assert_eq!(kind(&[(b"a", UNKNOWN), a]), BlockKind::Data);
    }

    #[test]
    fn what_does_not_decode_to_its_end_is_no_block() {
        let options = ReadOptions::default();
        let is_block = |contents: Vec<u8>| {
            let (file, handle) = stored(contents);
            let kind = KnownBlocks::default().kind(&&file[..], handle, &options);
            (KnownBlocks::is_block(&&file[..], handle, &options), kind)
        };
        let (sound, handle) = file(&[(b"rocksdb.a", b"value"), (b"rocksdb.b", b"other")]);
        let contents = &sound[..handle.size as usize];
        assert_eq!(is_block(contents.to_vec()), (true, BlockKind::Other));
        let (entries, restarts) = contents.split_at(contents.len() - 8);
        // The last entry is cut.
        let cut = [&entries[..entries.len() - 1], restarts].concat();
        assert_eq!(is_block(cut), (false, BlockKind::Other));
        assert!(is_block(restarts.to_vec()).0);
        // Four zero bytes are a block without restarts.
        assert!(!is_block(vec![0; 4]).0);
    }
}
