//! Entries for people: one line each, as `filterblock build` reads them.

use std::io::{self, Write as _};

use filterblock::{escape, escape_path};
use filterblock_engine::report::{FileState, Row};

use crate::io::Console;

const HEX: &[u8; 16] = b"0123456789abcdef";

/// The part of a value that is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ValuePart {
    Whole,
    /// Its length.
    Size,
    None,
}

/// Writes entries.
pub(crate) struct Entries {
    pub(crate) value: ValuePart,
    /// Sequence number, type and place are shown.
    version: bool,
    hex: bool,
    line: Vec<u8>,
}

impl Entries {
    pub(crate) const fn new(value: ValuePart, version: bool, hex: bool) -> Self {
        Self { value, version, hex, line: Vec::new() }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        if self.hex { push_hex(&mut self.line, bytes) } else { push_escaped(&mut self.line, bytes) }
    }

    pub(crate) fn write(&mut self, row: &Row<'_>, console: &mut Console) -> io::Result<()> {
        self.line.clear();
        self.bytes(row.key);
        if self.version {
            let line = &mut self.line;
            match row.version {
                Some(version) => write!(line, "\t{}\t{}", version.sequence, version.type_name())?,
                None => write!(line, "\t-\t-")?,
            }
            let state = row.state.map_or("-", FileState::name);
            write!(line, "\t{state}\t{}:{}", escape_path(row.path), row.offset)?;
        }
        match self.value {
            ValuePart::Whole => {
                self.line.push(b'\t');
                self.bytes(row.value);
            }
            ValuePart::Size => write!(self.line, "\t{}", row.value.len())?,
            ValuePart::None => {}
        }
        self.line.push(b'\n');
        console.write_all(&self.line)
    }
}

fn push_hex(line: &mut Vec<u8>, bytes: &[u8]) {
    line.reserve(bytes.len().saturating_mul(2));
    let digit = |value: u8| HEX.get(usize::from(value & 0xf)).copied().unwrap_or_default();
    line.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]));
}

/// Appends what [`escape`] shows.
fn push_escaped(line: &mut Vec<u8>, mut bytes: &[u8]) {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    loop {
        let plain = bytes.iter().position(|byte| !is_plain(byte)).unwrap_or(bytes.len());
        let (before, rest) = bytes.split_at(plain);
        line.extend_from_slice(before);
        let Some((&first, behind)) = rest.split_first() else { return };
        bytes = behind;
        match first {
            b'"' | b'\\' => line.extend([b'\\', first]),
            0..=0x7f => {
                line.extend(b"\\x");
                push_hex(line, &[first]);
            }
            _ => {
                // No character of UTF-8 has bytes of ASCII in it, so these stand for themselves.
                let len = rest.iter().position(u8::is_ascii).unwrap_or(rest.len());
                let (run, behind) = rest.split_at(len);
                bytes = behind;
                for chunk in run.utf8_chunks() {
                    if !chunk.valid().is_empty() {
                        // Writing to memory does not fail.
                        let _ = write!(line, "{}", escape(chunk.valid().as_bytes()));
                    }
                    for &byte in chunk.invalid() {
                        line.extend(b"\\x");
                        push_hex(line, &[byte]);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(bytes: &[u8]) -> String {
        let mut line = Vec::new();
        push_escaped(&mut line, bytes);
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn entries_are_escaped_as_everything_else() {
        let pieces: [&[u8]; 12] = [
            b"plain",
            b"\"",
            b"\\",
            b"\n",
            b"\x7f",
            b"\xff",
            b"\xe4\xb8",
            "é世".as_bytes(),
            b"\t",
            b"\xc3",
            "\u{202e}\u{85}".as_bytes(),
            b"\x80\x80",
        ];
        for a in pieces {
            for b in pieces {
                for c in pieces {
                    let bytes = [a, b, c].concat();
                    assert_eq!(escaped(&bytes), escape(&bytes).to_string());
                }
            }
        }
    }

    #[test]
    fn every_byte_has_its_digits() {
        let all: Vec<u8> = (0..=255).collect();
        let mut line = Vec::new();
        push_hex(&mut line, &all);
        let expected: String = all.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(String::from_utf8(line).unwrap(), expected);
    }
}
