//! Compares what `filterblock tune` predicts with what LevelDB reads, before and after
//! `filterblock rebuild`.

mod cases;
mod measure;
mod model;
mod predicted;
mod report;
mod write;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail, ensure};
use filterblock::{BloomFilterPolicy, LegacyBloomPolicy, LegacyHash, SharedPolicy};
use filterblock_engine::Policy;

use self::cases::Case;
use self::measure::{Emulated, Reader};
use self::model::{Kind, Model};
use self::predicted::{Choice, Predicted, Prediction};
pub use self::report::Report;
use self::report::{Compared, Database, Row};
use super::rebuild::files::new_folder;
use super::tool;
use crate::goleveldb;
use crate::leveldb::StoreFilter;
use crate::random::Random;

/// The number of a user's own lookups.
const OWN_LOOKUPS: usize = 5000;

/// The extent of a comparison.
#[derive(Debug, Clone)]
pub struct Options {
    /// True for ten small databases only, of every kind.
    pub quick: bool,
    /// A text that the names of the databases must contain; `None` for all databases.
    pub only: Option<String>,
    /// The same seed makes the same databases, except for those that LevelDB compacts as it likes.
    pub seed: u64,
    /// The number of keys of each kind to ask for.
    pub lookups: usize,
}

/// Makes the databases, and compares predictions with reads. The report has everything that does not hold.
pub fn run(options: &Options) -> Result<Report> {
    let programs = tempfile::tempdir()?;
    let program = goleveldb::build("databases", programs.path())?;
    let mut report = Report::default();
    for (number, case) in (0..).zip(Case::list(options.quick)) {
        let is_wanted = options.only.as_ref().is_none_or(|only| case.name.contains(only));
        let is_possible = program.is_some() || !matches!(case.writer, cases::Writer::Goleveldb { .. });
        if is_wanted && is_possible {
            let database = compare(&case, number, options, program.as_deref());
            let database =
                database.with_context(|| format!("database {:?}, seed {}", case.name, options.seed))?;
            report.databases.push(database);
        }
    }
    Ok(report)
}

/// Makes the databases, or ten small ones if `quick`, and compares the blocks that LevelDB counts with those that the
/// library's tables lead to, exactly. Leaves out goleveldb's if Go is not installed. Returns the number of keys.
pub fn check_counts(quick: bool, seed: u64, lookups: usize) -> Result<usize> {
    let programs = tempfile::tempdir()?;
    let program = goleveldb::build("databases", programs.path())?;
    let mut checked = 0;
    for (number, case) in (0..).zip(Case::list(quick)) {
        let random = &mut Random::for_case(seed, number);
        let folder = new_folder()?;
        if program.is_none() && matches!(case.writer, cases::Writer::Goleveldb { .. }) {
            continue;
        }
        write::write(&case, folder.path(), program.as_deref(), random)?;
        let (filter, policy): (_, SharedPolicy) = match case.writer.has_old_name() {
            true => (
                StoreFilter::Legacy(10),
                Arc::new(LegacyBloomPolicy::new(10).with_hash(LegacyHash::Unsigned)),
            ),
            false => (StoreFilter::BuiltIn(10), Arc::new(BloomFilterPolicy::new(10))),
        };
        let reader = Reader::open(folder.path(), filter)?;
        let emulated = Emulated::open(folder.path(), policy)?;
        let model = Model::read(folder.path(), case.keys, reader.present()?)?;
        for kind in [Kind::Random, Kind::Changed, Kind::Present] {
            let keys: Vec<_> = (0..lookups).map(|_| model.draw(kind, random)).collect();
            let counted = reader.ask(keys.iter().map(|key| (&key[..], kind == Kind::Present)))?;
            let mut expected = emulated.reads(keys.iter().map(|key| &key[..]))?;
            for level in counted.blocks.keys() {
                expected.entry(*level).or_default();
            }
            ensure!(
                counted.blocks == expected,
                "{}, {kind:?}: LevelDB counts {:?} blocks by level, expected {expected:?}",
                case.name,
                counted.blocks
            );
            checked += lookups;
        }
    }
    Ok(checked)
}

fn compare(case: &Case, number: u64, options: &Options, goleveldb: Option<&Path>) -> Result<Database> {
    let random = &mut Random::for_case(options.seed, number);
    let folder = new_folder()?;
    write::write(case, folder.path(), goleveldb, random)?;
    let reader = if case.writer.has_old_name() { StoreFilter::Legacy(10) } else { StoreFilter::BuiltIn(10) };
    let before = Reader::open(folder.path(), reader)?;
    let model = Model::read(folder.path(), case.keys, before.present()?)?;

    let lookups = case.lookups.then(|| model.skewed(OWN_LOOKUPS, random));
    let prediction = Prediction::of(folder.path(), case.all, lookups.clone().unwrap_or_default())?;
    let asked =
        Asked { model: &model, lookups: lookups.as_deref(), count: options.lookups, seed: options.seed };

    let (size, levels) = measure::filter_bytes(folder.path())?;
    let compared = asked.compare(&before, &prediction.now()?, size)?;
    let sample = prediction.tuning.sample;
    let mut database = Database {
        name: case.name.to_owned(),
        levels,
        entries: model.entries(),
        sample: (sample.tables, sample.of_tables),
        verdict: prediction.verdict(),
        bytes: prediction.tuning.size(),
        rows: vec![Row { what: "now", bits_per_key: None, compared, is_repeated: false }],
    };
    drop(before);
    let drawn = prediction.candidate(random.index(1_000_000), case.bits_per_key)?;
    let mut done: Vec<(Choice, Row)> = Vec::new();
    for (what, choice) in [("advice", prediction.advice()?), ("some candidate", Some(drawn))] {
        let Some(choice) = choice else { continue };
        let same = done.iter().find(|(done, _)| done.bits_per_key == choice.bits_per_key);
        let row = match same {
            Some((_, row)) => row.clone(),
            None => rebuild(&asked, folder.path(), &choice).with_context(|| format!("{what}: {choice:?}"))?,
        };
        database.rows.push(Row { what, is_repeated: same.is_some(), ..row.clone() });
        done.push((choice, row));
    }
    Ok(database)
}

/// Rebuilds the database with these filters into another folder, and measures the result.
fn rebuild(asked: &Asked<'_>, folder: &Path, choice: &Choice) -> Result<Row> {
    let parent = new_folder()?;
    let to = parent.path().join("rebuilt");
    let mut arguments: Vec<OsString> =
        vec!["rebuild".into(), folder.into(), "--to".into(), to.clone().into()];
    arguments.extend(choice.arguments.iter().map(OsString::from));
    let outcome = tool::run(&arguments);
    ensure!(outcome.status == 0, "rebuild: status {}: {}", outcome.status, outcome.messages);
    let filter = match choice.policy {
        Policy::Builtin2 => StoreFilter::BuiltIn(10),
        Policy::Builtin(_) => StoreFilter::Legacy(10),
        Policy::Own(_) => bail!("no reader of {}", choice.policy.name()),
    };
    let (size, _) = measure::filter_bytes(&to)?;
    let compared = asked.compare(&Reader::open(&to, filter)?, &choice.predicted, size)?;
    Ok(Row { what: "", bits_per_key: Some(choice.bits_per_key), compared, is_repeated: false })
}

/// The keys that databases are asked for.
struct Asked<'a> {
    model: &'a Model,
    /// The user's own lookups. If there are any, present keys are taken from them.
    lookups: Option<&'a [Vec<u8>]>,
    /// The number of keys of each other kind.
    count: usize,
    seed: u64,
}

impl Asked<'_> {
    fn compare(&self, reader: &Reader, predicted: &Predicted, size: u64) -> Result<Vec<Compared>> {
        let mut compared = Vec::new();
        let is_drawn = self.lookups.is_none();
        let random = is_drawn.then_some((Kind::Random, predicted.absent));
        let stored = is_drawn.then_some((Kind::Present, predicted.stored));
        for (kind, predicted) in [random, predicted.similar, stored].into_iter().flatten() {
            if !self.model.has(kind) {
                continue;
            }
            let what = match kind {
                Kind::Random => "random",
                Kind::Present => "stored",
                _ => "similar",
            };
            let mut random = Random::for_case(self.seed, kind as u64);
            let keys: Vec<_> = (0..self.count).map(|_| self.model.draw(kind, &mut random)).collect();
            let reads = reader.ask(keys.iter().map(|key| (&key[..], kind == Kind::Present)))?;
            compared.push(Compared::reads(what, predicted, reads.mean, &reads.by_level()));
        }
        if let Some(lookups) = self.lookups {
            let found = self.model.finds();
            let of = |present: bool| {
                let keys = lookups.iter().map(|key| (&key[..], found.contains(&key[..])));
                reader.ask(keys.filter(move |(_, is_present)| *is_present == present))
            };
            let (absent, present) = (of(false)?, of(true)?);
            compared.push(Compared::reads("lookups", predicted.absent, absent.mean, &absent.by_level()));
            compared.push(Compared::reads("stored", predicted.stored, present.mean, &present.by_level()));
        }
        compared.push(Compared::size(predicted.size, size));
        Ok(compared)
    }
}
