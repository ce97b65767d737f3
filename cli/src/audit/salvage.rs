//! The entries of a table that was cut short: of the blocks with right checksums from its start on.

use std::io::{Error as IoError, Result as IoResult};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use filterblock::table::{Meter, ReadAt};

use crate::audit::reading::read_options;
use crate::audit::scan::carve::rows::CarvedRows;
use crate::audit::scan::range::KeyRange;
use crate::audit::scan::row::Rows as _;

/// The most bytes that are decoded.
const MAX_DECODED: u64 = 64 << 20;

/// The start of a file, as long as little was decoded of it.
struct Start {
    bytes: Bytes,
    meter: Arc<Meter>,
}

impl ReadAt for Start {
    fn len(&self) -> IoResult<u64> {
        ReadAt::len(&self.bytes)
    }

    fn read_at(&self, offset: u64, len: usize) -> IoResult<Bytes> {
        match self.meter.bytes_decoded() <= MAX_DECODED {
            true => self.bytes.read_at(offset, len),
            false => Err(IoError::other("more was decoded than is worth it")),
        }
    }
}

/// Counts the entries of the data blocks that `start`, the first bytes of a file, begins with.
pub(super) fn count_entries(start: Bytes) -> u64 {
    let meter = Arc::new(Meter::default());
    let options = read_options().max_block_size(start.len()).meter(Arc::clone(&meter));
    let range = KeyRange { prefix: None, from: None, to: None };
    let source = Start { bytes: start, meter };
    let Ok(mut rows) = CarvedRows::new(source, &options, Path::new(""), &range, true, Some(false)) else {
        return 0;
    };
    let mut entries = 0;
    while let Ok(true) = rows.advance() {
        entries += 1;
    }
    entries
}
