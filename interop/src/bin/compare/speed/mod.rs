//! Runs LevelDB's C++ and our code in turns, ours at each level that the processor has, checks that they agree, and
//! prints their times in Markdown tables.

mod filters;
mod tables;
mod timing;

use std::{env, fs};

use anyhow::Result;
use clap::{Args, ValueEnum};
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
