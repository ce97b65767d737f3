//! `filterblock repair`: a database from what can be saved of a damaged one.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use filterblock::LegacyHash;
use filterblock_engine::repair::{Prefer, RepairRequest, repair};
use filterblock_engine::report::{RebuildStatus, RepairReport};

use super::arguments::PolicyName;
use super::rebuild::Hash;
use crate::io::{Console, EXIT_ERROR, Progress};
use crate::text;

/// The request or the state of the files does not allow it.
const EXIT_REFUSED: u8 = 1;
/// Another program has the database open.
const EXIT_IN_USE: u8 = 3;
/// There is a new database, and something is lost, doubtful or not known.
const EXIT_INCOMPLETE: u8 = 5;

/// Make a new database from what can be saved of a damaged one
///
/// The damaged database is only read. One wrong bit in a block, in the MANIFEST or in a log is
/// corrected by its checksum. The report lists the files with losses, the lost ranges of keys, and
/// the keys of which a newer version may have been lost.
#[derive(Args)]
#[command(after_help = NOTES)]
pub(crate) struct Arguments {
    /// The damaged database's folder
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// The folder of the new database, which appears complete or not at all
    #[arg(long, value_name = "NEW-FOLDER")]
    to: PathBuf,
    /// The treatment of keys of which a newer version may be lost
    #[arg(long, value_enum, default_value = "newest")]
    prefer: Preference,
    /// The comparator whose order keys are in: bytewise, or a name; that of the MANIFEST if not given
    #[arg(long, value_name = "NAME")]
    comparator: Option<String>,
    /// The new filters' policy, by its name in files; that of the tables if not given
    #[arg(long, value_name = "NAME", value_enum)]
    policy: Option<PolicyName>,
    /// The hash of leveldb.BuiltinBloomFilter, if the tables do not show it
    #[arg(long, value_enum)]
    hash: Option<Hash>,
    /// Bits of filter for each key; about as many as in the tables if not given
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(1..=100))]
    bits_per_key: Option<u32>,
    /// Write nothing: only show what would be saved
    #[arg(long)]
    dry_run: bool,
    /// Write JSON, one object a line: files, losses and doubtful keys, then the database
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Preference {
    /// The newest version that is left counts
    Newest,
    /// Doubtful keys are left out: every key is certain, as far as the MANIFEST and the logs are
    Sound,
}

const NOTES: &str = "\
Examples:
  filterblock repair ~/db --to ~/db-new               a database of all that can be saved
  filterblock repair ~/db --to ~/db-new --dry-run     what would be saved?
  filterblock repair ~/db --to ~/db-new --prefer sound
                                                      only versions that are surely the newest

The program that uses the database has to be closed. docs/repair.md explains what is saved and what
the report says.

Exit status: 0 there is a new database, and certainly nothing is lost; 5 there is one, and something
is lost or doubtful, or it cannot be known; 1 refused, for the reason shown; 2 wrong usage, or an
error of the system; 3 the database is in use. After 1, 2 and 3 there is no new database.
141 the reader of the output went away, and all is done.";

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<u8, String> {
    // A signal that arrives meanwhile ends the repair where it can be ended, and takes effect only
    // then.
    let progress = Progress::deferring(!arguments.json);
    let progress = progress.map_err(|error| format!("waiting for signals: {error}"))?;
    let dir = &arguments.database;
    let result = repair(dir, &arguments.request(), &progress);
    progress.end();
    let (report, status) = match result {
        Ok(report) if report.is_complete => (report, 0),
        Ok(report) => (report, EXIT_INCOMPLETE),
        Err(failure) => {
            console.message(&failure);
            let status = match failure.status {
                RebuildStatus::Refused => EXIT_REFUSED,
                RebuildStatus::InUse => EXIT_IN_USE,
                _ => EXIT_ERROR,
            };
            (RepairReport::from(&failure), status)
        }
    };
    report.notes.iter().for_each(|note| console.message(note));
    let shown = match arguments.json {
        true => report.write_json(dir, &mut *console),
        false if report.error.is_some() => Ok(()),
        false => text::repair::write(dir, &report, console),
    };
    Ok(console.finish(shown.map(|()| status)))
}

impl Arguments {
    fn request(&self) -> RepairRequest {
        RepairRequest {
            target: self.to.clone(),
            prefer: match self.prefer {
                Preference::Newest => Prefer::Newest,
                Preference::Sound => Prefer::Sound,
            },
            comparator: self.comparator.clone(),
            policy: self.policy.map(|name| name.0.name().to_owned()),
            hash: self.hash.map(LegacyHash::from),
            bits_per_key: self.bits_per_key,
            dry_run: self.dry_run,
        }
    }
}
