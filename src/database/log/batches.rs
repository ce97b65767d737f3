//! The writes in a log (LevelDB's `db/write_batch.cc`, `DBImpl::RecoverLogFile` in
//! `db/db_impl.cc`), which are in no table yet, and so covered by no filter.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use super::{BatchHeader, LogReader};
use crate::bytes::coding::get_varint32;
use crate::key::parts::{DELETION, MAX_SEQUENCE, VALUE};
use crate::table::source::open_file;
use crate::{Error, Result, Structure};

/// Reads the writes of a log, in the order in which they were made. In a sound log, that is also
/// the order of their sequence numbers.
///
/// The writes are those that LevelDB recovers when it opens a database: damage costs the rest of the
/// record or block that it is in, and the next call continues after that. A batch that the file's end
/// cuts off is left out; [`incomplete_tail`](Self::incomplete_tail) reports it.
///
/// This takes the memory of a [`LogReader`], and one pass over the file.
///
/// ```
/// use filterblock::database::LogWrites;
///
/// let mut log = LogWrites::open_path("testdata/databases/levels/000010.log")?;
/// let mut deletions = 0;
/// while log.next()? {
///     deletions += u64::from(log.write().unwrap().value.is_none());
/// }
/// assert_eq!((deletions, log.incomplete_tail()), (0, None));
/// # Ok::<(), filterblock::Error>(())
/// ```
pub struct LogWrites<R> {
    log: LogReader<R>,
    /// The offset of the current record in the file.
    offset: u64,
    /// The current write. `None` if there is no record, or if the record has no further write that
    /// can be read.
    write: Option<Parts>,
    /// The sequence number of the record's first write.
    first: u64,
    /// The number of writes that the record should have.
    count: u32,
}

/// One write of a log.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LogWrite<'a> {
    /// The offset of its record in the file, in bytes.
    pub offset: u64,
    /// Its sequence number, at most 2^56 - 1.
    pub sequence: u64,
    /// The user key.
    pub key: &'a [u8],
    /// The value, or `None` if the key is deleted.
    pub value: Option<&'a [u8]>,
}

/// A write, as ranges in its record.
struct Parts {
    /// The number of writes of the record up to and including this one.
    number: u64,
    key: Range<usize>,
    value: Option<Range<usize>>,
    end: usize,
}

impl LogWrites<File> {
    /// Opens the log at `path`, for reading only and without a lock.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], with the path, if `path` does not lead to a regular file, or if the file
    /// cannot be opened. Later errors do not name the path.
    pub fn open_path(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        open_file(path).map(Self::new).map_err(|error| error.with_path(path))
    }
}

impl<R: Read> LogWrites<R> {
    /// Reads `source` from its position, which has to be the start of the file. The source needs no
    /// buffer of its own.
    pub fn new(source: R) -> Self {
        Self { log: LogReader::new(source), offset: 0, write: None, first: 0, count: 0 }
    }

    /// Moves to the next write or, on the first call, to the first one. Returns `false` at the end of
    /// the file.
    ///
    /// # Errors
    ///
    /// Those of [`LogReader::read_record`], and [`Error::Corrupt`] for a batch that is too short,
    /// whose writes cannot be separated, or whose count or sequence numbers cannot be right. The
    /// writes before the damage in a batch have been returned by then, as LevelDB applies them.
    /// After [`Error::Io`] there are no more records; after any other error the next call continues
    /// with the next record.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend its writes")]
    pub fn next(&mut self) -> Result<bool> {
        let mut before = self.write.take();
        loop {
            if let Some(before) = before.take() {
                self.write = self.write_after(&before)?;
                if self.write.is_some() {
                    return Ok(true);
                }
            }
            let Some(record) = self.log.read_record()? else { return Ok(false) };
            self.offset = record.offset;
            let Some(batch) = BatchHeader::decode(record.data) else {
                let found = format!("{} bytes", record.data.len());
                return Err(self.corrupt(format!("a batch of at least {} bytes", BatchHeader::LEN), found));
            };
            (self.first, self.count) = (batch.sequence, batch.count);
            before = Some(Parts { number: 0, key: 0..0, value: None, end: BatchHeader::LEN });
        }
    }

    /// The current write, or `None` if there is none.
    #[inline]
    pub fn write(&self) -> Option<LogWrite<'_>> {
        let parts = self.write.as_ref()?;
        let record = self.log.record();
        let sequence = self.first.saturating_add(parts.number.saturating_sub(1));
        let value = match &parts.value {
            Some(value) => Some(record.get(value.clone())?),
            None => None,
        };
        Some(LogWrite { offset: self.offset, sequence, key: record.get(parts.key.clone())?, value })
    }

    /// The offset of the record within which the file ends, if it does:
    /// [`LogReader::incomplete_tail`].
    pub const fn incomplete_tail(&self) -> Option<u64> {
        self.log.incomplete_tail()
    }

    /// The write after `before`, or `None` at the record's end.
    fn write_after(&self, before: &Parts) -> Result<Option<Parts>> {
        let record = self.log.record();
        let at = before.end;
        let Some(&kind) = record.get(at) else {
            // As in LevelDB, the writes are returned even if the count is wrong. The error follows
            // them.
            return match before.number {
                read if read == u64::from(self.count) => Ok(None),
                read => Err(self.corrupt(format!("{} writes in the batch", self.count), read.to_string())),
            };
        };
        let sequence = self.first.saturating_add(before.number);
        if sequence > MAX_SEQUENCE {
            let expected = format!("a sequence number of at most {MAX_SEQUENCE}");
            return Err(self.corrupt(expected, sequence.to_string()));
        }
        let string = |at: usize| {
            let (len, width) = get_varint32(record.get(at..).unwrap_or_default()).ok()?;
            let start = at.checked_add(width)?;
            let end = start.checked_add(usize::try_from(len).ok()?)?;
            (end <= record.len()).then_some(start..end)
        };
        if !matches!(kind, DELETION | VALUE) {
            let expected = format!("type 0 (deletion) or 1 (value) at byte {at} of the batch");
            return Err(self.corrupt(expected, format!("type {kind}")));
        }
        let cut_off =
            || self.corrupt(format!("a write at byte {at} of the batch"), "one beyond its end".to_owned());
        let key = string(at.saturating_add(1)).ok_or_else(cut_off)?;
        let value = if kind == VALUE { Some(string(key.end).ok_or_else(cut_off)?) } else { None };
        let end = value.as_ref().map_or(key.end, |value| value.end);
        Ok(Some(Parts { number: before.number.saturating_add(1), key, value, end }))
    }

    #[cold]
    fn corrupt(&self, expected: String, found: String) -> Error {
        Error::corrupt(Structure::LogRecord, self.offset, expected, found)
    }
}

impl<R> fmt::Debug for LogWrites<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogWrites").field("log", &self.log).finish_non_exhaustive()
    }
}

impl fmt::Debug for LogWrite<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogWrite")
            .field("offset", &self.offset)
            .field("sequence", &self.sequence)
            .field("key_len", &self.key.len())
            .field("value_len", &self.value.map(<[u8]>::len))
            .finish()
    }
}

/// Returns `true` if the log at `path` holds a write, as determined by [`batch_has_writes`].
///
/// # Errors
///
/// Those of [`batch_has_writes`], with the path, and [`Error::Io`] if the log cannot be opened or
/// is not a regular file.
pub fn log_has_writes(path: impl AsRef<Path>) -> Result<bool> {
    let path = path.as_ref();
    open_file(path).and_then(batch_has_writes).map_err(|error| error.with_path(path))
}

/// Returns `true` if a log holds a batch of at least one write that LevelDB would recover: a batch
/// after damage counts, but a batch that the end of the file cuts off does not.
///
/// Writes are not decoded: any batch longer than its header counts, even one that is too long to be read,
/// beyond [`LogReader::DEFAULT_MAX_RECORD_LEN`]. This reads up to the first such batch, or the whole file
/// if there is none, and takes the memory of a [`LogReader`].
///
/// # Errors
///
/// [`Error::Corrupt`] if there is damage and no such batch; [`Error::Io`] if reading fails. In both
/// cases the log may hold data.
pub fn batch_has_writes(source: impl Read) -> Result<bool> {
    let mut log = LogReader::new(source);
    let mut damage = None;
    loop {
        match log.read_record() {
            Ok(Some(record)) if record.data.len() > BatchHeader::LEN => return Ok(true),
            Ok(Some(_)) => {}
            Ok(None) => return damage.map_or(Ok(false), Err),
            // A record that is too long to be read is there nevertheless.
            Err(Error::Limit { .. }) => return Ok(true),
            Err(error @ Error::Corrupt { .. }) => damage = damage.or(Some(error)),
            Err(error) => return Err(error),
        }
    }
}
