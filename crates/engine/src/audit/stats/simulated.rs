//! Simulated tables: the intervals of the numbers of entries and keys contain the true numbers as often as they claim.

use bytes::Bytes;
use filterblock::table::{Compression, Table, TableBuilder, WriteOptions};

use super::table::{Reach, TableStats};
use crate::audit::rates::SplitMix;
use crate::audit::rates::simulated::{Held, TABLES, printed_quantile};
use crate::audit::reading::read_options;

/// A table, and the numbers of entries and of different keys in each of its data blocks.
struct Simulated {
    table: Table<Bytes>,
    entries: Vec<f64>,
    keys: Vec<f64>,
}

/// The size of a value at the position `at` of a table, from 0 to 1. `kind`: one of five kinds of tables.
fn value_size(kind: u64, at: f64, random: &mut SplitMix) -> usize {
    let size = match kind {
        0 => 400.0 * random.share(),
        // One value in five is large.
        1 if random.next().is_multiple_of(5) => 600.0,
        1 => 20.0,
        // A long tail.
        2 => -100.0 * (1.0 - random.share()).ln(),
        // Sizes grow along the table.
        3 => 300.0 * at * random.share(),
        // Waves.
        _ => 150.0 + 140.0 * (at * 30.0).sin(),
    };
    size as usize
}

/// A table of internal keys: each user key has one to three versions.
fn simulated(kind: u64, random: &mut SplitMix) -> Simulated {
    let options = WriteOptions::default().block_size(600).compression(Compression::None).internal_keys(true);
    let mut builder = TableBuilder::new(Vec::new(), options);
    let keys = 320 + random.next() % 400;
    let mut all = Vec::new();
    for key in 0..keys {
        for version in (1..=1 + random.next() % 3).rev() {
            let internal = [format!("{key:06}").as_bytes(), &(version << 8 | 1).to_le_bytes()].concat();
            let size = value_size(kind, key as f64 / keys as f64, random);
            builder.add(&internal, &[7; 600][..size.min(600)]).unwrap();
            all.push(key);
        }
    }
    let table = Table::open(Bytes::from(builder.finish().unwrap().0), &read_options()).unwrap();
    let (mut entries, mut different, mut last) = (Vec::new(), Vec::new(), None);
    let mut all = all.into_iter();
    for handle in table.data_blocks() {
        let mut block = table.block_cursor(handle.unwrap()).unwrap();
        let (mut number, mut of_block) = (0.0, 0.0);
        while block.next().unwrap() {
            let key = all.next();
            number += 1.0;
            of_block += f64::from(u8::from(key != last));
            last = key;
        }
        entries.push(number);
        different.push(of_block);
    }
    Simulated { table, entries, keys: different }
}

/// The half width of the interval of a sum that is estimated from a simple random sample of `sampled` blocks, with
/// `degrees` degrees of freedom.
fn half_width(blocks: &[f64], sampled: f64, degrees: usize) -> f64 {
    let number = blocks.len() as f64;
    let mean = blocks.iter().sum::<f64>() / number;
    let variance = blocks.iter().map(|block| (block - mean).powi(2)).sum::<f64>() / (number - 1.0);
    printed_quantile(degrees) * number * ((1.0 - sampled / number) * variance / sampled).sqrt()
}

/// Simulates tables of the first `kinds` kinds, and looks at a sample of each.
fn check(what: &str, reach: Reach, kinds: u64, sampled: f64, degrees: usize) {
    let (mut entries, mut keys) = (Held::default(), Held::default());
    let mut random = SplitMix(7);
    for number in 0..TABLES {
        let of = simulated(number % kinds, &mut random);
        assert!((66..544).contains(&of.entries.len()), "{}", of.entries.len());
        let counts = TableStats::new(&of.table, None, 0, reach).counts;
        let (found, distinct) = (counts.entries.unwrap(), counts.distinct_keys.unwrap());
        assert!(!found.is_exact() && !distinct.is_exact());
        let half = |blocks: &[f64]| half_width(blocks, sampled, degrees);
        entries.add((found.low as f64, found.high as f64), of.entries.iter().sum(), half(&of.entries));
        keys.add((distinct.low as f64, distinct.high as f64), of.keys.iter().sum(), half(&of.keys));
    }
    entries.check(&format!("entries, {what}"));
    keys.check(&format!("distinct keys, {what}"));
}

#[test]
fn numbers_of_a_sample_hold() {
    check("spread", Reach::Spread, 5, 16.0, 8);
}

/// The kinds of tables in which adjacent blocks differ as much as distant ones do.
#[test]
fn numbers_of_three_places_hold() {
    check("places", Reach::Places, 3, 16.0, 2);
}

#[test]
fn numbers_of_all_blocks_are_exact() {
    let mut random = SplitMix(8);
    for number in 0..TABLES / 10 {
        let of = simulated(number % 5, &mut random);
        let counts = TableStats::new(&of.table, None, 0, Reach::All).counts;
        let (found, distinct) = (counts.entries.unwrap(), counts.distinct_keys.unwrap());
        assert!(found.is_exact() && distinct.is_exact());
        let sum = |blocks: &[f64]| blocks.iter().sum::<f64>() as u64;
        assert_eq!((found.value, distinct.value), (sum(&of.entries), Some(sum(&of.keys))));
    }
}
