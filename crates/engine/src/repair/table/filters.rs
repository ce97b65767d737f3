//! The filters of a damaged table: they prove keys absent from blocks that are lost.

use std::{io, ops::Range, sync::Arc};

use bytes::Bytes;
use filterblock::policy::default_read_policies;
use filterblock::table::{BlockHandle, ReadAt, ReadOptions};
use filterblock::{FilterBlockReader, FilterPolicy as _, InternalFilterPolicy, SharedPolicy};

use super::stored;
use crate::repair::patched::Patch;

/// The measures of a table's filters.
pub(in crate::repair) struct FilterMeasures {
    /// The policy's name.
    pub(in crate::repair) policy: String,
    /// The size of all filters in bytes, without the byte of each filter that holds the number of probes; 0 if the
    /// filters are damaged or of no known policy.
    pub(in crate::repair) size: u64,
    /// The number of probes of the first filter whose shape is known; `None` if there is no such filter.
    pub(in crate::repair) probes: Option<u32>,
}

/// The filters of a table.
pub(super) struct FoundFilters {
    pub(super) measures: FilterMeasures,
    /// The reader of the filters; `None`: they are damaged, or of no known policy.
    pub(super) reader: Option<FilterBlockReader<SharedPolicy>>,
}

/// Reads the filters that the metaindex names first; `None`: the metaindex names no filters, or cannot be read. One bit
/// of the metaindex and one of the filter block may be corrected.
pub(super) fn read<R: ReadAt>(
    source: &R,
    metaindex: BlockHandle,
    patches: &mut Vec<Patch>,
    options: &ReadOptions,
) -> io::Result<Option<FoundFilters>> {
    let named = stored::accept(source, metaindex, patches, |stored| named(stored, options))?;
    let Some((policy, handle)) = named.flatten() else { return Ok(None) };
    let contents = stored::accept(source, handle, patches, contents)?;
    let known = default_read_policies().into_iter().find(|known| known.name() == policy);
    let reader = known.clone().zip(contents).map(|(known, contents)| {
        FilterBlockReader::new(Arc::new(InternalFilterPolicy::new(known)) as SharedPolicy, contents)
    });
    let reader = reader.filter(|reader| reader.check().is_ok());
    let all = || reader.iter().flat_map(FilterBlockReader::iter).flat_map(|(_, filter)| filter);
    let size = all().fold(0, |sum: u64, filter| sum.saturating_add(filter.len().saturating_sub(1) as u64));
    let probes = known.and_then(|known| all().find_map(|filter| Some(known.describe(filter)?.probes)));
    Ok(Some(FoundFilters { measures: FilterMeasures { policy, size, probes }, reader }))
}

/// The policy that a metaindex names first, and where its filters are. `Some(None)`: the metaindex names no
/// policy. `None`: the metaindex cannot be read.
fn named(metaindex: &Bytes, options: &ReadOptions) -> Option<Option<(String, BlockHandle)>> {
    let mut entries = stored::entries(metaindex, options)?;
    let mut found = None;
    while entries.next().ok()? {
        let name = entries.key().strip_prefix(b"filter.").and_then(|name| str::from_utf8(name).ok());
        if let (None, Some(name)) = (&found, name) {
            found = Some((name.to_owned(), entries.handle().ok()?));
        }
    }
    Some(found)
}

/// The contents of a filter block. `None`: the block is compressed, which no filter block of a database is, or too
/// short.
fn contents(stored: &Bytes) -> Option<Bytes> {
    let len = stored.len().checked_sub(stored::TRAILER)?;
    (*stored.get(len)? == 0).then(|| stored.slice(..len))
}

/// Returns an offset within the range of each filter that covers blocks which begin in `bytes`, a range of the file.
pub(super) fn blocks_in(bytes: &Range<u64>, base_lg: u8) -> Vec<u64> {
    let Some(last) = bytes.end.checked_sub(1) else { return Vec::new() };
    let (Some(first), Some(last)) =
        (bytes.start.checked_shr(base_lg.into()), last.checked_shr(base_lg.into()))
    else {
        return vec![0];
    };
    (first..=last).map(|filter| filter << base_lg).collect()
}
