//! Files that do not open as tables: files of other kinds, recognized by their bytes, and tables that were cut short.

use std::{path::PathBuf, sync::Arc};

use bytes::Bytes;
use filterblock::{Error, table::ReadAt};

use super::ScanRequest;
use super::carve::rows::CarvedRows;
use super::rows::{Moved, Rows as _};
use crate::audit::reading::{is_not_whole, read_options};

/// Bytes at the start of a file that tell its kind.
const LOOKED_AT: u64 = 64 << 10;
/// Bytes at the start of a table that was cut short in which entries are counted.
pub(crate) const SALVAGED: u64 = 4 << 20;
/// Bytes of data blocks and keys to decode for that.
const MAX_DECODED: u64 = 64 << 20;
/// Bytes that text has at least.
const MIN_TEXT: usize = 8;
/// Line ends, all of them CR LF, that show a transfer in text mode.
const MIN_LINE_ENDS: usize = 4;

/// By their first bytes.
const BEGINNINGS: [(&[u8], &str); 8] = [
    (b"version https://git-lfs", "a Git LFS pointer, and the file that it stands for was not fetched"),
    (b"PK\x03\x04", "a zip archive"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\x1f\x8b", "a gzip file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ\0", "an xz file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (b"SQLite format 3\0", "an SQLite database"),
];

/// Appends the kind of the damaged file to `text`, if known, or else the entries that can be read at the start of a
/// table that was cut short. Reads at most 4 MiB.
pub(crate) fn explain<R: ReadAt + ?Sized>(source: &R, error: &Error, text: String) -> String {
    let Error::Corrupt { .. } = error.without_path() else { return text };
    if let Some(kind) = kind_of(&start(source, LOOKED_AT)) {
        return format!("{text}; the file is {kind}");
    }
    if !is_not_whole(error) {
        return text;
    }
    // The file may be a table that was cut short.
    let start = start(source, SALVAGED);
    let whole = start.len() as u64 == source.len().unwrap_or_default();
    let place = if whole { "".into() } else { format!(" in its first {} bytes", start.len()) };
    match count_entries(start) {
        0 => text,
        1 => format!("{text}; 1 entry at its start can be read{place}"),
        entries => format!("{text}; {entries} entries at its start can be read{place}"),
    }
}

/// Counts those of data blocks with correct checksums. `start`: the first bytes of a file.
fn count_entries(start: Bytes) -> u64 {
    let options = read_options().max_block_size(start.len());
    let request = ScanRequest { all: true, ..ScanRequest::default() };
    let (meter, path) = (Arc::default(), PathBuf::new());
    let rows = CarvedRows::new(start, &options, meter, MAX_DECODED, path, request.into(), Some(false));
    let Ok(mut rows) = rows else { return 0 };
    let mut count = 0;
    // After an error, the next call continues with the next block.
    loop {
        match rows.advance() {
            Ok(Moved::ToEntry) => count += 1,
            Ok(Moved::ToEnd) => return count,
            Ok(Moved::On) | Err(_) => {}
        }
    }
}

/// No bytes if they cannot be read.
fn start<R: ReadAt + ?Sized>(source: &R, most: u64) -> Bytes {
    let len = source.len().unwrap_or_default().min(most);
    source.read_at(0, usize::try_from(len).unwrap_or_default()).unwrap_or_default()
}

fn kind_of(start: &[u8]) -> Option<&'static str> {
    let begins = BEGINNINGS.iter().find(|(beginning, _)| start.starts_with(beginning));
    match begins {
        Some((_, kind)) => Some(kind),
        None if is_text(start) => Some("a text file"),
        None if !start.is_empty() && start.iter().all(|byte| *byte == 0) => {
            Some("of zeros, as a file is whose contents did not reach the disk")
        }
        None if has_converted_line_ends(start) => {
            Some("damaged by a transfer as text: every LF in it follows a CR")
        }
        None => None,
    }
}

/// True for text of at least `MIN_TEXT` bytes. The last character may be cut off.
fn is_text(bytes: &[u8]) -> bool {
    let Some(chunk) = bytes.utf8_chunks().next() else { return false };
    let is_cut = std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
    let (text, rest) = (chunk.valid(), chunk.invalid());
    text.len() >= MIN_TEXT
        && (rest.is_empty() || is_cut && text.len() + rest.len() == bytes.len())
        && text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t'))
}

/// True if every LF follows a CR. In a table, about one in 256 does.
fn has_converted_line_ends(bytes: &[u8]) -> bool {
    let all = bytes.iter().filter(|byte| **byte == b'\n').count();
    let converted = bytes.windows(2).filter(|pair| pair == b"\r\n").count();
    all >= MIN_LINE_ENDS && all == converted
}
