//! Times the building of filter blocks.

use std::sync::Arc;

use anyhow::{Result, ensure};
use filterblock::{
    BloomFilterPolicy, FilterBlockBuilder, FilterPolicy, InternalFilterPolicy, KeyBuf, SharedPolicy,
};
use filterblock_interop::leveldb::speed::{Loops, Slices};
use sstable::filter::{BloomPolicy, FilterPolicy as _};

use super::data::{SUFFIX, build, build_runs, describe, keys, runs, slices};
use super::report::{Row, Section};
use super::timing::{Aims, Measure, Turns, levels, set};

pub(crate) fn run(rounds: usize, count: usize) -> Result<Section> {
    let mut rows = Vec::new();
    for len in [Some(16), Some(64), None] {
        for per_filter in [40, 200] {
            rows.extend(case(rounds, count, len, per_filter, 10)?);
        }
    }
    Ok(Section::new("Building filter blocks", rows))
}

/// Times filters that [`run`] leaves out: of keys of other lengths, of other numbers of bits a key,
/// and of few keys.
pub(crate) fn others(rounds: usize, count: usize) -> Result<Section> {
    let mut rows = Vec::new();
    for len in [0, 4, 8, 24] {
        for per_filter in [40, 200] {
            rows.extend(case(rounds, count, Some(len), per_filter, 10)?);
        }
    }
    for bits in [1, 5, 20, 44] {
        rows.extend(case(rounds, count, Some(16), 40, bits)?);
    }
    // Few keys a filter, as with values of 1 KiB to 4 KiB.
    for len in [16, 100] {
        for per_filter in [1, 2, 3, 4, 6] {
            rows.extend(case(rounds, count / 8, Some(len), per_filter, 10)?);
        }
    }
    Ok(Section::new("Building, other keys and bits", rows))
}

pub(crate) fn one_filter(rounds: usize, count: usize) -> Result<Section> {
    Ok(Section::new("Building one filter for the table", case(rounds, count, Some(16), count, 10)?))
}

/// Aims for keys added one by one, and for many together.
fn aims(len: Option<usize>, per_filter: usize, bits: u32) -> (Option<Aims>, Option<Aims>) {
    match (len, per_filter, bits) {
        (Some(16), 40, 10) => (Some([2.4, 3.8, 5.0]), Some([2.8, 4.5, 6.5])),
        (Some(16), 200, 10) => (Some([2.6, 4.0, 5.5]), Some([3.0, 4.8, 7.0])),
        (Some(64), 40, 10) => (Some([2.0, 3.0, 3.8]), None),
        (Some(64), 200, 10) => (Some([2.3, 3.3, 4.2]), None),
        (None, _, 10) => (Some([1.8, 2.0, 2.3]), None),
        (Some(16), 1..=3, 10) => (Some([1.3; 3]), None),
        (Some(100), 1..=3, 10) => (Some([1.0; 3]), None),
        (Some(16), 201.., 10) => (Some([3.2, 3.6, 4.5]), None),
        _ => (None, None),
    }
}

/// A builder, and the block that it made last.
struct Builder<P: FilterPolicy>(FilterBlockBuilder<P>, Vec<u8>);

impl<P: FilterPolicy> Builder<P> {
    fn new(policy: P) -> Self {
        Self(FilterBlockBuilder::new(policy), Vec::new())
    }

    fn build(&mut self, keys: &[&[u8]], per_filter: usize) {
        build(&mut self.0, keys, per_filter, &mut self.1);
    }

    fn build_runs(&mut self, runs: &[KeyBuf]) {
        build_runs(&mut self.0, runs, &mut self.1);
    }
}

fn case(rounds: usize, count: usize, len: Option<usize>, per_filter: usize, bits: u32) -> Result<Vec<Row>> {
    let owned = keys(0, count, len, &[]);
    let plain = slices(&owned);
    let owned_internal = keys(0, count, len, &SUFFIX);
    let internal = slices(&owned_internal);
    let (of_plain, of_internal) = (runs(&plain, per_filter), runs(&internal, per_filter));
    let (raw, raw_internal) = (Slices::new(&plain), Slices::new(&internal));
    let (loops, internal_loops) = (Loops::new(bits, false), Loops::new(bits, true));

    let policy = BloomFilterPolicy::new(bits);
    let shared: SharedPolicy = Arc::new(policy);
    let [mut one, mut together] = [Builder::new(policy), Builder::new(policy)];
    let mut shared = Builder::new(shared);
    let [mut one_internal, mut together_internal] = [InternalFilterPolicy::new(policy); 2].map(Builder::new);

    let expected = loops.build(&raw, per_filter);
    for level in levels() {
        set(level);
        one.build(&plain, per_filter);
        together.build_runs(&of_plain);
        shared.build(&plain, per_filter);
        one_internal.build(&internal, per_filter);
        together_internal.build_runs(&of_internal);
        let blocks = [&one.1, &together.1, &shared.1, &one_internal.1, &together_internal.1];
        ensure!(blocks.iter().all(|block| **block == expected), "blocks differ at {level:?}");
    }
    ensure!(expected.starts_with(&sstable_filters(&plain, per_filter, bits)), "sstable's filters differ");

    let (by_key, by_run) = aims(len, per_filter, bits);
    let case = format!("{}, {per_filter} a filter, k {}", describe(len), policy.probes());
    let mut turns = Turns::new(&case, count);
    turns.fixed("LevelDB", || loops.build(&raw, per_filter));
    turns.fixed("`sstable`", || sstable_filters(&plain, per_filter, bits));
    let by_key = turns.faster("", by_key, || one.build(&plain, per_filter));
    turns.faster("`add_keys`", by_run, || together.build_runs(&of_plain));
    let shared = turns.ours(|| shared.build(&plain, per_filter));
    turns.row("`SharedPolicy`, by the first row", shared, Measure::FasterThanOurs(by_key), Some([0.9; 3]));
    let theirs = turns.fixed("LevelDB, internal keys", || internal_loops.build(&raw_internal, per_filter));
    let by_key = turns.ours(|| one_internal.build(&internal, per_filter));
    turns.row("internal keys", by_key, Measure::Faster(theirs), None);
    let by_run = turns.ours(|| together_internal.build_runs(&of_internal));
    turns.row("internal keys, `add_keys`", by_run, Measure::Faster(theirs), None);
    Ok(turns.run(rounds))
}

/// Calls the policy as sstable's own block builder does. That builder is private.
fn sstable_filters(keys: &[&[u8]], per_filter: usize, bits: u32) -> Vec<u8> {
    let policy = BloomPolicy::new(bits);
    let (mut filters, mut run, mut starts) = (Vec::new(), Vec::new(), Vec::new());
    for keys in keys.chunks(per_filter) {
        run.clear();
        starts.clear();
        for key in keys {
            starts.push(run.len());
            run.extend_from_slice(key);
        }
        filters.extend_from_slice(&policy.create_filter(&run, &starts));
    }
    filters
}
