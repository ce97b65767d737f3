//! The filter block of a table: found in the metaindex, or the reason why not.

use std::sync::Arc;

use bytes::Bytes;

use super::block::Block;
use super::format::{BlockHandle, FILTER_PREFIX};
use super::open::needs_range;
use super::position::Position;
use super::read_options::ReadOptions;
use crate::{Error, FilterBlockReader, Result, SharedPolicy, Structure};

/// In the metaindex of Basho's tables, where LevelDB's name stands for another encoding: read as
/// LevelDB's, it denies nearly every key.
const BASHO_STATS: &[u8] = b"stats.sst1";
const AMBIGUOUS_NAME: &str = "leveldb.BuiltinBloomFilter2";

/// The filters that a table is read with, if any, and why there are none.
#[derive(Default)]
pub(super) struct Filters {
    /// The policy whose name was found, and where its filter block is said to be.
    pub(super) found: Option<(SharedPolicy, BlockHandle)>,
    pub(super) reader: Option<FilterBlockReader<SharedPolicy>>,
    pub(super) error: Option<Error>,
}

impl Filters {
    pub(super) fn unreadable(error: Error) -> Self {
        Self { error: Some(error), ..Self::default() }
    }

    /// The first policy of `options` whose name is in the metaindex. Names are compared in full.
    pub(super) fn find(metaindex: &Block, options: &ReadOptions) -> Self {
        let find = || {
            for policy in options.policies() {
                let is_its = |key: &[u8]| key.strip_prefix(FILTER_PREFIX) == Some(policy.name().as_bytes());
                if let Some(entry) = lookup(metaindex, is_its)? {
                    let handle = entry.handle(metaindex)?;
                    return Ok(Some((policy, handle)));
                }
            }
            Ok(None)
        };
        match find() {
            Ok(found) => Self {
                error: found.as_ref().and_then(|found| foreign(metaindex, found)),
                found,
                reader: None,
            },
            Err(error) => Self::unreadable(error),
        }
    }

    /// Has the filter block that was found read by `read`. Fails only where the caller has to fetch something first.
    pub(super) fn load(&mut self, read: impl FnOnce(BlockHandle) -> Result<Bytes>) -> Result<()> {
        let (Some((policy, handle)), None) = (&self.found, &self.error) else { return Ok(()) };
        match read(*handle) {
            Ok(contents) => self.reader = Some(FilterBlockReader::new(Arc::clone(policy), contents)),
            Err(error) if needs_range(&error) => return Err(error),
            Err(error) => self.error = Some(error),
        }
        Ok(())
    }
}

/// Why filters under this name cannot be trusted in this table.
fn foreign(metaindex: &Block, (policy, handle): &(SharedPolicy, BlockHandle)) -> Option<Error> {
    if policy.name() != AMBIGUOUS_NAME {
        return None;
    }
    match lookup(metaindex, |key| key == BASHO_STATS) {
        Ok(None) => None,
        Ok(Some(_)) => Some(Error::Unsupported {
            what: Structure::FilterBlock,
            offset: handle.offset,
            expected: "LevelDB's Bloom filters".into(),
            found: "\"stats.sst1\" in the metaindex, the mark of Basho's".into(),
        }),
        Err(error) => Some(error),
    }
}

/// The first entry whose key is the one sought. The order of the entries does not matter.
fn lookup(metaindex: &Block, is_it: impl Fn(&[u8]) -> bool) -> Result<Option<Position>> {
    let mut at = Position::default();
    while at.next(metaindex)? {
        if is_it(at.key(metaindex)) {
            return Ok(Some(at));
        }
    }
    Ok(None)
}
