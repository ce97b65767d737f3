//! A damaged database as a fuzzer makes it.

use std::sync::OnceLock;

use arbitrary::{Arbitrary, Unstructured};

use super::damager::DatabaseDamager;
use super::folder::Files;
use super::samples::samples;
use super::written::Written;
use crate::Checksums;

/// One of the [`samples`], damaged.
///
/// ```
/// use arbitrary::{Arbitrary as _, Unstructured};
/// use filterblock_fuzz::database::DamagedDatabase;
///
/// let database = DamagedDatabase::arbitrary(&mut Unstructured::new(b"a fuzzer's bytes"))?;
/// assert!(database.files.len() > 1);
/// # Ok::<_, arbitrary::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DamagedDatabase {
    /// The folder.
    pub files: Files,
    /// The state of the checksums over damaged bytes.
    pub checksums: Checksums,
    written: &'static Written,
}

impl DamagedDatabase {
    /// All values that a reader that verifies checksums may find. `None` if the checksums were put
    /// right: a reader may then find anything.
    pub fn written(&self) -> Option<&'static Written> {
        (self.checksums == Checksums::LeftWrong).then_some(self.written)
    }
}

/// A sample, to be damaged with checksums put right or left wrong.
struct Prepared {
    damagers: [(Checksums, DatabaseDamager); 2],
    written: Written,
}

fn prepared() -> &'static [Prepared] {
    static PREPARED: OnceLock<Vec<Prepared>> = OnceLock::new();
    PREPARED.get_or_init(|| {
        let prepare = |(files, older): (&Files, &Files)| {
            let damager = DatabaseDamager::new(files.clone()).older(older.clone());
            let written = damager.written();
            let damagers = [Checksums::PutRight, Checksums::LeftWrong]
                .map(|checksums| (checksums, damager.clone().checksums(checksums)));
            Prepared { damagers, written }
        };
        samples().iter().map(|sample| prepare((&sample.files, &sample.older))).collect()
    })
}

impl<'a> Arbitrary<'a> for DamagedDatabase {
    fn arbitrary(input: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let Prepared { damagers, written } = input.choose(prepared())?;
        let (checksums, damager) = input.choose(damagers)?;
        Ok(Self { files: damager.damage_by(input)?, checksums: *checksums, written })
    }
}
