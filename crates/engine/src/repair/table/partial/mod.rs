//! Entries of a block of which the rest was zeroed, or cut off with the end of the file. No checksum covers them, so
//! they are never certain, and no other damage is accepted.

mod parser;

use std::ops::Range;

use self::parser::{Byte, Parser, Segment};
use super::stored::KeyBounds;

/// In bytes: disks lose whole sectors.
const SECTOR: u64 = 512;
/// Bytes to decompress of a block, and to parse.
const MAX_CONTENTS: usize = 16 << 20;

/// The key is internal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::repair) struct PartialEntry {
    pub(in crate::repair) key: Vec<u8>,
    pub(in crate::repair) value: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stored {
    Raw,
    Snappy,
}

/// Runs that fill at least one whole sector. `offset`: of `bytes` in the file.
pub(super) fn zeroed(bytes: &[u8], offset: u64) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let first = usize::try_from(offset.next_multiple_of(SECTOR) - offset).unwrap_or(usize::MAX);
    let sectors = bytes.get(first..).unwrap_or_default().chunks_exact(SECTOR as usize);
    for (number, sector) in sectors.enumerate() {
        let at = first.saturating_add(number.saturating_mul(SECTOR as usize));
        let is_known = runs.last().is_some_and(|run| run.end > at);
        if is_known || sector.iter().any(|&byte| byte != 0) {
            continue;
        }
        let zeros = |byte: &&u8| **byte == 0;
        let before = bytes.get(..at).unwrap_or_default().iter().rev().take_while(zeros).count();
        let behind = bytes.get(at..).unwrap_or_default().iter().take_while(zeros).count();
        runs.push(at.saturating_sub(before)..at.saturating_add(behind));
    }
    runs
}

/// Entries outside `damage`, whose ranges ascend; only those before it for Snappy, or if the block does not end with
/// `contents`. None if zeros turn out to be part of entries. `contents`: as stored, without the trailer.
pub(super) fn entries(
    contents: &[u8],
    damage: &[Range<usize>],
    is_whole: bool,
    stored: Stored,
    between: &KeyBounds<'_>,
) -> Vec<PartialEntry> {
    let end = damage.first().map_or(contents.len(), |range| range.start.min(contents.len()));
    let before = contents.get(..end).unwrap_or_default();
    let known = |bytes: &[u8]| bytes.iter().copied().map(Some).collect::<Vec<Byte>>();
    match stored {
        Stored::Snappy => Parser::new(&known(&parser::prefix(before)), between).head().0,
        Stored::Raw if !is_whole => Parser::new(&known(before), between).head().0,
        Stored::Raw => {
            let mut bytes = known(contents);
            if is_sound(&bytes, between) {
                return Vec::new();
            }
            for range in damage {
                let lost = range.start.min(contents.len())..range.end.min(contents.len());
                bytes.get_mut(lost).unwrap_or_default().fill(None);
            }
            around(&bytes, between)
        }
    }
}

/// Returns entries up to the first lost bytes, and those from restarts after these.
fn around(bytes: &[Byte], between: &KeyBounds<'_>) -> Vec<PartialEntry> {
    let parser = Parser::new(bytes, between);
    let (mut entries, before) = parser.head();
    let Some((restarts, mut end)) = restarts(bytes) else { return entries };
    let (mut segments, mut first): (Vec<Segment>, Option<Vec<u8>>) = (Vec::new(), None);
    for &restart in restarts.iter().rev() {
        let Some(segment) = parser.segment(restart..end, first.as_deref()) else { break };
        first = segment.first().map(|(_, entry)| entry.key.clone()).or(first);
        segments.push(segment);
        end = restart;
    }
    let behind = segments.into_iter().rev().flatten();
    entries.extend(behind.filter(|(at, _)| *at >= before).map(|(_, entry)| entry));
    entries
}

/// Returns also the offset of their array. `None`: it is lost, or its bytes are no array of restarts.
fn restarts(bytes: &[Byte]) -> Option<(Vec<usize>, usize)> {
    let number = |at: usize| {
        let bytes = bytes.get(at..at.checked_add(4)?)?;
        bytes.iter().rev().try_fold(0_usize, |number, byte| Some(number << 8 | usize::from((*byte)?)))
    };
    let count_at = bytes.len().checked_sub(4)?;
    let end = count_at.checked_sub(number(count_at)?.checked_mul(4)?)?;
    let restarts: Vec<_> = (end..count_at).step_by(4).map(number).collect::<Option<_>>()?;
    let ascends = restarts.is_sorted_by(|a, b| a < b) && restarts.last().is_some_and(|&last| last < end);
    ascends.then_some((restarts, end))
}

/// True if the entries fill the block exactly, so that zeros are part of them.
fn is_sound(bytes: &[Byte], between: &KeyBounds<'_>) -> bool {
    restarts(bytes).is_some_and(|(_, end)| {
        let (entries, at) = Parser::new(bytes.get(..end).unwrap_or_default(), between).head();
        at == end && !entries.is_empty()
    })
}

#[cfg(test)]
mod tests {
    use std::slice;

    use bytes::Bytes;
    use filterblock::table::{BlockHandle, Compression, TableBuilder, WriteOptions};

    use super::super::stored;
    use super::*;
    use crate::repair::order::KeyOrder;

    const BETWEEN: KeyBounds<'static> = KeyBounds { order: &KeyOrder::Bytewise, after: None, up_to: None };

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

    fn saved(contents: &[u8], damage: &[Range<usize>], is_whole: bool, stored: Stored) -> Vec<PartialEntry> {
        entries(contents, damage, is_whole, stored, &BETWEEN)
    }

    fn numbers_of(entries: &[PartialEntry]) -> Vec<u32> {
        entries.iter().map(|entry| str::from_utf8(&entry.key[3..7]).unwrap().parse().unwrap()).collect()
    }

    fn numbers(entries: &[PartialEntry]) -> Vec<u32> {
        let numbers = numbers_of(entries);
        assert!(numbers.iter().zip(entries).all(|(&number, entry)| entry.value == value(number)));
        numbers
    }

    #[test]
    fn what_is_before_a_cut_is_saved_to_the_last_whole_entry() {
        for (compression, stored) in [(Compression::None, Stored::Raw), (Compression::Snappy, Stored::Snappy)]
        {
            let contents = block(compression);
            let mut before = 0;
            for cut in (0..contents.len()).step_by(13) {
                let found = numbers(&saved(&contents[..cut], slice::from_ref(&(cut..cut)), false, stored));
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
        let [damage] = &zeroed(&contents, 300)[..] else { panic!("one run of zeros") };
        assert!(damage.contains(&1000) && damage.contains(&2599) && damage.len() < 1610, "{damage:?}");
        let found = numbers(&saved(&contents, slice::from_ref(damage), true, Stored::Raw));
        let gap = found.windows(2).position(|pair| pair[1] != pair[0] + 1).unwrap();
        assert!(
            found[gap + 1].is_multiple_of(16) && found.len() > 50 && found.last() == Some(&99),
            "{found:?}"
        );
    }

    /// Zeros over lengths cost what follows up to the next restart, and zeros in a value that value alone.
    #[test]
    fn each_run_of_zeros_costs_the_entries_that_it_falls_into() {
        let options = WriteOptions::default().block_size(1 << 20).compression(Compression::None);
        let mut builder = TableBuilder::new(Vec::new(), options);
        let long = |number| value(number).repeat(60);
        (0..60).for_each(|number| builder.add(&key(number), &long(number)).unwrap());
        let (file, summary) = builder.finish().unwrap();
        let mut contents = file[..summary.data_size as usize - 5].to_vec();
        // The keys at restarts are there in full.
        let place = |number| file.windows(7).position(|part| *part == key(number)[..7]).unwrap();
        let (over, within) = (place(16) / 512 * 512, (place(48) + 100).next_multiple_of(512));
        contents[over..over + 512].fill(0);
        contents[within..within + 512].fill(0);
        let damage = zeroed(&contents, 0);
        assert_eq!(damage.len(), 2, "{damage:?}");
        let expected = (0..15).chain(32..48).chain(49..60);
        let expected = expected.map(|number| PartialEntry { key: key(number), value: long(number) });
        let saved = saved(&contents, &damage, true, Stored::Raw);
        assert!(saved.iter().cloned().eq(expected), "{:?}", numbers_of(&saved));
        // With a wrong length, entries do not end where the next restart is.
        contents[place(32) - 2] ^= 1;
        let saved = entries(&contents, &damage, true, Stored::Raw, &BETWEEN);
        assert_eq!(numbers_of(&saved), (0..15).chain(49..60).collect::<Vec<_>>());
    }

    #[test]
    fn zeros_that_are_meant_to_be_there_are_no_damage() {
        let options = WriteOptions::default().block_size(1 << 20).compression(Compression::None);
        let mut builder = TableBuilder::new(Vec::new(), options);
        let value = |number| if number == 10 { vec![0; 2000] } else { value(number) };
        (0..20).for_each(|number| builder.add(&key(number), &value(number)).unwrap());
        let (file, summary) = builder.finish().unwrap();
        let mut contents = file[..summary.data_size as usize - 5].to_vec();
        // Two wrong bits in a key, with which it is still less than the keys after the next restart.
        contents[5] ^= 9;
        let damage = zeroed(&contents, 0);
        assert_eq!(damage.len(), 1, "{damage:?}");
        assert_eq!(saved(&contents, &damage, true, Stored::Raw), []);
        // With another length of an entry, what follows is no entry, so that the zeros may be damage.
        contents[1] ^= 1;
        contents[2] ^= 1;
        assert_ne!(saved(&contents, &damage, true, Stored::Raw), []);
    }

    #[test]
    fn fewer_zeros_than_a_sector_are_none() {
        let mut bytes = vec![1; 3000];
        bytes[600..1400].fill(0);
        assert_eq!(zeroed(&bytes, 0), []);
        assert_eq!(zeroed(&bytes, 400).first(), Some(&(600..1400)));
        assert_eq!(zeroed(&[], 5), []);
    }
}
