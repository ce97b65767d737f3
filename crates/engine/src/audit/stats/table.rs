//! The statistics of one table, and the names in its metaindex.

use std::collections::BTreeSet;

use filterblock::Error;
use filterblock::table::{BlockHandle, Origin, ReadAt, Table};

use super::block_clusters::BlockClusters;
use super::blocks::Blocks;
use super::filters::{FilterStats, filter_size};
use super::key_count::{Counts, spread_at_random};
use super::sample::{KeyFormat, Sample};
use crate::audit::key_encoding::KeyEncoding;
use crate::audit::reading::{filter_trouble, is_unreadable};
use crate::report::{Depth, ErrorKind, Fault, Name};

/// The data blocks to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reach {
    /// None: only index and filters.
    Tail,
    /// Up to 16, next to each other in up to three places: for sources that need a request per place.
    Places,
    /// Spread over the whole table: at least 17 if there are as many, and up to one in 32 of a large table.
    Spread,
    All,
}

impl Reach {
    pub(crate) const fn of_file(depth: Depth) -> Self {
        match depth {
            Depth::Tail => Self::Tail,
            Depth::Sample => Self::Spread,
            Depth::All => Self::All,
        }
    }

    pub(crate) const fn in_few_reads(depth: Depth) -> Self {
        match depth {
            Depth::Sample => Self::Places,
            depth => Self::of_file(depth),
        }
    }
}

#[derive(PartialEq, Debug)]
pub(crate) struct TableStats {
    pub file_size: u64,
    pub blocks: Blocks,
    /// Of the data blocks that were read.
    pub compression: BTreeSet<u8>,
    pub metaindex: Metaindex,
    /// Why no filters can be used though the table may have some, or the damage in the metaindex.
    pub filter_error: Option<Fault>,
    /// A part of the table could not be read.
    pub filter_unreadable: bool,
    /// The filters may be sound, but are in an unsupported encoding.
    pub filter_unsupported: bool,
    /// The software whose mark is in the metaindex, if known.
    pub origin: Option<Origin>,
    pub sample: Sample,
    pub counts: Counts,
}

impl TableStats {
    /// `filters`: those of this table. `neighbours`: keys to make and check for each data block sampled.
    pub(crate) fn new<R: ReadAt>(
        table: &Table<R>,
        filters: Option<&FilterStats>,
        neighbours: usize,
        reach: Reach,
    ) -> Self {
        let metaindex = Metaindex::read(table);
        let filter_error = filter_trouble(table).map(Error::without_path);
        let (mut blocks, types) = match reach {
            Reach::All => Blocks::list_with_types(table),
            Reach::Tail | Reach::Places | Reach::Spread => (Blocks::list(table), BTreeSet::new()),
        };
        let (sample, compression, counts) = match reach {
            Reach::Tail => (Sample::default(), types, Counts::default()),
            Reach::Places => {
                let clusters = BlockClusters::choose(table, &blocks);
                table.source().will_need(&clusters.ranges(table.file_size()));
                let types = types_of(table, clusters.handles());
                let sample = Sample::of(clusters.handles(), table, &mut blocks, &types, filters, neighbours);
                let counts = clusters.counts(&sample, &blocks);
                (sample, types, counts)
            }
            Reach::Spread => {
                let handles = spread_at_random(table, &blocks);
                let types = types_of(table, handles.iter().copied());
                let sample = Sample::of(handles, table, &mut blocks, &types, filters, neighbours);
                let counts = Counts::estimate(table, &mut blocks, &sample);
                (sample, types, counts)
            }
            Reach::All => {
                let sample = Sample::take(table, &mut blocks, &types, filters, neighbours);
                let counts = Counts::count(table, &mut blocks, &sample);
                (sample, types, counts)
            }
        };
        let is_internal = sample.key_format() == Ok(KeyFormat::Internal);
        let encoding = if is_internal { KeyEncoding::Internal } else { KeyEncoding::Whole };
        blocks.damage.find_lost_keys(table, encoding);
        Self {
            file_size: table.file_size(),
            blocks,
            compression,
            filter_error: filter_error
                .map(|error| Fault::new(error.to_string(), ErrorKind::of(error)))
                .or_else(|| Some(Fault::new(metaindex.error.clone()?, ErrorKind::Damaged))),
            filter_unreadable: filter_error.is_some_and(is_unreadable),
            filter_unsupported: matches!(filter_error, Some(Error::Unsupported { .. })),
            metaindex,
            origin: table.origin(),
            sample,
            counts,
        }
    }

    /// `None`: the table has or may have a filter block, or its number of entries is unknown.
    pub(crate) fn filter_size_at_10_bits(&self) -> Option<u64> {
        let none = self.filter_error.is_none() && self.metaindex.filter_names().next().is_none();
        self.counts.entries.filter(|_| none).map(|count| filter_size(count, &self.blocks))
    }
}

/// A trailer that cannot be read adds no type.
fn types_of<R: ReadAt>(table: &Table<R>, handles: impl Iterator<Item = BlockHandle>) -> BTreeSet<u8> {
    handles.filter_map(|handle| table.compression_of(handle).ok()).collect()
}

/// Further names are only counted: prefix compression lets a small file hold very many.
const MAX_NAMES: usize = 16;

#[derive(Default, PartialEq, Eq, Debug)]
pub(crate) struct Metaindex {
    names: Vec<Name>,
    more: u64,
    /// The first damage in the entries. `None` also if nothing can be read: the table's filter error then says why.
    pub error: Option<String>,
}

impl Metaindex {
    pub(crate) fn read<R>(table: &Table<R>) -> Self {
        let mut read = Self::default();
        let Some(mut entries) = table.metaindex() else { return read };
        loop {
            match entries.next() {
                Ok(false) => return read,
                Ok(true) if read.names.len() < MAX_NAMES => read.names.push(Name::cut(entries.key())),
                Ok(true) => read.more += 1,
                Err(error) => {
                    read.error = Some(error.without_path().to_string());
                    return read;
                }
            }
        }
    }

    /// Followed by the number of further names, if any.
    pub(crate) fn names(&self) -> Vec<Name> {
        let more = (self.more > 0).then(|| Name::cut(format!("... and {} more", self.more).as_bytes()));
        self.names.iter().cloned().chain(more).collect()
    }

    /// The policies that have filters in this table, known or not, among the names listed.
    pub(crate) fn filter_names(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().filter_map(|name| name.as_bytes().strip_prefix(b"filter."))
    }
}
