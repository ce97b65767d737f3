//! JSON lines in printable ASCII: the contents of a file reach a terminal only as `\u` escapes,
//! which lose nothing.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Writes `value` as one line.
pub fn write_line<T: Serialize>(mut to: impl Write, value: &T) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut to, Ascii))?;
    to.write_all(b"\n")
}

/// Compact, with every character beyond printable ASCII escaped.
struct Ascii;

impl Formatter for Ascii {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, to: &mut W, fragment: &str) -> io::Result<()> {
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
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn nothing_is_lost() {
        let all: String = (0..=0x11_ffff).filter_map(char::from_u32).collect();
        let line = line(&all);
        assert!(line.trim_end_matches('\n').bytes().all(|byte| matches!(byte, b' '..=b'~')));
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), all);
    }
}
