//! Numbers and strings cut from a fuzzer's bytes, and those of records.

/// The bytes that are left. Beyond their end, numbers have bytes of 0 and strings are short, so
/// that any input has a meaning.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    /// Takes the next `len` bytes, or as many as there are.
    pub fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// Takes the next byte.
    pub fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or_default()
    }

    /// Takes the next eight bytes as a little-endian number.
    pub fn number(&mut self) -> u64 {
        self.take(8).iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
    }

    /// Takes a length in one byte, and that many bytes.
    pub fn string(&mut self) -> &'a [u8] {
        let len = self.byte();
        self.take(len.into())
    }

    /// Returns true if nothing is left.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }
}

/// The rest of a record. Unlike [`Input`](crate::Input), `Record` notices if bytes are missing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a>(pub(crate) &'a [u8]);

impl<'a> Record<'a> {
    /// Takes the next bytes. `None` if there are fewer.
    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    /// Takes the next number, which has seven bits in each byte. `None` if it does not end within ten bytes, or within
    /// the record.
    pub(crate) fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.take(1)?.first()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// Takes a length, and that many bytes. `None` if there are fewer.
    pub(crate) fn string(&mut self) -> Option<&'a [u8]> {
        let len = self.varint()?;
        self.take(usize::try_from(len).ok()?)
    }
}

/// Appends a number, with seven bits in each byte.
pub(crate) fn put_varint(mut number: u64, to: &mut Vec<u8>) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}
