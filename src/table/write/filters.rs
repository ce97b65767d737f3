//! Writing the filter blocks of a table, and the metaindex that names them.

use std::io::Write;

use super::FilterSummary;
use super::block_writer::BlockWriter;
use crate::table::block::BlockBuilder;
use crate::table::format::{BlockHandle, FILTER_PREFIX};
use crate::{Error, FilterBlockBuilder, Result, SharedPolicy, escape};

/// The builder of one policy's filters, with the policy's name.
pub(in crate::table) type FilterBuilder = (String, FilterBlockBuilder<SharedPolicy>);

/// Writes the filter blocks of `filters`, which are in ascending order of the policies' names, then
/// the metaindex. Returns the handle of the metaindex, and a summary of each filter block.
pub(super) fn write_filters<W: Write>(
    out: &mut BlockWriter<W>,
    filters: impl ExactSizeIterator<Item = FilterBuilder>,
    restart_interval: u32,
) -> Result<(BlockHandle, Vec<FilterSummary>)> {
    let mut metaindex = BlockBuilder::new(restart_interval);
    let mut summaries = Vec::with_capacity(filters.len());
    let (mut key, mut value) = (Vec::new(), Vec::new());
    for (name, mut filter) in filters {
        let mut contents = Vec::new();
        filter.finish_into(&mut contents)?;
        check_name(&name, filter.policy().name())?;
        let summary = FilterSummary::new(name, filter.policy(), &contents);
        let handle = out.write_raw(&mut contents)?;

        key.clear();
        key.extend_from_slice(FILTER_PREFIX);
        key.extend_from_slice(summary.policy.as_bytes());
        value.clear();
        handle.encode(&mut value);
        metaindex.check_room(key.len(), value.len(), "metaindex", out.offset())?;
        metaindex.add(&key, &value);
        summaries.push(summary);
    }
    Ok((out.write_block(&mut metaindex)?, summaries))
}

/// Checks that a policy still has the name under which its filters are stored.
fn check_name(name: &str, now: &str) -> Result<()> {
    if now == name {
        return Ok(());
    }
    Err(Error::PolicyContract {
        policy: name.to_owned(),
        expected: "the name it had when the table was begun",
        found: format!("\"{}\"", escape(now.as_bytes())).into(),
    })
}
