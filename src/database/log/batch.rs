//! The batches of writes in a log (LevelDB's `db/write_batch.cc`).

/// The first twelve bytes of a record of a log, which is a batch of writes.
///
/// ```text
/// batch   [sequence number of the first write: fixed64] [count: fixed32] [write]*
/// write   [1] [key: string] [value: string], or [0] [key: string] for a deletion
/// string  [length: varint32] [bytes]
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchHeader {
    /// The sequence number of the first write. Each further write has the next one.
    pub sequence: u64,
    /// The number of writes.
    pub count: u32,
}

impl BatchHeader {
    /// The length of the header in bytes.
    pub const LEN: usize = 12;

    /// Reads the header of a record, or `None` if it has fewer than twelve bytes. The numbers are not checked.
    pub fn decode(record: &[u8]) -> Option<Self> {
        let (sequence, rest) = record.split_first_chunk()?;
        Some(Self {
            sequence: u64::from_le_bytes(*sequence),
            count: u32::from_le_bytes(*rest.first_chunk()?),
        })
    }
}
