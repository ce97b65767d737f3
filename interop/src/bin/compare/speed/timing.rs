//! Timing in turns.
//!
//! Rounds are short, and of each side the fastest twentieth counts: on a shared machine a median shows what other
//! programs do to the core.

use std::hint::black_box;
use std::time::Instant;

use filterblock::kernel_level::{self, Level};

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
