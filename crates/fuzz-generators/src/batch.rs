//! Write batches, the records of a database's log.
//!
//! ```text
//! batch    [sequence number of the first write: u64] [number of writes: u32] [write]*
//! write    [1: u8] [key: string] [value: string]    a value
//!          [0: u8] [key: string]                    a deletion
//! string   [length: varint32] [bytes]
//! ```

use crate::cut::{Record, put_varint};

/// A key, and its value, or `None` where it is deleted.
pub type Write<'a> = (&'a [u8], Option<&'a [u8]>);

/// The number of bytes before the first write.
const HEADER_LEN: usize = 12;

/// Returns the record that LevelDB's `WriteBatch` makes of these writes. Their sequence numbers ascend from
/// `sequence` on.
///
/// ```
/// use filterblock_fuzz::batch::{encode, writes};
/// let record = encode(7, &[(b"apple", Some(b"red")), (b"pear", None)]);
/// assert_eq!(writes(&record).unwrap(), [(&b"apple"[..], Some(&b"red"[..])), (b"pear", None)]);
/// assert_eq!(writes(b"no batch"), None);
/// ```
pub fn encode(sequence: u64, writes: &[Write<'_>]) -> Vec<u8> {
    let mut record = sequence.to_le_bytes().to_vec();
    record.extend((writes.len() as u32).to_le_bytes());
    for &(key, value) in writes {
        record.push(u8::from(value.is_some()));
        for string in [Some(key), value].into_iter().flatten() {
            put_varint(string.len() as u64, &mut record);
            record.extend(string);
        }
    }
    record
}

/// Returns the writes of a record. `None` if it is not a batch, or has another number of writes than its header says.
pub fn writes(record: &[u8]) -> Option<Vec<Write<'_>>> {
    let (header, rest) = record.split_at_checked(HEADER_LEN)?;
    let count = u32::from_le_bytes(*header.last_chunk()?);
    let (mut rest, mut writes) = (Record(rest), Vec::new());
    while !rest.0.is_empty() {
        let kind = *rest.take(1)?.first()?;
        let key = rest.string()?;
        let value = match kind {
            0 => None,
            1 => Some(rest.string()?),
            _ => return None,
        };
        writes.push((key, value));
    }
    (writes.len() == count as usize).then_some(writes)
}
