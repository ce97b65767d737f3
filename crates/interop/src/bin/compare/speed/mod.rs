//! Runs LevelDB's C++ and our code in turns, ours at each level that the processor has, checks that they agree, and
//! prints their times in Markdown tables.
//!
//! Rounds are short, and of each side the fastest twentieth counts: on a shared machine a median shows what other
//! programs do to the core.

mod filters;
mod tables;

use std::hint::black_box;
use std::time::Instant;
use std::{env, fs};

use anyhow::Result;
use clap::{Args, ValueEnum};
use filterblock::kernel_level::{self, Level};
use filterblock_interop::random::Random;

/// Times LevelDB and ours in turns; fails where results differ.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Measurements to make; all unless given
    #[arg(value_enum)]
    sections: Vec<Part>,
    /// Only check that everything runs and agrees: few rounds, small sizes
    #[arg(long)]
    quick: bool,
    /// Rounds, of which the fastest twentieth counts
    #[arg(long, default_value_t = 200)]
    rounds: usize,
    /// Keys of each round of `build` and `ask`
    #[arg(long, default_value_t = 40_000)]
    keys: usize,
    /// The most megabytes of tables for `get`
    #[arg(long, default_value_t = 1000)]
    megabytes: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Building filter blocks
    Build,
    /// Asking for keys one by one and for many at once, in the cache
    Ask,
    /// Writing whole tables
    Write,
    /// Opening tables
    Open,
    /// Looking up one key and many in tables of all sizes, in memory
    Get,
}

pub(crate) fn run(mut arguments: Arguments) -> Result<()> {
    if arguments.quick {
        arguments.rounds = arguments.rounds.min(2);
        arguments.keys = arguments.keys.min(2000);
        arguments.megabytes = 0;
    }
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpu.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split_once(": "));
    println!("- Processor: {}", cpu.map_or(env::consts::ARCH, |(_, name)| name));
    println!("- {}; LevelDB 1.23, Debian's source built with -O2 -DNDEBUG", env!("RUSTC_VERSION"));
    println!(
        "- In turns, in short rounds: the time within which the fastest twentieth of them ends, in nanoseconds"
    );
    println!(
        "  for each key unless stated, and in bold LevelDB's time divided by ours. Ten bits a key, k 6."
    );
    let Arguments { rounds, keys, megabytes, sections, .. } = arguments;
    let parts = if sections.is_empty() { Part::value_variants() } else { &sections };
    parts.iter().try_for_each(|part| match part {
        Part::Build => filters::build(rounds, keys),
        Part::Ask => filters::ask(rounds, keys),
        Part::Write => tables::write(rounds, keys / 4),
        Part::Open => tables::open(rounds, keys),
        Part::Get => tables::get(rounds, megabytes),
    })
}

/// Makes `count` random keys. `len`: the bytes of a key. `None`: 1 to 64 bytes.
fn keys(seed: u64, count: usize, len: Option<usize>) -> Vec<Vec<u8>> {
    let mut random = Random::new(seed);
    let key = |random: &mut Random| {
        let len = len.unwrap_or_else(|| 1 + random.index(64));
        random.bytes(len)
    };
    (0..count).map(|_| key(&mut random)).collect()
}

type Work<'a> = Box<dyn FnMut() + 'a>;

fn boxed<'a, T>(mut work: impl FnMut() -> T + 'a) -> Work<'a> {
    Box::new(move || {
        black_box(work());
    })
}

/// Levels that this processor has.
pub(crate) fn levels() -> Vec<Level> {
    kernel_level::ALL.into_iter().filter(|level| *level <= kernel_level::best()).collect()
}

/// Chooses the level at which all work that follows is done.
pub(crate) fn set(level: Level) {
    assert!(kernel_level::set(level), "the processor has the levels that it is asked for");
}

/// Prints the head of a table.
pub(crate) fn head(title: &str) {
    println!("\n### {title}\n\n| | LevelDB | portable | AVX2 | AVX-512 |\n|---|---|---|---|---|");
}

/// Work to be done in turns.
pub(crate) struct Turns<'a> {
    /// The number of operations of each round; times are printed for each.
    operations: usize,
    /// The number of rounds of the same work in succession.
    run: usize,
    leveldb: Work<'a>,
    ours: Vec<(String, Work<'a>)>,
}

impl<'a> Turns<'a> {
    pub(crate) fn new<T>(operations: usize, leveldb: impl FnMut() -> T + 'a) -> Self {
        Self { operations, run: 1, leveldb: boxed(leveldb), ours: Vec::new() }
    }

    /// Has each work take this many rounds in succession, so that its fastest rounds do not depend on what the work
    /// before it left in the caches.
    pub(crate) fn in_runs_of(self, run: usize) -> Self {
        Self { run, ..self }
    }

    /// Adds work of ours, which is done at each level, and gets a row.
    pub(crate) fn ours<T>(mut self, row: &str, work: impl FnMut() -> T + 'a) -> Self {
        self.ours.push((row.to_owned(), boxed(work)));
        self
    }

    /// Does all work in turns, and prints a row for each of ours.
    pub(crate) fn print(mut self, rounds: usize) {
        let levels = levels();
        let mut theirs = Vec::with_capacity(rounds);
        let mut times = vec![vec![Vec::with_capacity(rounds); levels.len()]; self.ours.len()];
        for _ in 0..rounds.div_ceil(self.run) {
            theirs.extend((0..self.run).map(|_| time(&mut self.leveldb)));
            for ((_, work), times) in self.ours.iter_mut().zip(&mut times) {
                for (&level, times) in levels.iter().zip(times) {
                    set(level);
                    times.extend((0..self.run).map(|_| time(work)));
                }
            }
        }
        let per_operation = |times| fastest(times) / self.operations as f64;
        let theirs = per_operation(theirs);
        for ((row, _), times) in self.ours.iter().zip(times) {
            print!("| {row} | {theirs:.1} |");
            times
                .into_iter()
                .map(per_operation)
                .for_each(|time| print!(" {time:.1} **{:.2}** |", theirs / time));
            println!();
        }
    }
}

fn time(work: &mut Work<'_>) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64
}

/// The time within which the fastest twentieth of all rounds ends.
fn fastest(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 20]
}
