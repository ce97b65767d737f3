//! `filterblock rebuild`: new filters for the tables of an existing database.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use filterblock::LegacyHash;
use filterblock_engine::rebuild::{BitsByLevel, FilterRequest, InPlace, Options, Request, rebuild};
use filterblock_engine::{
    MAX_JOBS,
    report::{RebuildStatus, Report},
};

use super::arguments::{PolicyName, bytes};
use crate::io::{Console, EXIT_ERROR, Progress};
use crate::text;

/// The exit status if the rebuild is refused: the request or the state of the files does not allow it.
const EXIT_REFUSED: u8 = 1;
/// The exit status if another program has the database open.
const EXIT_IN_USE: u8 = 3;

/// Give all tables of a closed database new filters, without touching an entry
///
/// Data blocks and indexes are copied byte for byte, with their checksums verified and, unless the
/// filters are removed, every entry decoded for its key. Filter blocks are new, and so is the
/// MANIFEST. The new tables are verified before they are put to use.
///
/// With --to, the original stays as it is. With --in-place, a crash at any time leaves the old
/// database or the new one (with --batch, one with some tables replaced), and the next rebuild
/// clears away what is left. The former tables are kept next to the database, in
/// DB.filterblock-undo, until --undo or --discard.
#[derive(Args)]
#[command(after_help = NOTES)]
#[command(group(ArgGroup::new("how").required(true).args(["to", "in_place", "undo", "discard"])))]
pub(crate) struct Arguments {
    /// The database's folder
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// Make a second database in this folder, which appears complete or not at all
    #[arg(long, value_name = "NEW-FOLDER")]
    to: Option<PathBuf>,
    /// Replace the tables of this database; not on Windows
    #[arg(long)]
    in_place: bool,
    /// Bring back the tables that --in-place replaced, if no program has opened the database since
    #[arg(long, conflicts_with_all = OPTIONS)]
    undo: bool,
    /// Remove the tables that --in-place replaced, which --undo would bring back
    #[arg(long, conflicts_with_all = OPTIONS)]
    discard: bool,
    /// Bits of filter for each key: one number, or one for each level, such as 0=20,1=20,2=17,3=9
    ///
    /// A level without a number gets that of the nearest level above it or, if no level above has a number, that
    /// of the nearest level below.
    #[arg(long, value_name = "BITS", default_value = "10", value_parser = bits_by_level)]
    bits_per_key: BitsByLevel,
    /// The filters' policy, by its name in files; that of the tables if not given
    #[arg(long, value_name = "NAME", value_enum)]
    policy: Option<PolicyName>,
    /// The hash of leveldb.BuiltinBloomFilter, if it cannot be found out from the tables
    #[arg(long, value_enum)]
    hash: Option<Hash>,
    /// One filter for every 2^LG bytes of data blocks; 63 means one for the whole table; as in the tables if
    /// not given
    #[arg(long, value_name = "LG", value_parser = clap::value_parser!(u8).range(..=63))]
    base_lg: Option<u8>,
    /// Remove the filters
    #[arg(long = "drop", conflicts_with_all = ["bits_per_key", "policy", "hash", "base_lg"])]
    drop_filters: bool,
    /// Leave a table as it is if its blocks cannot be decoded, rather than refuse
    #[arg(long)]
    keep_undecodable: bool,
    /// With --in-place and --no-undo, replace tables in batches of this many bytes, so that less free space is needed
    #[arg(long, value_name = "SIZE", value_parser = bytes, requires = "no_undo", conflicts_with = "to")]
    batch: Option<u64>,
    /// Number of tables to write at a time; as many as there are processors if not given
    #[arg(short, long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=MAX_JOBS))]
    jobs: Option<u16>,
    /// Write nothing: only show what would become of each table
    #[arg(long)]
    dry_run: bool,
    /// Write JSON, one object a line: tables, then the database
    #[arg(long)]
    json: bool,
    /// The database's comparator treats no two keys of different bytes as equal
    ///
    /// Filters are made from the bytes of keys. With a comparator that ignores case, for example, they would
    /// deny keys that are there.
    #[arg(long)]
    assume_bytewise_equality: bool,
    /// Do not verify the new tables; their filters are still asked for every key
    #[arg(long)]
    no_verify: bool,
    /// Do not keep the former tables after --in-place, so that --undo is not possible
    #[arg(long, conflicts_with = "to")]
    no_undo: bool,
}

/// The options that go with neither --undo nor --discard.
const OPTIONS: [&str; 12] = [
    "bits_per_key",
    "policy",
    "hash",
    "base_lg",
    "drop_filters",
    "keep_undecodable",
    "batch",
    "jobs",
    "dry_run",
    "assume_bytewise_equality",
    "no_verify",
    "no_undo",
];

const NOTES: &str = "\
Examples:
  filterblock rebuild ~/db --to ~/db-new               a second database, of 10 bits a key
  filterblock rebuild ~/db --in-place --dry-run        what would become of each table?
  filterblock rebuild ~/db --in-place --bits-per-key 0=20,1=20,2=17,3=9
  filterblock rebuild ~/db --in-place --policy leveldb.BuiltinBloomFilter2
                                                       the first filters of a database without
  filterblock rebuild ~/db --in-place --drop           no filters any longer
  filterblock rebuild --undo ~/db                      the tables as they were
  filterblock rebuild --discard ~/db                   free their space

The program that uses the database has to be closed, and set to a filter policy of the name shown.
Tables that it compacts later get filters by its own settings. docs/rebuild.md explains each step
and each refusal.

Exit status: 0 done; 1 refused, for the reason shown; 2 wrong usage, or an error of the system;
3 the database is in use. In these cases the database is as it was; with --batch, tables may have
been replaced already. 141 the reader of the output went away, and all is done.";

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Hash {
    /// LevelDB up to 1.17 on x86
    Signed,
    /// goleveldb, and LevelDB up to 1.17 on ARM
    Unsigned,
}

impl From<Hash> for LegacyHash {
    fn from(hash: Hash) -> Self {
        match hash {
            Hash::Signed => Self::Signed,
            Hash::Unsigned => Self::Unsigned,
        }
    }
}

/// Parses bits a key: a number, or numbers by level.
fn bits_by_level(text: &str) -> Result<BitsByLevel, String> {
    /// Beyond this number, more bits take space and hardly lower the rate of false positives.
    const MOST: u32 = 100;
    let bits = |text: &str| text.parse().ok().filter(|bits| (1..=MOST).contains(bits));
    let parsed = match text.contains('=') {
        false => bits(text).map(BitsByLevel::all),
        true => {
            let level = |part: &str| {
                let (level, number) = part.split_once('=')?;
                let level = level.parse().ok().filter(|level| *level < filterblock::database::NUM_LEVELS)?;
                Some((level, bits(number)?))
            };
            text.split(',').map(level).collect::<Option<_>>().and_then(BitsByLevel::new)
        }
    };
    parsed.ok_or_else(|| {
        format!(
            "expected 1 to {MOST} bits, or such a number for some of the levels 0 to 6, such as 0=20,1=17,2=9"
        )
    })
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<u8, String> {
    // A signal that arrives during the rebuild stops it at the next point where it can stop, and only then
    // ends the program.
    let progress = Progress::deferring(!arguments.json);
    let progress = progress.map_err(|error| format!("waiting for signals: {error}"))?;
    let (dir, request) = (&arguments.database, arguments.request());
    let result = rebuild(dir, &request, &progress);
    progress.end();
    let (report, status) = match result {
        Ok(report) => (report, 0),
        Err(failure) => {
            console.message(&failure);
            let status = match failure.status {
                RebuildStatus::Refused => EXIT_REFUSED,
                RebuildStatus::InUse => EXIT_IN_USE,
                _ => EXIT_ERROR,
            };
            (Report::from(&failure), status)
        }
    };
    report.notes.iter().for_each(|note| console.message(note));
    let shown = match arguments.json {
        true => report.write_json(dir, &mut *console),
        false if report.error.is_some() => Ok(()),
        false => text::rebuild::write(dir, &request, &report, console),
    };
    Ok(console.finish(shown.map(|()| status)))
}

impl Arguments {
    fn request(&self) -> Request {
        let how = InPlace { batch: self.batch, keeps_undo: !self.no_undo };
        match &self.to {
            _ if self.undo => Request::Undo,
            _ if self.discard => Request::Discard,
            Some(target) => Request::To(target.clone(), self.options()),
            None => Request::InPlace(self.options(), how),
        }
    }

    fn options(&self) -> Options {
        let filters = match self.drop_filters {
            true => FilterRequest::Drop,
            false => FilterRequest::Make {
                bits: self.bits_per_key.clone(),
                policy: self.policy.map(|name| name.0.name().to_owned()),
                hash: self.hash.map(LegacyHash::from),
                base_lg: self.base_lg,
            },
        };
        Options {
            filters,
            keep_undecodable: self.keep_undecodable,
            assume_bytewise_equality: self.assume_bytewise_equality,
            verify: !self.no_verify,
            jobs: self.jobs,
            dry_run: self.dry_run,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_for_all_levels_or_by_level() {
        assert_eq!(bits_by_level("12").unwrap().of(6), 12);
        let bits = bits_by_level("0=20,1=20,2=17,3=9").unwrap();
        assert_eq!([0, 1, 2, 3, 4].map(|level| bits.of(level)), [20, 20, 17, 9, 9]);
        for wrong in
            ["", "0", "101", "-1", "1.5", "0=", "=5", "7=10", "0=10,0=11", "0=10,", "0=10;1=5", "x=1"]
        {
            assert!(bits_by_level(wrong).is_err(), "{wrong}");
        }
    }
}
