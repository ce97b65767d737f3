//! Finds the filter block in a table's metaindex, or why it is not used.

use std::sync::Arc;

use bytes::Bytes;

use super::options::ReadOptions;
use crate::Origin;
use crate::bytes::escape::{escape, quote};
use crate::table::block::Block;
use crate::table::block::Position;
use crate::table::format::{BlockHandle, FILTER_PREFIX, is_whole_table_filter, origin_of_name};
use crate::{Error, FilterBlockReader, OpaquePolicy, Result, SharedPolicy, Structure};

/// LevelDB's name for its filters. Basho uses it for another encoding: read as LevelDB's, Basho's
/// filters hide nearly every key.
const AMBIGUOUS_NAME: &str = "leveldb.BuiltinBloomFilter2";

/// The greatest length, in bytes, of a name that is put together from shared and own bytes, unless
/// a longer name is looked up. A name that the metaindex stores in one piece may be longer, since it
/// takes no further memory.
pub(in crate::table) const MAX_NAME: usize = 4096;

/// The filters that a table is read with, if any, and the reason if some are not used.
#[derive(Clone, Default)]
pub(in crate::table) struct Filters {
    pub(in crate::table) origin: Option<Origin>,
    /// Why the origin is not known: the metaindex, which bears the mark, cannot be read.
    pub(in crate::table) doubt: Option<Arc<Error>>,
    pub(in crate::table) found: Option<FilterEntry>,
    pub(in crate::table) reader: Option<FilterBlockReader<SharedPolicy>>,
    pub(in crate::table) error: Option<Arc<Error>>,
}

/// A filter block that the metaindex names.
#[derive(Clone)]
pub(in crate::table) struct FilterEntry {
    pub(in crate::table) handle: BlockHandle,
    policy: Asked,
}

/// The policy of filters that were found.
#[derive(Clone)]
enum Asked {
    /// A policy of the options, or an opaque policy in its place. `None` once the reader has taken
    /// the policy.
    For(Option<SharedPolicy>),
    /// Another policy, with this name. The filter block is then not read.
    Not(String),
}

impl Filters {
    /// The length of the filter block in memory, in bytes.
    pub(in crate::table) fn contents_len(&self) -> usize {
        self.reader.as_ref().map_or(0, |reader| reader.contents().len())
    }

    /// The name of the policy of the filters that were found, without `filter.`.
    pub(in crate::table) fn name(&self) -> Option<&str> {
        match &self.found.as_ref()?.policy {
            Asked::For(Some(policy)) => Some(policy.name()),
            Asked::For(None) => self.reader.as_ref().map(|reader| reader.policy().name()),
            Asked::Not(name) => Some(name),
        }
    }

    pub(in crate::table) fn unreadable(error: Error) -> Self {
        let doubt = error
            .noted("; whether the keys are Riak's is not certain", "one that tells whether keys are Riak's");
        Self { doubt: Some(Arc::new(doubt)), error: Some(Arc::new(error)), ..Self::default() }
    }

    /// Finds the filters of the first policy of `options` that the metaindex names or, if there is none,
    /// why the table's filters are not used. Names are compared in full.
    pub(in crate::table) fn find(metaindex: &Block, options: &ReadOptions) -> Self {
        Self::try_find(metaindex, options).unwrap_or_else(Self::unreadable)
    }

    fn try_find(metaindex: &Block, options: &ReadOptions) -> Result<Self> {
        let metaindex = &Names {
            block: metaindex,
            max_name: options.longest_policy_name().saturating_add(FILTER_PREFIX.len()).max(MAX_NAME),
        };
        if let Some(usual) = usual(metaindex, options)? {
            return Ok(usual);
        }
        let origin = origin(metaindex)?;
        let trusted = |policy: &&SharedPolicy| {
            origin != Some(Origin::Basho)
                || policy.name() != AMBIGUOUS_NAME
                || policy.reads_dialect(Origin::Basho)
        };
        let policies = options.policies();
        let none = Self { origin, ..Self::default() };
        if let Some((policy, handle)) = first(metaindex, policies.iter().filter(trusted))? {
            let policy = options.for_stored_keys(policy, origin);
            return Ok(Self { found: Some(FilterEntry::asked_for(policy, handle)), ..none });
        }
        if let Some((policy, handle)) = first(metaindex, policies.iter())? {
            let opaque = Arc::new(OpaquePolicy::new(policy.name().to_owned()));
            let found = Some(FilterEntry::asked_for(opaque, handle));
            return Ok(Self { found, error: Some(not_ours(handle).into()), ..none });
        }
        if policies.is_empty() {
            return Ok(none);
        }
        if let Some(entry) = metaindex.find(is_whole_table_filter)? {
            return Ok(Self { error: Some(whole_table(metaindex.block, &entry).into()), ..none });
        }
        let is_filter = |name: &[u8]| name.starts_with(FILTER_PREFIX);
        let Some(entry) = metaindex.find(is_filter)? else { return Ok(none) };
        let name = entry.key(metaindex.block).strip_prefix(FILTER_PREFIX).unwrap_or_default();
        let handle = entry.handle(metaindex.block)?;
        let error = Some(unknown(name, handle, policies.len()).into());
        // A longer name is only quoted in the error: a copy would take memory that is not accounted
        // for.
        let found = (name.len() <= MAX_NAME)
            .then(|| FilterEntry { handle, policy: Asked::Not(escape(name).to_string()) });
        Ok(Self { error, found, ..none })
    }

    /// Loads the filter block through `read`. Returns no error but [`Error::NeedRange`]; any other
    /// error is kept in `self.error`.
    pub(in crate::table) fn load(&mut self, read: impl FnOnce(BlockHandle) -> Result<Bytes>) -> Result<()> {
        let Some(FilterEntry { policy: Asked::For(policy), handle }) = &mut self.found else { return Ok(()) };
        match read(*handle) {
            Ok(contents) => {
                self.reader = policy.take().map(|policy| FilterBlockReader::new(policy, contents));
            }
            Err(error) if error.needs_range() => return Err(error),
            Err(error) => self.error = Some(error.into()),
        }
        Ok(())
    }
}

impl FilterEntry {
    fn asked_for(policy: SharedPolicy, handle: BlockHandle) -> Self {
        Self { handle, policy: Asked::For(Some(policy)) }
    }
}

/// The filters of a table without marks, found in one walk through the metaindex. `None` if the table has a
/// mark, or if the metaindex names none of the policies.
fn usual(metaindex: &Names<'_>, options: &ReadOptions) -> Result<Option<Filters>> {
    let policies = options.policies();
    let mut first: Option<(usize, Result<BlockHandle>)> = None;
    let mut at = Position::with_max_key(metaindex.max_name);
    while at.next(metaindex.block)? {
        let key = at.key(metaindex.block);
        if origin_of_name(key).is_some() {
            return Ok(None);
        }
        // Only policies that are looked for before the one found still matter.
        let wanted = first.as_ref().map_or(policies.len(), |(number, _)| *number);
        let Some(name) = key.strip_prefix(FILTER_PREFIX) else { continue };
        let number = policies.iter().take(wanted).position(|policy| policy.name().as_bytes() == name);
        if let Some(number) = number {
            first = Some((number, at.handle(metaindex.block)));
        }
    }
    let Some((number, handle)) = first else { return Ok(None) };
    let Some(policy) = policies.get(number) else { return Ok(None) };
    let found = FilterEntry::asked_for(options.for_stored_keys(policy, None), handle?);
    Ok(Some(Filters { found: Some(found), ..Filters::default() }))
}

/// The origin whose mark the metaindex bears, if any.
fn origin(metaindex: &Names<'_>) -> Result<Option<Origin>> {
    let marked = metaindex.find(|name| origin_of_name(name).is_some())?;
    Ok(marked.and_then(|entry| origin_of_name(entry.key(metaindex.block))))
}

/// The first of `policies` that the metaindex names, and the handle of its filter block.
fn first<'p>(
    metaindex: &Names<'_>,
    policies: impl Iterator<Item = &'p SharedPolicy>,
) -> Result<Option<(&'p SharedPolicy, BlockHandle)>> {
    for policy in policies {
        let is_its = |key: &[u8]| key.strip_prefix(FILTER_PREFIX) == Some(policy.name().as_bytes());
        if let Some(entry) = metaindex.find(is_its)? {
            return Ok(Some((policy, entry.handle(metaindex.block)?)));
        }
    }
    Ok(None)
}

/// The error for filters under LevelDB's name in Basho's tables.
fn not_ours(handle: BlockHandle) -> Error {
    Error::Unsupported {
        what: Structure::FilterBlock,
        offset: handle.offset,
        expected: "LevelDB's Bloom filters".into(),
        found: "Basho's under the same name, told by \"stats.sst1\" in the metaindex".into(),
    }
}

/// The error for filters of a policy that the options lack.
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

/// The error for a RocksDB filter of the whole table.
fn whole_table(metaindex: &Block, entry: &Position) -> Error {
    Error::Unsupported {
        what: Structure::FilterBlock,
        offset: metaindex.offset(),
        expected: "a filter block".into(),
        found: format!("{}, RocksDB's filter of another kind", quote(entry.key(metaindex))).into(),
    }
}

/// A metaindex to look names up in.
struct Names<'b> {
    block: &'b Block,
    /// The length, in bytes, beyond which a name is an error if it has to be put together.
    max_name: usize,
}

impl Names<'_> {
    /// The first entry whose key `is_it` accepts. The entries may be in any order.
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
