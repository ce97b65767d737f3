//! Timing in turns, and the lines of the report.

use std::hint::black_box;
use std::time::Instant;

/// How to time.
#[derive(Clone, Copy)]
pub(crate) struct Timing {
    pub(crate) rounds: usize,
}

/// What is timed, and who does it.
pub(crate) type Contender<'a> = (&'a str, Box<dyn FnMut() + 'a>);

/// Does the work, and keeps the compiler from dropping what nobody looks at.
pub(crate) fn contender<'a, T>(name: &'a str, mut work: impl FnMut() -> T + 'a) -> Contender<'a> {
    let work = move || {
        black_box(work());
    };
    (name, Box::new(work))
}

impl Timing {
    /// Runs the contenders in turns, LevelDB first, and prints a line: nanoseconds for each of `operations`, and ratios to LevelDB.
    pub(crate) fn line(self, case: &str, operations: usize, mut contenders: Vec<Contender<'_>>) {
        let mut times = vec![Vec::with_capacity(self.rounds); contenders.len()];
        for _ in 0..self.rounds {
            for ((_, work), times) in contenders.iter_mut().zip(&mut times) {
                let start = Instant::now();
                work();
                times.push(start.elapsed().as_nanos() as f64 / operations as f64);
            }
        }
        let medians: Vec<f64> = times.into_iter().map(median).collect();
        let names = contenders.iter().map(|(name, _)| *name);
        print(case, &names.zip(medians).collect::<Vec<_>>());
    }
}

pub(crate) fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A line of medians: the first one's time, the others' time and ratio.
pub(crate) fn print(case: &str, medians: &[(&str, f64)]) {
    let leveldb = medians.first().map_or(f64::NAN, |(_, time)| *time);
    print!("{case:<36}");
    for (index, (name, time)) in medians.iter().enumerate() {
        if index == 0 {
            print!("{name} {time:7.2}");
        } else {
            print!(" | {name} {time:.2} x{:.2}", leveldb / time);
        }
    }
    println!();
}

pub(crate) fn heading(text: &str) {
    println!("\n{text}");
}
