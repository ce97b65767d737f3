//! Timing in turns.
//!
//! Rounds are short, and of each side the fastest twentieth counts: on a shared machine a median
//! shows what other programs do to the core.

use std::hint::black_box;
use std::time::Instant;

use filterblock::kernel_level::{self, Level};

use super::report::{Cell, Row, Unit, at};

type Work<'a> = Box<dyn FnMut() + 'a>;

/// Work that does not depend on the level, such as LevelDB's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fixed(usize);

impl Fixed {
    /// LevelDB's work, which is added first.
    pub(crate) const FIRST: Self = Self(0);
}

/// Work of ours, done at each level.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ours(usize);

/// The number beside a time.
#[derive(Clone, Copy)]
pub(crate) enum Measure {
    /// Their time divided by ours.
    Faster(Fixed),
    /// The time of other work of ours divided by the time of this work, at the same level.
    FasterThanOurs(Ours),
    /// Our time divided by theirs.
    Of(Fixed),
    /// Like `Faster`, but less the time of a dry run on each side.
    Net(Fixed, Fixed, Ours),
    /// The part of our time that the other work of ours does not need.
    Share(Ours),
}

impl Measure {
    const fn unit(self) -> Unit {
        match self {
            Self::Faster(_) | Self::FasterThanOurs(_) | Self::Net(..) => Unit::TimesFaster,
            Self::Of(_) => Unit::TimesAsLong,
            Self::Share(_) => Unit::Share,
        }
    }
}

/// The aims at the levels portable, AVX2 and AVX-512.
pub(crate) type Aims = [f64; 3];

struct Spec {
    name: String,
    ours: Ours,
    measure: Measure,
    aims: Option<Aims>,
}

/// Work to be done in turns, and the rows that its times make.
pub(crate) struct Turns<'a> {
    case: String,
    operations: usize,
    fixed: Vec<(&'static str, Work<'a>)>,
    ours: Vec<Work<'a>>,
    rows: Vec<Spec>,
    /// The number of rounds of the same work in succession.
    run: usize,
}

/// Levels that this processor has.
pub(crate) fn levels() -> Vec<Level> {
    kernel_level::ALL.into_iter().filter(|level| *level <= kernel_level::best()).collect()
}

/// Chooses the level at which all work that follows is done.
pub(crate) fn set(level: Level) {
    assert!(kernel_level::set(level), "the processor has the levels that it is asked for");
}

fn boxed<'a, T>(mut work: impl FnMut() -> T + 'a) -> Work<'a> {
    Box::new(move || {
        black_box(work());
    })
}

impl<'a> Turns<'a> {
    /// Begins a case, each round of which does `operations` operations. Times are printed per operation.
    pub(crate) fn new(case: &str, operations: usize) -> Self {
        let (fixed, ours, rows) = (Vec::new(), Vec::new(), Vec::new());
        Self { case: case.to_owned(), operations, fixed, ours, rows, run: 1 }
    }

    /// Has each work take this many rounds in succession, so that its fastest rounds do not depend on what the work
    /// before it left in the caches.
    pub(crate) fn in_runs_of(self, run: usize) -> Self {
        Self { run, ..self }
    }

    /// Adds work that has no levels. LevelDB's work must be the first.
    pub(crate) fn fixed<T>(&mut self, name: &'static str, work: impl FnMut() -> T + 'a) -> Fixed {
        self.fixed.push((name, boxed(work)));
        Fixed(self.fixed.len() - 1)
    }

    /// Adds work that is done at each level.
    pub(crate) fn ours<T>(&mut self, work: impl FnMut() -> T + 'a) -> Ours {
        self.ours.push(boxed(work));
        Ours(self.ours.len() - 1)
    }

    /// Adds a row for the times of this work.
    pub(crate) fn row(&mut self, name: &str, ours: Ours, measure: Measure, aims: Option<Aims>) {
        self.rows.push(Spec { name: name.to_owned(), ours, measure, aims });
    }

    /// Adds work, and a row that shows how much faster it is than LevelDB's.
    pub(crate) fn faster<T>(&mut self, name: &str, aims: Option<Aims>, work: impl FnMut() -> T + 'a) -> Ours {
        let ours = self.ours(work);
        self.row(name, ours, Measure::Faster(Fixed::FIRST), aims);
        ours
    }

    /// Does all work in turns, and returns the rows.
    pub(crate) fn run(mut self, rounds: usize) -> Vec<Row> {
        let levels = levels();
        let mut fixed_times = vec![Vec::with_capacity(rounds); self.fixed.len()];
        let mut our_times = vec![vec![Vec::with_capacity(rounds); levels.len()]; self.ours.len()];
        for _ in 0..rounds.div_ceil(self.run) {
            let run = self.run;
            for ((_, work), times) in self.fixed.iter_mut().zip(&mut fixed_times) {
                times.extend((0..run).map(|_| time(work)));
            }
            for (work, times) in self.ours.iter_mut().zip(&mut our_times) {
                for (&level, times) in levels.iter().zip(times) {
                    set(level);
                    times.extend((0..run).map(|_| time(work)));
                }
            }
        }
        let per_operation = |times: Vec<f64>| fastest(times) / self.operations as f64;
        let fixed: Vec<f64> = fixed_times.into_iter().map(per_operation).collect();
        let ours: Vec<Vec<f64>> =
            our_times.into_iter().map(|times| times.into_iter().map(per_operation).collect()).collect();
        self.rows(&fixed, &ours)
    }

    fn rows(&self, fixed: &[f64], ours: &[Vec<f64>]) -> Vec<Row> {
        let row = |(index, spec): (usize, &Spec)| {
            let cell = |(level, &time): (usize, &f64)| {
                let value = match spec.measure {
                    Measure::Faster(theirs) => fixed[theirs.0] / time,
                    Measure::FasterThanOurs(other) => ours[other.0][level] / time,
                    Measure::Of(theirs) => time / fixed[theirs.0],
                    Measure::Net(theirs, their_dry, our_dry) => {
                        (fixed[theirs.0] - fixed[their_dry.0]) / (time - ours[our_dry.0][level])
                    }
                    Measure::Share(without) => 1.0 - ours[without.0][level] / time,
                };
                Cell { time, value, processes: Vec::new(), aim: spec.aims.map(|aims| aims[level]) }
            };
            let names = self.fixed.iter().zip(fixed);
            Row {
                name: if spec.name.is_empty() {
                    self.case.clone()
                } else {
                    format!("{}: {}", self.case, spec.name)
                },
                unit: spec.measure.unit(),
                // Only in the first row of a case.
                fixed: names.filter(|_| index == 0).map(|((name, _), time)| (*name, *time)).collect(),
                levels: ours[spec.ours.0].iter().enumerate().map(cell).collect(),
            }
        };
        self.rows.iter().enumerate().map(row).collect()
    }
}

fn time(work: &mut Work<'_>) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64
}

/// The time within which the fastest twentieth of all rounds ends.
pub(crate) fn fastest(times: Vec<f64>) -> f64 {
    at(times, 0.05)
}
