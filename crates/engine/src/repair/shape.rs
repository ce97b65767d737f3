//! The properties of new tables, chosen by those of the saved tables.

use std::collections::BTreeMap;

use filterblock::table::Compression;
use filterblock::{FilterPolicy as _, Keys, LegacyHash};

use super::RepairRequest;
use super::ledger::table_losses;
use super::members::{OldFile, Role};
use super::order::KeyOrder;
use super::table::SavedTable;
use super::tables::Shape;
use crate::audit::Policy;
use crate::audit::stats::LEGACY_POLICY_NAME;
use crate::write::failure::needs_hash;
use crate::write::{Input, Result};

/// Bits per key if no live table without losses has filters of a known size.
const DEFAULT_BITS: u32 = 10;
/// In bytes, if no live table has a readable block to take it from.
const USUAL_BLOCK: u64 = 4096;
/// Bits per key at most.
const MAX_BITS: u32 = 100;
/// Between which new tables end, in bytes.
const TABLE_SIZES: (u64, u64) = (2 << 20, 64 << 20);

/// `filters`: the policy's name and the bits per key. `note`: for example why no filters are made.
pub(super) struct Chosen {
    pub(super) shape: Shape,
    pub(super) filters: Option<(String, u32)>,
    pub(super) note: Option<String>,
}

pub(super) fn choose(
    members: &[OldFile],
    order: &KeyOrder,
    request: &RepairRequest,
    input: Input<'_>,
) -> Result<Chosen> {
    let live = members.iter().filter(|member| member.role == Role::Live);
    let live: Vec<_> = live.filter_map(|member| Some((member, member.table()?))).collect();
    let sum =
        |of: fn(&SavedTable) -> u64| live.iter().fold(0_u64, |sum, (_, table)| sum.saturating_add(of(table)));
    let blocks = sum(|table| table.facts.blocks);
    let block = sum(|table| table.facts.block_bytes).checked_div(blocks).unwrap_or(USUAL_BLOCK);
    let snappy = sum(|table| table.facts.snappy_blocks);
    let largest = live.iter().map(|(member, _)| member.len).max().unwrap_or_default();
    let mut shape = Shape {
        order: *order,
        block_size: power_of_two_near(block),
        compression: if snappy > 0 { Compression::Snappy } else { Compression::None },
        table_size: largest.clamp(TABLE_SIZES.0, TABLE_SIZES.1),
        policy: None,
        is_sst: !live.is_empty() && live.iter().all(|(member, _)| member.name.ends_with(".sst")),
    };
    let Some(name) = request.policy.clone().or_else(|| most_common(&live)) else {
        let is_asked = request.bits_per_key.is_some() || request.hash.is_some();
        let note = is_asked
            .then(|| "no filters were made, as live tables have none; --policy asks for some".to_owned());
        return Ok(Chosen { shape, filters: None, note });
    };
    if has_ambiguous_keys(members) {
        let note = "no filters were made, as the comparator takes keys of different bytes for equal here";
        return Ok(Chosen { shape, filters: None, note: Some(note.to_owned()) });
    }
    let hash = match request.hash {
        Some(hash) => Ok(hash),
        None if name == LEGACY_POLICY_NAME => hash_told(input, &live),
        None => Ok(LegacyHash::Unsigned),
    };
    let hash = match hash {
        Ok(hash) => hash,
        Err(failure) if failure.is_refusal() && request.policy.is_none() => {
            let note = format!("no filters were made: {failure}");
            return Ok(Chosen { shape, filters: None, note: Some(note) });
        }
        Err(failure) => return Err(failure),
    };
    let Some(policy) = Policy::of(&name, hash) else {
        if request.policy.is_some() {
            return Err(input.refused(format!("the policy {name} is not known here")));
        }
        let note = format!("no filters were made, as the policy {name} of the tables is not known");
        return Ok(Chosen { shape, filters: None, note: Some(note) });
    };
    let bits = request.bits_per_key.unwrap_or_else(|| bits_per_key(&live, policy));
    shape.policy = Some(policy.with_bits(bits));
    let is_needless = request.hash.is_some() && name != LEGACY_POLICY_NAME;
    let note =
        is_needless.then(|| format!("--hash is without effect, as it is for {LEGACY_POLICY_NAME} only"));
    Ok(Chosen { shape, filters: Some((name, bits)), note })
}

/// True if the comparator may treat keys with other bytes as equal to one of the new database.
fn has_ambiguous_keys(members: &[OldFile]) -> bool {
    // Obsolete files count where entries of live ones are lost.
    let is_any_lost = !table_losses(members).is_empty();
    let may_count = |member: &&OldFile| is_any_lost || member.role != Role::Obsolete;
    members.iter().filter(may_count).any(OldFile::has_ambiguous_keys)
}

/// The hash that the filters of live tables reveal. Refuses if they reveal none, since the two hashes of lost keys and of
/// logs may differ.
fn hash_told(input: Input<'_>, live: &Live<'_>) -> Result<LegacyHash> {
    let mut told =
        live.iter().filter_map(|(member, table)| Some((&*member.name, table.filters.as_ref()?.hash?)));
    let Some((first, hash)) = told.next() else { return Err(needs_hash(input.dir, "no key tells which")) };
    match told.find(|(_, other)| *other != hash) {
        Some((other, _)) => {
            let why = format!("the filters of {first} and {other} are by different ones");
            Err(needs_hash(input.dir, &why))
        }
        None => Ok(hash),
    }
}

type Live<'m> = [(&'m OldFile, &'m SavedTable)];

fn most_common(live: &Live<'_>) -> Option<String> {
    let mut counts = BTreeMap::<&str, u64>::new();
    let names = live.iter().filter_map(|(_, table)| Some(&*table.filters.as_ref()?.policy));
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    counts.into_iter().max_by_key(|&(_, count)| count).map(|(name, _)| name.to_owned())
}

/// Estimates from live tables without losses; [`DEFAULT_BITS`] if none has filters of a known size. Small filters are
/// rounded up, so the result has to give as many probes as the first filter of a known shape.
fn bits_per_key(live: &Live<'_>, policy: Policy) -> u32 {
    let with = live.iter().filter(|(_, table)| table.lost.is_empty());
    let with = with
        .filter_map(|(_, table)| Some((table.filters.as_ref()?.size, table.facts.entries)))
        .filter(|(size, _)| *size > 0);
    let (bytes, entries) = with.fold((0_u64, 0_u64), |(bytes, entries), (more, keys)| {
        (bytes.saturating_add(more), entries.saturating_add(keys))
    });
    let half = entries / 2;
    let bits = bytes.saturating_mul(8).saturating_add(half).checked_div(entries);
    let bits =
        bits.and_then(|bits| u32::try_from(bits).ok()).map_or(DEFAULT_BITS, |bits| bits.clamp(1, MAX_BITS));
    let probes = live.iter().find_map(|(_, table)| table.filters.as_ref()?.probes);
    probes
        .and_then(|probes| with_probes(policy, probes))
        .map_or(bits, |(least, most)| bits.clamp(least, most))
}

/// The least and the greatest number for which the policy's filters have this many probes.
fn with_probes(policy: Policy, probes: u32) -> Option<(u32, u32)> {
    let probes_with = |bits: u32| {
        let (policy, mut filter) = (policy.with_bits(bits), Vec::new());
        policy.create_filter(Keys::new(b"key", &[0]).ok()?, &mut filter).ok()?;
        policy.describe(&filter).map(|shape| shape.probes)
    };
    let fitting = || (1..=MAX_BITS).filter(|&bits| probes_with(bits) == Some(probes));
    fitting().min().zip(fitting().max())
}

/// Most blocks are slightly larger than the size that was set, and the last blocks of tables are smaller.
fn power_of_two_near(bytes: u64) -> usize {
    let bytes = bytes.clamp(1 << 10, 4 << 20);
    let below = 1_u64 << bytes.ilog2();
    let is_nearer_above = bytes.saturating_mul(5) >= below.saturating_mul(8);
    usize::try_from(if is_nearer_above { below << 1 } else { below }).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_tell_the_bits_a_key_of_small_filters() {
        assert_eq!(with_probes(Policy::Builtin2, 6), Some((9, 10)));
        assert_eq!(with_probes(Policy::Builtin2, 1), Some((1, 2)));
        assert_eq!(with_probes(Policy::Builtin2, 30), Some((44, MAX_BITS)));
        assert_eq!(with_probes(Policy::Builtin2, 31), None);
    }

    #[test]
    fn block_sizes_are_powers_of_two() {
        for (bytes, size) in
            [(0, 1024), (4000, 4096), (4300, 4096), (6000, 4096), (60_000, 65_536), (67_000, 65_536)]
        {
            assert_eq!(power_of_two_near(bytes), size, "{bytes}");
        }
    }
}
