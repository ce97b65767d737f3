//! The filter block of a table: found in the metaindex, or the reason why not.

use std::sync::Arc;

use bytes::Bytes;

use super::options::ReadOptions;
use crate::Origin;
use crate::bytes::escape::{escape, quote};
use crate::table::block::Block;
use crate::table::block::Position;
use crate::table::format::{BlockHandle, FILTER_PREFIX};
use crate::table::marks::{is_whole_table_filter, origin_of_name};
use crate::{Error, FilterBlockReader, OpaquePolicy, Result, SharedPolicy, Structure};

/// LevelDB's name, which in Basho's tables stands for another encoding: read as LevelDB's, it denies nearly every key.
const AMBIGUOUS_NAME: &str = "leveldb.BuiltinBloomFilter2";

/// Names that share bytes with the one before are put together up to this length, and to that of the longest one sought. The
/// metaindex may hold longer ones where it takes no further memory.
pub(in crate::table) const MAX_NAME: usize = 4096;

/// The filters that a table is read with, if any, and why there are none.
#[derive(Default)]
pub(in crate::table) struct Filters {
    pub(in crate::table) origin: Option<Origin>,
    pub(in crate::table) found: Option<Found>,
    pub(in crate::table) reader: Option<FilterBlockReader<SharedPolicy>>,
    pub(in crate::table) error: Option<Error>,
}

/// A filter block that the metaindex names.
pub(in crate::table) struct Found {
    /// Without `filter.`.
    pub(in crate::table) name: String,
    pub(in crate::table) handle: BlockHandle,
    /// `None` if nobody asked for this name: the filter block is then not read.
    policy: Option<SharedPolicy>,
}

impl Filters {
    /// The size of the filter block in memory.
    pub(in crate::table) fn contents_len(&self) -> usize {
        self.reader.as_ref().map_or(0, |reader| reader.contents().len())
    }

    pub(in crate::table) fn unreadable(error: Error) -> Self {
        Self { error: Some(error), ..Self::default() }
    }

    /// The first policy of `options` whose name is in the metaindex. Names are compared in full.
    pub(in crate::table) fn find(metaindex: &Block, options: &ReadOptions) -> Self {
        Self::try_find(metaindex, options).unwrap_or_else(Self::unreadable)
    }

    fn try_find(metaindex: &Block, options: &ReadOptions) -> Result<Self> {
        let metaindex = &Names {
            block: metaindex,
            max_name: options.longest_policy_name().saturating_add(FILTER_PREFIX.len()).max(MAX_NAME),
        };
        let origin = origin(metaindex)?;
        let trusted = |policy: &SharedPolicy| {
            origin != Some(Origin::Basho)
                || policy.name() != AMBIGUOUS_NAME
                || policy.reads_dialect(Origin::Basho)
        };
        let policies: Vec<_> = options.policies(origin).collect();
        let none = Self { origin, ..Self::default() };
        if let Some((policy, handle)) = first(metaindex, policies.iter().filter(|policy| trusted(policy)))? {
            return Ok(Self { found: Some(Found::asked_for(policy, handle)), ..none });
        }
        if let Some((policy, handle)) = first(metaindex, policies.iter())? {
            let opaque = Arc::new(OpaquePolicy::new(policy.name().to_owned()));
            let found = Some(Found::asked_for(opaque, handle));
            return Ok(Self { found, error: Some(not_ours(handle)), ..none });
        }
        if policies.is_empty() {
            return Ok(none);
        }
        if let Some(entry) = metaindex.find(is_whole_table_filter)? {
            return Ok(Self { error: Some(whole_table(metaindex.block, &entry)), ..none });
        }
        let is_filter = |name: &[u8]| name.starts_with(FILTER_PREFIX);
        let Some(entry) = metaindex.find(is_filter)? else { return Ok(none) };
        let name = entry.key(metaindex.block).strip_prefix(FILTER_PREFIX).unwrap_or_default();
        let handle = entry.handle(metaindex.block)?;
        let error = Some(unknown(name, handle, policies.len()));
        // A longer name is quoted in the error only: a copy takes memory that nobody checked.
        let found =
            (name.len() <= MAX_NAME).then(|| Found { name: escape(name).to_string(), handle, policy: None });
        Ok(Self { error, found, ..none })
    }

    /// Loads the filter block through `read`. Returns only [`Error::NeedRange`]; any other error is kept
    /// in `self.error`.
    pub(in crate::table) fn load(&mut self, read: impl FnOnce(BlockHandle) -> Result<Bytes>) -> Result<()> {
        let Some(Found { policy: Some(policy), handle, .. }) = &self.found else { return Ok(()) };
        match read(*handle) {
            Ok(contents) => self.reader = Some(FilterBlockReader::new(Arc::clone(policy), contents)),
            Err(error) if error.needs_range() => return Err(error),
            Err(error) => self.error = Some(error),
        }
        Ok(())
    }
}

impl Found {
    fn asked_for(policy: SharedPolicy, handle: BlockHandle) -> Self {
        Self { name: policy.name().to_owned(), handle, policy: Some(policy) }
    }
}

/// Whose mark is in the metaindex.
fn origin(metaindex: &Names<'_>) -> Result<Option<Origin>> {
    let marked = metaindex.find(|name| origin_of_name(name).is_some())?;
    Ok(marked.and_then(|entry| origin_of_name(entry.key(metaindex.block))))
}

/// The first of `policies` whose name is in the metaindex, and the handle there.
fn first<'p>(
    metaindex: &Names<'_>,
    policies: impl Iterator<Item = &'p SharedPolicy>,
) -> Result<Option<(SharedPolicy, BlockHandle)>> {
    for policy in policies {
        let is_its = |key: &[u8]| key.strip_prefix(FILTER_PREFIX) == Some(policy.name().as_bytes());
        if let Some(entry) = metaindex.find(is_its)? {
            return Ok(Some((Arc::clone(policy), entry.handle(metaindex.block)?)));
        }
    }
    Ok(None)
}

/// Why filters under LevelDB's name are not used in Basho's tables.
fn not_ours(handle: BlockHandle) -> Error {
    Error::Unsupported {
        what: Structure::FilterBlock,
        offset: handle.offset,
        expected: "LevelDB's Bloom filters".into(),
        found: "Basho's under the same name, told by \"stats.sst1\" in the metaindex".into(),
    }
}

/// Why filters of a policy that nobody asked for are not used.
fn unknown(name: &[u8], handle: BlockHandle, policies: usize) -> Error {
    Error::Unsupported {
        what: Structure::FilterBlock,
        offset: handle.offset,
        expected: match policies {
            1 => "filters of the policy looked for".into(),
            _ => format!("filters of one of the {policies} policies looked for").into(),
        },
        found: format!("those of {}", quote(name)).into(),
    }
}

/// Why a filter of RocksDB's for the whole table is not used.
fn whole_table(metaindex: &Block, entry: &Position) -> Error {
    Error::Unsupported {
        what: Structure::FilterBlock,
        offset: metaindex.offset(),
        expected: "a filter block".into(),
        found: format!("{}, RocksDB's filter of another kind", quote(entry.key(metaindex))).into(),
    }
}

/// A metaindex in which names are sought.
struct Names<'b> {
    block: &'b Block,
    /// Longer ones are an error where they have to be put together.
    max_name: usize,
}

impl Names<'_> {
    /// The first entry whose key is the one sought. The order of the entries does not matter.
    fn find(&self, is_it: impl Fn(&[u8]) -> bool) -> Result<Option<Position>> {
        let mut at = Position::with_max_key(self.max_name);
        while at.next(self.block)? {
            if is_it(at.key(self.block)) {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }
}
