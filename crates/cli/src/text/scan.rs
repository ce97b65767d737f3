//! Entries as text, one line each. `filterblock build --hex` reads lines of keys and values in hexadecimal.

use std::io::{self, Write as _};

use filterblock::{escape, escape_path};
use filterblock_engine::report::{EntryRef, FileRole};

use crate::io::Console;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ValuePart {
    Whole,
    Size,
    None,
}

pub(crate) struct Entries {
    pub(crate) value: ValuePart,
    /// Sequence number, type, state and place.
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

    pub(crate) fn write(&mut self, row: &EntryRef<'_>, console: &mut Console) -> io::Result<()> {
        self.line.clear();
        self.bytes(row.key);
        if self.version {
            let line = &mut self.line;
            match row.version {
                Some(version) => write!(line, "\t{}\t{}", version.sequence, version.type_name())?,
                None => write!(line, "\t-\t-")?,
            }
            let state = row.state.map_or("-", FileRole::name);
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

/// Writes the key and, if it is wanted, the value: the length of each in four bytes, little-endian, and its bytes.
pub(crate) fn write_raw(row: &EntryRef<'_>, with_value: bool, console: &mut Console) -> io::Result<()> {
    for bytes in [row.key].into_iter().chain(with_value.then_some(row.value)) {
        // No key or value has 4 GiB: offsets in blocks and lengths in logs have 32 bits.
        let len = u32::try_from(bytes.len()).map_err(io::Error::other)?;
        console.write_all(&len.to_le_bytes())?;
        console.write_all(bytes)?;
    }
    Ok(())
}

fn push_hex(line: &mut Vec<u8>, bytes: &[u8]) {
    // In pieces of 64 bytes, so that the digits of a long value need no buffer of their own.
    for bytes in bytes.chunks(64) {
        let mut digits = [[0; 2]; 64];
        for (digits, byte) in digits.iter_mut().zip(bytes) {
            *digits = hex(*byte);
        }
        line.extend_from_slice(digits.get(..bytes.len()).unwrap_or_default().as_flattened());
    }
}

const fn hex(byte: u8) -> [u8; 2] {
    const fn digit(value: u8) -> u8 {
        if value < 10 { b'0'.wrapping_add(value) } else { b'a'.wrapping_add(value.wrapping_sub(10)) }
    }
    [digit(byte >> 4), digit(byte & 0xf)]
}

const fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')
}

/// Appends `bytes` as [`escape`] shows them.
fn push_escaped(line: &mut Vec<u8>, mut bytes: &[u8]) {
    loop {
        // Sixteen bytes at a time, as long as all of them are plain.
        while let Some((some, behind)) = bytes.split_first_chunk::<16>()
            && some.iter().fold(true, |plain, byte| plain & is_plain(*byte))
        {
            line.extend_from_slice(some);
            bytes = behind;
        }
        // Then one by one: the next sixteen bytes, or the last few.
        let end = bytes.len().saturating_sub(16);
        loop {
            let Some((&byte, behind)) = bytes.split_first() else { return };
            if is_plain(byte) {
                line.push(byte);
                bytes = behind;
            } else {
                bytes = push_special(line, byte, bytes);
            }
            if bytes.len() <= end {
                break;
            }
        }
    }
}

/// Appends the first character of `bytes`, which is escaped or not ASCII. Returns the bytes after it.
fn push_special<'b>(line: &mut Vec<u8>, first: u8, bytes: &'b [u8]) -> &'b [u8] {
    let len = match first {
        b'"' | b'\\' => {
            line.extend_from_slice(&[b'\\', first]);
            return bytes.get(1..).unwrap_or_default();
        }
        // The first bytes of characters of two, three and four bytes.
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    if let Some((char, behind)) = bytes.split_at_checked(len)
        && len > 1
        && str::from_utf8(char).is_ok()
    {
        // Writing to memory does not fail.
        let _ = write!(line, "{}", escape(char));
        return behind;
    }
    // Not a character: only this byte is escaped. No character begins within another, so the next bytes get the same.
    let [high, low] = hex(first);
    line.extend_from_slice(&[b'\\', b'x', high, low]);
    bytes.get(1..).unwrap_or_default()
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
                    for before in [0, 13, 14, 15, 16, 31] {
                        let bytes = [&[b'x'; 31][..before], a, b, c, &[b'y'; 31][..before]].concat();
                        assert_eq!(escaped(&bytes), escape(&bytes).to_string());
                    }
                }
            }
        }
    }

    #[test]
    fn any_bytes_are_escaped_as_everything_else() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize
        };
        for round in 0..20_000 {
            // Any bytes, or bytes that begin, continue and break characters of UTF-8.
            let some = b"a\xc2\xa0\xe2\x80\xae\xf0\x9f\x99\x82\xed\xf4\x90\xc0\xff";
            let byte = |at: usize| if round % 2 == 0 { at as u8 } else { some[at % some.len()] };
            let bytes: Vec<u8> = (0..random() % 70).map(|_| byte(random())).collect();
            assert_eq!(escaped(&bytes), escape(&bytes).to_string(), "{bytes:x?}");
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
