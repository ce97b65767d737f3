//! Tables taken apart, damaged in one structure, and put together again with correct checksums.
//!
//! A fuzzer that changes bytes of a table hardly ever gets past the checksums. [`Damage`] changes
//! one structure, wherever it lies, and [`Parts::assemble`] writes the other structures around it.

mod damage;
mod parts;

use std::sync::OnceLock;

use arbitrary::{Arbitrary, Unstructured};
use filterblock::BloomFilterPolicy;
use filterblock::table::{Compression, TableBuilder, WriteOptions};

pub use damage::{Damage, Elsewhere, Intact, Name, Value};
pub(crate) use parts::encode;
pub use parts::{DataBlock, Entry, File, Parts, encoded_handle, entry_block};

/// Maximum number of data blocks that are kept: enough for a first, a last and one between.
const MAX_BLOCKS: usize = 3;

/// Three small tables, taken apart: one with blocks of a few entries that share prefixes, one with
/// several versions of each of a database's keys, and one with blocks compressed by Snappy.
pub fn samples() -> &'static [Parts] {
    static SAMPLES: OnceLock<Vec<Parts>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        [(short_keys(), false), (versions(), true), (compressible(), false)]
            .into_iter()
            .map(|(file, internal)| {
                let mut parts = Parts::of(&file, internal).expect("a table just written");
                // More blocks would be of the same kind, and cost time.
                parts.data.truncate(MAX_BLOCKS);
                parts
            })
            .collect()
    })
}

fn options() -> WriteOptions {
    WriteOptions::default().compression(Compression::None).filter_policy(BloomFilterPolicy::new(10))
}

fn table(options: WriteOptions, entries: impl IntoIterator<Item = Entry>) -> Vec<u8> {
    let mut table = TableBuilder::new(Vec::new(), options);
    entries.into_iter().for_each(|(key, value)| table.add(&key, &value).expect("keys in order"));
    table.finish().expect("a vector takes everything").0
}

/// Blocks of a few entries that share prefixes.
fn short_keys() -> Vec<u8> {
    let entry = |i: u32| (format!("key{i:03}").into_bytes(), vec![b'v'; i as usize % 7]);
    table(options().block_size(60).restart_interval(3), (0..30).map(entry))
}

/// A database's table: several versions of each key, some of them deletions.
fn versions() -> Vec<u8> {
    let entry = |i: u64| {
        let tag = (90 - i) << 8 | u64::from(!i.is_multiple_of(5));
        let key = [format!("user{}", i / 3).as_bytes(), &tag.to_le_bytes()].concat();
        (key, i.to_string().into_bytes())
    };
    table(options().internal_keys(true).block_size(100).restart_interval(2), (0..24).map(entry))
}

fn compressible() -> Vec<u8> {
    let entry = |i: u8| (vec![b'a' + i; 3], vec![i; 150]);
    table(options().compression(Compression::Snappy).block_size(300), (0..8).map(entry))
}

/// A table with at most one structure damaged, made of one of the [`samples`].
///
/// ```
/// use arbitrary::{Arbitrary as _, Unstructured};
/// use filterblock_fuzz::table::DamagedTable;
///
/// let table = DamagedTable::arbitrary(&mut Unstructured::new(b"a fuzzer's bytes"))?;
/// assert!(table.file.len() > 48);
/// # Ok::<_, arbitrary::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DamagedTable {
    /// The table as stored.
    pub file: Vec<u8>,
    /// True if the table's keys are those of a database.
    pub internal: bool,
    /// The answers that the damage leaves unchanged.
    pub intact: Intact,
    sample: &'static Parts,
}

impl DamagedTable {
    /// The entries that the table held before it was damaged, in their order.
    pub fn entries(&self) -> impl Iterator<Item = &'static Entry> + use<> {
        self.sample.data.iter().flat_map(|block| &block.entries)
    }

    /// The entries that a reader must find if it opens the table at all.
    pub fn intact_entries(&self) -> impl Iterator<Item = &'static Entry> + use<> {
        let intact = self.intact;
        let kept = move |number: usize| match intact {
            Intact::All => true,
            Intact::AllBut(damaged) | Intact::AllButLost(damaged) => number != damaged,
            Intact::AllButFilters | Intact::Nothing => false,
        };
        let blocks = self.sample.data.iter().enumerate().filter(move |&(number, _)| kept(number));
        blocks.flat_map(|(_, block)| &block.entries)
    }
}

impl<'a> Arbitrary<'a> for DamagedTable {
    fn arbitrary(input: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let sample = input.choose(samples())?;
        let base_lg = input.ratio(3_u8, 4)?.then(|| input.int_in_range(0..=15_u8)).transpose()?;
        let damage = Damage::arbitrary(input)?;
        Ok(Self {
            file: sample.assemble(base_lg, damage),
            internal: sample.internal,
            intact: damage.leaves(sample.data.len()),
            sample,
        })
    }
}
