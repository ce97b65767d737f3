//! Logs and MANIFESTs: records cut into fragments, each with its checksum.
//!
//! ```text
//! log       [block of 32 KiB]*
//! block     [fragment]* [zeros, where no header fits any more]
//! fragment  [masked CRC-32C of type and data: u32] [length: u16] [type: u8] [data]
//! ```

use arbitrary::Arbitrary;

use crate::damage::Edit;

/// Size of a block in bytes.
pub const BLOCK_LEN: usize = 32 << 10;
/// Size of a fragment's header in bytes.
pub const HEADER_LEN: usize = 7;

/// A piece of a record as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// The type. 1: a whole record, 2: the first piece of a record, 3: a piece between, 4: the last piece.
    pub kind: u8,
    /// The bytes, without the header.
    pub data: Vec<u8>,
}

/// Cuts records into fragments as LevelDB's `db/log_writer.cc` does.
pub fn frame<R: AsRef<[u8]>>(records: &[R]) -> Vec<u8> {
    let mut file = Vec::new();
    for record in records {
        let (mut rest, mut first) = (record.as_ref(), true);
        loop {
            let left = BLOCK_LEN - file.len() % BLOCK_LEN;
            if left < HEADER_LEN {
                file.resize(file.len() + left, 0);
                continue;
            }
            let (data, after) = rest.split_at(rest.len().min(left - HEADER_LEN));
            let last = after.is_empty();
            let kind = match (first, last) {
                (true, true) => 1,
                (true, false) => 2,
                (false, false) => 3,
                (false, true) => 4,
            };
            append_fragment(&mut file, kind, data);
            (rest, first) = (after, false);
            if last {
                break;
            }
        }
    }
    file
}

/// Appends a fragment with the right checksum, after the zeros that keep its header within one
/// block.
///
/// Data that goes on beyond the block is written all the same: readers have to refuse it.
///
/// # Panics
///
/// If the data is longer than its 16-bit length can say.
pub fn append_fragment(file: &mut Vec<u8>, kind: u8, data: &[u8]) {
    let len = u16::try_from(data.len()).expect("a fragment of at most 65,535 bytes");
    let left = BLOCK_LEN - file.len() % BLOCK_LEN;
    if left < HEADER_LEN {
        file.resize(file.len() + left, 0);
    }
    let crc = crc32c::crc32c_append(crc32c::crc32c(&[kind]), data);
    file.extend(crc.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes());
    file.extend(len.to_le_bytes());
    file.push(kind);
    file.extend(data);
}

/// Takes a log apart. `None` if it has no fragment, or one with another checksum, length or place
/// than LevelDB writes.
pub fn fragments(file: &[u8]) -> Option<Vec<Fragment>> {
    let mut fragments = Vec::new();
    for block in file.chunks(BLOCK_LEN) {
        let mut rest = block;
        while let Some((header, after)) = rest.split_at_checked(HEADER_LEN) {
            let (crc, len) = (header.first_chunk()?, u16::from_le_bytes([header[4], header[5]]));
            let (data, after) = after.split_at_checked(len.into())?;
            let found = crc32c::crc32c_append(crc32c::crc32c(&header[6..]), data);
            if found.rotate_right(15).wrapping_add(0xa282_ead8) != u32::from_le_bytes(*crc) {
                return None;
            }
            fragments.push(Fragment { kind: header[6], data: data.to_vec() });
            rest = after;
        }
        if rest.iter().any(|&byte| byte != 0) {
            return None;
        }
    }
    (!fragments.is_empty()).then_some(fragments)
}

/// Returns the records that these fragments are pieces of. Fragments of records that lack a beginning or an
/// end are left out.
pub fn records(fragments: &[Fragment]) -> Vec<Vec<u8>> {
    let (mut records, mut begun) = (Vec::new(), None::<Vec<u8>>);
    for Fragment { kind, data } in fragments {
        match kind {
            1 => {
                begun = None;
                records.push(data.clone());
            }
            2 => begun = Some(data.clone()),
            3 => begun.iter_mut().for_each(|record| record.extend(data)),
            4 => records.extend(begun.take().map(|record| [&record[..], data].concat())),
            _ => begun = None,
        }
    }
    records
}

/// Damage to one fragment of a log, or to its file. Numbers of fragments are taken modulo their count.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum LogDamage<'a> {
    /// The data of this fragment, with the checksum put right.
    Data(u8, Edit<'a>),
    /// The type of this fragment, with the checksum put right.
    Kind(u8, u8),
    /// This fragment is missing.
    Missing(u8),
    /// This fragment is there twice.
    Twice(u8),
    /// This fragment has changed places with the next one.
    Exchanged(u8),
    /// The bytes of the file, without correcting anything.
    File(Edit<'a>),
}

/// Puts a log together from these fragments, with the damage.
pub fn assemble(fragments: &[Fragment], damage: LogDamage<'_>) -> Vec<u8> {
    let mut fragments = fragments.to_vec();
    let place = |number: u8| usize::from(number).checked_rem(fragments.len());
    match damage {
        LogDamage::Data(number, edit) => {
            if let Some(at) = place(number) {
                edit.apply(&mut fragments[at].data);
                fragments[at].data.truncate(u16::MAX.into());
            }
        }
        LogDamage::Kind(number, kind) => {
            if let Some(at) = place(number) {
                fragments[at].kind = kind;
            }
        }
        LogDamage::Missing(number) => {
            if let Some(at) = place(number) {
                fragments.remove(at);
            }
        }
        LogDamage::Twice(number) => {
            if let Some(at) = place(number) {
                fragments.insert(at, fragments[at].clone());
            }
        }
        LogDamage::Exchanged(number) => {
            if let Some(at) = place(number) {
                let next = (at + 1) % fragments.len();
                fragments.swap(at, next);
            }
        }
        LogDamage::File(_) => {}
    }
    let mut file = Vec::new();
    for Fragment { kind, data } in &fragments {
        append_fragment(&mut file, *kind, data);
    }
    if let LogDamage::File(edit) = damage {
        edit.apply(&mut file);
    }
    file
}
