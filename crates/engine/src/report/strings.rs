//! Bytes as JSON strings, results as lines of printable ASCII, and enumerations whose values are words.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::io::{self, Write};
use std::path::Path;

use filterblock::escape;
use serde::{Serialize, Serializer};
use serde_json::ser::{self, Formatter};

/// In bytes: longer names are cut.
const MAX_NAME_LEN: usize = 256;

/// Bytes as text: as they are if they are UTF-8, otherwise escaped.
pub fn json_text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => escape(bytes).to_string().into(),
    }
}

/// Shortened if very long.
pub(super) fn json_name(name: &[u8]) -> Cow<'_, str> {
    match short_name(name) {
        Cow::Borrowed(name) => json_text(name),
        Cow::Owned(name) => json_text(&name).into_owned().into(),
    }
}

/// Cuts a name that is longer than any that a program is known to write to its start and length.
fn short_name(name: &[u8]) -> Cow<'_, [u8]> {
    match name.split_at_checked(MAX_NAME_LEN) {
        Some((start, [_, ..])) => [start, format!("... ({} bytes)", name.len()).as_bytes()].concat().into(),
        _ => name.into(),
    }
}

pub(super) fn json_path(path: &Path) -> Cow<'_, str> {
    json_text(path.as_os_str().as_encoded_bytes())
}

/// A name from a file. It serializes as it is if it is UTF-8, otherwise escaped; it always displays escaped.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub struct Name(Vec<u8>);

impl Name {
    /// The name, shortened if it is very long.
    pub fn cut(name: &[u8]) -> Self {
        Self(short_name(name).into_owned())
    }

    /// The bytes of the name.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(&self.0).fmt(f)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&json_text(&self.0))
    }
}

/// Bytes in lowercase hexadecimal.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String", extend("pattern" = "^([0-9a-f]{2})*$")))]
pub struct Hex<'a>(pub &'a [u8]);

impl Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Several bytes are written in each step because values may be long.
        for bytes in self.0.chunks(64) {
            let mut digits = [[0; 2]; 64];
            f.write_str(hex_in(digits.get_mut(..bytes.len()).unwrap_or_default(), bytes))?;
        }
        Ok(())
    }
}

/// `room` must have as many elements as `bytes`.
fn hex_in<'r>(room: &'r mut [[u8; 2]], bytes: &[u8]) -> &'r str {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| DIGITS.get(usize::from(value & 0xf)).copied().unwrap_or_default();
    for (digits, byte) in room.iter_mut().zip(bytes) {
        *digits = [digit(byte >> 4), digit(*byte)];
    }
    str::from_utf8(room.as_flattened()).unwrap_or_default()
}

impl Serialize for Hex<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Most keys are short enough to be written in one piece, which takes less time than `collect_str`.
        let mut digits = [[0; 2]; 64];
        match digits.get_mut(..self.0.len()) {
            Some(digits) => serializer.serialize_str(hex_in(digits, self.0)),
            None => serializer.collect_str(self),
        }
    }
}

/// An enumeration by its values and their words, which never change. `docs/json.md` and `docs/problems.md` have them.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $value:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $value,)*
        }

        impl $name {
            /// All values.
            pub const ALL: &[Self] = &[$(Self::$value),*];

            /// The word for the value.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)*
                }
            }
        }
    };
}

pub(crate) use words;

/// Writes `value` as a line of JSON in printable ASCII.
pub fn write_line<T: Serialize>(to: impl Write, value: &T) -> io::Result<()> {
    let mut pieces = Pieces { to, bytes: [0; PIECES], len: 0 };
    value.serialize(&mut ser::Serializer::with_formatter(&mut pieces, Ascii))?;
    pieces.write_all(b"\n")?;
    pieces.pass_on()
}

/// Bytes of a line to buffer: those of `query` and `scan`, of which there may be millions, usually fit.
const PIECES: usize = 1024;

/// Gathers the small pieces of a line, to write it in one piece, or a longer one in larger pieces.
struct Pieces<W> {
    to: W,
    bytes: [u8; PIECES],
    len: usize,
}

impl<W: Write> Pieces<W> {
    fn pass_on(&mut self) -> io::Result<()> {
        let gathered = self.bytes.get(..std::mem::take(&mut self.len)).unwrap_or_default();
        self.to.write_all(gathered)
    }
}

impl<W: Write> Write for Pieces<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let room = self.bytes.get_mut(self.len..).and_then(|room| room.get_mut(..bytes.len()));
        if let Some(room) = room {
            room.copy_from_slice(bytes);
            self.len = self.len.saturating_add(bytes.len());
            return Ok(());
        }
        self.pass_on()?;
        if bytes.len() >= PIECES { self.to.write_all(bytes) } else { self.write_all(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on()?;
        self.to.flush()
    }
}

/// Formats JSON compactly, and escapes every character outside printable ASCII.
struct Ascii;

impl Formatter for Ascii {
    #[inline]
    fn write_string_fragment<W: Write + ?Sized>(&mut self, to: &mut W, fragment: &str) -> io::Result<()> {
        // There is no early exit, so that several bytes are compared in one step.
        if fragment.bytes().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~')) {
            return to.write_all(fragment.as_bytes());
        }
        escape_fragment(to, fragment)
    }
}

fn escape_fragment<W: Write + ?Sized>(to: &mut W, fragment: &str) -> io::Result<()> {
    let mut rest = fragment;
    while let Some(at) = rest.find(|c: char| !matches!(c, ' '..='~')) {
        let (plain, special) = rest.split_at(at);
        to.write_all(plain.as_bytes())?;
        let mut chars = special.chars();
        if let Some(c) = chars.next() {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(to, "\\u{unit:04x}")?;
            }
        }
        rest = chars.as_str();
    }
    to.write_all(rest.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_escaped() {
        assert_eq!(json_text("é\n".as_bytes()), "é\n");
        assert_eq!(json_text(b"a\xff"), r"a\xff");
        assert_eq!(json_name(b"a\xff"), r"a\xff");
        assert_eq!(json_name(&[b'x'; 256]), "x".repeat(256));
        assert_eq!(json_name(&[b'x'; 257]), "x".repeat(256) + "... (257 bytes)");
        assert_eq!(Hex(b"\x00\xffa").to_string(), "00ff61");
    }

    fn line(text: &str) -> String {
        let mut line = Vec::new();
        write_line(&mut line, &text).unwrap();
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn only_printable_ascii_is_written() {
        assert_eq!(line("a b~\"\\"), "\"a b~\\\"\\\\\"\n");
        assert_eq!(line("\x1b[m\n\x7f"), "\"\\u001b[m\\n\\u007f\"\n");
        assert_eq!(line("\u{9b}é\u{202e}x"), "\"\\u009b\\u00e9\\u202ex\"\n");
        assert_eq!(line("𝄞"), "\"\\ud834\\udd1e\"\n");
    }

    #[test]
    fn a_line_of_any_length_is_written_whole() {
        for len in (0..40).chain(PIECES - 40..PIECES + 40).chain(3 * PIECES - 10..3 * PIECES + 10) {
            for text in ["x".repeat(len), "é".repeat(len), "x".repeat(len) + "\n" + &"y".repeat(len)] {
                assert_eq!(line(&text), serde_json::to_string(&text).unwrap().replace('é', "\\u00e9") + "\n");
            }
            let hex = Hex(&vec![0xa5; len]).to_string();
            assert_eq!(hex, "a5".repeat(len));
            let mut written = Vec::new();
            write_line(&mut written, &Hex(&vec![0xa5; len])).unwrap();
            assert_eq!(written, format!("\"{hex}\"\n").as_bytes());
        }
    }

    #[test]
    fn nothing_is_lost() {
        let all: String = (0..=0x11_ffff).filter_map(char::from_u32).collect();
        let line = line(&all);
        assert!(line.trim_end_matches('\n').bytes().all(|byte| matches!(byte, b' '..=b'~')));
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), all);
    }
}
