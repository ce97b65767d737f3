//! The numbers in keys: their positions, and their notations.

use std::collections::BTreeSet;
use std::ops::Range;

/// The largest gap at which two neighbours count as close.
pub(super) const MAX_GAP: u64 = 1 << 16;
/// Digits read from a number, so that its value fits into 64 bits.
const MAX_DIGITS: usize = 18;
const MAX_HEX_DIGITS: usize = 15;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum KeyNumber {
    /// The last run of decimal digits. `padded`: short numbers begin with zeros.
    Decimal {
        padded: bool,
    },
    Hexadecimal,
    /// The last bytes of the key.
    BigEndian {
        width: usize,
    },
    LittleEndian {
        width: usize,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Number {
    start: usize,
    end: usize,
    pub(super) value: u64,
}

fn is_hex_digit(byte: &u8) -> bool {
    byte.is_ascii_digit() || (b'a'..=b'f').contains(byte)
}

/// The last run of such bytes.
fn run(key: &[u8], is_of_kind: impl Fn(&u8) -> bool) -> Option<Range<usize>> {
    let end = key.iter().rposition(&is_of_kind)? + 1;
    let start = key.get(..end)?.iter().rposition(|byte| !is_of_kind(byte)).map_or(0, |at| at + 1);
    Some(start..end)
}

/// The order in which the low byte has at least twice as many values as the high byte; `None`: neither.
fn binary<'k>(keys: impl Iterator<Item = &'k [u8]>, width: usize) -> Option<KeyNumber> {
    let ends = |key: &[u8]| Some((*key.get(key.len().checked_sub(width)?)?, *key.last()?));
    let ends = keys.map(ends).collect::<Option<Vec<(u8, u8)>>>()?;
    let (first, last): (BTreeSet<u8>, BTreeSet<u8>) = ends.into_iter().unzip();
    match (first.len(), last.len()) {
        (first, last) if 2 * first <= last => Some(KeyNumber::BigEndian { width }),
        (first, last) if 2 * last <= first => Some(KeyNumber::LittleEndian { width }),
        _ => None,
    }
}

impl KeyNumber {
    pub(super) fn of<'k>(keys: impl Iterator<Item = &'k [u8]> + Clone) -> Option<Self> {
        let all = keys.clone().count();
        let most = |are: usize| all > 0 && are * 10 >= all * 9;
        let is_text = |key: &&[u8]| key.iter().all(|byte| (b' '..=b'~').contains(byte));
        if !most(keys.clone().filter(is_text).count()) {
            return [8, 4].into_iter().find_map(|width| binary(keys.clone(), width));
        }
        let runs =
            |is_digit: fn(&u8) -> bool| keys.clone().filter_map(move |key| key.get(run(key, is_digit)?));
        // Hexadecimal only if some runs have letters among their last four bytes, and most have digits there.
        let ends_with = |is_of_kind: fn(&u8) -> bool| {
            runs(is_hex_digit).filter(|run| run.iter().rev().take(4).any(is_of_kind)).count()
        };
        let (letters, digits) = (ends_with(u8::is_ascii_lowercase), ends_with(u8::is_ascii_digit));
        let is_likely = |run: &&[u8]| run.len() >= 8 || run.iter().any(u8::is_ascii_digit);
        let likely = runs(is_hex_digit).filter(is_likely).count();
        if letters * 10 >= all && most(digits + all / 10) && most(likely) {
            return Some(Self::Hexadecimal);
        }
        let runs = || runs(u8::is_ascii_digit);
        let (count, first) = (runs().count(), runs().next().map(<[u8]>::len));
        let padded = runs().all(|run| Some(run.len()) == first)
            || runs().any(|run| run.len() > 1 && run.starts_with(b"0"));
        (count * 2 >= all && count > 0).then_some(Self::Decimal { padded })
    }

    /// True unless more than half of the known gaps exceed `MAX_GAP`.
    pub(super) fn is_sequence<'k>(self, keys: impl Iterator<Item = (&'k [u8], Option<&'k [u8]>)>) -> bool {
        let (mut close, mut all) = (0_u64, 0_u64);
        for gap in keys.filter_map(|(key, next)| self.gap(key, next?)) {
            all += 1;
            close += u64::from(gap <= MAX_GAP);
        }
        2 * close >= all
    }

    pub(super) fn number(self, key: &[u8]) -> Option<Number> {
        let (found, most, radix) = match self {
            Self::Decimal { .. } => (run(key, u8::is_ascii_digit)?, MAX_DIGITS, 10),
            Self::Hexadecimal => (run(key, is_hex_digit)?, MAX_HEX_DIGITS, 16),
            Self::BigEndian { width } | Self::LittleEndian { width } => (0..key.len(), width, 0),
        };
        // Only the last digits of very long numbers count.
        let (start, end) = (found.start.max(found.end.saturating_sub(most)), found.end);
        let digits = key.get(start..end).filter(|digits| !digits.is_empty())?;
        let fold = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        let value = match self {
            Self::BigEndian { .. } => digits.iter().fold(0, fold),
            Self::LittleEndian { .. } => digits.iter().rev().fold(0, fold),
            _ => u64::from_str_radix(str::from_utf8(digits).ok()?, radix).ok()?,
        };
        Some(Number { start, end, value })
    }

    /// `None`: the notation does not order keys, they differ in anything else, or they are not in numeric order.
    pub(super) fn gap(self, key: &[u8], next: &[u8]) -> Option<u64> {
        if matches!(self, Self::LittleEndian { .. } | Self::Decimal { padded: false }) {
            return None;
        }
        let (one, other) = (self.number(key)?, self.number(next)?);
        let is_same =
            key.get(..one.start) == next.get(..other.start) && key.get(one.end..) == next.get(other.end..);
        is_same.then(|| other.value.checked_sub(one.value))?
    }

    /// Returns `key` with `value` in place of `number`; `None` if there is no room for it.
    pub(super) fn write(self, number: Number, value: u64, mut key: Vec<u8>) -> Option<Vec<u8>> {
        let width = number.end - number.start;
        let written = match self {
            Self::Decimal { padded: true } => format!("{value:0width$}").into_bytes(),
            Self::Decimal { padded: false } => value.to_string().into_bytes(),
            Self::Hexadecimal => format!("{value:0width$x}").into_bytes(),
            Self::BigEndian { .. } => value.to_be_bytes().into_iter().skip(8 - width.min(8)).collect(),
            Self::LittleEndian { .. } => value.to_le_bytes().into_iter().take(width).collect(),
        };
        let fits = match self {
            Self::Decimal { padded: false } => true,
            Self::Decimal { .. } | Self::Hexadecimal => written.len() == width,
            Self::BigEndian { .. } | Self::LittleEndian { .. } => width >= 8 || value >> (8 * width) == 0,
        };
        fits.then(|| {
            key.splice(number.start..number.end, written);
            key
        })
    }
}
