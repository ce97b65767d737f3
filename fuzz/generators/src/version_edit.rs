//! Version edits, the records of a MANIFEST, read as far as damage needs it.

use std::ops::Range;

use crate::decode::{Record, put_varint};
use crate::{batch, log};

/// The place of a table's size in the edit that adds the table.
struct SizeOf {
    number: u64,
    size: Range<usize>,
}

/// Returns where the record has the sizes of the tables that it adds. `None` if the record is no edit, or has no field.
fn added(record: &[u8]) -> Option<Vec<SizeOf>> {
    let (mut rest, mut added) = (Record(record), Vec::new());
    loop {
        match rest.varint()? {
            1 => drop(rest.string()?),
            2 | 3 | 4 | 9 => drop(rest.varint()?),
            5 => drop((rest.varint()?, rest.string()?)),
            6 => drop((rest.varint()?, rest.varint()?)),
            7 => {
                let (_level, number) = (rest.varint()?, rest.varint()?);
                let start = record.len() - rest.0.len();
                let _size = rest.varint()?;
                added.push(SizeOf { number, size: start..record.len() - rest.0.len() });
                let _keys = (rest.string()?, rest.string()?);
            }
            _ => return None,
        }
        if rest.0.is_empty() {
            return Some(added);
        }
    }
}

/// Returns true if these are the records of a MANIFEST: all are edits, and not all are batches, too. A few bytes can
/// be both.
pub(crate) fn are_edits(records: &[Vec<u8>]) -> bool {
    records.iter().all(|record| added(record).is_some())
        && !records.iter().all(|record| batch::writes(record).is_some())
}

/// Returns the MANIFEST with another size for the table of this number, and with right checksums. `None` if the
/// MANIFEST is damaged, or does not name the table.
pub(crate) fn with_table_size(manifest: &[u8], number: u64, size: u64) -> Option<Vec<u8>> {
    let mut records = log::records(&log::fragments(manifest)?);
    let mut is_named = false;
    for record in &mut records {
        let places: Vec<_> = added(record)?.into_iter().filter(|table| table.number == number).collect();
        is_named |= !places.is_empty();
        // From the last one on, so that the places before it stay right.
        for place in places.into_iter().rev() {
            let mut encoded = Vec::new();
            put_varint(size, &mut encoded);
            record.splice(place.size, encoded);
        }
    }
    is_named.then(|| log::frame(&records))
}
