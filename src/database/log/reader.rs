//! Reading the records of logs and MANIFESTs (LevelDB's `db/log_reader.cc`).

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;

use super::fragment::{FIRST, FULL, FragmentHeader, LAST, LOG_BLOCK_LEN, MIDDLE};
use crate::error::IoAction;
use crate::{Error, Result, Structure};

/// Reads the records of a log or a MANIFEST, in the order in which they were written.
///
/// Damage does not end the reading: an error is about one damaged place, and the next call returns
/// what can be read after that place, as LevelDB does in a log. Each damaged place is reported once.
///
/// A file that ends within a record is not damaged: the writer stopped there, or has not finished.
/// [`incomplete_tail`](Self::incomplete_tail) reports it. In the last block, a damaged length can
/// look the same.
///
/// This takes memory for one block of 32 KiB and for the longest record, up to a limit, and one
/// pass over the file.
pub struct LogReader<R> {
    source: R,
    block: Vec<u8>,
    /// The offset of `block` in the file.
    block_offset: u64,
    /// The number of bytes of `block` that have been read, at most its length.
    position: usize,
    state: State,
    /// The record being put together.
    record: Vec<u8>,
    max_record_len: usize,
    /// Set if the fragments up to the next record's start belong to a record whose damage has already
    /// been reported.
    passing_over: bool,
    incomplete_tail: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// More blocks may follow.
    Reading,
    /// `block` is the last one.
    LastBlock,
    Ended,
}

/// One record, and where it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LogRecord<'a> {
    /// The offset of its first fragment in the file, in bytes.
    pub offset: u64,
    /// The bytes that were written, put together from all fragments.
    pub data: &'a [u8],
}

struct Fragment {
    offset: u64,
    kind: u8,
    /// The range of its data in `block`.
    data: Range<usize>,
}

impl<R: Read> LogReader<R> {
    /// The greatest length of a record that is read, in bytes, unless another limit is set: 64 MiB.
    pub const DEFAULT_MAX_RECORD_LEN: usize = 64 << 20;

    /// Reads `source` from its position, which has to be the start of the file. The source needs no
    /// buffer of its own.
    pub fn new(source: R) -> Self {
        Self {
            source,
            block: Vec::new(),
            block_offset: 0,
            position: 0,
            state: State::Reading,
            record: Vec::new(),
            max_record_len: Self::DEFAULT_MAX_RECORD_LEN,
            passing_over: false,
            incomplete_tail: None,
        }
    }

    /// Refuses records of more than `len` bytes. The format itself has no limit.
    #[must_use]
    pub const fn max_record_len(mut self, len: usize) -> Self {
        self.max_record_len = len;
        self
    }

    /// The next record, or `None` at the end of the file.
    ///
    /// # Errors
    ///
    /// After each of these errors, the next call continues after the damage:
    ///
    /// - [`Error::Corrupt`] for a fragment with a wrong checksum or a length beyond its block. The rest
    ///   of the block is lost, since the length cannot be trusted.
    /// - [`Error::Corrupt`] for a fragment of unknown type or out of place, and blank space within a
    ///   record.
    /// - [`Error::Limit`] for a record that is too long.
    ///
    /// [`Error::Io`] if reading fails, or the source returns a greater length than it was given
    /// room for. Such an error ends the reading.
    pub fn read_record(&mut self) -> Result<Option<LogRecord<'_>>> {
        self.record.clear();
        let mut started = None;
        let offset = loop {
            let fragment = self.next_fragment(started)?;
            let Some(Fragment { offset, kind, data }) = fragment else {
                self.incomplete_tail = started.or(self.incomplete_tail);
                return Ok(None);
            };
            let start = match (kind, started) {
                // Early versions of LevelDB wrote an empty FIRST fragment if a block had room for no
                // more than its header, and then began the record anew.
                (FULL | FIRST, Some(start)) if !self.record.is_empty() => {
                    // The fragment is to be read again, as the start of the next record.
                    debug_assert!(data.start >= FragmentHeader::LEN, "data have a header before them");
                    self.position = data.start.saturating_sub(FragmentHeader::LEN);
                    return Err(broken(start, format!("{} at offset {offset}", name(kind))));
                }
                (FULL | FIRST, _) => offset,
                (MIDDLE | LAST, Some(start)) => start,
                (MIDDLE | LAST, None) => {
                    let reported = self.passing_over;
                    self.passing_over = kind == MIDDLE;
                    if reported {
                        continue;
                    }
                    return Err(misplaced(offset, "a FULL or FIRST fragment", kind));
                }
                // LevelDB uses 5 and 6 as marks of its own, and ends silently at a 5. No writer of
                // its format writes them.
                _ => {
                    self.passing_over = true;
                    return Err(misplaced(offset, "a fragment of type 1 to 4", kind));
                }
            };
            self.passing_over = false;
            started = Some(start);
            self.append(start, kind, data)?;
            if matches!(kind, FULL | LAST) {
                break start;
            }
        };
        Ok(Some(LogRecord { offset, data: &self.record }))
    }

    /// The offset of the record in which the file ends, if it ends within one. It is known once
    /// [`read_record`](Self::read_record) has returned `None`.
    ///
    /// LevelDB ignores that record.
    pub const fn incomplete_tail(&self) -> Option<u64> {
        self.incomplete_tail
    }

    /// The data of the record that was read last, until the next call.
    pub(super) fn record(&self) -> &[u8] {
        &self.record
    }

    /// The next fragment that is complete and has the right checksum, or `None` at the end of the
    /// file. `started` is where the record in progress starts, if there is one.
    fn next_fragment(&mut self, started: Option<u64>) -> Result<Option<Fragment>> {
        loop {
            let offset = self.block_offset.saturating_add(self.position as u64);
            let Some(rest) = self.block.get(self.position..) else {
                debug_assert!(false, "a position beyond the block");
                return Err(self.lose_block(out_of_block(offset)));
            };
            let Some(header) = FragmentHeader::decode(rest) else {
                let blank = rest.iter().all(|&byte| byte == 0);
                if self.state == State::Reading {
                    self.read_block()?;
                    continue;
                }
                return Ok(self.end(offset, blank));
            };
            let (stored, len, kind) = (header.checksum, usize::from(header.len), header.kind);
            let data = rest.get(FragmentHeader::LEN..).unwrap_or_default();
            let Some(contents) = data.get(..len) else {
                if self.state == State::LastBlock {
                    return Ok(self.end(offset, false));
                }
                let expected = format!("a length of at most {}, the rest of the block", data.len());
                return Err(self.lose_block(Error::corrupt(
                    Structure::LogRecord,
                    offset,
                    expected,
                    len.to_string(),
                )));
            };
            if header.is_blank() {
                // Reserved space extends to the end of the block. It is damage only if a record
                // should continue there.
                self.position = self.block.len();
                let Some(start) = started else { continue };
                self.passing_over = true;
                return Err(broken(start, format!("blank space at offset {offset}")));
            }
            let computed = FragmentHeader::checksum_of(kind, contents);
            if computed != stored {
                let expected = format!("checksum {computed:#010x} for type {kind} and {len} bytes of data");
                return Err(self.lose_block(Error::corrupt(
                    Structure::LogRecord,
                    offset,
                    expected,
                    format!("{stored:#010x}"),
                )));
            }
            let start = self.position.saturating_add(FragmentHeader::LEN);
            self.position = start.saturating_add(len);
            return Ok(Some(Fragment { offset, kind, data: start..self.position }));
        }
    }

    /// Adds a fragment's data to the record that starts at `start` in the file.
    fn append(&mut self, start: u64, kind: u8, data: Range<usize>) -> Result<()> {
        let Some(data) = self.block.get(data) else {
            debug_assert!(false, "a fragment beyond its block");
            return Err(self.lose_block(out_of_block(start)));
        };
        let len = self.record.len().saturating_add(data.len());
        if len > self.max_record_len {
            self.passing_over = matches!(kind, FIRST | MIDDLE);
            return Err(Error::Limit {
                what: "log record",
                offset: start,
                limit: self.max_record_len as u64,
                found: len as u64,
            });
        }
        self.record.extend_from_slice(data);
        Ok(())
    }

    fn read_block(&mut self) -> Result<()> {
        self.block_offset = self.block_offset.saturating_add(self.block.len() as u64);
        self.block.clear();
        self.position = 0;
        if let Err(error) = fill(&mut self.source, &mut self.block, LOG_BLOCK_LEN) {
            self.block.clear();
            self.state = State::Ended;
            return Err(Error::io(IoAction::Read { len: LOG_BLOCK_LEN as u64 }, self.block_offset, error));
        }
        if self.block.len() < LOG_BLOCK_LEN {
            self.state = State::LastBlock;
        }
        Ok(())
    }

    /// Ends reading at `offset`. The bytes left there are part of a fragment, unless they are
    /// `blank`.
    fn end(&mut self, offset: u64, blank: bool) -> Option<Fragment> {
        if !blank {
            self.incomplete_tail = Some(offset);
        }
        self.position = self.block.len();
        self.state = State::Ended;
        None
    }

    fn lose_block(&mut self, error: Error) -> Error {
        self.position = self.block.len();
        self.passing_over = true;
        error
    }
}

/// Appends the next `len` bytes of `source` to `block`, or all bytes left if there are fewer.
///
/// [`Read::read_to_end`] would panic if a source returned a greater length than there was room for.
fn fill(source: &mut impl Read, block: &mut Vec<u8>, len: usize) -> io::Result<()> {
    let start = block.len();
    block.resize(start.saturating_add(len), 0);
    let mut filled = start;
    while let Some(room) = block.get_mut(filled..).filter(|room| !room.is_empty()) {
        let room_len = room.len();
        match source.read(room) {
            Ok(0) => break,
            Ok(read) if read <= room_len => filled = filled.saturating_add(read),
            Ok(read) => {
                let message = format!("the source said it read {read} bytes into {room_len}");
                return Err(io::Error::other(message));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    block.truncate(filled);
    Ok(())
}

/// An error for a state that cannot occur, so that nothing is lost silently if it does.
fn out_of_block(offset: u64) -> Error {
    Error::corrupt(Structure::LogRecord, offset, "a fragment within its block", "one beyond it")
}

/// The error for a record that starts at `offset` and is not continued.
fn broken(offset: u64, found: String) -> Error {
    Error::corrupt(Structure::LogRecord, offset, "MIDDLE fragments and a LAST one", found)
}

/// The error for a fragment that cannot be at `offset`.
fn misplaced(offset: u64, expected: &'static str, kind: u8) -> Error {
    Error::corrupt(Structure::LogRecord, offset, expected, name(kind))
}

fn name(kind: u8) -> String {
    match kind {
        FULL => "a FULL fragment".into(),
        FIRST => "a FIRST fragment".into(),
        MIDDLE => "a MIDDLE fragment".into(),
        LAST => "a LAST fragment".into(),
        _ => format!("type {kind}"),
    }
}

impl<R> fmt::Debug for LogReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogReader")
            .field("offset", &self.block_offset.saturating_add(self.position as u64))
            .field("max_record_len", &self.max_record_len)
            .field("incomplete_tail", &self.incomplete_tail)
            .finish()
    }
}

impl fmt::Debug for LogRecord<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogRecord").field("offset", &self.offset).field("len", &self.data.len()).finish()
    }
}
