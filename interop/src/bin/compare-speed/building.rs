//! Building filter blocks.

use std::hint::black_box;
use std::sync::Arc;

use anyhow::{Result, ensure};
use fastbloom::BloomFilter;
use filterblock::{BloomFilterPolicy, FilterBlockBuilder, InternalFilterPolicy, SharedPolicy};
use filterblock_interop::leveldb::speed::{Loops, Slices};
use sstable::filter::{BloomPolicy, FilterPolicy as _};

use crate::data::{build, describe, keys, slices};
use crate::timing::{Aim, Table, Timing, base, contender};

/// Internal keys end in a sequence number and a type.
const SUFFIX: [u8; 8] = [1, 7, 0, 0, 0, 0, 0, 0];

pub(crate) fn run(timing: Timing, count: usize) -> Result<()> {
    let mut table = Table::new(timing, "Building filter blocks");
    for len in [Some(0), Some(4), Some(8), Some(16), Some(24), Some(64), None] {
        for per_filter in [40, 200] {
            case(&mut table, count, len, per_filter, 10)?;
        }
    }
    for bits in [1, 5, 20, 44] {
        case(&mut table, count, Some(16), 40, bits)?;
    }
    Ok(())
}

pub(crate) fn one_filter(timing: Timing, count: usize) -> Result<()> {
    case(&mut Table::new(timing, "Building one filter for the table"), count, Some(16), count, 10)
}

fn aim(len: Option<usize>, per_filter: usize, bits: u32) -> Option<Aim> {
    match (len?, per_filter, bits) {
        (16, 40 | 200, 10) => Some(Aim::always(3.5)),
        (24 | 64, 40, 10) => Some(Aim::always(3.0)),
        (16, 201.., 10) => Some(Aim::always(2.5)),
        _ => None,
    }
}

fn case(table: &mut Table, count: usize, len: Option<usize>, per_filter: usize, bits: u32) -> Result<()> {
    let plain = keys(0, count, len, &[]);
    let plain = slices(&plain);
    let with_suffix = keys(0, count, len, &SUFFIX);
    let with_suffix = slices(&with_suffix);
    let (raw, raw_suffix) = (Slices::new(&plain), Slices::new(&with_suffix));
    let (loops, internal_loops) = (Loops::new(bits, false), Loops::new(bits, true));

    let policy = BloomFilterPolicy::new(bits);
    let shared: SharedPolicy = Arc::new(policy);
    let mut builder = FilterBlockBuilder::new(policy);
    let mut shared_builder = FilterBlockBuilder::new(shared);
    let mut internal_builder = FilterBlockBuilder::new(InternalFilterPolicy::new(policy));
    let (mut ours, mut through_shared, mut of_internal) = (Vec::new(), Vec::new(), Vec::new());

    let expected = loops.build(&raw, per_filter);
    build(&mut builder, &plain, per_filter, &mut ours);
    build(&mut shared_builder, &plain, per_filter, &mut through_shared);
    build(&mut internal_builder, &with_suffix, per_filter, &mut of_internal);
    ensure!(ours == expected && through_shared == expected && of_internal == expected, "blocks differ");
    let filters = sstable_filters(&plain, per_filter, bits);
    ensure!(expected.starts_with(&filters), "sstable's filters differ");

    let aim = aim(len, per_filter, bits);
    let contenders = vec![
        base("LevelDB", || loops.build(&raw, per_filter)),
        contender("sstable", || sstable_filters(&plain, per_filter, bits)),
        contender("fastbloom", || fastbloom_filters(&plain, per_filter, bits)),
        contender("ours", || build(&mut builder, &plain, per_filter, &mut ours)).aim(aim),
        contender("through `SharedPolicy`", || {
            build(&mut shared_builder, &plain, per_filter, &mut through_shared);
        }),
        base("LevelDB, internal keys", || internal_loops.build(&raw_suffix, per_filter)),
        contender("ours, internal keys", || {
            build(&mut internal_builder, &with_suffix, per_filter, &mut of_internal);
        })
        .aim(aim),
    ];
    let case = format!("{}, {per_filter} a filter, k {}", describe(len), policy.probes());
    table.row(&case, count, contenders);
    Ok(())
}

/// Calls the policy as sstable's own block builder does, which is private.
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

/// Filters in fastbloom's own format, which is not LevelDB's.
fn fastbloom_filters(keys: &[&[u8]], per_filter: usize, bits: u32) {
    for keys in keys.chunks(per_filter) {
        let bits = (keys.len() * bits as usize).max(64);
        let mut filter = BloomFilter::with_num_bits(bits).seed(&1).expected_items(keys.len());
        for key in keys {
            filter.insert(*key);
        }
        black_box(&filter);
    }
}
