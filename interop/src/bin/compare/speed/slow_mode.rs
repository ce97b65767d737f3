//! Searches for processes that build slower than others for their whole life.

use std::env;
use std::io::{BufRead, BufReader, Write, stdin};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};
use filterblock::{BloomFilterPolicy, FilterBlockBuilder};
use filterblock_interop::leveldb::speed::{Loops, Slices};

use super::data::{build, build_runs, keys, runs, slices};
use super::report::{Cell, Row, Section, Unit, at};
use super::timing::{Turns, levels};

/// The maximum number of rounds of a process each time that it is asked.
const ROUNDS: usize = 40;
/// The largest factor permitted between the slowest process and the median.
const AIM: f64 = 1.3;
/// Processes that are slower than the median by this factor are asked again. If another program took a part of the
/// core, the slowness goes away; a slow mode stays.
const SUSPECT: f64 = 1.1;
/// The largest number of times that suspect processes are asked again.
const AGAIN: usize = 6;

/// Measures whenever a line is read. Prints LevelDB's time and ours at each level, for each number of keys a filter:
/// first for `add_key`, then for `add_keys`.
pub(crate) fn builder(rounds: usize, count: usize) -> Result<()> {
    let owned = keys(0, count, Some(16), &[]);
    let keys = slices(&owned);
    let raw = Slices::new(&keys);
    let loops = Loops::new(10, false);
    let runs = [40, 200].map(|per_filter| (per_filter, runs(&keys, per_filter)));
    let [mut one, mut together] = [(); 2].map(|()| FilterBlockBuilder::new(BloomFilterPolicy::new(10)));
    let [mut block, mut other] = [Vec::new(), Vec::new()];
    for line in stdin().lines() {
        line?;
        for (per_filter, runs) in &runs {
            let mut turns = Turns::new("", count);
            turns.fixed("LevelDB", || loops.build(&raw, *per_filter));
            turns.faster("", None, || build(&mut one, &keys, *per_filter, &mut block));
            turns.faster("", None, || build_runs(&mut together, runs, &mut other));
            let rows = turns.run(rounds);
            let leveldb = rows[0].fixed[0].1;
            for row in &rows {
                print!("{leveldb} ");
                row.levels.iter().for_each(|cell| print!("{} ", cell.time));
            }
        }
        println!();
    }
    Ok(())
}

/// A process that measures when it is asked, until it is dropped.
struct Builder {
    process: Child,
    asked: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// The shortest time of each case so far.
    least: Vec<f64>,
}

impl Builder {
    fn new(arguments: &[String]) -> Result<Self> {
        let mut process = Command::new(env::current_exe()?)
            .arg("speed")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let asked = process.stdin.take().context("its input")?;
        let answers = BufReader::new(process.stdout.take().context("its output")?);
        Ok(Self { process, asked, answers, least: Vec::new() })
    }

    fn measure(&mut self, count: usize) -> Result<()> {
        writeln!(self.asked)?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let times = line.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        ensure!(times.len() == count, "{} times instead of {count}", times.len());
        self.least.resize(count, f64::INFINITY);
        self.least.iter_mut().zip(times).for_each(|(least, time)| *least = least.min(time));
        Ok(())
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        // The process has nothing to lose.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// For each case, its shortest time in each of these processes.
fn by_case(builders: &[Builder], count: usize) -> Vec<Vec<f64>> {
    (0..count).map(|case| builders.iter().map(|builder| builder.least[case]).collect()).collect()
}

pub(crate) fn run(rounds: usize, processes: usize, count: usize) -> Result<Section> {
    let cases = ["40 a filter", "40 a filter, `add_keys`", "200 a filter", "200 a filter, `add_keys`"];
    let columns = 1 + levels().len();
    let numbers = cases.len() * columns;
    let rounds = format!("--rounds={}", rounds.min(ROUNDS));
    let arguments = ["--builder".to_owned(), rounds, format!("--keys={count}")];
    let mut builders = (0..processes).map(|_| Builder::new(&arguments)).collect::<Result<Vec<_>>>()?;
    builders.iter_mut().try_for_each(|builder| builder.measure(numbers))?;
    let first = by_case(&builders, numbers);
    for _ in 0..AGAIN {
        let medians: Vec<f64> = by_case(&builders, numbers).into_iter().map(|times| at(times, 0.5)).collect();
        for builder in &mut builders {
            if builder.least.iter().zip(&medians).any(|(time, median)| *time > median * SUSPECT) {
                builder.measure(numbers)?;
            }
        }
    }
    let spread =
        |times: &[f64]| times.iter().fold(0.0, |most: f64, time| most.max(*time)) / at(times.to_vec(), 0.5);
    let worst = first.iter().map(|times| spread(times)).fold(0.0, f64::max);
    eprintln!("slow-mode: asked once, the slowest took up to {worst:.2} times the median");
    // For each case, LevelDB's times and ours at each level.
    let times: Vec<Vec<Vec<f64>>> =
        by_case(&builders, numbers).chunks(columns).map(<[Vec<f64>]>::to_vec).collect();
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
