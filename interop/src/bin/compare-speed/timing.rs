//! Timing in turns, and the tables of the report.

use std::hint::black_box;
use std::time::Instant;

/// Options for timing and printing.
#[derive(Clone, Copy)]
pub(crate) struct Timing {
    pub(crate) rounds: usize,
    /// No heading: the table continues one that another process has begun.
    pub(crate) rows_only: bool,
}

/// The least ratio to LevelDB that is aimed at.
#[derive(Clone, Copy)]
pub(crate) struct Aim {
    pub(crate) portable: f64,
    pub(crate) avx2: f64,
}

impl Aim {
    /// The aim for either code.
    pub(crate) const fn always(ratio: f64) -> Self {
        Self { portable: ratio, avx2: ratio }
    }
}

/// An implementation, and its work.
pub(crate) struct Contender<'a> {
    name: &'a str,
    /// True if those after it are compared with this one.
    is_base: bool,
    aim: Option<Aim>,
    work: Box<dyn FnMut() + 'a>,
}

/// Does the work, and keeps the compiler from removing unused results.
pub(crate) fn contender<'a, T>(name: &'a str, mut work: impl FnMut() -> T + 'a) -> Contender<'a> {
    let work = move || {
        black_box(work());
    };
    Contender { name, is_base: false, aim: None, work: Box::new(work) }
}

/// Makes a contender with which those after it are compared.
pub(crate) fn base<'a, T>(name: &'a str, work: impl FnMut() -> T + 'a) -> Contender<'a> {
    Contender { is_base: true, ..contender(name, work) }
}

impl Contender<'_> {
    pub(crate) fn aim(self, aim: Option<Aim>) -> Self {
        Self { aim, ..self }
    }
}

/// Names the code of the library that runs here.
pub(crate) fn code() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    if cfg!(feature = "simd") && is_x86_feature_detected!("avx2") {
        return "AVX2";
    }
    "portable"
}

/// A table in Markdown.
pub(crate) struct Table {
    timing: Timing,
    begun: bool,
}

/// One cell: nanoseconds, the ratio of the base to it, and the aim.
pub(crate) struct Cell<'a> {
    pub(crate) column: &'a str,
    pub(crate) time: f64,
    pub(crate) ratio: Option<f64>,
    pub(crate) aim: Option<f64>,
}

impl Table {
    pub(crate) fn new(timing: Timing, title: &str) -> Self {
        if !timing.rows_only {
            println!("\n### {title}\n");
        }
        Self { timing, begun: timing.rows_only }
    }

    /// Runs the contenders in turns, a base first, and prints a row: nanoseconds for each of
    /// `operations`, and ratios.
    pub(crate) fn row(&mut self, case: &str, operations: usize, mut contenders: Vec<Contender<'_>>) {
        let mut times = vec![Vec::with_capacity(self.timing.rounds); contenders.len()];
        for _ in 0..self.timing.rounds {
            for (contender, times) in contenders.iter_mut().zip(&mut times) {
                let start = Instant::now();
                (contender.work)();
                times.push(start.elapsed().as_nanos() as f64 / operations as f64);
            }
        }
        let mut base = f64::NAN;
        let cells = contenders.iter().zip(times).map(|(contender, times)| {
            let time = median(times);
            if contender.is_base {
                base = time;
            }
            let aim = contender.aim.map(|aim| if code() == "portable" { aim.portable } else { aim.avx2 });
            let ratio = (!contender.is_base).then(|| base / time);
            Cell { column: contender.name, time, ratio, aim }
        });
        let cells: Vec<_> = cells.collect();
        self.print(case, &cells);
    }

    /// Prints a row of times that were taken elsewhere.
    pub(crate) fn print(&mut self, case: &str, cells: &[Cell<'_>]) {
        if !self.begun {
            let columns: Vec<_> = cells.iter().map(|cell| cell.column).collect();
            println!("| | our code | {} |\n|---|---|{}", columns.join(" | "), "---|".repeat(columns.len()));
            self.begun = true;
        }
        print!("| {case} | {} |", code());
        for cell in cells {
            print!(" {:.1}", cell.time);
            match (cell.ratio, cell.aim) {
                (Some(ratio), Some(aim)) => print!(" (**{ratio:.2}**, aim {aim}) |"),
                (Some(ratio), None) => print!(" (**{ratio:.2}**) |"),
                (None, _) => print!(" |"),
            }
        }
        println!();
    }
}

pub(crate) fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
