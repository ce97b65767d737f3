//! Numbers and strings cut from a fuzzer's bytes.

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
