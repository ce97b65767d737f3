//! Simulated databases: the intervals of sizes and of reads contain the true value as often as they claim.

use super::effect::Traffic;
use super::key_kinds::{ByKind, KeyKind};
use super::tally::{FilterTally, LevelTally, Sum, VisitSum};
use crate::audit::rates::simulated::{Held, TABLES, normal, passed, printed_quantile};
use crate::audit::rates::{Rate, SplitMix};
use crate::report::Estimate;

/// A level of a simulated database.
#[derive(Clone, Copy)]
struct Level {
    tables: u64,
    /// The number of tables that were tried.
    tried: u64,
    /// The number of tables that a lookup may visit, each with the probability `visited`; `None`: one of all tables,
    /// with that probability.
    each: Option<u64>,
    visited: f64,
    /// The mean rate of the tables. 1: the tables have no filters.
    rate: f64,
    /// The standard deviation of the tables' rates, as a share of the mean rate.
    differ: f64,
}

const ASKED: u64 = 200;

/// Simulates a level and some lookups. The rate is estimated from the tables tried, and the mean number of visits from
/// the lookups. Returns the level, the true mean number of reads of a lookup from it, and the squared half width of the
/// reference interval.
fn level(of: &Level, lookups: u64, random: &mut SplitMix) -> (LevelTally, f64, f64) {
    let mut in_use = FilterTally::default();
    let rates: Vec<f64> = (0..of.tables).map(|_| of.rate * (1.0 + of.differ * normal(random))).collect();
    let rates: Vec<f64> = rates.into_iter().map(|rate| rate.clamp(0.0, 1.0)).collect();
    // The tables tried are spread over the level.
    for part in 0..of.tried {
        let at = part * of.tables / of.tried + random.next() % (of.tables / of.tried);
        in_use.passed[KeyKind::Random].add(passed(rates[at as usize], ASKED, random), ASKED, 1.0);
    }
    let mut visits = VisitSum::default();
    for _ in 0..lookups {
        let number: u64 = (0..of.each.unwrap_or(1)).map(|_| u64::from(random.share() < of.visited)).sum();
        visits.visits += number as f64;
        visits.squares += (number * number) as f64;
    }
    let unfiltered = if of.rate < 1.0 { 0 } else { of.tables };
    visits.unfiltered = if of.rate < 1.0 { 0.0 } else { visits.visits };
    let mean = rates.iter().sum::<f64>() / of.tables as f64;
    let each = of.each.unwrap_or(1) as f64;
    let of_visits = each * of.visited * (1.0 - of.visited) / lookups as f64 * mean * mean;
    let between = if of.tried < of.tables { (of.rate * of.differ).powi(2) } else { 0.0 };
    let of_rate = (between + mean * (1.0 - mean) / ASKED as f64) / of.tried as f64;
    let quantile = if of.tried < of.tables { printed_quantile(of.tried as usize - 1) } else { 1.96 };
    let half = 1.96_f64.powi(2) * of_visits + quantile.powi(2) * (each * of.visited).powi(2) * of_rate;
    let level = LevelTally {
        number: Some(1),
        tables: of.tables,
        size: 1,
        unfiltered,
        visits: ByKind::all(visits),
        tried: of.tried,
        filters: vec![in_use],
        ..LevelTally::default()
    };
    (level, each * of.visited * mean, half)
}

fn reads_of(levels: &[Level], lookups: u64, random: &mut SplitMix) -> (Estimate, f64, f64) {
    let (mut facts, mut truth, mut squares) = (Vec::new(), 0.0, 0.0);
    for of in levels {
        let (of_level, reads, square) = level(of, lookups, random);
        facts.push(of_level);
        (truth, squares) = (truth + reads, squares + square);
    }
    (model(facts, lookups).effect(0).reads.unwrap().random, truth, squares.sqrt())
}

fn model(levels: Vec<LevelTally>, lookups: u64) -> Traffic {
    Traffic {
        levels,
        lookups: ByKind::all(lookups),
        deleted: 0.0,
        plausible: [true; 4],
        has_own: false,
        has_tree: true,
    }
}

#[test]
fn reads_hold() {
    let top = Level { tables: 4, tried: 4, each: Some(4), visited: 0.6, rate: 0.05, differ: 0.2 };
    let one = Level { tables: 6, tried: 6, each: None, visited: 0.7, rate: 0.1, differ: 0.3 };
    let large = Level { tables: 600, tried: 4, each: None, visited: 0.9, rate: 0.1, differ: 0.6 };
    let larger = Level { tried: 16, ..large };
    let bare = Level { tables: 3, tried: 3, each: Some(3), visited: 0.4, rate: 1.0, differ: 0.0 };
    let shapes: [(&str, &[Level], u64); 5] = [
        ("all tables", &[top, one], 400),
        ("four tables of a level", &[large], 400),
        ("some tables", &[top, one, larger], 400),
        // Only the number of visits to these tables is not known.
        ("tables without filters", &[bare], 200),
        ("some without filters", &[bare, one, larger], 200),
    ];
    for (what, levels, lookups) in shapes {
        let (mut held, mut random) = (Held::default(), SplitMix(lookups));
        for _ in 0..TABLES {
            let (reads, truth, half) = reads_of(levels, lookups, &mut random);
            held.add((reads.low, reads.high), truth, half);
        }
        held.check(what);
    }
}

/// The size of filters grows with that of the table, more or less.
#[test]
fn sums_of_some_tables_hold_for_all() {
    const ALL: u64 = 400;
    for tried in [2, 3, 5, 16, 100] {
        let (mut held, mut random) = (Held::default(), SplitMix(tried));
        for _ in 0..TABLES {
            let mut table = || {
                let size = 1_000_000 + random.next() % 1_000_000;
                let share = (0.02 + 0.005 * normal(&mut random)).max(0.0);
                ((share * size as f64) as u64, size)
            };
            let tables: Vec<(u64, u64)> = (0..ALL).map(|_| table()).collect();
            let mut sum = Sum::default();
            for part in 0..tried {
                let (value, size) = tables[(part * (ALL / tried) + random.next() % (ALL / tried)) as usize];
                sum.add(value, size);
            }
            let (all, total): (u64, u64) =
                tables.iter().fold((0, 0), |(all, total), (value, size)| (all + value, total + size));
            let estimate = sum.of_all(ALL, total);
            let ratio = all as f64 / total as f64;
            let rest = |&(value, size): &(u64, u64)| (value as f64 - ratio * size as f64).powi(2);
            let variance = tables.iter().map(rest).sum::<f64>() / (ALL - 1) as f64;
            let share = 1.0 - tried as f64 / ALL as f64;
            let error = (share * variance / tried as f64).sqrt() * ALL as f64;
            held.add((estimate.low, estimate.high), all as f64, printed_quantile(tried as usize - 1) * error);
        }
        held.check(&format!("{tried} tables of {ALL}"));
    }
}

/// The reads from all levels add up to the reads of a lookup.
#[test]
fn levels_add_up() {
    let level = |rate| Level { tables: 4, tried: 4, each: Some(4), visited: 0.6, rate, differ: 0.2 };
    let mut random = SplitMix(9);
    let levels = [0.05, 0.2].iter().map(|&rate| self::level(&level(rate), 100, &mut random).0).collect();
    let outcome = model(levels, 100).effect(0);
    let reads = outcome.reads.unwrap();
    let sum: f64 = outcome.levels.iter().map(|level| level.reads.unwrap().value).sum();
    assert_eq!(reads.absent, reads.random);
    assert!((sum - reads.absent.value).abs() < 1e-9 && sum > 0.1, "{sum} {reads:?}");
}

/// Without filters every visit reads a block: nothing but the visits is left to chance.
#[test]
fn all_pass_without_filters() {
    let bare = Level { tables: 2, tried: 2, each: Some(2), visited: 1.0, rate: 1.0, differ: 0.0 };
    let (reads, truth, _) = reads_of(&[bare], 50, &mut SplitMix(1));
    assert_eq!((reads.low, reads.value, reads.high, truth), (2.0, 2.0, 2.0, 2.0));
    assert_eq!(Rate::ALL.rate, 1.0);
}
