//! The bits per key and ranges of the filters that the tables have.

use std::{collections::BTreeMap, ops::RangeInclusive};

use filterblock::table::{ReadAt, Table};
use filterblock::{FilterPolicy as _, LegacyHash, Result};

use super::candidates::probes_of;
use super::hash_evidence::HashCheck;
use super::input::Input;
use super::lookups::{Survey, TableFilters};
use crate::run::map;
use crate::{
    audit::key_encoding::KeyEncoding, audit::policies::Policy, audit::reading::decode_limit_of,
    audit::stats::LEGACY_POLICY_NAME,
};

/// Tables of a level whose bits per key are determined.
const SURVEYED: usize = 2;

pub(super) fn is_usable(filters: &TableFilters, policy: Policy) -> bool {
    filters.sound && filters.name.as_deref() == Some(policy.name())
}

/// (`base_lg`, bits per key) in use. Each table surveyed weighs as much as its level has usable tables in `chosen`.
pub(super) fn in_use(
    input: &Input<'_>,
    survey: &Survey,
    policy: Policy,
    chosen: &[usize],
) -> BTreeMap<(u8, u32), u64> {
    let mut of_levels: BTreeMap<Option<u8>, Vec<usize>> = BTreeMap::new();
    for &table in chosen {
        let filters = survey.get(table).and_then(|filters| filters.as_ref().ok());
        if filters.is_some_and(|filters| is_usable(filters, policy)) {
            of_levels.entry(input.level(table)).or_default().push(table);
        }
    }
    let spread = |tables: Vec<usize>| {
        let step = tables.len().div_ceil(SURVEYED).max(1);
        let weight = tables.len() as u64;
        tables.into_iter().step_by(step).map(move |table| (table, weight))
    };
    let looked_at: Vec<_> = of_levels.into_values().flat_map(spread).collect();
    let found = map(input.jobs, looked_at, |(table, weight)| {
        let opened = input.open(table).ok()?;
        let bits = bits_in_use(&opened, policy, input.encoding).ok()??;
        Some(((opened.filter()?.base_lg(), bits), weight))
    });
    let mut counts = BTreeMap::new();
    found.into_iter().flatten().for_each(|(pair, weight)| *counts.entry(pair).or_default() += weight);
    counts
}

/// `None`: none of the first 16 tables with filters under the shared name reveals their hash.
pub(super) fn hash_in(input: &Input<'_>, survey: &Survey) -> Option<LegacyHash> {
    let is_named =
        |filters: &TableFilters| filters.sound && filters.name.as_deref() == Some(LEGACY_POLICY_NAME);
    let named = survey.iter().enumerate().filter(|(_, filters)| filters.as_ref().is_ok_and(is_named));
    named.take(16).find_map(|(table, _)| hash_in_use(&input.open(table).ok()?, input.encoding).ok()?)
}

/// `None`: another policy, no number of bits explains the sizes of all filters, or not all keys can be counted.
fn bits_in_use<R: ReadAt>(table: &Table<R>, policy: Policy, encoding: KeyEncoding) -> Result<Option<u32>> {
    const CANDIDATES: RangeInclusive<u32> = 1..=100;
    let name = policy.name();
    let Some(reader) = table.filter().filter(|reader| reader.policy().name() == name) else {
        return Ok(None);
    };
    let mut left = decode_limit_of(table);
    let mut counts: Vec<(u64, u64)> = Vec::new();
    let mut block = table.index();
    let mut end = 0;
    for handle in table.data_blocks() {
        let handle = handle?;
        if left == 0 || handle.offset < end {
            return Ok(None);
        }
        end = handle.end().unwrap_or(u64::MAX);
        block.enter(table, handle)?;
        left = left.saturating_sub(block.size() as u64);
        let mut keys = 0;
        while block.next()? {
            left = left.saturating_sub(block.key().len() as u64);
            keys += u64::from(encoding.filtered(block.key()).is_some());
        }
        let index = handle.offset >> u32::from(reader.base_lg()).min(63);
        match counts.last_mut() {
            Some((last, count)) if *last == index => *count += keys,
            _ => counts.push((index, keys)),
        }
    }
    let filters: Vec<(u64, usize, u32)> = counts
        .into_iter()
        .filter_map(|(index, keys)| {
            let filter = reader.filter(usize::try_from(index).ok()?)?;
            Some((keys, filter.len(), policy.with_bits(0).describe(filter)?.probes))
        })
        .collect();
    let explains = |bits: &u32| {
        let policy = policy.with_bits(*bits);
        filters.iter().all(|&(keys, len, _)| {
            usize::try_from(keys).is_ok_and(|keys| policy.filter_len(keys) == Some(len))
        })
    };
    let fitting: Vec<u32> = CANDIDATES.filter(explains).collect();
    // Several numbers may fit small filters: k may then decide.
    let probes = filters.first().map(|&(.., probes)| probes);
    let by_probes = fitting.iter().find(|&&bits| probes_of(policy, bits) == probes);
    Ok(by_probes.or(fitting.first()).copied().filter(|_| !filters.is_empty()))
}

/// Stops at the data block that reveals the hash.
fn hash_in_use<R: ReadAt>(table: &Table<R>, encoding: KeyEncoding) -> Result<Option<LegacyHash>> {
    let mut check = HashCheck::new(table);
    let mut left = decode_limit_of(table);
    let mut block = table.index();
    let mut end = 0;
    for handle in table.data_blocks() {
        let handle = handle?;
        check.begin_block(handle.offset);
        if left == 0 || handle.offset < end || check.revealed().is_some() {
            break;
        }
        end = handle.end().unwrap_or(u64::MAX);
        block.enter(table, handle)?;
        left = left.saturating_sub(block.size() as u64);
        while block.next()? {
            left = left.saturating_sub(block.key().len() as u64);
            encoding.filtered(block.key()).into_iter().for_each(|key| check.key(key));
        }
    }
    check.begin_block(end);
    Ok(check.revealed())
}
