//! The test for writes in a log, which are in no table yet, and so covered by no filter.

use std::io::Read;
use std::path::Path;

use super::LogReader;
use super::batches::BATCH_HEADER_LEN;
use crate::table::source::open_file;
use crate::{Error, Result};

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
            Ok(Some(record)) if record.data.len() > BATCH_HEADER_LEN => return Ok(true),
            Ok(Some(_)) => {}
            Ok(None) => return damage.map_or(Ok(false), Err),
            // A record that is too long to be read is there nevertheless.
            Err(Error::Limit { .. }) => return Ok(true),
            Err(error @ Error::Corrupt { .. }) => damage = damage.or(Some(error)),
            Err(error) => return Err(error),
        }
    }
}
