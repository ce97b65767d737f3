//! MANIFESTs that are cut, that have flipped bits, or that hold any bytes.

use std::fs;

use filterblock::Error;
use filterblock::database::{LogReader, Manifest};
use proptest::prelude::*;

use crate::databases::{Edit, log, testdata};

/// A MANIFEST of LevelDB's and one of goleveldb's, with two and four records.
const MANIFESTS: [&str; 2] = ["databases/levels/MANIFEST-000008", "goleveldb/base-lg-11/MANIFEST-000013"];

fn records(file: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let mut reader = LogReader::new(file);
    std::iter::from_fn(|| reader.read_record().unwrap().map(|r| (r.offset as usize, r.data.to_vec())))
        .collect()
}

/// Reads `file` up to the record at `end`. Returns `None` if that is not enough for LevelDB.
fn parse_up_to(file: &[u8], end: usize) -> Option<Manifest> {
    Manifest::parse(&file[..end]).ok()
}

/// Returns the MANIFEST before the incomplete last record of `file`. `None` if there is no such record, if LevelDB
/// could not read the file without it, or if `manifest` has other tables or another number of records.
fn without_tail(file: &[u8], manifest: &Manifest) -> Option<Manifest> {
    let tail = usize::try_from(manifest.incomplete_tail()?).unwrap();
    let before = parse_up_to(file, tail)?;
    assert_eq!(before.incomplete_tail(), None);
    (before.tables() == manifest.tables() && before.records() == manifest.records()).then_some(before)
}

#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn a_manifest_cut_anywhere_is_the_one_before_the_cut_record() {
    for name in MANIFESTS {
        let file = fs::read(testdata(name)).unwrap();
        let mut ends: Vec<usize> = records(&file).into_iter().map(|(offset, _)| offset).collect();
        ends.push(file.len());
        for len in 0..=file.len() {
            let whole = ends.iter().filter(|&&end| end <= len).count() - 1;
            match Manifest::parse(&file[..len]) {
                Ok(manifest) => {
                    assert_eq!(manifest.records(), whole as u64, "{name} {len}");
                    let tail = (len != ends[whole]).then_some(ends[whole] as u64);
                    assert_eq!(manifest.incomplete_tail(), tail, "{name} {len}");
                    assert!(tail.is_none() || without_tail(&file, &manifest).is_some(), "{name} {len}");
                }
                // The cut lies before the end of the record that holds the numbers.
                Err(error) => {
                    assert!(error.to_string().starts_with("MANIFEST at offset 0: expected a "), "{error}");
                    assert_eq!(parse_up_to(&file, ends[whole]), None, "{name} {len}");
                }
            }
        }
    }
}

/// Promise: A3.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn no_flipped_bit_gives_another_list_of_tables() {
    for name in MANIFESTS {
        let file = fs::read(testdata(name)).unwrap();
        let lengths: Vec<usize> =
            records(&file).into_iter().flat_map(|(offset, _)| [offset + 4, offset + 5]).collect();
        let mut cut = 0;
        for bit in 0..file.len() * 8 {
            let mut damaged = file.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            if let Ok(manifest) = Manifest::parse(&damaged) {
                // Only a length that reaches beyond the file passes, as in LevelDB, and it leaves a trace.
                assert!(lengths.contains(&(bit / 8)), "{name} {bit}");
                assert!(without_tail(&file, &manifest).is_some(), "{name} {bit}");
                cut += 1;
            }
        }
        let sound = records(&file).len();
        assert!(cut <= 16 * (sound - 1), "{name} {cut}");
    }
}

/// Even with a right checksum, a record can hold anything, so edits have to be read with care.
#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn flipped_bits_behind_a_right_checksum_do_no_harm() {
    for name in MANIFESTS {
        let sound: Vec<_> =
            records(&fs::read(testdata(name)).unwrap()).into_iter().map(|(_, data)| data).collect();
        let (mut refused, mut taken) = (0, 0);
        for (index, record) in sound.iter().enumerate() {
            for bit in 0..record.len() * 8 {
                let mut damaged = sound.clone();
                damaged[index][bit / 8] ^= 1 << (bit % 8);
                match Manifest::parse(&log(&damaged).0) {
                    Ok(manifest) => {
                        assert!(manifest.tables().iter().all(|table| table.level < 7));
                        assert!(manifest.tables().is_sorted_by_key(|table| (table.level, table.number)));
                        taken += 1;
                    }
                    Err(error) => {
                        assert!(
                            matches!(
                                error,
                                Error::Corrupt { .. } | Error::Unsupported { .. } | Error::OtherFormat { .. }
                            ),
                            "{name} {bit}: {error}"
                        );
                        refused += 1;
                    }
                }
            }
        }
        assert!(refused > 100 && taken > 100, "{name}: {refused} {taken}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let scan = Manifest::scan(&bytes[..], 10_000);
        prop_assert!(scan.damage.is_some());
        let mut reader = LogReader::new(&bytes[..]);
        // Each call moves on by a byte at least.
        let calls = (0..=bytes.len()).take_while(|_| !matches!(reader.read_record(), Ok(None))).count();
        prop_assert!(calls <= bytes.len());
    }

    #[cfg_attr(miri, ignore = "takes minutes")]
    #[test]
    fn any_edits_are_read_without_a_panic(
        edits in prop::collection::vec(prop::collection::vec(prop_oneof![0..10u8, any::<u8>()], 0..40), 0..6),
    ) {
        let edits: Vec<_> = std::iter::once(Edit::sound().0).chain(edits).collect();
        let scan = Manifest::scan(&log(&edits).0[..], 10_000);
        prop_assert!(scan.manifest.tables().is_sorted_by_key(|table| (table.level, table.number)));
        prop_assert_eq!(scan.damage.is_none(), scan.manifest.records() == edits.len() as u64);
    }
}
