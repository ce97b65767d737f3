//! Entries of a block that is only partly there: the rest was zeroed, or cut off with the end of the file.
//!
//! Their bytes are covered by no checksum that could be verified, so they are never certain. They are used only if it
//! is known what is wrong: whole sectors of zeros, or the end of the file. With any other damage, no entry is used.

use std::ops::Range;

use filterblock::KeyFormat;

use super::stored::Between;

/// The size of a sector in bytes: disks lose whole sectors.
const SECTOR: u64 = 512;
/// The greatest number of bytes that are decompressed from a block. No further key is read once the keys of a block
/// take that many bytes.
const MAX_CONTENTS: usize = 16 << 20;

/// An entry with its internal key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::repair) struct PartialEntry {
    pub(in crate::repair) key: Vec<u8>,
    pub(in crate::repair) value: Vec<u8>,
}

/// The storage format of a table's blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stored {
    Raw,
    Snappy,
}

/// Finds the first run of zeros that fills at least one whole sector in `bytes`, which begin at `offset` in the file.
/// `None`: no whole sector is zero.
pub(super) fn zeroed(bytes: &[u8], offset: u64) -> Option<Range<usize>> {
    let first = usize::try_from(offset.next_multiple_of(SECTOR) - offset).ok()?;
    let sector = SECTOR as usize;
    let mut sectors = bytes.get(first..)?.chunks_exact(sector);
    let at = first
        .checked_add(sectors.position(|sector| sector.iter().all(|&byte| byte == 0))?.checked_mul(sector)?)?;
    let before = bytes.get(..at)?.iter().rev().take_while(|&&byte| byte == 0).count();
    let behind = bytes.get(at..)?.iter().take_while(|&&byte| byte == 0).count();
    Some(at.saturating_sub(before)..at.saturating_add(behind))
}

/// The entries of a block outside `damage`; of a Snappy block, only those before it. `contents`: the block as stored,
/// without its trailer; if `is_whole`, the contents end where the block ends.
pub(super) fn entries(
    contents: &[u8],
    damage: &Range<usize>,
    is_whole: bool,
    stored: Stored,
    between: &Between<'_>,
) -> Vec<PartialEntry> {
    let before = contents.get(..damage.start.min(contents.len())).unwrap_or_default();
    match stored {
        Stored::Snappy => {
            let decompressed = snappy_prefix(before);
            Parser::new(&decompressed, between).entries(0, decompressed.len()).0
        }
        Stored::Raw if is_whole && is_sound(contents, between) => Vec::new(),
        Stored::Raw => {
            let (mut entries, _) = Parser::new(before, between).entries(0, before.len());
            if is_whole {
                entries.extend(behind(contents, damage, entries.last(), between));
            }
            entries
        }
    }
}

/// The entries after `damage`, starting with the first restart after it, if the array of restarts is there.
fn behind(
    contents: &[u8],
    damage: &Range<usize>,
    before: Option<&PartialEntry>,
    between: &Between<'_>,
) -> Vec<PartialEntry> {
    let Some((restarts, end)) = restarts(contents).filter(|(_, end)| *end >= damage.end) else {
        return Vec::new();
    };
    let Some(start) = restarts.into_iter().find(|&restart| restart >= damage.end && restart < end) else {
        return Vec::new();
    };
    let after = before.map(|entry| &*entry.key).or(between.after);
    let between = Between { order: between.order, after, up_to: between.up_to };
    match Parser::new(contents, &between).entries(start, end) {
        (entries, at) if at == end => entries,
        _ => Vec::new(),
    }
}

/// The offsets of the restarts, and the offset of their array.
fn restarts(contents: &[u8]) -> Option<(Vec<usize>, usize)> {
    let (rest, count) = contents.split_last_chunk::<4>()?;
    let count = usize::try_from(u32::from_le_bytes(*count)).ok()?;
    let end = rest.len().checked_sub(count.checked_mul(4)?)?;
    let (array, _) = rest.get(end..)?.as_chunks::<4>();
    Some((array.iter().map(|offset| u32::from_le_bytes(*offset) as usize).collect(), end))
}

/// Returns true if the entries fill the block exactly despite its zeros, which then belong to them.
fn is_sound(contents: &[u8], between: &Between<'_>) -> bool {
    restarts(contents).is_some_and(|(_, end)| {
        let (entries, at) = Parser::new(contents, between).entries(0, end);
        at == end && !entries.is_empty()
    })
}

/// Reads entries that ascend, within bounds.
struct Parser<'p> {
    bytes: &'p [u8],
    between: &'p Between<'p>,
}

impl<'p> Parser<'p> {
    const fn new(bytes: &'p [u8], between: &'p Between<'p>) -> Self {
        Self { bytes, between }
    }

    /// The entries from the restart at `start` to `end`, up to the first bytes that cannot be an entry, and the offset
    /// at which the entries stop.
    fn entries(&self, start: usize, end: usize) -> (Vec<PartialEntry>, usize) {
        let (mut entries, mut at): (Vec<PartialEntry>, _) = (Vec::new(), start);
        let mut keys = 0_usize;
        while at < end && keys < MAX_CONTENTS {
            let before = entries.last().map(|entry| &*entry.key);
            let Some((entry, next)) = self.entry(at, end, before) else { break };
            keys = keys.saturating_add(entry.key.len());
            entries.push(entry);
            at = next;
        }
        (entries, at)
    }

    fn entry(&self, at: usize, end: usize, before: Option<&[u8]>) -> Option<(PartialEntry, usize)> {
        let Between { order, after, up_to } = *self.between;
        let (shared, at) = self.varint(at)?;
        let (own, at) = self.varint(at)?;
        let (value, at) = self.varint(at)?;
        let key_end = at.checked_add(own)?;
        let value_end = key_end.checked_add(value).filter(|&value_end| value_end <= end)?;
        let mut key = before.unwrap_or_default().get(..shared)?.to_vec();
        key.extend_from_slice(self.bytes.get(at..key_end)?);
        let (_, tag) = KeyFormat::LevelDb.split(&key)?;
        let ascends = before.or(after).is_none_or(|before| order.compare_internal(before, &key).is_lt());
        let fits = up_to.is_none_or(|up_to| order.compare_internal(&key, up_to).is_le());
        if tag & 0xff > 1 || !ascends || !fits {
            return None;
        }
        let value = self.bytes.get(key_end..value_end)?.to_vec();
        Some((PartialEntry { key, value }, value_end))
    }

    fn varint(&self, at: usize) -> Option<(usize, usize)> {
        let (value, len) = varint(self.bytes.get(at..)?)?;
        Some((value, at.checked_add(len)?))
    }
}

/// A varint of at most five bytes, and its length.
fn varint(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_u64;
    for (at, &byte) in bytes.iter().enumerate().take(5) {
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            return Some((usize::try_from(value).ok()?, at.saturating_add(1)));
        }
    }
    None
}

/// Decompresses the beginning of a block in Snappy's format.
fn snappy_prefix(mut bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let Some((len, width)) = varint(bytes) else { return out };
    bytes = bytes.get(width..).unwrap_or_default();
    let most = len.min(MAX_CONTENTS);
    while out.len() < most
        && let Some(rest) = snappy_element(bytes, &mut out, most)
    {
        bytes = rest;
    }
    out
}

/// Decompresses one element, and returns the bytes after it. `None`: the element is incomplete or invalid.
fn snappy_element<'b>(bytes: &'b [u8], out: &mut Vec<u8>, most: usize) -> Option<&'b [u8]> {
    let (&tag, rest) = bytes.split_first()?;
    let number = |len: usize| {
        let bytes = rest.get(..len)?;
        Some(bytes.iter().rev().fold(0_usize, |number, &byte| number << 8 | usize::from(byte)))
    };
    let high = usize::from(tag >> 2);
    let (len, offset, width) = match tag & 3 {
        0 => {
            let width = high.saturating_sub(59);
            let len = if width == 0 { high } else { number(width)? };
            let len = len.checked_add(1)?;
            let literal = rest.get(width..width.checked_add(len)?)?;
            if out.len().checked_add(len)? > most {
                return None;
            }
            out.extend_from_slice(literal);
            return rest.get(width.checked_add(len)?..);
        }
        1 => ((high & 7).saturating_add(4), (high >> 3) << 8 | number(1)?, 1),
        2 => (high.saturating_add(1), number(2)?, 2),
        _ => (high.saturating_add(1), number(4)?, 4),
    };
    if offset == 0 || out.len().checked_add(len)? > most {
        return None;
    }
    let start = out.len().checked_sub(offset)?;
    for at in start..start.checked_add(len)? {
        out.push(*out.get(at)?);
    }
    rest.get(width..)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use filterblock::table::{BlockHandle, Compression, TableBuilder, WriteOptions};

    use super::super::stored;
    use super::*;
    use crate::repair::order::Order;

    const BETWEEN: Between<'static> = Between { order: &Order::Bytewise, after: None, up_to: None };

    fn key(number: u32) -> Vec<u8> {
        [format!("key{number:04}").as_bytes(), &[1, 7, 0, 0, 0, 0, 0, 0]].concat()
    }

    fn value(number: u32) -> Vec<u8> {
        format!("{} of {number}", number.wrapping_mul(0x9e37_79b9)).repeat(3).into_bytes()
    }

    /// The contents of a block of 100 entries.
    fn block(compression: Compression) -> Bytes {
        let options = WriteOptions::default().block_size(1 << 20).compression(compression);
        let mut builder = TableBuilder::new(Vec::new(), options);
        (0..100).for_each(|number| builder.add(&key(number), &value(number)).unwrap());
        let (file, summary) = builder.finish().unwrap();
        let handle = BlockHandle { offset: 0, size: summary.data_size - 5 };
        let stored = stored::read(&&file[..], handle, &[]).unwrap().unwrap();
        stored.slice(..stored.len() - 5)
    }

    fn numbers(entries: &[PartialEntry]) -> Vec<u32> {
        let numbers = entries.iter().map(|entry| {
            let number = str::from_utf8(&entry.key[3..7]).unwrap().parse().unwrap();
            assert_eq!(entry.value, value(number));
            number
        });
        numbers.collect()
    }

    #[test]
    fn what_is_before_a_cut_is_saved_to_the_last_whole_entry() {
        for (compression, stored) in [(Compression::None, Stored::Raw), (Compression::Snappy, Stored::Snappy)]
        {
            let contents = block(compression);
            let mut before = 0;
            for cut in (0..contents.len()).step_by(13) {
                let found = numbers(&entries(&contents[..cut], &(cut..cut), false, stored, &BETWEEN));
                assert!(found.len() >= before && found == (0..found.len() as u32).collect::<Vec<_>>());
                before = found.len();
            }
            assert!(before > 90, "{before}");
        }
    }

    #[test]
    fn what_is_behind_zeros_is_saved_from_the_next_restart_on() {
        let mut contents = block(Compression::None).to_vec();
        contents[1000..2600].fill(0);
        let damage = zeroed(&contents, 300).unwrap();
        assert!(damage.contains(&1000) && damage.contains(&2599) && damage.len() < 1610, "{damage:?}");
        let found = numbers(&entries(&contents, &damage, true, Stored::Raw, &BETWEEN));
        let gap = found.windows(2).position(|pair| pair[1] != pair[0] + 1).unwrap();
        assert!(
            found[gap + 1].is_multiple_of(16) && found.len() > 50 && found.last() == Some(&99),
            "{found:?}"
        );
    }

    #[test]
    fn zeros_that_are_meant_to_be_there_are_no_damage() {
        let options = WriteOptions::default().block_size(1 << 20).compression(Compression::None);
        let mut builder = TableBuilder::new(Vec::new(), options);
        (0..20).for_each(|number| builder.add(&key(number), &[0; 2000]).unwrap());
        let (file, summary) = builder.finish().unwrap();
        let mut contents = file[..summary.data_size as usize - 5].to_vec();
        // Two wrong bits in a key.
        contents[5] ^= 1;
        contents[8] ^= 1;
        let damage = zeroed(&contents, 0).unwrap();
        assert_eq!(entries(&contents, &damage, true, Stored::Raw, &BETWEEN), []);
    }

    #[test]
    fn fewer_zeros_than_a_sector_are_none() {
        let mut bytes = vec![1; 3000];
        bytes[600..1400].fill(0);
        assert_eq!(zeroed(&bytes, 0), None);
        assert_eq!(zeroed(&bytes, 400), Some(600..1400));
        assert_eq!(zeroed(&[], 5), None);
    }
}
