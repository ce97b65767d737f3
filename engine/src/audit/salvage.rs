//! The entries of a table that was cut short: of the blocks with right checksums from its start on.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use crate::audit::reading::read_options;
use crate::audit::scan::carve::rows::{CarvedRows, DecodeLimit};
use crate::audit::scan::range::KeyRange;
use crate::audit::scan::rows::Rows as _;

/// The most bytes that are decoded.
const MAX_DECODED: u64 = 64 << 20;

/// Counts the entries of the data blocks that `start`, the first bytes of a file, begins with.
pub(super) fn count_entries(start: Bytes) -> u64 {
    let options = read_options().max_block_size(start.len());
    let range = KeyRange { prefix: None, from: None, to: None };
    let limit = DecodeLimit::new(Arc::default(), MAX_DECODED);
    let rows = CarvedRows::new(start, &options, limit, Path::new(""), &range, true, Some(false));
    let Ok(mut rows) = rows else { return 0 };
    let mut entries = 0;
    while let Ok(true) = rows.advance() {
        entries += 1;
    }
    entries
}
