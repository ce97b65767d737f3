//! The keys given: as arguments, and as lines of a file.

use std::io::{self, Read as _};
use std::{ffi::OsString, fmt::Display, fs::File, path::Path};

use filterblock::escape_path;

use crate::command::hex::{bytes_of, unhex};

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

fn decode(key: Vec<u8>, hex: bool, place: &impl Display) -> Result<Vec<u8>, String> {
    if hex { unhex(&key).map_err(|error| format!("{place}: {error}")) } else { Ok(key) }
}

#[cfg(test)]
mod tests {
    use super::*;

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
