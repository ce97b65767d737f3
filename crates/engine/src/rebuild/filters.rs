//! The choice of filters for the new tables. Tables are opened, and the filters that they have now are looked at.

use std::collections::{BTreeMap, BTreeSet};

use filterblock::policy::Origin;
use filterblock::table::{ReadOptions, Table};
use filterblock::{FilterBlockReader, InternalFilterPolicy, LegacyBloomPolicy, LegacyHash, SharedPolicy};

use super::request::{FilterRequest, RebuildOptions};
use crate::audit::stats::LEGACY_POLICY_NAME;
use crate::audit::{Policy, decode_limit, has_one_hash, read_options};
use crate::report::{ErrorKind, FiltersReport};
use crate::walk::Source;
use crate::write::failure::needs_hash;
use crate::write::{Failure, Input, Result};

/// LevelDB's: one filter per 2 KiB of data blocks.
const DEFAULT_BASE_LG: u8 = 11;

#[derive(Clone, Debug)]
pub(super) enum Filters {
    Drop,
    Make(Maker),
}

#[derive(Clone, Debug)]
pub(super) struct Maker {
    bits: u32,
    policy: Policy,
    base_lg: Option<u8>,
    /// For tables whose own `base_lg` is not known: the most common one of the tables, or else LevelDB's.
    usual_base_lg: u8,
    idb_keys: bool,
}

pub(super) struct TableFilters {
    pub(super) policy: SharedPolicy,
    pub(super) bits_per_key: u32,
    pub(super) base_lg: u8,
    /// Keys have to be checked: in the order of Chromium's IndexedDB, some keys equal keys with other bytes.
    pub(super) idb_keys: bool,
}

impl Filters {
    /// Chooses the filters for the database. `found`: the live tables' names, and the filters that each has.
    pub(super) fn choose(
        request: &RebuildOptions,
        idb_keys: bool,
        input: Input<'_>,
        found: &[(String, Option<FiltersReport>)],
    ) -> Result<Self> {
        let FilterRequest::Make { bits, policy, hash, base_lg } = &request.filters else {
            return Ok(Self::Drop);
        };
        let name = match policy {
            Some(name) => name.clone(),
            // There are no tables to make filters for.
            None if found.is_empty() => return Ok(Self::Drop),
            None => name_in(input, found)?,
        };
        let hash = match hash {
            _ if name != LEGACY_POLICY_NAME => LegacyHash::Unsigned,
            Some(hash) => *hash,
            None => hash_in(input, found, request.keep_undecodable)?,
        };
        let policy = Policy::of(&name, hash).ok_or_else(|| {
            let why = format!("tables have filters of the policy \"{name}\", which is not known here");
            input.refused(why).remedy("--policy chooses another, and --drop removes the filters")
        })?;
        let usual_base_lg = most_common(found.iter().filter_map(|(_, filters)| filters.as_ref()?.base_lg));
        Ok(Self::Make(Maker { bits: *bits, policy, base_lg: *base_lg, usual_base_lg, idb_keys }))
    }

    /// The filters for a table; `None`: it gets no filters. `before`: the filters that it has now.
    pub(super) fn of(&self, before: Option<&FiltersReport>) -> Option<TableFilters> {
        let Self::Make(maker) = self else { return None };
        let own = before.and_then(|filters| filters.base_lg);
        Some(TableFilters {
            policy: maker.policy.with_bits(maker.bits),
            bits_per_key: maker.bits,
            base_lg: maker.base_lg.or(own).unwrap_or(maker.usual_base_lg),
            idb_keys: maker.idb_keys,
        })
    }

    /// The policy's name; `None`: filters are dropped.
    pub(super) fn name(&self) -> Option<String> {
        match self {
            Self::Drop => None,
            Self::Make(maker) => Some(maker.policy.name().to_owned()),
        }
    }
}

fn most_common(numbers: impl Iterator<Item = u8>) -> u8 {
    let mut counts = BTreeMap::<u8, u64>::new();
    numbers.for_each(|number| *counts.entry(number).or_default() += 1);
    counts.into_iter().max_by_key(|&(_, count)| count).map_or(DEFAULT_BASE_LG, |(number, _)| number)
}

/// The name of the policy that all filters of the tables have.
fn name_in(input: Input<'_>, found: &[(String, Option<FiltersReport>)]) -> Result<String> {
    let names: BTreeSet<&str> =
        found.iter().filter_map(|(_, filters)| Some(&*filters.as_ref()?.policy)).collect();
    let mut names = names.into_iter();
    match (names.next(), names.next()) {
        (Some(name), None) => Ok(name.to_owned()),
        (Some(one), Some(other)) => {
            let why = format!("tables have filters of two policies, \"{one}\" and \"{other}\"");
            Err(input.refused(why).remedy("choose with --policy"))
        }
        (None, _) => {
            let why = "no table has filters, so the policy has to be named";
            let cpp = "--policy leveldb.BuiltinBloomFilter2  LevelDB (C++): Bitcoin Core, Minecraft, Chromium's \
                       IndexedDB, Foundry VTT";
            let go = "--policy leveldb.BuiltinBloomFilter   goleveldb: go-ethereum";
            Err(input
                .refused(why)
                .remedy("use the policy of the program, which ignores all others:")
                .remedy(cpp)
                .remedy(go))
        }
    }
}

/// The hash of filters under [`LEGACY_POLICY_NAME`], which stands for two hashes. If no filter reveals which of them, either hash
/// will do as long as both hashes of every stored key are the same.
fn hash_in(
    input: Input<'_>,
    found: &[(String, Option<FiltersReport>)],
    keep_undecodable: bool,
) -> Result<LegacyHash> {
    let HashSeen { told, mut is_either } = hash_of_all(input, found, keep_undecodable)?;
    if let Some(hash) = told {
        return Ok(hash);
    }
    for (name, _) in found.iter().filter(|(_, filters)| !is_old(filters.as_ref())) {
        is_either = is_either && see(input, name, false, keep_undecodable)?.is_either;
    }
    match is_either {
        true => Ok(LegacyHash::Unsigned),
        false => Err(needs_hash(input.dir, "no key tells which")),
    }
}

/// The hash that filters under [`LEGACY_POLICY_NAME`] reveal. `is_either` is only about keys of tables with such filters.
fn hash_of_all(
    input: Input<'_>,
    found: &[(String, Option<FiltersReport>)],
    keep_undecodable: bool,
) -> Result<HashSeen> {
    let (mut told, mut is_either): (Option<(LegacyHash, &str)>, _) = (None, true);
    for (name, _) in found.iter().filter(|(_, filters)| is_old(filters.as_ref())) {
        let seen = see(input, name, true, keep_undecodable)?;
        is_either &= seen.is_either;
        let Some(hash) = seen.told else { continue };
        match told {
            Some((before, other)) if before != hash => {
                let why = format!("the filters of {other} and {name} are by different ones");
                return Err(needs_hash(input.dir, &why));
            }
            _ => told = Some((hash, name)),
        }
    }
    Ok(HashSeen { told: told.map(|(hash, _)| hash), is_either })
}

fn is_old(filters: Option<&FiltersReport>) -> bool {
    filters.is_some_and(|filters| filters.policy == LEGACY_POLICY_NAME)
}

/// What a table's filters and keys reveal. Nothing if the table cannot be decoded and is to stay as it is.
fn see(input: Input<'_>, name: &str, has_filters: bool, keep_undecodable: bool) -> Result<HashSeen> {
    match hash_of(input, name, has_filters) {
        Err(failure) if failure.is_refusal() && keep_undecodable => {
            Ok(HashSeen { told: None, is_either: true })
        }
        seen => seen,
    }
}

struct HashSeen {
    /// The hash with which the filters rule out no stored key, if they rule some out with the other hash.
    told: Option<LegacyHash>,
    /// Both hashes are the same for every key. Known only if `told` is `None`.
    is_either: bool,
}

/// Reads a table's keys until its filters reveal the hash, or nothing more can be learned.
fn hash_of(input: Input<'_>, name: &str, has_filters: bool) -> Result<HashSeen> {
    let table = open(input, name)?;
    let error = |error| Failure::of(error, &input.path_of(name));
    let reader = |hash| {
        let policy = InternalFilterPolicy::new(LegacyBloomPolicy::new(10).with_hash(hash));
        Some(FilterBlockReader::new(policy, table.filter().filter(|_| has_filters)?.contents()))
    };
    let (signed, unsigned) = (reader(LegacyHash::Signed), reader(LegacyHash::Unsigned));
    let (mut fits_signed, mut fits_unsigned, mut is_either) = (true, true, true);
    let Some(first) = table.data_blocks().next() else { return Ok(HashSeen { told: None, is_either }) };
    let mut block = table.block_cursor(first.map_err(error)?).map_err(error)?;
    let mut end = 0;
    for handle in table.data_blocks() {
        input.check()?;
        let handle = handle.map_err(error)?;
        // A table with overlapping blocks is refused when it is rewritten. Until then, no block is read twice.
        if handle.offset < end {
            is_either = false;
            break;
        }
        end = handle.end().unwrap_or(u64::MAX);
        block.enter(&table, handle).map_err(error)?;
        while block.next().map_err(error)? {
            let key = block.key();
            let fits = |reader: &Option<_>| {
                reader
                    .as_ref()
                    .is_none_or(|reader: &FilterBlockReader<_, _>| reader.key_may_match(handle.offset, key))
            };
            fits_signed &= fits(&signed);
            fits_unsigned &= fits(&unsigned);
            let user_key = key.split_last_chunk::<8>().map_or(key, |(user_key, _)| user_key);
            is_either &= has_one_hash(user_key);
        }
        // One key that the filters rule out with only one of the hashes is enough. With both, they reveal nothing.
        if fits_signed != fits_unsigned || (!fits_signed || signed.is_none()) && !is_either {
            break;
        }
    }
    let told = match (fits_signed, fits_unsigned) {
        (true, false) => Some(LegacyHash::Signed),
        (false, true) => Some(LegacyHash::Unsigned),
        _ => None,
    };
    Ok(HashSeen { told, is_either })
}

/// A table of the database before the rebuild.
pub(super) type OldTable = Table<Box<dyn Source>>;

pub(super) fn open(input: Input<'_>, name: &str) -> Result<OldTable> {
    let path = &input.path_of(name);
    let source = input.open_listed(name)?;
    let len = source.len().map_err(|error| Failure::system("looking at it", path, &error))?;
    let options = options().max_output(decode_limit(None, len));
    let table = Table::open(source, &options).map_err(|error| Failure::of(error, path))?;
    Ok(table.with_path(path))
}

pub(super) fn options() -> ReadOptions {
    read_options().internal_keys(true)
}

/// `None`: no filter block with a name was found, or the table does not open and `keep_undecodable` is set.
pub(super) fn survey(input: Input<'_>, name: &str, keep_undecodable: bool) -> Result<Option<FiltersReport>> {
    let table = match open(input, name) {
        Err(failure) if failure.is_refusal() && keep_undecodable => return Ok(None),
        opened => opened?,
    };
    if table.origin() == Some(Origin::Basho) {
        let why = "is Riak's: its tables are only read";
        return Err(Failure::refused(&input.path_of(name), why).of_kind(ErrorKind::Unsupported));
    }
    let Some((policy, handle)) = table.filter_name().zip(table.filter_handle()) else { return Ok(None) };
    let sound = table.filter().filter(|filter| filter.check().is_ok());
    Ok(Some(FiltersReport {
        policy: policy.to_owned(),
        size: handle.size,
        base_lg: sound.map(FilterBlockReader::base_lg),
        bits_per_key: None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_larger_range_and_none_to_leveldbs() {
        assert_eq!(most_common([].into_iter()), 11);
        assert_eq!(most_common([11, 19, 19].into_iter()), 19);
        assert_eq!(most_common([11, 11, 19].into_iter()), 11);
    }
}
