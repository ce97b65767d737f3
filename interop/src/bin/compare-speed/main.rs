//! Runs LevelDB's C++, other implementations and ours in turns, checks that they agree, and prints
//! their times in Markdown tables. A process of its own measures the library's portable code, again
//! next to LevelDB and all others.

mod asking;
mod building;
mod data;
mod goleveldb;
mod machine;
mod portable;
mod tables;
mod timing;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use portable::Portable;
use timing::{Timing, code};

/// Times LevelDB, sstable, goleveldb, fastbloom and ours in turns; fails where results differ.
#[derive(Parser)]
struct Arguments {
    /// What to time; everything unless given
    #[arg(value_enum)]
    sections: Vec<Section>,
    /// Only see that everything runs and agrees: few rounds, small sizes, no portable code
    #[arg(long)]
    quick: bool,
    /// Leave out the library's portable code
    #[arg(long)]
    no_portable: bool,
    /// Rounds, of which the median counts
    #[arg(long, default_value_t = 31)]
    rounds: usize,
    /// Keys of each round
    #[arg(long, default_value_t = 40_000)]
    keys: usize,
    /// Keys in the one filter of a whole table
    #[arg(long, default_value_t = 1_000_000)]
    table_keys: usize,
    /// Megabytes of filters for `memory`
    #[arg(long, default_value_t = 1000)]
    megabytes: usize,
    /// Entries of the tables written and walked
    #[arg(long, default_value_t = 50_000)]
    entries: usize,
    /// Print neither what the figures are of nor headings
    #[arg(long, hide = true)]
    rows_only: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Section {
    /// Building filter blocks
    Build,
    /// Asking for single keys and for many at once, in the cache
    Ask,
    /// Asking filters that lie in memory, not in the cache
    Memory,
    /// Asking eight tables for one key
    EightTables,
    /// Building one filter for a whole table
    BuildOne,
    /// Asking it
    AskOne,
    /// Writing whole tables
    Write,
    /// Walking them
    Walk,
    /// goleveldb, in a process of its own
    Goleveldb,
    /// fastbloom, whose format is its own
    Fastbloom,
}

impl Section {
    /// Returns true if the result depends on the library's code for the processor.
    const fn has_two_versions(self) -> bool {
        !matches!(self, Self::Goleveldb | Self::Fastbloom)
    }
}

impl Arguments {
    fn sized(mut self) -> Self {
        if self.quick {
            self.rounds = self.rounds.min(2);
            self.keys = self.keys.min(4000);
            self.table_keys = self.table_keys.min(20_000);
            self.megabytes = self.megabytes.min(10);
            self.entries = self.entries.min(2000);
            self.no_portable = true;
        }
        self
    }

    fn run(&self, section: Section) -> Result<()> {
        let timing = Timing { rounds: self.rounds, rows_only: self.rows_only };
        match section {
            Section::Build => building::run(timing, self.keys),
            Section::Ask => asking::cached(timing, self.keys),
            Section::Memory => asking::memory(timing, self.megabytes),
            Section::EightTables => asking::eight_tables(timing, self.keys),
            Section::BuildOne => building::one_filter(timing, self.table_keys),
            Section::AskOne => asking::one_filter(timing, self.table_keys),
            Section::Write => tables::write_tables(timing, self.entries),
            Section::Walk => tables::walk_tables(timing, self.entries),
            Section::Goleveldb => goleveldb::run(timing, self.keys),
            Section::Fastbloom => asking::orientation(timing, self.keys),
        }
    }

    /// The options by which another process does the same.
    fn options(&self) -> Vec<String> {
        let sizes = [
            ("rounds", self.rounds),
            ("keys", self.keys),
            ("table-keys", self.table_keys),
            ("megabytes", self.megabytes),
            ("entries", self.entries),
        ];
        sizes.iter().map(|(name, size)| format!("--{name}={size}")).collect()
    }
}

fn main() -> Result<()> {
    let arguments = Arguments::parse().sized();
    let sections = match &arguments.sections[..] {
        [] => Section::value_variants(),
        sections => sections,
    };
    let both = !arguments.no_portable && !arguments.rows_only && code() != "portable";
    let portable = both.then(|| Portable::build(arguments.options())).transpose()?;
    if !arguments.rows_only {
        machine::describe();
    }
    for &section in sections {
        arguments.run(section)?;
        if let Some(portable) = portable.as_ref().filter(|_| section.has_two_versions()) {
            portable.run(section.to_possible_value().expect("none is skipped").get_name())?;
        }
    }
    Ok(())
}
