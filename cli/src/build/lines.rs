//! Lines of key and value, as they are read from a file.

use std::io::BufRead;
use std::path::Path;

use crate::show::path_text;

/// A key and its value, and the number of the line they stand on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Entry {
    pub(super) key: Vec<u8>,
    pub(super) line: u64,
    pub(super) value: Vec<u8>,
}

/// Reads `key <tab> value`, a line each.
pub(super) struct Lines<'a, R> {
    input: R,
    path: &'a Path,
    hex: bool,
    line: u64,
    bytes: u64,
    buffer: Vec<u8>,
}

impl<'a, R: BufRead> Lines<'a, R> {
    /// `path` is for messages only. With `hex`, keys and values are hexadecimal.
    pub(super) fn new(input: R, path: &'a Path, hex: bool) -> Self {
        Self { input, path, hex, line: 0, bytes: 0, buffer: Vec::new() }
    }

    /// How many bytes have been read.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next entry, `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Entry>, String> {
        self.buffer.clear();
        let read = self.input.read_until(b'\n', &mut self.buffer);
        let read = read.map_err(|error| format!("{}: {error}", path_text(self.path)))?;
        if read == 0 {
            return Ok(None);
        }
        self.line += 1;
        self.bytes += read as u64;
        let line = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        if line.is_empty() {
            return Err(self.complaint("a key, a tab and a value", "an empty line"));
        }
        let cut = line.iter().position(|&byte| byte == b'\t');
        let (key, value) = match cut {
            Some(at) => (line.get(..at).unwrap_or_default(), line.get(at + 1..).unwrap_or_default()),
            None => (line, &[][..]),
        };
        let (key, value) = if self.hex {
            // A file from Windows ends its lines with two characters, neither of which is a digit.
            let value = value.strip_suffix(b"\r").unwrap_or(value);
            let key = if cut.is_none() { key.strip_suffix(b"\r").unwrap_or(key) } else { key };
            let bytes = |digits: &[u8]| {
                unhex(digits).ok_or_else(|| {
                    self.complaint(
                        "pairs of hexadecimal digits",
                        &format!("\"{}\"", filterblock::escape(digits)),
                    )
                })
            };
            (bytes(key)?, bytes(value)?)
        } else {
            (key.to_vec(), value.to_vec())
        };
        Ok(Some(Entry { key, line: self.line, value }))
    }

    fn complaint(&self, expected: &str, found: &str) -> String {
        format!("{}: line {}: expected {expected}, found {found}", path_text(self.path), self.line)
    }
}

fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect()
}
