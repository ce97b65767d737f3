//! Runs LevelDB's C++, other implementations and ours in turns, ours at each level that the
//! processor has, checks that they agree, and prints their times in Markdown tables.

mod asking;
mod building;
mod data;
mod eight_tables;
mod filter_bench;
mod goleveldb;
mod machine;
mod many_keys;
mod memory;
mod policies;
mod processes;
mod reading;
mod report;
mod slow_mode;
mod tables;
mod timing;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use report::Section;

/// Times LevelDB, sstable, goleveldb, fastbloom and ours in turns; fails where results differ.
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
    /// Measure `build`, `ask`, `eight-tables`, `write` and `get` in this many other processes too, with a quarter of
    /// the rounds
    #[arg(long, default_value_t = 0)]
    processes: usize,
    /// Processes of `slow-mode`
    #[arg(long, default_value_t = 200)]
    builders: usize,
    /// Keys of each round
    #[arg(long, default_value_t = 40_000)]
    keys: usize,
    /// Keys in the one filter of a whole table
    #[arg(long, default_value_t = 1_000_000)]
    table_keys: usize,
    /// Megabytes of filters for `memory`, and the most megabytes of tables for `get-many` and `get-cold`
    #[arg(long, default_value_t = 1000)]
    megabytes: usize,
    /// Entries of the tables written and walked
    #[arg(long, default_value_t = 10_000)]
    entries: usize,
    /// Data blocks of the tables that are opened
    #[arg(long, default_value_t = 1000)]
    blocks: usize,
    /// Print only the values, line by line
    #[arg(long, hide = true)]
    values: bool,
    /// Be one of the processes of `slow-mode`
    #[arg(long, hide = true)]
    builder: bool,
}

/// The maximum number of keys of the one filter that is built. Rounds with more keys are not short.
const ONE_FILTER: usize = 100_000;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Building filter blocks
    Build,
    /// Building filter blocks with other keys and bits
    BuildOthers,
    /// Asking for keys one by one and for many at once, in the cache
    Ask,
    /// Asking with other keys and bits
    AskOthers,
    /// The cases of RocksDB's `filter_bench`
    FilterBench,
    /// Asking filters that lie in memory, not in the cache
    Memory,
    /// Asking eight tables for one key
    EightTables,
    /// Building one filter for a whole table
    BuildOne,
    /// Asking one filter for a whole table
    AskOne,
    /// Writing whole tables
    Write,
    /// Walking whole tables
    Walk,
    /// Looking keys up in tables in memory
    Get,
    /// Looking up one key and many in tables of all sizes, in memory
    GetMany,
    /// Looking up many keys in a table on a disk
    GetCold,
    /// Opening tables
    Open,
    /// All policies, compared with `BloomFilterPolicy`
    Policies,
    /// goleveldb, in a process of its own
    Goleveldb,
    /// fastbloom, whose format is its own
    Fastbloom,
    /// Building in many processes: is one slower for its whole life?
    SlowMode,
}

impl Part {
    /// Returns true if other processes measure this part, too.
    const fn is_repeated(self) -> bool {
        matches!(self, Self::Build | Self::Ask | Self::EightTables | Self::Write | Self::Get)
    }

    fn name(self) -> String {
        self.to_possible_value().expect("none is skipped").get_name().to_owned()
    }
}

impl Arguments {
    fn sized(mut self) -> Self {
        if self.quick {
            self.rounds = self.rounds.min(2);
            self.processes = self.processes.min(1);
            self.builders = self.builders.min(2);
            self.keys = self.keys.min(2000);
            self.table_keys = self.table_keys.min(20_000);
            self.megabytes = self.megabytes.min(10);
            self.entries = self.entries.min(2000);
            self.blocks = self.blocks.min(100);
        }
        self
    }

    fn measure(&self, part: Part) -> Result<Section> {
        match part {
            Part::Build => building::run(self.rounds, self.keys),
            Part::BuildOthers => building::others(self.rounds, self.keys),
            Part::Ask => asking::cached(self.rounds, self.keys),
            Part::AskOthers => asking::others(self.rounds, self.keys),
            Part::Memory => memory::run(self.rounds, self.megabytes),
            Part::EightTables => eight_tables::run(self.rounds, self.keys),
            Part::BuildOne => building::one_filter(self.rounds, self.table_keys.min(ONE_FILTER)),
            Part::AskOne => asking::one_filter(self.rounds, self.table_keys),
            Part::Write => tables::write_tables(self.rounds, self.entries),
            Part::Walk => tables::walk_tables(self.rounds, self.entries),
            Part::FilterBench => filter_bench::run(self.rounds, self.keys),
            Part::Get => reading::get(self.rounds, self.entries),
            Part::GetMany => many_keys::run(self.rounds, self.entries, self.megabytes),
            Part::GetCold => many_keys::cold(self.rounds, self.megabytes),
            Part::Open => reading::open(self.rounds, self.blocks),
            Part::Policies => policies::run(self.rounds, self.keys),
            Part::Goleveldb => goleveldb::run(self.rounds, self.keys, self.entries),
            Part::Fastbloom => eight_tables::fastbloom(self.rounds, self.keys),
            Part::SlowMode => slow_mode::run(self.rounds, self.builders, self.keys),
        }
    }

    /// Measures a part here, and in other processes if it is repeated there.
    fn run(&self, part: Part) -> Result<()> {
        let mut section = self.measure(part)?;
        if self.values {
            section.print_values();
            return Ok(());
        }
        if part.is_repeated() {
            let options = [
                ("rounds", self.rounds.div_ceil(4)),
                ("keys", self.keys),
                ("table-keys", self.table_keys),
                ("entries", self.entries),
            ]
            .map(|(name, value)| format!("--{name}={value}"));
            let arguments = [&[part.name(), "--values".to_owned()][..], &options].concat();
            for _ in 0..self.processes {
                let printed = processes::another(&arguments)?;
                section.add_values(&printed).context("expected as many values in each process")?;
            }
        }
        section.print();
        Ok(())
    }
}

pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let arguments = arguments.sized();
    if arguments.builder {
        return slow_mode::builder(arguments.rounds, arguments.keys);
    }
    let parts = match &arguments.sections[..] {
        [] => Part::value_variants(),
        parts => parts,
    };
    if !arguments.values {
        machine::describe(arguments.processes);
    }
    parts.iter().try_for_each(|&part| arguments.run(part))
}
