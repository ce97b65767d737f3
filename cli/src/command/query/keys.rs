//! The keys given: as arguments, and as lines of a file.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use filterblock::{escape, escape_path};

/// Returns all keys in the order given.
pub(super) fn read(given: Vec<OsString>, from: Option<&Path>, hex: bool) -> Result<Vec<Vec<u8>>, String> {
    let mut keys = Vec::with_capacity(given.len());
    for (number, key) in (1..).zip(given) {
        let place = format_args!("key {number}");
        keys.push(decode(bytes_of(key, &place)?, hex, &place)?);
    }
    let Some(path) = from else { return Ok(keys) };
    let name =
        if path.as_os_str() == "-" { "standard input".to_owned() } else { escape_path(path).to_string() };
    let contents = read_file(path).map_err(|error| format!("{name}: {error}"))?;
    for (number, line) in (1..).zip(lines(&contents)) {
        keys.push(decode(line.to_owned(), hex, &format_args!("{name}: line {number}"))?);
    }
    if keys.is_empty() { Err(format!("{name}: expected keys, found none")) } else { Ok(keys) }
}

fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut contents = Vec::new();
    if path.as_os_str() == "-" {
        io::stdin().lock().read_to_end(&mut contents)?;
    } else {
        // May be a pipe: shells offer one for the output of a command.
        File::open(path)?.read_to_end(&mut contents)?;
    }
    Ok(contents)
}

/// The lines of a text. The last one need not end in a line break.
fn lines(contents: &[u8]) -> impl Iterator<Item = &[u8]> {
    contents.split_inclusive(|&byte| byte == b'\n').map(|line| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        line.strip_suffix(b"\r").unwrap_or(line)
    })
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere not every argument is bytes")]
fn bytes_of(key: OsString, _place: &impl Display) -> Result<Vec<u8>, String> {
    Ok(std::os::unix::ffi::OsStringExt::into_vec(key))
}

#[cfg(not(unix))]
fn bytes_of(key: OsString, place: &impl Display) -> Result<Vec<u8>, String> {
    let text = key.into_string();
    text.map(String::into_bytes).map_err(|_| format!("{place}: expected Unicode; other keys need --hex"))
}

/// The bytes that an argument stands for, hexadecimal or not.
pub(in crate::command) fn decode_argument(
    key: OsString,
    hex: bool,
    place: &impl Display,
) -> Result<Vec<u8>, String> {
    decode(bytes_of(key, place)?, hex, place)
}

fn decode(key: Vec<u8>, hex: bool, place: &impl Display) -> Result<Vec<u8>, String> {
    if !hex {
        return Ok(key);
    }
    let digit = |at: usize, digit: u8| {
        let value = char::from(digit).to_digit(16);
        value.map(|value| value as u8).ok_or_else(|| {
            let found = escape(&[digit]).to_string();
            format!("{place}: expected hexadecimal digits, found \"{found}\" at position {}", at + 1)
        })
    };
    let digits: Vec<u8> =
        key.iter().enumerate().map(|(at, &byte)| digit(at, byte)).collect::<Result<_, _>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(format!(
            "{place}: expected an even number of hexadecimal digits, found {}",
            digits.len()
        ));
    }
    Ok(pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Result<Vec<u8>, String> {
        decode(text.as_bytes().to_owned(), true, &"key 3")
    }

    #[test]
    fn hexadecimal_keys() {
        assert_eq!(hex(""), Ok(vec![]));
        assert_eq!(hex("00fFa9"), Ok(vec![0, 0xff, 0xa9]));
        assert_eq!(hex("0"), Err("key 3: expected an even number of hexadecimal digits, found 1".into()));
        assert_eq!(hex("0x"), Err("key 3: expected hexadecimal digits, found \"x\" at position 2".into()));
        assert_eq!(
            hex("\n0"),
            Err("key 3: expected hexadecimal digits, found \"\\x0a\" at position 1".into())
        );
        assert!(hex("é").is_err());
    }

    #[test]
    fn lines_end_in_one_line_break_each() {
        let all = |text: &'static str| lines(text.as_bytes()).map(<[u8]>::to_vec).collect::<Vec<_>>();
        assert_eq!(all(""), [b""; 0]);
        assert_eq!(all("\n"), [b""]);
        assert_eq!(all("a\n\nb"), [&b"a"[..], b"", b"b"]);
        assert_eq!(all("a\r\nb\r\r\n c \n"), [&b"a"[..], b"b\r", b" c "]);
        assert_eq!(all("a\rb"), [b"a\rb"]);
    }
}
