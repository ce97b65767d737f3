//! Damage to a database, by seed and by a fuzzer's bytes.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use arbitrary::{Arbitrary, Unstructured};
use filterblock::database::FileKind;

use super::samples::samples;
use super::{Files, Written};
use crate::damage::{Corruption, TRIES};
use crate::log::{self, append_fragment};
use crate::manifest::with_table_size;
use crate::mutate::Random;
use crate::{Checksums, Damager};

/// Number of random bytes that one damaged database is made of.
const BYTES: usize = 256;

/// A database that is damaged many times.
///
/// The kinds of damage: bits or bytes of a file change, a file is cut off, sectors or pages of it are zeros, a file
/// is missing, CURRENT names another file, or some files are as they were in an older state of the folder, as after a
/// crash or from a backup. If checksums are put right, more than half of the damage is to structures of tables, logs
/// and MANIFESTs. Each database is damaged one to three times.
#[derive(Clone, Debug)]
pub struct DatabaseDamager {
    files: Files,
    older: Files,
    /// The files that are damaged, taken apart.
    targets: Vec<(String, Damager)>,
    checksums: Checksums,
}

impl DatabaseDamager {
    /// Takes the files of a database apart. Checksums will be put right.
    ///
    /// The older state is one in which the latter half of each log and MANIFEST was not yet written, unless
    /// [`older`](Self::older) gives another state.
    pub fn new(files: Files) -> Self {
        let holds_contents = |name: &&String| match FileKind::parse(name) {
            Some((kind, _)) => {
                matches!(kind, FileKind::Table | FileKind::Log | FileKind::Manifest | FileKind::Current)
            }
            None => false,
        };
        let names = files.keys().filter(holds_contents);
        let targets = names.map(|name| (name.clone(), Damager::new(&files[name]))).collect();
        Self { older: half_written(&files), files, targets, checksums: Checksums::PutRight }
    }

    /// Gives an older state of the folder.
    pub fn older(mut self, files: Files) -> Self {
        self.older = files;
        self
    }

    /// Sets whether checksums in damaged files are put right or left wrong.
    pub fn checksums(mut self, checksums: Checksums) -> Self {
        self.checksums = checksums;
        for (_, damager) in &mut self.targets {
            *damager = damager.clone().checksums(checksums);
        }
        self
    }

    /// The files without damage.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Returns all values that were ever written to the database, its older state included. If checksums are left
    /// wrong, a reader that verifies them finds only these values. This reads all files.
    pub fn written(&self) -> Written {
        let mut written = Written::of(&self.files);
        written.extend(Written::of(&self.older));
        written
    }

    /// Damages the database. The same seed gives the same result. The result differs from the files without damage,
    /// unless there are no files.
    pub fn damage(&self, seed: u64) -> Files {
        let mut random = Random(seed);
        for _ in 0..TRIES {
            let bytes: Vec<u8> = random.bytes(BYTES).collect();
            let damaged = self.damage_by(&mut Unstructured::new(&bytes));
            if let Some(damaged) = damaged.ok().filter(|files| *files != self.files) {
                return damaged;
            }
        }
        self.files.clone().into_iter().skip(1).collect()
    }

    /// Damages the database as a fuzzer's bytes say. Some bytes say that nothing changes.
    ///
    /// # Errors
    ///
    /// If the bytes do not describe damage.
    pub fn damage_by(&self, input: &mut Unstructured<'_>) -> arbitrary::Result<Files> {
        let mut files = self.files.clone();
        for _ in 0..input.int_in_range(1..=3)? {
            let damage = match self.checksums == Checksums::PutRight && input.arbitrary()? {
                true => DatabaseDamage::Structure(input.arbitrary()?, input.arbitrary()?),
                false => DatabaseDamage::arbitrary(input)?,
            };
            self.apply(damage, &mut files);
        }
        Ok(files)
    }

    /// Damages files that may be damaged already. Damage to the bytes of a missing file has no effect.
    pub fn apply(&self, damage: DatabaseDamage<'_>, files: &mut Files) {
        let target = |number: u8| {
            let at = usize::from(number).checked_rem(self.targets.len())?;
            self.targets.get(at)
        };
        match damage {
            DatabaseDamage::Bytes(number, corruption) => {
                if let Some(bytes) = target(number).and_then(|(name, _)| files.get_mut(name)) {
                    corruption.apply(bytes);
                }
            }
            DatabaseDamage::Structure(number, bytes) => {
                if let Some((name, damager)) = target(number) {
                    self.structure(name, damager, bytes, files);
                }
            }
            DatabaseDamage::Missing(number) => drop(target(number).and_then(|(name, _)| files.remove(name))),
            DatabaseDamage::Current(names) => {
                files.insert("CURRENT".to_owned(), self.current(names));
            }
            DatabaseDamage::Older(which) => {
                let both: BTreeSet<_> = self.files.keys().chain(self.older.keys()).collect();
                for (_, name) in both.into_iter().enumerate().filter(|(at, _)| which >> (at % 32) & 1 == 1) {
                    match self.older.get(name) {
                        Some(contents) => drop(files.insert(name.clone(), contents.clone())),
                        None => drop(files.remove(name)),
                    }
                }
            }
        }
    }

    /// Replaces a file by what its damager makes of it, if that differs from the sound file. With checksums put
    /// right, each MANIFEST that is not damaged gets a damaged table's new size.
    fn structure(&self, name: &str, damager: &Damager, bytes: &[u8], files: &mut Files) {
        let damaged = damager.damage_by(&mut Unstructured::new(bytes)).ok();
        let Some(damaged) = damaged.filter(|damaged| damaged != damager.sound()) else { return };
        // Readers look for a table's footer where the MANIFEST says that the table ends.
        if let (Some((FileKind::Table, number)), Checksums::PutRight) =
            (FileKind::parse(name), self.checksums)
        {
            for (_, file) in files.iter_mut().filter(|(name, _)| name.starts_with("MANIFEST-")) {
                if let Some(manifest) = with_table_size(file, number, damaged.len() as u64) {
                    *file = manifest;
                }
            }
        }
        files.insert(name.to_owned(), damaged);
    }

    fn current(&self, names: CurrentNames<'_>) -> Vec<u8> {
        match names {
            CurrentNames::File(number, without_newline) => {
                let both: BTreeSet<_> = self.files.keys().chain(self.older.keys()).collect();
                let at = usize::from(number).checked_rem(both.len()).unwrap_or_default();
                let name = both.into_iter().nth(at).map(String::as_str).unwrap_or_default();
                if without_newline { name.into() } else { format!("{name}\n").into() }
            }
            CurrentNames::Manifest(number) => format!("{}\n", FileKind::Manifest.file_name(number)).into(),
            CurrentNames::Any(bytes) => bytes.to_vec(),
        }
    }
}

/// Returns the files with only the first half of the fragments of each log and MANIFEST.
fn half_written(files: &Files) -> Files {
    let mut older = files.clone();
    for file in older.values_mut() {
        if let Some(fragments) = log::fragments(file) {
            file.clear();
            let half = fragments.len().div_ceil(2);
            fragments[..half].iter().for_each(|part| append_fragment(file, part.kind, &part.data));
        }
    }
    older
}

/// Damage to a folder. Numbers of files are taken modulo their count, in the order of their names. Files without
/// contents of the database, such as LOCK, are counted only for [`Older`](Self::Older) and [`CurrentNames::File`].
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum DatabaseDamage<'a> {
    /// The bytes of this file. No checksum is corrected.
    Bytes(u8, Corruption<'a>),
    /// This file, damaged by [`Damager`](crate::Damager) as these bytes say: in one structure, with the checksums put
    /// right and a table's new size in the MANIFEST; or in its bytes, if checksums are left wrong.
    Structure(u8, &'a [u8]),
    /// This file is missing.
    Missing(u8),
    /// CURRENT names something else.
    Current(CurrentNames<'a>),
    /// Some files become as they are in the older state of the folder, or missing if they are missing there. Of the
    /// files of both states, file number n is among them if bit n modulo 32 is set.
    Older(u32),
}

/// The contents of CURRENT.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum CurrentNames<'a> {
    /// The name of one of the files in the folder and in its older state, without a newline if `true`.
    File(u8, bool),
    /// The name of a MANIFEST of this number, whether there is one or not.
    Manifest(u64),
    /// These bytes.
    Any(&'a [u8]),
}

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
