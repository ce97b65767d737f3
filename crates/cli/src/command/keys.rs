//! Keys and values from arguments and from lines of a file: bytes, hexadecimal or escaped as the program shows them.

use std::io::{self, Read};
use std::{ffi::OsString, fmt::Display, fs::File, path::Path};

use filterblock::{escape, escape_path};
use filterblock_engine::hex_byte;

/// Returns the keys in `given`, then those in the lines of the file `from`.
pub(super) fn read(given: Vec<OsString>, from: Option<&Path>, hex: bool) -> Result<Vec<Vec<u8>>, String> {
    let mut keys = Vec::with_capacity(given.len());
    for (number, key) in (1..).zip(given) {
        let place = format_args!("key {number}");
        keys.push(decode(bytes_of(key, &place)?, hex, &place)?);
    }
    let Some(path) = from else { return Ok(keys) };
    let name = input_name(path);
    let mut contents = Vec::new();
    let read = open_input(path).and_then(|mut input| input.read_to_end(&mut contents));
    read.map_err(|error| format!("{name}: {}", in_words(&error)))?;
    for (number, line) in (1..).zip(contents.split_inclusive(|&byte| byte == b'\n')) {
        keys.push(decode(without_end(line).to_owned(), hex, &format_args!("{name}: line {number}"))?);
    }
    if keys.is_empty() { Err(format!("{name}: has no keys")) } else { Ok(keys) }
}

pub(super) fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        _ => error.to_string(),
    }
}

/// Returns `true` for `-`, which means standard input or output.
pub(super) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

pub(super) fn input_name(path: &Path) -> String {
    if is_standard(path) { "standard input".to_owned() } else { escape_path(path).to_string() }
}

/// Opens an input. The path may be that of a pipe: shells offer one for the output of a command.
fn open_input(path: &Path) -> io::Result<Box<dyn Read>> {
    if is_standard(path) { Ok(Box::new(io::stdin().lock())) } else { Ok(Box::new(File::open(path)?)) }
}

/// A line without its LF or CR LF. The last line of a file may also end in CR alone, or without a line break.
pub(super) fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn decode(key: Vec<u8>, hex: bool, place: &impl Display) -> Result<Vec<u8>, String> {
    if hex { unhex(&key).map_err(|error| format!("{place}: {error}")) } else { Ok(key) }
}

/// Reads bytes in hexadecimal, or in the escaped form that results show. Digits come in pairs, and groups of them may
/// begin with `0x` and be separated by spaces. With a backslash, `text` is in the escaped form: `\xNN` is a byte, a
/// backslash precedes a backslash or a quote, and everything else stands for itself. Refused if it has escapes, all of
/// them `\xNN`, and other characters that could all be hexadecimal digits: either form may be meant.
pub(super) fn unhex(text: &[u8]) -> Result<Vec<u8>, String> {
    if text.contains(&b'\\') { unescape(text) } else { digits(text, 0) }
}

/// `start`: the number of bytes before `text`, for messages.
fn digits(text: &[u8], start: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut at = start;
    for group in text.split(|&byte| byte == b' ') {
        let prefixed = group.strip_prefix(b"0x").or_else(|| group.strip_prefix(b"0X"));
        let digits = prefixed.unwrap_or(group);
        let first = at + group.len() - digits.len();
        if let Some(wrong) = digits.iter().position(|digit| !digit.is_ascii_hexdigit()) {
            let found = escape(digits.get(wrong..=wrong).unwrap_or_default()).to_string();
            let position = first + wrong + 1;
            return Err(format!("expected hexadecimal digits, found \"{found}\" at position {position}"));
        }
        let (pairs, rest) = digits.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(format!("expected an even number of hexadecimal digits, found {}", digits.len()));
        }
        bytes.extend(pairs.iter().filter_map(|&pair| hex_byte(pair)));
        at += group.len() + 1;
    }
    Ok(bytes)
}

fn unescape(text: &[u8]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    // `may_be_digits`: every escape is `\xNN`, and every run between the escapes could be hexadecimal digits as well.
    // `has_plain`: at least one run is not empty.
    let (mut may_be_digits, mut has_plain) = (true, false);
    loop {
        let plain = rest.iter().position(|&byte| byte == b'\\').unwrap_or(rest.len());
        let (run, escaped) = rest.split_at_checked(plain).unwrap_or((rest, &[]));
        may_be_digits &= digits(run, 0).is_ok();
        has_plain |= !run.is_empty();
        bytes.extend_from_slice(run);
        let (byte, len) = match *escaped {
            [] => break,
            [_, mark @ (b'\\' | b'"'), ..] => {
                may_be_digits = false;
                (Some(mark), 2)
            }
            [_, b'x', high, low, ..] => (hex_byte([high, low]), 4),
            _ => (None, 0),
        };
        let Some(byte) = byte else {
            let position = text.len() - escaped.len() + 1;
            return Err(format!(
                "expected \\xNN, or a backslash before a backslash or a quote, found another one at \
                 position {position}"
            ));
        };
        bytes.push(byte);
        rest = escaped.get(len..).unwrap_or_default();
    }
    if may_be_digits && has_plain {
        return Err("expected hexadecimal digits or text with escapes, found what could be either: in \
                    hexadecimal without backslashes, it is clear"
            .to_owned());
    }
    Ok(bytes)
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere not every argument is bytes")]
pub(super) fn bytes_of(key: OsString, _place: &impl Display) -> Result<Vec<u8>, String> {
    Ok(std::os::unix::ffi::OsStringExt::into_vec(key))
}

#[cfg(not(unix))]
pub(super) fn bytes_of(key: OsString, place: &impl Display) -> Result<Vec<u8>, String> {
    let text = key.into_string();
    text.map(String::into_bytes).map_err(|_| format!("{place}: expected Unicode; other keys need --hex"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_one_line_break_each() {
        let all = |text: &'static str| {
            let lines = text.as_bytes().split_inclusive(|&byte| byte == b'\n');
            lines.map(without_end).collect::<Vec<_>>()
        };
        assert!(all("").is_empty());
        assert_eq!(all("\n"), [&b""[..]]);
        assert_eq!(all("a\n\nb"), [&b"a"[..], b"", b"b"]);
        assert_eq!(all("a\r\nb\r\r\n c \n"), [&b"a"[..], b"b\r", b" c "]);
        assert_eq!(all("a\rb"), [&b"a\rb"[..]]);
    }

    #[test]
    fn digits_come_in_pairs_with_prefixes_and_spaces() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("00fFa9", b"\x00\xff\xa9"),
            ("0x00ff", b"\x00\xff"),
            ("0X00", b"\0"),
            ("0x", b""),
            ("68 65", b"he"),
            (" 68  6c ", b"hl"),
            ("0x68 0x65 6c", b"hel"),
        ] {
            assert_eq!(unhex(text.as_bytes()).as_deref(), Ok(bytes), "{text}");
        }
        for (text, error) in [
            ("0", "expected an even number of hexadecimal digits, found 1"),
            ("00 0", "expected an even number of hexadecimal digits, found 1"),
            ("x0", "expected hexadecimal digits, found \"x\" at position 1"),
            ("\n0", "expected hexadecimal digits, found \"\\x0a\" at position 1"),
            ("00 0x0g", "expected hexadecimal digits, found \"g\" at position 7"),
            ("0x00 0y", "expected hexadecimal digits, found \"y\" at position 7"),
            ("000x00", "expected hexadecimal digits, found \"x\" at position 4"),
        ] {
            assert_eq!(unhex(text.as_bytes()), Err(error.to_owned()), "{text}");
        }
        assert!(unhex("é".as_bytes()).is_err());
    }

    /// A key that is shown with escapes is read back as the same bytes.
    #[test]
    fn escaped_keys_come_back() {
        for key in [&b"\0"[..], b"\0\xff", b"item/\0\x01", b"a\"\\x00", b"\\", b"\xff key\n", b"\"", b"g\0"] {
            let shown = escape(key).to_string();
            assert!(shown.contains('\\'), "{shown}");
            assert_eq!(unhex(shown.as_bytes()).as_deref(), Ok(key), "{shown}");
        }
        assert_eq!(unhex(br"\xFF").as_deref(), Ok(&b"\xff"[..]));
        assert_eq!(unhex(br"a\x00").as_deref(), Ok(&b"a\0"[..]));
    }

    #[test]
    fn escapes_among_what_may_be_digits_are_refused() {
        for text in [r"ab\x00", r"\x00 61", r"0x61\x00", r"\x00 \x01"] {
            assert!(unhex(text.as_bytes()).unwrap_err().contains("could be either"), "{text}");
        }
        for (text, position) in [(r"\", 1), (r"ab\n", 3), (r"\x0", 1), (r"\x0g", 1), (r"\x00\x", 5)] {
            let error = unhex(text.as_bytes()).unwrap_err();
            assert!(error.ends_with(&format!("at position {position}")), "{text}: {error}");
        }
    }
}
