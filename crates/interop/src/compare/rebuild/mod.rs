//! Random databases that `filterblock rebuild` rebuilds, and that LevelDB and goleveldb then read.

mod choice;
pub mod files;
pub mod identity;
mod lookups;
mod source;
mod tables;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use self::choice::{Choice, Way};
use self::files::{Files, copy, new_folder};
use self::lookups::Lookups;
use self::source::{Kind, Source};
use self::tables::Tables;
use super::tool;
use crate::leveldb::{Order, StoreFilter, StoreOptions, repair_store};
use crate::random::Random;

/// goleveldb's programs.
#[derive(Debug, Clone)]
pub struct Programs {
    /// `go/databases`
    pub writer: PathBuf,
    /// `go/rebuild`
    pub reader: PathBuf,
}

impl Programs {
    /// Builds the programs in `folder`. `None`, with a message, if Go is not installed.
    pub fn build(folder: &Path) -> Result<Option<Self>> {
        let Some(writer) = crate::goleveldb::build("databases", folder)? else { return Ok(None) };
        let reader = crate::goleveldb::build("rebuild", folder)?.context("Go is installed")?;
        Ok(Some(Self { writer, reader }))
    }
}

/// The counts of a run in which everything was as it has to be.
#[derive(Debug, Default)]
pub struct Report {
    /// The seed of all cases.
    pub seed: u64,
    /// Rebuilds by the kind of database and by where the new tables went.
    kinds: BTreeMap<String, u64>,
    /// Rebuilt tables by level.
    pub tables: [u64; 7],
    /// Databases with more than one table on level 0.
    pub several_on_level_0: u64,
    /// Databases with a log that holds writes.
    pub with_log: u64,
    /// Tables whose name ends in `.sst`.
    pub sst: u64,
    /// Tables whose filters were compared with LevelDB's own.
    pub compared_filters: u64,
    /// Keys that LevelDB was asked for.
    pub keys: u64,
    /// Questions to the filters in LevelDB.
    pub asked: u64,
    /// Keys that filters denied in LevelDB.
    pub denied: u64,
    /// Questions to the filters in goleveldb.
    pub asked_by_goleveldb: u64,
    /// Keys that filters denied in goleveldb.
    pub denied_by_goleveldb: u64,
    /// Databases in bytewise order that goleveldb could not read before the rebuild: all of them if Go is not
    /// installed.
    pub not_for_goleveldb: u64,
    /// Rebuilt databases in which LevelDB finds the same after its repair.
    pub repaired: u64,
    /// Databases that were refused without `--assume-bytewise-equality`.
    pub refused: u64,
    /// Databases that were refused without `--hash` because their tables did not reveal the hash of their
    /// filters.
    pub open_hashes: u64,
    /// Databases that were as before after `--undo`.
    pub undone: u64,
    /// Writes of LevelDB to rebuilt databases.
    pub writes: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "random databases rebuilt, seed {}", self.seed)?;
        for (kind, count) in &self.kinds {
            writeln!(f, "  {count:4} {kind}")?;
        }
        writeln!(
            f,
            "  tables on levels 0 to 6: {:?}, {} of them .sst; {} databases with several on level 0, {} with writes in a log",
            self.tables, self.sst, self.several_on_level_0, self.with_log
        )?;
        writeln!(f, "  {} filter blocks as LevelDB makes them", self.compared_filters)?;
        writeln!(
            f,
            "  {} keys asked for; filters asked {} times, {} denied; by goleveldb {} and {} ({} databases are \
             not for goleveldb)",
            self.keys,
            self.asked,
            self.denied,
            self.asked_by_goleveldb,
            self.denied_by_goleveldb,
            self.not_for_goleveldb
        )?;
        write!(
            f,
            "  {} repaired by LevelDB, {} refused for the comparator at first and {} for the hash, {} undone, {} writes \
             afterwards",
            self.repaired, self.refused, self.open_hashes, self.undone, self.writes
        )
    }
}

/// Makes `databases` databases, rebuilds and checks each. LevelDB then uses every fourth database for
/// `time`.
pub fn run(databases: u64, seed: u64, time: Duration, goleveldb: Option<&Programs>) -> Result<Report> {
    let mut report = Report { seed, ..Report::default() };
    for case in 0..databases {
        let mut random = Random::for_case(seed, case);
        let mut kind = Kind::ALL[(case % Kind::ALL.len() as u64) as usize];
        if kind.is_goleveldb() && goleveldb.is_none() {
            kind = Kind::Signed;
        }
        let folder = new_folder()?;
        let time = if case % 4 == 0 { time } else { Duration::ZERO };
        let case = Case { number: case, kind, folder: folder.path(), goleveldb, time };
        if let Err(error) = case.check(&mut random, &mut report) {
            let number = case.number;
            let kept = folder.keep();
            return Err(error.context(format!("seed {seed}, database {number}, kept in {}", kept.display())));
        }
    }
    Ok(report)
}

/// A database to be made, rebuilt and checked.
struct Case<'a> {
    number: u64,
    kind: Kind,
    folder: &'a Path,
    goleveldb: Option<&'a Programs>,
    /// The time for which LevelDB uses the database afterwards.
    time: Duration,
}

impl Case<'_> {
    fn check(&self, random: &mut Random, report: &mut Report) -> Result<()> {
        let database = self.folder.join("db");
        std::fs::create_dir(&database)?;
        let writer = self.goleveldb.map_or(Path::new(""), |programs| &programs.writer);
        let source = Source::write(random, self.kind, &database, writer)?;
        let before = Tables::read(&database)?;
        let choice = Choice::new(random, self.number, self.kind, !before.live.is_empty());
        self.rebuild_and_check(&source, &before, &choice, random, report)
            .with_context(|| format!("{:?}, {choice:?}", self.kind))
    }

    fn rebuild_and_check(
        &self,
        source: &Source,
        before: &Tables,
        choice: &Choice,
        random: &mut Random,
        report: &mut Report,
    ) -> Result<()> {
        let (database, to) = (self.folder.join("db"), self.folder.join("new"));
        let is_bytewise = self.kind.order() == Order::Bytewise;
        let lookups = Lookups::of(&database, before, source, random)?;
        let rows_before = is_bytewise.then(|| rows(&database)).transpose()?;
        let times = DirectoryTimes::of(&database)?;

        // goleveldb refuses some logs of LevelDB's that begin before the MANIFEST's last sequence number.
        let goleveldb = self.goleveldb.filter(|programs| {
            is_bytewise && lookups.check_with_goleveldb(&database, &programs.reader, "").is_ok()
        });
        report.not_for_goleveldb += u64::from(is_bytewise && goleveldb.is_none());

        rebuild(&database, &to, before, choice, self.kind, report)?;
        let rebuilt = if choice.way == Way::To { &to } else { &database };
        if choice.way == Way::To {
            before.files.ensure_same(&Files::read(&database)?).context("the original of --to")?;
            times.ensure_same(&database)?;
        }
        let after = Tables::read(rebuilt)?;
        before.compare(&after, choice)?;
        if let Some(rows_before) = rows_before {
            ensure!(rows_before == rows(rebuilt)?, "filterblock scan shows other versions");
        }
        count(before, choice, source, report);
        let options = StoreOptions { filter: choice.reader()?, ..source.options() };
        look_up(rebuilt, before, choice, &lookups, &options, goleveldb, report)?;

        // Without tables there was nothing to do, and so there is nothing to undo.
        let can_undo = choice.way == Way::InPlace && !before.live.is_empty();
        if can_undo && random.one_in(2) {
            let outcome = tool::run(&["rebuild".into(), "--undo".into(), database.clone().into()]);
            ensure!(outcome.status == 0, "--undo: {outcome:?}");
            before.files.ensure_restored(&Files::read(&database)?).context("--undo")?;
            ensure_alone(&database)?;
            report.undone += 1;
            return Ok(());
        }
        if can_undo {
            let outcome = tool::run(&["rebuild".into(), "--discard".into(), database.clone().into()]);
            ensure!(outcome.status == 0, "--discard: {outcome:?}");
            after.files.ensure_same(&Files::read(&database)?).context("--discard")?;
        }
        if choice.way != Way::To {
            ensure_alone(&database)?;
        }
        if !self.time.is_zero() && self.kind.order() != Order::IgnoringCase {
            report.writes += lookups::write_on(rebuilt, &options, &lookups.entries, self.time, random)?;
        }
        Ok(())
    }
}

/// Compares what LevelDB and goleveldb find in the rebuilt database, also after LevelDB's
/// repair.
fn look_up(
    rebuilt: &Path,
    before: &Tables,
    choice: &Choice,
    lookups: &Lookups,
    options: &StoreOptions,
    goleveldb: Option<&Programs>,
    report: &mut Report,
) -> Result<()> {
    let counts = lookups.check_with_leveldb(rebuilt, options).context("LevelDB")?;
    report.keys += lookups.keys();
    report.asked += counts.asked;
    report.denied += counts.denied;
    ensure!(choice.drop || before.live.is_empty() || counts.asked > 0, "no filter was asked");
    if let Some(programs) = goleveldb {
        let filter = choice.goleveldb_reader();
        let (asked, denied) = lookups.check_with_goleveldb(rebuilt, &programs.reader, filter)?;
        ensure!(filter.is_empty() || before.live.is_empty() || asked > 0, "goleveldb asked no filter");
        report.asked_by_goleveldb += asked;
        report.denied_by_goleveldb += denied;
    }
    if before.unlisted().is_empty() && before.numbers_are_ages()? {
        let copy = copy(rebuilt)?;
        repair_store(copy.path(), options)?;
        lookups.check_with_leveldb(copy.path(), options).context("after RepairDB")?;
        report.repaired += 1;
    }
    Ok(())
}

/// Rebuilds a database. If the program refuses and is right to, rebuilds with the option that it asks for.
fn rebuild(
    database: &Path,
    to: &Path,
    before: &Tables,
    choice: &Choice,
    kind: Kind,
    report: &mut Report,
) -> Result<()> {
    let mut arguments = choice.arguments(database, to);
    let mut outcome = tool::run(&arguments);
    // A comparator other than bytewise may take different keys for equal. That does not matter if nothing is
    // hashed.
    let is_open = kind.order() != Order::Bytewise && !choice.drop && !before.live.is_empty();
    if outcome.status == 1 && outcome.messages.contains("--assume-bytewise-equality") {
        ensure!(kind.order() != Order::Bytewise && !choice.drop, "refused: {}", outcome.messages);
        ensure_untouched(database, to, before)?;
        arguments.push("--assume-bytewise-equality".into());
        outcome = tool::run(&arguments);
        report.refused += 1;
    } else {
        ensure!(!is_open || kind != Kind::IgnoringCase, "not refused");
    }
    if outcome.status == 1 && outcome.messages.contains("--hash") {
        let hash = choice.missing_hash().with_context(|| format!("refused: {}", outcome.messages))?;
        let telling = before.telling_keys();
        ensure!(telling < 20, "{telling} keys tell the hash, but {}", outcome.messages);
        ensure_untouched(database, to, before)?;
        arguments.extend(["--hash".into(), hash.into()]);
        outcome = tool::run(&arguments);
        report.open_hashes += 1;
    }
    ensure!(outcome.status == 0, "{arguments:?}: {outcome:?}");
    Ok(())
}

fn ensure_untouched(database: &Path, to: &Path, before: &Tables) -> Result<()> {
    before.files.ensure_same(&Files::read(database)?).context("a database that was refused")?;
    ensure!(!to.exists(), "a refused --to leaves a folder");
    ensure_alone(database)
}

fn count(before: &Tables, choice: &Choice, source: &Source, report: &mut Report) {
    *report.kinds.entry(format!("{:?} {:?}", source.kind, choice.way)).or_default() += 1;
    let mut on_level_0 = 0;
    for table in before.manifest.tables() {
        report.tables[usize::from(table.level)] += 1;
        on_level_0 += u64::from(table.level == 0);
    }
    report.several_on_level_0 += u64::from(on_level_0 > 1);
    report.sst += source.renamed;
    let has_writes =
        |name: &str| name.ends_with(".log") && before.files.contents(name).is_ok_and(|log| !log.is_empty());
    report.with_log += u64::from(before.files.names().any(has_writes));
    if !choice.drop && choice.filters_are_as_leveldb_makes_them() {
        report.compared_filters += before.live.len() as u64;
    }
}

/// The entries of live tables and logs, as `filterblock scan --all` shows them without file names.
fn rows(folder: &Path) -> Result<Vec<String>> {
    let outcome = tool::run(&["scan".into(), "--all".into(), "--json".into(), folder.into()]);
    ensure!(outcome.status == 0, "scan: {}", outcome.messages);
    let mut rows = Vec::new();
    for row in outcome.json()? {
        if row["object"] == "entry" && (row["state"] == "live" || row["state"] == "log") {
            let part = |name: &str| row.get(name).unwrap_or(&Value::Null).to_string();
            let parts =
                ["key_hex", "sequence", "type", "value", "value_hex", "value_size", "state", "offset"];
            rows.push(parts.map(part).join(" "));
        }
    }
    rows.sort();
    Ok(rows)
}

/// Checks that nothing lies beside the database.
fn ensure_alone(database: &Path) -> Result<()> {
    let parent = database.parent().context("a folder around the database")?;
    let names: Vec<_> = std::fs::read_dir(parent)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<_>>()?;
    ensure!(names.len() == 1, "beside the database: {names:?}");
    Ok(())
}

/// The time at which a folder was last changed.
struct DirectoryTimes(std::time::SystemTime);

impl DirectoryTimes {
    fn of(folder: &Path) -> Result<Self> {
        Ok(Self(std::fs::metadata(folder)?.modified()?))
    }

    fn ensure_same(&self, folder: &Path) -> Result<()> {
        ensure!(Self::of(folder)?.0 == self.0, "files were made or removed in {}", folder.display());
        Ok(())
    }
}

/// The options of LevelDB for a database in the usual order.
fn plain(filter: StoreFilter) -> StoreOptions {
    StoreOptions { filter, write_buffer_size: 64 << 10, max_file_size: 1 << 20, ..StoreOptions::default() }
}
