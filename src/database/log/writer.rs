//! Writing records, as logs and MANIFESTs hold them (LevelDB's `db/log_writer.cc`).

use std::io::{self, Write};

use super::fragment::{FIRST, FULL, FragmentHeader, LAST, LOG_BLOCK_LEN, MIDDLE};
use crate::error::IoAction;
use crate::{Error, Result};

/// Writes the records of a log or a MANIFEST, byte for byte as LevelDB does.
///
/// Each record takes one call of `write_all` for each block of 32 KiB that it reaches into. Making
/// the file durable is left to the caller.
///
/// ```
/// use filterblock::database::{LogReader, LogWriter};
///
/// let mut log = LogWriter::new(Vec::new());
/// log.add_record(b"one")?;
/// log.add_record(&[7; 100_000])?;
/// let file = log.into_writer();
/// let mut reader = LogReader::new(&file[..]);
/// assert_eq!(reader.read_record()?.unwrap().data, b"one");
/// assert_eq!(reader.read_record()?.unwrap().data.len(), 100_000);
/// # Ok::<(), filterblock::Error>(())
/// ```
#[derive(Debug)]
pub struct LogWriter<W> {
    writer: W,
    offset: u64,
    /// The bytes for one call of `write_all`.
    buffer: Vec<u8>,
}

impl<W: Write> LogWriter<W> {
    /// Starts a new file. `writer` has to be at the file's beginning.
    pub const fn new(writer: W) -> Self {
        Self { writer, offset: 0, buffer: Vec::new() }
    }

    /// Writes one record, of any length.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the writer fails. Part of the record may then be in the file. As long as
    /// nothing follows that part, readers treat it as an unfinished record at the end of the file.
    pub fn add_record(&mut self, data: &[u8]) -> Result<()> {
        let (mut rest, mut is_first) = (data, true);
        loop {
            self.buffer.clear();
            let mut room = LOG_BLOCK_LEN.saturating_sub(self.position());
            if room < FragmentHeader::LEN {
                self.buffer.resize(room, 0);
                room = LOG_BLOCK_LEN;
            }
            let (fragment, after) =
                rest.split_at_checked(room.saturating_sub(FragmentHeader::LEN)).unwrap_or((rest, &[]));
            let kind = match (is_first, after.is_empty()) {
                (true, true) => FULL,
                (true, false) => FIRST,
                (false, true) => LAST,
                (false, false) => MIDDLE,
            };
            self.push_fragment(kind, fragment);
            self.write_buffer()?;
            if after.is_empty() {
                return Ok(());
            }
            (rest, is_first) = (after, false);
        }
    }

    /// The number of bytes written.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the writer. It has not been flushed.
    pub fn into_writer(self) -> W {
        self.writer
    }

    /// The position in the current block, whose length is a power of two.
    const fn position(&self) -> usize {
        (self.offset as usize) & (LOG_BLOCK_LEN - 1)
    }

    fn push_fragment(&mut self, kind: u8, data: &[u8]) {
        // A fragment is shorter than a block of 32 KiB.
        let (checksum, len) = (FragmentHeader::checksum_of(kind, data), data.len() as u16);
        self.buffer.extend_from_slice(&FragmentHeader { checksum, len, kind }.encode());
        self.buffer.extend_from_slice(data);
    }

    fn write_buffer(&mut self) -> Result<()> {
        let len = self.buffer.len() as u64;
        let error = |error: io::Error| Error::io(IoAction::Write { len }, self.offset, error);
        self.writer.write_all(&self.buffer).map_err(error)?;
        self.offset = self.offset.saturating_add(len);
        Ok(())
    }
}
