//! What can be found out about a table without reading it all: index, metaindex, filter block, the blocks' trailers and a
//! few data blocks.

mod blocks;
mod dialect;
pub(crate) mod filters;
mod metaindex;
mod offsets;
mod ranges;
mod sample;

use std::collections::BTreeSet;

use bytes::Bytes;
use filterblock::policy::default_read_policies;
use filterblock::table::{Origin, ReadAt, ReadOptions, Table};
use filterblock::{Error, SharedPolicy};

pub(crate) use blocks::{Blocks, within};
pub(crate) use filters::{Census, State, Summary};
pub(crate) use metaindex::Metaindex;
pub(crate) use offsets::Offsets;
pub(crate) use ranges::{ENTRY, Larger, larger_ranges};
pub(crate) use sample::{Cost, KeyCount, KeyFormat, Sample, USUAL_BITS_PER_KEY};

use crate::io::input::is_unreadable;

/// A census of the filters of a table.
pub(crate) type TableCensus<'a> = Census<'a, SharedPolicy, Bytes>;

/// How all tables are read: the policies that are known, and the library's limits.
pub(crate) fn read_options() -> ReadOptions {
    ReadOptions::default().filter_policies(default_read_policies())
}

/// What was found out about a table.
pub(crate) struct Survey {
    pub(crate) file_size: u64,
    pub(crate) blocks: Blocks,
    /// Compression types as they stand behind the data blocks.
    pub(crate) compression: BTreeSet<u8>,
    pub(crate) metaindex: Metaindex,
    /// Why there are no filters though there might be.
    pub(crate) filter_error: Option<String>,
    /// Whether that is because something could not be read.
    pub(crate) filter_unreadable: bool,
    /// Whether it is because they are in an encoding that this program does not take on trust.
    pub(crate) filter_unsupported: bool,
    /// Whose mark is in the metaindex.
    pub(crate) origin: Option<Origin>,
    pub(crate) sample: Sample,
}

impl Survey {
    /// `census`: of the table's filters, if it has some.
    pub(crate) fn new<R: ReadAt>(table: &Table<R>, census: Option<&TableCensus<'_>>) -> Self {
        let mut survey = Self {
            file_size: table.file_size(),
            blocks: Blocks::default(),
            compression: BTreeSet::new(),
            metaindex: Metaindex::read(table),
            filter_error: table.filter_error().map(|error| error.without_path().to_string()),
            filter_unreadable: table.filter_error().is_some_and(is_unreadable),
            filter_unsupported: table
                .filter_error()
                .is_some_and(|error| matches!(error.without_path(), Error::Unsupported { .. })),
            origin: table.origin(),
            sample: Sample::default(),
        };
        if let Some(error) = &survey.metaindex.error {
            survey.filter_error.get_or_insert_with(|| error.clone());
        }
        survey.blocks.visit(table, |handle| {
            survey.compression.insert(table.compression_of(handle)?);
            Ok(())
        });
        survey.sample = Sample::take(table, &mut survey.blocks, census);
        survey
    }

    /// How many keys there are; `None` if no data block could be read.
    pub(crate) fn keys(&self) -> Option<KeyCount> {
        self.sample.keys(&self.blocks)
    }

    /// What a filter block would take, where there is none.
    pub(crate) fn cost(&self) -> Option<Cost> {
        let none = self.filter_error.is_none() && self.metaindex.filter_names().next().is_none();
        none.then(|| self.sample.cost(&self.blocks)).flatten()
    }
}
