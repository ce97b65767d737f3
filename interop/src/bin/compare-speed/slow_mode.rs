//! Is there a process that builds slower than others for its whole life?

use anyhow::{Context, Result};
use filterblock::{BloomFilterPolicy, FilterBlockBuilder};
use filterblock_interop::leveldb::speed::{Loops, Slices};

use crate::data::{build, build_runs, keys, runs, slices};
use crate::processes::another;
use crate::report::{Cell, Row, Section, Unit};
use crate::timing::{Turns, at, levels};

/// Rounds in each process.
const ROUNDS: usize = 40;
/// The slowest process takes at most so many times the median.
const AIM: f64 = 1.3;

/// Measures in one process, and prints LevelDB's time and ours at each level: for each number of keys a
/// filter a line, and another for `add_keys`.
pub(crate) fn builder(rounds: usize, count: usize) -> Result<()> {
    let owned = keys(0, count, Some(16), &[]);
    let keys = slices(&owned);
    let raw = Slices::new(&keys);
    let loops = Loops::new(10, false);
    for per_filter in [40, 200] {
        let runs = runs(&keys, per_filter);
        let [mut one, mut together] = [(); 2].map(|()| FilterBlockBuilder::new(BloomFilterPolicy::new(10)));
        let [mut block, mut other] = [Vec::new(), Vec::new()];
        let mut turns = Turns::new("", count);
        turns.fixed("LevelDB", || loops.build(&raw, per_filter));
        turns.faster("", None, || build(&mut one, &keys, per_filter, &mut block));
        turns.faster("", None, || build_runs(&mut together, &runs, &mut other));
        let rows = turns.run(rounds);
        let leveldb = rows[0].fixed[0].1;
        for row in &rows {
            print!("{leveldb}");
            row.levels.iter().for_each(|cell| print!(" {}", cell.time));
            println!();
        }
    }
    Ok(())
}

pub(crate) fn run(rounds: usize, processes: usize, count: usize) -> Result<Section> {
    let cases = ["40 a filter", "40 a filter, `add_keys`", "200 a filter", "200 a filter, `add_keys`"];
    // For each case, LevelDB's times and ours at each level.
    let mut times = vec![vec![Vec::new(); 1 + levels().len()]; cases.len()];
    let rounds = format!("--rounds={}", rounds.min(ROUNDS));
    let arguments = ["--builder".to_owned(), rounds, format!("--keys={count}")];
    for _ in 0..processes {
        let printed = another(&arguments)?;
        let mut numbers = printed.split_whitespace();
        for times in times.iter_mut().flatten() {
            times.push(numbers.next().context("too few numbers")?.parse()?);
        }
    }
    let row = |(name, times): (&str, Vec<Vec<f64>>)| {
        let mut slowest = times.into_iter().map(|times| {
            let (median, slowest) = (at(times.clone(), 0.5), times.into_iter().fold(0.0, f64::max));
            (slowest, slowest / median)
        });
        let theirs = slowest.next().map_or(f64::NAN, |(_, ratio)| ratio);
        let cell = |(time, value)| Cell { time, value, processes: Vec::new(), aim: Some(AIM) };
        Row {
            name: name.to_owned(),
            unit: Unit::TimesAsLong,
            fixed: vec![("LevelDB's slowest by its median", theirs)],
            levels: slowest.map(cell).collect(),
        }
    };
    let rows = cases.into_iter().zip(times).map(row).collect();
    Ok(Section::new(
        &format!("Building in {processes} processes, 16 bytes: the slowest's time, and that by the median"),
        rows,
    ))
}
