//! The order of keys in Chromium's IndexedDB (`indexed_db_leveldb_coding.cc`).
//!
//! ```text
//! key        [lengths: 1][database id][object store id][index id][rest]
//! lengths    of the three ids in bytes, each less one: 3, 3 and 2 bits, the highest first
//! id         little-endian
//! ```
//!
//! The rest depends on the ids:
//!
//! ```text
//! database 0          [type: 1], then by type    below 7: nothing      50: any bytes
//!                                                100: varint           201: two strings
//! object store 0      [type: 1], then by type    below 6: nothing      50: varint, byte
//!                                                100: two varints, byte
//!                                                150: varint           151: two varints
//!                                                200: string           201: varint, string
//! index 1, 2 and 3    [value], or nothing
//! index 30 or higher  [value][sequence: varint][primary key: value], or its first parts, or nothing
//!
//! value      [5], the least; [3 or 2][double]; [1][string]; [6][length: varint][bytes];
//!            [4][length: varint][value]*; [0]
//! string     [length in units: varint][UTF-16, big-endian]
//! ```

use std::cmp::Ordering;

use super::comparator::Comparator;
use crate::bytes::coding::get_varint64;

/// In the global metadata (database id 0), a key of a type below this one ends after the type.
const GLOBAL_SIMPLE: u8 = 7;
/// In a database's own metadata (object store id 0), a key of a type below this one ends after the type.
const DATABASE_SIMPLE: u8 = 6;
/// The number of the first index that a page can make.
const FIRST_INDEX: u64 = 30;

/// Orders keys as Chromium's IndexedDB does, whose databases name this comparator `idb_cmp1`.
///
/// Chromium considers some keys with different bytes equal, and so does this comparator: the
/// numbers 0 and −0, for example. Of several equal keys, at most one is
/// [exact](Self::is_exact).
///
/// Chromium considers a key that it cannot decode equal to all others, which is not an order. Here
/// such keys come after all others, ordered byte by byte.
///
/// A comparison costs one pass over both keys to check them, and another up to the first
/// difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdbComparator;

impl IdbComparator {
    /// The name that databases store.
    pub const NAME: &'static str = "idb_cmp1";

    /// Returns `true` if `key` can be decoded and is in its canonical form: no key that equals it
    /// but has other bytes is in this form. A filter can be used only if all keys stored and all
    /// keys looked up are in canonical form, since it may hide a key that equals a stored key with
    /// other bytes.
    ///
    /// In this form, ids and varints are as short as possible, an index entry with a sequence has a
    /// primary key, and nothing follows the last part. No number is −0 or NaN.
    pub fn is_exact(key: &[u8]) -> bool {
        check(key) == Some(Check::Exact)
    }

    /// Returns `true` if `key` can be decoded, so that it has a place in Chromium's order.
    pub fn is_decodable(key: &[u8]) -> bool {
        check(key).is_some()
    }
}

impl Comparator for IdbComparator {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match (check(a), check(b)) {
            (Some(_), Some(_)) => compare_keys(a, b).unwrap_or_else(|| a.cmp(b)),
            (None, None) => a.cmp(b),
            (a, b) => a.is_none().cmp(&b.is_none()),
        }
    }
}

/// The result of checking a key that can be decoded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Check {
    /// The key is in its canonical form, which no equal key with other bytes has.
    Exact,
    /// The key is in another form, so it may equal keys with other bytes.
    Loose,
}

/// The format of the bytes after the ids.
enum Rest {
    Nothing,
    /// All of these parts, in order.
    Parts(&'static [Part]),
    /// Any bytes.
    Bytes,
    /// A value, or nothing.
    Value,
    /// The rest of an index entry: its value, its sequence and its primary key, or only the first of
    /// these, or nothing.
    IndexEntry,
}

#[derive(Clone, Copy)]
enum Part {
    Byte,
    Varint,
    String,
}

/// Ids of database, object store and index.
type Ids = (u64, u64, u64);

/// Reads the parts of a key one by one.
struct Reader<'a> {
    rest: &'a [u8],
    is_exact: bool,
}

impl<'a> Reader<'a> {
    const fn new(key: &'a [u8]) -> Self {
        Self { rest: key, is_exact: true }
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn varint(&mut self) -> Option<u64> {
        let (value, len) = get_varint64(self.rest).ok()?;
        let last = self.take(len)?.last();
        // A varint may be longer than its number needs.
        self.is_exact &= len == 1 || last != Some(&0);
        Some(value)
    }

    fn string(&mut self) -> Option<&'a [u8]> {
        let units = usize::try_from(self.varint()?).ok()?;
        self.take(units.checked_mul(2)?)
    }

    fn binary(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.varint()?).ok()?;
        self.take(len)
    }

    fn double(&mut self) -> Option<f64> {
        let value = f64::from_le_bytes(*self.take(8)?.first_chunk()?);
        self.is_exact &= !value.is_nan() && (value != 0.0 || value.is_sign_positive());
        Some(value)
    }

    fn id(&mut self, len: u8) -> Option<u64> {
        let bytes = self.take(usize::from(len))?;
        self.is_exact &= len == 1 || bytes.last() != Some(&0);
        Some(bytes.iter().rev().fold(0, |id, &byte| id << 8 | u64::from(byte)))
    }

    fn ids(&mut self) -> Option<Ids> {
        let lengths = self.byte()?;
        let [database, store, index] = [lengths >> 5, lengths >> 2 & 7, lengths & 3];
        let len = |less_one: u8| less_one.saturating_add(1);
        Some((self.id(len(database))?, self.id(len(store))?, self.id(len(index))?))
    }

    /// Reads the type, or takes 0 if keys with these ids have no type. Returns it with the format of the bytes after
    /// it. `None` if there are no keys with these ids or of this type, or if the type is missing.
    fn layout(&mut self, ids: Ids) -> Option<(u8, Rest)> {
        use Part::{Byte, String, Varint};
        match ids {
            (0, ..) => {
                let kind = self.byte()?;
                let rest = match kind {
                    ..GLOBAL_SIMPLE => Rest::Nothing,
                    50 => Rest::Bytes,
                    100 => Rest::Parts(&[Varint]),
                    201 => Rest::Parts(&[String, String]),
                    _ => return None,
                };
                Some((kind, rest))
            }
            (_, 0, _) => {
                let kind = self.byte()?;
                let rest = match kind {
                    ..DATABASE_SIMPLE => Rest::Nothing,
                    50 => Rest::Parts(&[Varint, Byte]),
                    100 => Rest::Parts(&[Varint, Varint, Byte]),
                    150 => Rest::Parts(&[Varint]),
                    151 => Rest::Parts(&[Varint, Varint]),
                    200 => Rest::Parts(&[String]),
                    201 => Rest::Parts(&[Varint, String]),
                    _ => return None,
                };
                Some((kind, rest))
            }
            (_, _, 1..=3) => Some((0, Rest::Value)),
            (_, _, FIRST_INDEX..) => Some((0, Rest::IndexEntry)),
            _ => None,
        }
    }

    /// Skips a value. Arrays can be nested as deeply as the length of the key allows, so this
    /// does not recurse. `None` if the value cannot be decoded.
    fn pass_value(&mut self) -> Option<()> {
        let mut values = 1_u64;
        while let Some(left) = values.checked_sub(1) {
            values = left;
            match self.byte()? {
                0 | 5 => {}
                1 => _ = self.string()?,
                2 | 3 => _ = self.double()?,
                4 => values = values.checked_add(self.varint()?)?,
                6 => _ = self.binary()?,
                _ => return None,
            }
        }
        Some(())
    }

    fn pass_part(&mut self, part: Part) -> Option<()> {
        match part {
            Part::Byte => _ = self.byte()?,
            Part::Varint => _ = self.varint()?,
            Part::String => _ = self.string()?,
        }
        Some(())
    }
}

/// Checks all parts of a key. Returns `None` if Chromium cannot decode it.
fn check(key: &[u8]) -> Option<Check> {
    let mut reader = Reader::new(key);
    let ids = reader.ids()?;
    match reader.layout(ids)?.1 {
        Rest::Nothing => {}
        Rest::Bytes => reader.rest = &[],
        Rest::Parts(parts) => parts.iter().try_for_each(|&part| reader.pass_part(part))?,
        Rest::Value if reader.rest.is_empty() => {}
        Rest::Value => reader.pass_value()?,
        Rest::IndexEntry if reader.rest.is_empty() => {}
        Rest::IndexEntry => {
            reader.pass_value()?;
            if !reader.rest.is_empty() {
                reader.varint()?;
                // Without a primary key, the sequence is not compared.
                match reader.rest.is_empty() {
                    true => reader.is_exact = false,
                    false => reader.pass_value()?,
                }
            }
        }
    }
    // Bytes after the last part are not compared.
    let is_exact = reader.is_exact && reader.rest.is_empty();
    Some(if is_exact { Check::Exact } else { Check::Loose })
}

/// Compares two keys. `None` if they cannot be decoded, which [`check`] has excluded.
fn compare_keys(a: &[u8], b: &[u8]) -> Option<Ordering> {
    let (mut a, mut b) = (Reader::new(a), Reader::new(b));
    let (ids, other) = (a.ids()?, b.ids()?);
    if ids != other {
        return Some(ids.cmp(&other));
    }
    let ((kind, rest), (other, _)) = (a.layout(ids)?, b.layout(ids)?);
    if kind != other {
        return Some(kind.cmp(&other));
    }
    match rest {
        Rest::Nothing => Some(Ordering::Equal),
        Rest::Bytes => Some(a.rest.cmp(b.rest)),
        Rest::Parts(parts) => compare_parts(parts, &mut a, &mut b),
        Rest::Value | Rest::IndexEntry if a.rest.is_empty() || b.rest.is_empty() => {
            Some(a.rest.len().cmp(&b.rest.len()))
        }
        Rest::Value => compare_values(&mut a, &mut b),
        Rest::IndexEntry => compare_index_entries(&mut a, &mut b),
    }
}

fn compare_parts(parts: &[Part], a: &mut Reader<'_>, b: &mut Reader<'_>) -> Option<Ordering> {
    for part in parts {
        let order = match part {
            Part::Byte => a.byte()?.cmp(&b.byte()?),
            Part::Varint => a.varint()?.cmp(&b.varint()?),
            Part::String => a.string()?.cmp(b.string()?),
        };
        if order.is_ne() {
            return Some(order);
        }
    }
    Some(Ordering::Equal)
}

/// Compares what follows the ids of two index entries. The sequence precedes the primary key, but is compared after
/// it.
fn compare_index_entries(a: &mut Reader<'_>, b: &mut Reader<'_>) -> Option<Ordering> {
    let values = compare_values(a, b)?;
    if values.is_ne() {
        return Some(values);
    }
    let sequence = |reader: &mut Reader<'_>| match reader.rest {
        [] => Some(None),
        _ => reader.varint().map(Some),
    };
    let (sequence, other) = (sequence(a)?, sequence(b)?);
    if a.rest.is_empty() || b.rest.is_empty() {
        return Some(a.rest.len().cmp(&b.rest.len()));
    }
    Some(compare_values(a, b)?.then(sequence.cmp(&other)))
}

/// The rank of a type of value in the order of types.
const fn rank(kind: u8) -> u8 {
    match kind {
        5 => 0,
        3 => 1,
        2 => 2,
        1 => 3,
        6 => 4,
        4 => 5,
        _ => 6,
    }
}

/// Compares two values. Arrays can be nested as deeply as the length of the keys allows, so this does not
/// recurse. `None` if a value cannot be decoded.
fn compare_values(a: &mut Reader<'_>, b: &mut Reader<'_>) -> Option<Ordering> {
    // For each open array: the number of elements still to compare, and the order of the two arrays if all
    // these elements are equal.
    let mut open: Vec<(u64, Ordering)> = Vec::new();
    loop {
        let (kind, other) = (a.byte()?, b.byte()?);
        if kind != other {
            return Some(rank(kind).cmp(&rank(other)));
        }
        let order = match kind {
            1 => a.string()?.cmp(b.string()?),
            2 | 3 => compare_doubles(a.double()?, b.double()?),
            6 => a.binary()?.cmp(b.binary()?),
            4 => {
                let (len, other) = (a.varint()?, b.varint()?);
                open.push((len.min(other), len.cmp(&other)));
                Ordering::Equal
            }
            _ => Ordering::Equal,
        };
        if order.is_ne() {
            return Some(order);
        }
        loop {
            let Some((left, lengths)) = open.last_mut() else { return Some(Ordering::Equal) };
            if let Some(less) = left.checked_sub(1) {
                *left = less;
                break;
            }
            if lengths.is_ne() {
                return Some(*lengths);
            }
            open.pop();
        }
    }
}

/// Compares two numbers. No page can store a NaN; it comes last here.
fn compare_doubles(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

#[cfg(test)]
mod tests;
