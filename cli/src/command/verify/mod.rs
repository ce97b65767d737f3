//! `filterblock verify`: whether tables are sound, and no filter denies a key that is there.

mod jobs;

use std::io::{self, Write as _};

use clap::{Args, ValueEnum};
use rayon::prelude::*;

use crate::TROUBLE;
use crate::audit::stats;
use crate::audit::verify::table::Checks;
use crate::audit::verify::verdict::{Status, Verdict};
use crate::io::console::Console;
use crate::io::paths::{Given, Paths};
use crate::io::verify_progress::Progress;
use crate::render::show::{count, counted};
use jobs::{Job, Jobs};

const FINDINGS: u8 = 1;

/// So many tables for each thread are checked before their results are written.
const TABLES_A_THREAD: usize = 16;

/// Each is a thread, with memory of its own.
const MAX_JOBS: i64 = 256;

/// Check tables and their filters throughout
///
/// Reads every block with its checksum and every entry in it, and asks the filter for every key, as LevelDB would. Looks at the order of keys
/// and index, at blocks that overlap, and at what the MANIFEST says of the tables in a database. Measures how often the filters let absent keys pass.
///
/// Nothing is written and nothing locked. A database should not be in use meanwhile, or its tables may come and go.
#[derive(Args)]
#[command(after_help = NOTES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    paths: Paths,
    /// Write one JSON object a line and table
    #[arg(long)]
    json: bool,
    /// The order of user keys, where no MANIFEST names it; otherwise it is checked only if it is bytewise
    #[arg(long, value_name = "ORDER")]
    comparator: Option<Comparator>,
    /// The most bytes of blocks and keys to decode of each file; 100 times its size and at least 64 MiB if not given
    #[arg(long, value_name = "BYTES")]
    max_output: Option<u64>,
    /// Another number makes other absent keys to measure the false positives with
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// How many tables to check at once; as many as there are processors if not given
    #[arg(short, long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=MAX_JOBS))]
    jobs: Option<u16>,
}

/// An order of keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Comparator {
    /// Byte by byte (leveldb.BytewiseComparator), LevelDB's default
    Bytewise,
}

const NOTES: &str = "\
Examples:
  filterblock verify ~/db                     all tables of a database, and its MANIFEST
  filterblock verify --json ~/db | jq -r 'select(.denied > 0) | .path'
                                              the tables whose filters deny keys
  find / -name '*.ldb' -print0 | filterblock verify --files-from - -0
  filterblock verify --recursive ~/databases  every database below a folder

What each finding means, and what to do about it: docs/findings.md, in the source of this program

Exit status: 0 sound; 1 findings; 2 something could not be looked at, or wrong usage;
141 the reader of the output went away, whatever was found.";

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> u8 {
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = arguments.jobs {
        pool = pool.num_threads(threads.into());
    }
    let pool = match pool.build() {
        Ok(pool) => pool,
        Err(error) => {
            console.say(format_args!("starting threads: {error}"));
            return TROUBLE;
        }
    };
    let mut run = Run {
        checks: Checks {
            options: stats::read_options(),
            meter: console.meter(),
            bytewise: arguments.comparator.is_some(),
            max_output: arguments.max_output,
            seed: arguments.seed,
        },
        json: arguments.json,
        progress: Progress::new(!arguments.json),
        totals: Totals::default(),
    };
    let mut jobs = Jobs::new(arguments.paths.iter(), arguments.paths.is_recursive());
    let result = run.all(&mut jobs, &pool, console);
    let Run { progress, totals, .. } = run;
    drop(progress);
    let result = result.and_then(|()| totals.write(arguments, console));
    let status = match () {
        () if totals.unreadable > 0 => TROUBLE,
        () if totals.findings > 0 => FINDINGS,
        () => 0,
    };
    console.end(result, status)
}

struct Run {
    checks: Checks,
    json: bool,
    progress: Progress,
    totals: Totals,
}

/// How many reports there were of each kind.
#[derive(Default)]
struct Totals {
    sound: u64,
    findings: u64,
    unreadable: u64,
    keys: u64,
    denied: u64,
}

impl Run {
    /// Checks some tables at once, writes what came of them in their order, and goes on with the next.
    fn all(
        &mut self,
        jobs: &mut Jobs<impl Iterator<Item = Given>>,
        pool: &rayon::ThreadPool,
        console: &mut Console,
    ) -> io::Result<()> {
        let batch_len = pool.current_num_threads().saturating_mul(TABLES_A_THREAD);
        loop {
            let batch: Vec<Job> = jobs.by_ref().take(batch_len).collect();
            if batch.is_empty() {
                return Ok(());
            }
            self.progress.expect(jobs.take_bytes(), jobs.are_all_known());
            let (checks, progress) = (&self.checks, &self.progress);
            let done: Vec<Job> = pool.install(|| {
                // One by one, as tables may differ much in size.
                batch.into_par_iter().with_max_len(1).map(|job| work(job, checks, progress)).collect()
            });
            let (totals, json) = (&mut self.totals, self.json);
            self.progress.aside(|| {
                done.into_iter().try_for_each(|job| show(job, json, totals, console))?;
                console.flush()
            })?;
        }
    }
}

fn show(job: Job, json: bool, totals: &mut Totals, console: &mut Console) -> io::Result<()> {
    match job {
        Job::Done(verdict) => {
            totals.add(&verdict);
            verdict.write(json, console)?;
        }
        Job::Nothing(path) => console.complain(&path, "there are no tables (.ldb, .sst) to check"),
        Job::Table(_) => {}
    }
    Ok(())
}

fn work(job: Job, checks: &Checks, progress: &Progress) -> Job {
    match job {
        Job::Table(table) => {
            let database = table.database.as_deref();
            Job::Done(checks.table(&table.path, table.listed, database, &|bytes| progress.add(bytes)))
        }
        job => job,
    }
}

impl Totals {
    fn add(&mut self, verdict: &Verdict) {
        match verdict.status() {
            Status::Sound => self.sound += 1,
            Status::Findings => self.findings += 1,
            Status::Unreadable => self.unreadable += 1,
        }
        self.keys += verdict.keys;
        self.denied += verdict.denied;
    }

    /// Sums it all up, where that is more than one line said already.
    fn write(&self, arguments: &Arguments, console: &mut Console) -> io::Result<()> {
        let all = self.sound + self.findings + self.unreadable;
        // Of folders that were named it has been said already.
        if all == 0 && arguments.paths.is_recursive() {
            console.say(format_args!("there are no tables (.ldb, .sst) to check"));
        }
        if arguments.json || all < 2 {
            return Ok(());
        }
        let mut parts = vec![format!("{} sound", count(self.sound))];
        for (number, what) in [(self.findings, "with findings"), (self.unreadable, "unreadable")] {
            if number > 0 {
                parts.push(format!("{} {what}", count(number)));
            }
        }
        writeln!(
            console,
            "{} in all: {}; {}, {} denied",
            counted(all, "file"),
            parts.join(", "),
            counted(self.keys, "key"),
            count(self.denied)
        )
    }
}
