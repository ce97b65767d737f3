//! Damage by seed, to files of any writer, and the changes to bytes that it is made of.

use arbitrary::{Arbitrary, Unstructured};
use filterblock::table::{ReadOptions, Table};

use crate::log::{self, Fragment, LogDamage};
use crate::manifest;
use crate::mutate::Random;
use crate::table::{Damage, Entry, Parts};

/// The most attempts to make damage that changes something.
pub(crate) const TRIES: usize = 64;
/// Number of random bytes that one damage is made of.
const BYTES: usize = 64;

/// The state of the checksums over damaged bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checksums {
    /// The checksums are put right, so that readers meet the damage behind them. A reader may then find anything,
    /// but must not crash, hang or take memory out of proportion.
    #[default]
    PutRight,
    /// The checksums are left wrong, as by a disk. A reader that verifies them must not invent entries, either: all
    /// that it finds was written.
    LeftWrong,
}

/// Damages a file in one structure and puts the checksums around it right.
///
/// - A sound table is taken apart. Filters are written anew: LevelDB's, with 10 bits a key and the
///   table's `base_lg`, if it has a filter block under LevelDB's name. Keys count as those of a
///   database if all of them end in a sequence number and a type.
/// - A sound log or MANIFEST is damaged in one of its fragments.
/// - In anything else, for example a bare filter block, some bytes are changed.
///
/// The same bytes and seed give the same result, in one version of this crate. The result always differs from
/// [`Damager::sound`]. For many seeds, a [`Damager`] reads the file only once. It can also leave checksums wrong.
///
/// ```
/// let block = [vec![0; 8], vec![6, 0, 0, 0, 0, 9, 0, 0, 0, 11]].concat(); // one filter
/// assert_ne!(filterblock_fuzz::damage(&block, 1), block);
/// assert_eq!(filterblock_fuzz::damage(&block, 1), filterblock_fuzz::damage(&block, 1));
/// ```
pub fn damage(bytes: &[u8], seed: u64) -> Vec<u8> {
    Damager::new(bytes).damage(seed)
}

/// A file that is damaged many times, as by [`damage`].
#[derive(Clone, Debug)]
pub struct Damager {
    file: Taken,
    /// The file put together without damage.
    assembled: Vec<u8>,
    original: Vec<u8>,
    checksums: Checksums,
}

/// A file taken apart.
#[derive(Clone, Debug)]
enum Taken {
    Table { parts: Parts, base_lg: Option<u8> },
    Log { fragments: Vec<Fragment>, is_manifest: bool },
    Bytes,
}

impl Damager {
    /// Takes a file apart. Checksums will be put right.
    pub fn new(bytes: &[u8]) -> Self {
        let file = table(bytes).or_else(|| log(bytes)).unwrap_or(Taken::Bytes);
        let assembled = match &file {
            Taken::Table { parts, base_lg } => parts.assemble(*base_lg, Damage::Nothing),
            Taken::Log { .. } | Taken::Bytes => bytes.to_vec(),
        };
        Self { file, assembled, original: bytes.to_vec(), checksums: Checksums::PutRight }
    }

    /// Sets whether checksums are put right or left wrong. If they are left wrong, the file's bytes get a
    /// [`Corruption`], and the file is not reassembled.
    ///
    /// A few bytes are not covered by a checksum: a table's footer, the zeros that fill up a log's blocks, and
    /// CURRENT.
    ///
    /// ```
    /// use filterblock_fuzz::{Checksums, Damager, log};
    ///
    /// let log = log::frame(&["a record of some bytes"]);
    /// let damager = Damager::new(&log).checksums(Checksums::LeftWrong);
    /// assert!((0..100).all(|seed| log::fragments(&damager.damage(seed)).is_none()));
    /// ```
    pub fn checksums(mut self, checksums: Checksums) -> Self {
        self.checksums = checksums;
        self
    }

    /// The kind of the file, judged by its contents: `table`, `manifest`, `log` or `bytes`.
    ///
    /// A file of records is a MANIFEST if all of them are version edits of LevelDB's.
    pub fn kind(&self) -> &'static str {
        match self.file {
            Taken::Table { .. } => "table",
            Taken::Log { is_manifest: true, .. } => "manifest",
            Taken::Log { .. } => "log",
            Taken::Bytes => "bytes",
        }
    }

    /// The file without damage. Where checksums are put right, it is the reassembled file: filters and index of a
    /// table may then differ from the original's, but data blocks do not.
    pub fn sound(&self) -> &[u8] {
        match self.checksums {
            Checksums::PutRight => &self.assembled,
            Checksums::LeftWrong => &self.original,
        }
    }

    /// Damages the file. The same seed gives the same result.
    pub fn damage(&self, seed: u64) -> Vec<u8> {
        let mut random = Random(seed);
        for _ in 0..TRIES {
            let bytes: Vec<u8> = random.bytes(BYTES).collect();
            let damaged = self.damage_by(&mut Unstructured::new(&bytes));
            if let Some(damaged) = damaged.ok().filter(|file| file != self.sound()) {
                return damaged;
            }
        }
        // Only seen with an empty file, which has nothing to damage. One more byte changes any file.
        [self.sound(), &[0]].concat()
    }

    /// Damages the file as a fuzzer's bytes say. Some bytes say that nothing changes.
    ///
    /// # Errors
    ///
    /// If the bytes do not describe damage.
    pub fn damage_by(&self, input: &mut Unstructured<'_>) -> arbitrary::Result<Vec<u8>> {
        let mut bytes = self.original.clone();
        match (&self.file, self.checksums) {
            (_, Checksums::LeftWrong) => Corruption::arbitrary(input)?.apply(&mut bytes),
            (Taken::Table { parts, base_lg }, _) => {
                bytes = parts.assemble(*base_lg, Damage::arbitrary(input)?)
            }
            (Taken::Log { fragments, .. }, _) => {
                bytes = log::assemble(fragments, LogDamage::arbitrary(input)?);
            }
            (Taken::Bytes, _) => Edit::arbitrary(input)?.apply(&mut bytes),
        }
        Ok(bytes)
    }
}

/// Takes a table apart. `None` if the bytes are not a sound table.
fn table(bytes: &[u8]) -> Option<Taken> {
    let mut parts = Parts::of(bytes, false).ok()?;
    parts.internal = parts.data.iter().flat_map(|block| &block.entries).all(has_tag);
    let options = ReadOptions::default().filter_policy(filterblock::BloomFilterPolicy::new(10));
    let filters = Table::open(bytes, &options).ok()?;
    let base_lg = filters.filter().map(|filter| filter.base_lg()).filter(|&base_lg| base_lg < 64);
    Some(Taken::Table { parts, base_lg })
}

/// Takes a log or MANIFEST apart. `None` if the bytes are neither, or not sound.
fn log(bytes: &[u8]) -> Option<Taken> {
    let fragments = log::fragments(bytes)?;
    let is_manifest = manifest::are_edits(&log::records(&fragments));
    Some(Taken::Log { fragments, is_manifest })
}

/// Returns true if the key ends in a tag as databases write it: a type of 0 or 1, then a sequence number whose highest
/// byte is 0.
fn has_tag((key, _): &Entry) -> bool {
    key.last_chunk::<8>().is_some_and(|tag| tag[0] <= 1 && tag[7] == 0)
}

/// A change to a run of bytes. Positions are taken modulo its length.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Edit<'a> {
    /// These bytes overwrite those from here on.
    Overwrite(u16, &'a [u8]),
    /// One byte has the bits flipped that are set in the mask.
    Flip(u16, u8),
    /// The run is cut off here.
    Cut(u16),
    /// These bytes are inserted here.
    Insert(u16, &'a [u8]),
    /// Another little-endian 32-bit number in place of the word this many words, modulo 32, before the last one. Such
    /// words are counts and offsets.
    Word(u8, u32),
    /// These bytes replace the run.
    Replace(&'a [u8]),
}

impl Edit<'_> {
    /// Changes `bytes`. What does not fit into them has no effect.
    pub fn apply(self, bytes: &mut Vec<u8>) {
        let len = bytes.len();
        let place = |at: u16| usize::from(at).checked_rem(len).unwrap_or_default();
        match self {
            Self::Overwrite(at, with) => {
                bytes.iter_mut().skip(place(at)).zip(with).for_each(|(byte, &new)| *byte = new);
            }
            Self::Flip(at, bits) => bytes.iter_mut().skip(place(at)).take(1).for_each(|byte| *byte ^= bits),
            Self::Cut(at) => bytes.truncate(place(at)),
            Self::Insert(at, with) => drop(bytes.splice(place(at)..place(at), with.iter().copied())),
            Self::Word(back, value) => {
                let start = len.checked_sub(4 * (usize::from(back) % 32 + 1));
                if let Some(word) = start.and_then(|start| bytes.get_mut(start..start + 4)) {
                    word.copy_from_slice(&value.to_le_bytes());
                }
            }
            Self::Replace(with) => *bytes = with.to_vec(),
        }
    }
}

/// The size of a sector in bytes, the least that a disk writes.
const SECTOR_LEN: usize = 512;
/// The size of a page in bytes, the least that a file system writes.
const PAGE_LEN: usize = 4096;

/// A change of a file's bytes as disks, memory and lost writes make it. No checksum is corrected.
///
/// Positions are taken modulo the file's length, numbers of sectors and pages modulo their count.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Corruption<'a> {
    /// One byte has the bits flipped that are set in the mask.
    Bits(u32, u8),
    /// The bytes from here on are overwritten with these, at most up to the file's end.
    Overwritten(u32, &'a [u8]),
    /// The file is cut off here.
    Cut(u32),
    /// A sector of 512 bytes is zeros.
    ZeroedSector(u16),
    /// One to four pages of 4,096 bytes are zeros.
    ZeroedPages(u16, u8),
}

impl Corruption<'_> {
    /// Changes `bytes`. An empty file stays as it is.
    pub fn apply(self, bytes: &mut Vec<u8>) {
        let len = bytes.len();
        let place = |at: u32| (at as usize).checked_rem(len).unwrap_or_default();
        let part = |number: u16, len_of_one: usize| {
            usize::from(number).checked_rem(len.div_ceil(len_of_one)).unwrap_or_default() * len_of_one
        };
        match self {
            Self::Bits(at, bits) => bytes.iter_mut().skip(place(at)).take(1).for_each(|byte| *byte ^= bits),
            Self::Overwritten(at, with) => {
                bytes.iter_mut().skip(place(at)).zip(with).for_each(|(byte, &new)| *byte = new);
            }
            Self::Cut(at) => bytes.truncate(place(at)),
            Self::ZeroedSector(number) => {
                bytes.iter_mut().skip(part(number, SECTOR_LEN)).take(SECTOR_LEN).for_each(|byte| *byte = 0);
            }
            Self::ZeroedPages(number, more) => {
                let pages = usize::from(more % 4) + 1;
                let from = part(number, PAGE_LEN);
                bytes.iter_mut().skip(from).take(pages * PAGE_LEN).for_each(|byte| *byte = 0);
            }
        }
    }
}
