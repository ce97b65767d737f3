//! The entries of a block of which some bytes are lost, and the beginning of a block in Snappy's format.

use std::cell::Cell;
use std::ops::Range;

use filterblock::KeyFormat;
use filterblock::table::{EntryHeader, VarintError, get_varint32};

use super::super::stored::KeyBounds;
use super::{MAX_CONTENTS, PartialEntry};

/// `None`: lost.
pub(super) type Byte = Option<u8>;

/// Complete entries between two restarts, each with its offset.
pub(super) type Segment = Vec<(usize, PartialEntry)>;

/// The work of an entry besides that for its key, in bytes.
const ENTRY: usize = 16;
/// Bytes of the lengths that an entry begins with, at most.
const MAX_HEADER: usize = 15;

/// Entries have to ascend, within bounds.
pub(super) struct Parser<'p> {
    bytes: &'p [Byte],
    between: &'p KeyBounds<'p>,
    /// In bytes, so far.
    work: Cell<usize>,
}

enum Step {
    Entry {
        key: Vec<Byte>,
        value: Range<usize>,
    },
    /// The lengths of the entry are lost.
    Lost,
    Invalid,
}

impl<'p> Parser<'p> {
    pub(super) const fn new(bytes: &'p [Byte], between: &'p KeyBounds<'p>) -> Self {
        Self { bytes, between, work: Cell::new(0) }
    }

    /// Reads up to the first bytes that are lost or no entry, and returns where they begin.
    pub(super) fn head(&self) -> (Vec<PartialEntry>, usize) {
        let (mut entries, mut at): (Vec<PartialEntry>, _) = (Vec::new(), 0);
        let mut key = Vec::new();
        while at < self.bytes.len() {
            let Step::Entry { key: next, value } = self.step(at, self.bytes.len(), &key) else { break };
            let before = entries.last().map(|entry| &*entry.key).or(self.between.after);
            let Some(entry) = self.complete(&next, &value) else { break };
            if !self.fits(&entry.key, before, None) {
                break;
            }
            entries.push(entry);
            (key, at) = (next, value.end);
        }
        (entries, at)
    }

    /// Complete entries between two restarts, or up to their array, with keys before `before`. `None`: these bytes are
    /// not the entries between two restarts.
    pub(super) fn segment(
        &self,
        Range { start, end }: Range<usize>,
        before: Option<&[u8]>,
    ) -> Option<Segment> {
        let mut found = Segment::new();
        let (mut at, mut key, mut before_gap) = (start, Vec::new(), None);
        while at < end {
            let (next, value) = match self.step(at, end, &key) {
                Step::Entry { key, value } => (key, value),
                Step::Lost => {
                    // After lost bytes, only the end of the segment proves that lengths were right.
                    found.truncate(before_gap.unwrap_or(found.len()));
                    return Some(found);
                }
                Step::Invalid => return None,
            };
            match self.complete(&next, &value) {
                Some(entry) => {
                    let last = found.last().map(|(_, entry)| &*entry.key).or(self.between.after);
                    if !self.fits(&entry.key, last, before) {
                        return None;
                    }
                    found.push((at, entry));
                }
                None => _ = before_gap.get_or_insert(found.len()),
            }
            (key, at) = (next, value.end);
        }
        Some(found)
    }

    fn step(&self, at: usize, end: usize, before: &[Byte]) -> Step {
        let there = self.bytes.get(at..end).unwrap_or_default();
        let known: Vec<u8> = there.iter().take(MAX_HEADER).map_while(|byte| *byte).collect();
        let EntryHeader { shared, non_shared: own, value_len: value, len } = match EntryHeader::decode(&known)
        {
            Ok(header) => header,
            Err(VarintError::Truncated) if known.len() < there.len() => return Step::Lost,
            Err(_) => return Step::Invalid,
        };
        let from = at.saturating_add(len);
        let ends = from.checked_add(own).and_then(|key_end| Some((key_end, key_end.checked_add(value)?)));
        let Some((key_end, value_end)) = ends.filter(|&(_, value_end)| value_end <= end) else {
            return Step::Invalid;
        };
        let (Some(shared), Some(own)) = (before.get(..shared), self.bytes.get(from..key_end)) else {
            return Step::Invalid;
        };
        let key = [shared, own].concat();
        let work = self.work.get().saturating_add(key.len()).saturating_add(ENTRY);
        self.work.set(work);
        let kind = key.len().checked_sub(8).and_then(|tag| *key.get(tag)?);
        let is_other = key.len() < 8 || kind.is_some_and(|kind| kind > 1);
        // A database has no keys without sequence number and type.
        if work > MAX_CONTENTS || is_other {
            return Step::Invalid;
        }
        Step::Entry { key, value: key_end..value_end }
    }

    /// `None`: some bytes are lost.
    fn complete(&self, key: &[Byte], value: &Range<usize>) -> Option<PartialEntry> {
        let key = key.iter().copied().collect::<Option<Vec<u8>>>()?;
        let value = self.bytes.get(value.clone())?.iter().copied().collect::<Option<Vec<u8>>>()?;
        Some(PartialEntry { key, value })
    }

    fn fits(&self, key: &[u8], after: Option<&[u8]>, before: Option<&[u8]>) -> bool {
        let KeyBounds { order, up_to, .. } = *self.between;
        KeyFormat::LevelDb.split(key).is_some_and(|(_, tag)| tag & 0xff <= 1)
            && after.is_none_or(|after| order.compare_internal(after, key).is_lt())
            && before.is_none_or(|before| order.compare_internal(key, before).is_lt())
            && up_to.is_none_or(|up_to| order.compare_internal(key, up_to).is_le())
    }
}

/// Decompresses the beginning of a block in Snappy's format.
pub(super) fn prefix(mut bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let Ok((len, width)) = get_varint32(bytes) else { return out };
    bytes = bytes.get(width..).unwrap_or_default();
    let most = (len as usize).min(MAX_CONTENTS);
    while out.len() < most
        && let Some(rest) = element(bytes, &mut out, most)
    {
        bytes = rest;
    }
    out
}

/// Returns the bytes after the element. `None`: it is incomplete or invalid.
fn element<'b>(bytes: &'b [u8], out: &mut Vec<u8>, most: usize) -> Option<&'b [u8]> {
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
