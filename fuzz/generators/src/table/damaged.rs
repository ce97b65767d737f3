//! A damaged table as a fuzzer makes it.

use arbitrary::{Arbitrary, Unstructured};

use super::damage::{Damage, Intact};
use super::parts::{Entry, Parts};
use super::samples::samples;

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
