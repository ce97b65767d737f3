//! Damage by seed, to files of any writer.

use arbitrary::{Arbitrary as _, Unstructured};
use filterblock::table::{ReadOptions, Table};

use crate::edit::Edit;
use crate::log::{self, Fragment, LogDamage};
use crate::mutate::Random;
use crate::table::{Damage, Entry, Parts};

/// Number of times that another damage is tried if one changes nothing.
const TRIES: usize = 64;
/// Number of random bytes that one damage is made of.
const BYTES: usize = 64;

/// Damages a file in one structure and puts the checksums around it right.
///
/// - A sound table is taken apart. Filters are written anew: LevelDB's, with 10 bits a key and the
///   table's `base_lg`, if it has a filter block under LevelDB's name. Keys count as those of a
///   database if all of them end in a sequence number and a type.
/// - A sound log or MANIFEST is damaged in one of its fragments.
/// - In anything else, for example a bare filter block, some bytes are changed.
///
/// The same bytes and seed give the same result, in one version of this crate. The result always
/// differs from what the same file gives without damage. For many seeds, [`Damager`] reads the file
/// once.
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
    sound: Vec<u8>,
}

/// A file taken apart.
#[derive(Clone, Debug)]
enum Taken {
    Table { parts: Parts, base_lg: Option<u8> },
    Log(Vec<Fragment>),
    Bytes(Vec<u8>),
}

impl Damager {
    /// Takes a file apart.
    pub fn new(bytes: &[u8]) -> Self {
        let file = table(bytes)
            .or_else(|| log::fragments(bytes).map(Taken::Log))
            .unwrap_or_else(|| Taken::Bytes(bytes.to_vec()));
        let sound = match &file {
            Taken::Table { parts, base_lg } => parts.assemble(*base_lg, Damage::Nothing),
            Taken::Log(_) | Taken::Bytes(_) => bytes.to_vec(),
        };
        Self { file, sound }
    }

    /// What the file was taken for: `table`, `log` or `bytes`.
    pub fn kind(&self) -> &'static str {
        match self.file {
            Taken::Table { .. } => "table",
            Taken::Log(_) => "log",
            Taken::Bytes(_) => "bytes",
        }
    }

    /// The file put together again without damage. A table may differ from the one that was taken
    /// apart in filters and index, not in its data blocks.
    pub fn sound(&self) -> &[u8] {
        &self.sound
    }

    /// Damages the file. The same seed gives the same result.
    pub fn damage(&self, seed: u64) -> Vec<u8> {
        let mut random = Random(seed);
        for _ in 0..TRIES {
            let bytes: Vec<u8> = random.bytes(BYTES).collect();
            if let Some(damaged) = self.by(&mut Unstructured::new(&bytes)).filter(|file| *file != self.sound)
            {
                return damaged;
            }
        }
        // Never seen; whatever it is, a byte more makes it another file.
        [&self.sound[..], &[0]].concat()
    }

    fn by(&self, input: &mut Unstructured<'_>) -> Option<Vec<u8>> {
        Some(match &self.file {
            Taken::Table { parts, base_lg } => parts.assemble(*base_lg, Damage::arbitrary(input).ok()?),
            Taken::Log(fragments) => log::assemble(fragments, LogDamage::arbitrary(input).ok()?),
            Taken::Bytes(bytes) => {
                let mut bytes = bytes.clone();
                Edit::arbitrary(input).ok()?.apply(&mut bytes);
                bytes
            }
        })
    }
}

/// Takes a table apart, if it is one and sound.
fn table(bytes: &[u8]) -> Option<Taken> {
    let mut parts = Parts::of(bytes, false).ok()?;
    parts.internal = parts.data.iter().flat_map(|block| &block.entries).all(has_tag);
    let options = ReadOptions::default().filter_policy(filterblock::BloomFilterPolicy::new(10));
    let filters = Table::open(bytes, &options).ok()?;
    let base_lg = filters.filter().map(|filter| filter.base_lg()).filter(|&base_lg| base_lg < 64);
    Some(Taken::Table { parts, base_lg })
}

/// Returns true if the key ends in a tag as databases write it: a type of 0 or 1, and a sequence
/// number above it.
fn has_tag((key, _): &Entry) -> bool {
    key.last_chunk::<8>().is_some_and(|tag| tag[0] <= 1 && tag[7] == 0)
}
