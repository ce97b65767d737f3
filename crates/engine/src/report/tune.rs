//! The results of `tune`: what the filters of a database save, and whether others would save more.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::advice::{Action, Advice, AdviceFields};
use super::effect::{Effect, SimilarKind};
use super::estimate::Estimate;
use super::fault::Fault;
use super::frame::{ErrorKind, Frame, Subject};
use super::strings::write_line;
use crate::audit::Policy;
use crate::audit::rates::Rate;
use crate::audit::tune::Facts;
use crate::text::advice_text;

/// Bits per key that show what more bits do.
const TELLING_BITS: [u32; 8] = [4, 6, 8, 10, 12, 14, 16, 20];

/// The results for one of the paths given.
#[derive(Debug)]
pub struct Tuned {
    /// The path as the user gave it.
    pub input: Arc<Path>,
    /// The path of the database or the table.
    pub path: PathBuf,
    /// The advice. `None`: a table that was given by itself and has no fault, or no database.
    pub advice: Option<Advice>,
    /// The results, or the reason why there are none.
    pub result: Result<Tuning, Fault>,
}

impl Tuned {
    /// Writes one line of JSON.
    ///
    /// # Errors
    ///
    /// Those of `to`.
    pub fn write_json(&self, to: impl Write) -> io::Result<()> {
        write_line(to, &self.line())
    }

    fn line(&self) -> TuningLine<'_> {
        let tuning = self.result.as_ref().ok();
        let left_out = tuning.and_then(|tuning| tuning.left_out.first());
        let error = match &self.result {
            Ok(_) => left_out.map(|table| format!("{}: {}", table.name, table.why.text)),
            Err(failure) => Some(failure.text.clone()),
        };
        let kind = self.result.as_ref().map_or_else(|fault| Some(fault.kind), |_| Some(left_out?.why.kind));
        let is_bad = self.advice.as_ref().is_some_and(|advice| advice.verdict > super::Verdict::CannotTell);
        let kind = kind.or_else(|| is_bad.then_some(ErrorKind::Damaged));
        let subject = Subject { path: &self.path, ..Subject::of(&self.input) };
        let advice = self
            .advice
            .as_ref()
            .map(|advice| AdviceFields::of(advice, advice_text(advice, tuning, &self.path).to_string()));
        TuningLine {
            frame: Frame::new("tuning", &subject, kind).error(error),
            advice: advice.unwrap_or_default(),
            tuning: tuning.map(|tuning| TuningFields::of(tuning, self.advice.as_ref())).unwrap_or_default(),
        }
    }
}

/// A database or a single table, and the effects of other filters.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// The policy that the filters of the candidates are of.
    pub policy: Policy,
    /// The policy was assumed, as no table has sound filters of one that programs set.
    pub policy_assumed: bool,
    /// Each filter in use, or of a candidate, is of the data blocks that begin within 2^base_lg bytes.
    pub base_lg: u8,
    /// The bits per key of most filters in use. `None`: not known.
    pub bits_per_key: Option<u32>,
    /// The part that was read.
    pub sample: SampleSize,
    /// Those with tables that could be read, from the top. A table that was given by itself is on one without a number.
    pub levels: Vec<Level>,
    /// The effects of the filters in use.
    pub now: Effect,
    /// The candidates, by bits per key.
    pub candidates: Vec<Candidate>,
    /// The effects of one filter for each table. `None`: the filters in use are such filters, or there are no entries.
    pub whole_tables: Option<Effect>,
    /// The keys of `--lookups`. `None`: no keys were given.
    pub lookups: Option<Lookups>,
    /// The limit on the size of the filters of `--budget`, in bytes.
    pub budget: Option<u64>,
    /// The number of logs with writes that are in no table yet, and in no number here.
    pub logs: u64,
    /// The tables that could not be read completely, and are part of no number.
    pub left_out: Vec<LeftOut>,
    pub(crate) facts: Facts,
}

impl Tuning {
    /// The effects of the candidate with this number of bits per key.
    pub fn candidate(&self, bits_per_key: u32) -> Option<&Candidate> {
        self.candidates.iter().find(|of| of.bits_per_key == bits_per_key)
    }

    /// The candidate for a rebuild: 10 bits per key, those in use if more, or the best within the budget. `None`: none
    /// fits, or there are no entries.
    pub fn target(&self) -> Option<&Candidate> {
        let Some(budget) = self.budget else {
            return self.candidate(self.bits_per_key.unwrap_or_default().max(DEFAULT_BITS));
        };
        let reads =
            |of: &&Candidate| of.outcome.reads.map_or(0.0, |reads| reads.absent.value + reads.stored.value);
        let fitting = self.candidates.iter().filter(|of| of.outcome.size.value <= budget as f64);
        fitting.min_by(|one, other| reads(one).total_cmp(&reads(other)))
    }

    /// The candidate of a rebuild that is advised for the sake of reads or space.
    pub fn advised(&self, advice: Option<&Advice>) -> Option<&Candidate> {
        let advice = advice.filter(|advice| advice.verdict == super::Verdict::CouldBeBetter)?;
        let Action::Rebuild(rebuild) = advice.action else { return None };
        self.candidate(rebuild.bits_per_key.unwrap_or(DEFAULT_BITS))
    }

    /// The candidates that show what more bits do, with those in use and those advised.
    pub fn telling(&self, advice: Option<&Advice>) -> impl Iterator<Item = &Candidate> {
        let advised = self.advised(advice).map(|of| of.bits_per_key);
        let is_telling = move |bits: u32| {
            TELLING_BITS.contains(&bits) || [self.bits_per_key, advised].contains(&Some(bits))
        };
        self.candidates.iter().filter(move |of| is_telling(of.bits_per_key))
    }

    /// The data blocks that a lookup reads fewer with a candidate: of an absent or a stored key, whichever saves more.
    pub fn saved(&self, then: &Candidate) -> f64 {
        self.now.saved(&then.outcome)
    }

    /// The bytes of all tables.
    pub fn size(&self) -> u64 {
        self.levels.iter().fold(0, |sum, level| level.size.saturating_add(sum))
    }

    /// The number of tables without sound filters of the policy.
    pub fn without_filters(&self) -> u64 {
        self.levels.iter().map(|level| level.without_filters).sum()
    }
}

/// The bits per key that programs set.
pub const DEFAULT_BITS: u32 = 10;

/// The part of the tables that was read.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct SampleSize {
    /// Number of tables whose every entry was decoded.
    pub tables: u64,
    /// Number of tables that could be read.
    pub of_tables: u64,
    /// Bytes of the files of the tables whose every entry was decoded.
    pub bytes: u64,
    /// Number of entries of the tables that could be read.
    pub entries: Estimate,
}

/// A level that has tables that could be read, or a table that was given by itself.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Level {
    /// The level. `None`: the table was given by itself.
    #[serde(rename = "level")]
    pub number: Option<u8>,
    /// Number of tables that could be read.
    pub tables: u64,
    /// Number of these tables without sound filters of the policy. Filters with false negatives are not sound.
    pub without_filters: u64,
    /// Bytes of the files of the tables.
    pub size: u64,
    /// Number of entries of the tables, including deletions and older versions of keys.
    pub entries: f64,
    /// Bytes of the filters in use.
    pub filter_size: f64,
    /// False-positive rate of the filters in use, of the absent keys of `--lookups` or else of random keys. `None`: no
    /// such key was looked up.
    pub fpr: Option<f64>,
    /// Mean number of tables of this level that are checked in vain for such a key. `None`: the order of keys is not
    /// known, or a table was given by itself.
    pub checked: Option<f64>,
}

/// Filters with a number of bits per key.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Candidate {
    /// The bits per key.
    pub bits_per_key: u32,
    /// The effects.
    pub outcome: Effect,
}

/// The user's lookups.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lookups {
    /// Number of keys in the file of `--lookups`.
    pub given: u64,
    /// Number of keys of the file that were looked up.
    pub used: u64,
    /// Number of keys that were looked up and are stored.
    pub stored: u64,
}

/// A line about a database or a single table.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TuningLine<'a> {
    /// The subject of the line.
    #[serde(flatten)]
    frame: Frame<'a>,
    #[serde(flatten)]
    advice: AdviceFields,
    #[serde(flatten)]
    tuning: TuningFields,
}

/// The numbers of a line. All are null if there are no results.
#[derive(Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct TuningFields {
    /// Name of the policy of the filters in use, or of the one given by `--policy`, without `filter.`
    policy: Option<Policy>,
    /// True if `--policy` was not given and no table has sound filters of LevelDB's or goleveldb's policy. `policy` is then
    /// goleveldb's, if goleveldb opened the database last, or else LevelDB's.
    policy_assumed: Option<bool>,
    /// Each filter is of the data blocks that begin within 2^base_lg bytes: those of most filters in use, or 11.
    base_lg: Option<u8>,
    /// Bits per key of most filters in use. `None`: not known.
    bits_per_key: Option<u32>,
    /// Number of tables that could be read.
    tables: Option<u64>,
    /// Number of tables whose every entry was read.
    tables_read: Option<u64>,
    /// Bytes of the tables that could be read.
    bytes: Option<u64>,
    /// Bytes of the tables whose every entry was read.
    bytes_read: Option<u64>,
    /// Entries of the tables that could be read, including deletions and older versions of keys.
    entries: Option<f64>,
    /// Number of logs with newer writes, which are part of no number.
    logs: Option<u64>,
    /// Number of tables that could not be read completely, and are part of no number.
    left_out: Option<u64>,
    /// Number of stored keys that filters hide.
    false_negatives: Option<u64>,
    /// The keys of `--lookups`. `None`: no keys were given.
    lookups: Option<Lookups>,
    /// Bytes of the filters in use.
    filter_size: Option<f64>,
    /// False-positive rate of the filters in use, of random keys. `None`: no key was looked up.
    random_fpr: Option<Rate>,
    /// Data blocks that a lookup of an absent key reads: of `--lookups` where given, and otherwise random. `None`: the
    /// order of keys is not known, or a table was given by itself.
    absent_reads: Option<Estimate>,
    /// Data blocks that a lookup of a stored key reads.
    stored_reads: Option<Estimate>,
    /// The keys similar to stored ones whose lookups read most, with the filters in use.
    similar: Option<Similar>,
    /// The levels that have tables that could be read, from the top.
    levels: Option<Vec<Level>>,
    /// The effects of filters with other numbers of bits per key.
    by_bits: Option<Vec<ByBits>>,
    /// Limit of `--budget` on the size of the filters, in bytes.
    budget: Option<u64>,
}

/// The kind of absent keys similar to stored ones whose lookups read most.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Similar {
    /// The kind.
    kind: SimilarKind,
    /// False-positive rate. `None`: no such key reached a table.
    fpr: Option<f64>,
    /// Data blocks that a lookup reads.
    reads: f64,
}

/// The effects of filters with a number of bits per key.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ByBits {
    /// Bits per key.
    bits_per_key: u32,
    /// Bytes of all filters.
    filter_size: f64,
    /// False-positive rate, of the absent keys of `--lookups` or else of random keys.
    fpr: Option<f64>,
    /// Data blocks that a lookup of an absent key reads.
    absent_reads: Option<f64>,
    /// Data blocks that a lookup of a stored key reads.
    stored_reads: Option<f64>,
}

impl TuningFields {
    fn of(tuning: &Tuning, advice: Option<&Advice>) -> Self {
        let Tuning { now, sample, .. } = tuning;
        let reads = now.reads;
        let similar = reads.and_then(|reads| {
            let kind = reads.worst?;
            let fpr = now.rates.similar.get(kind as usize).copied().flatten();
            Some(Similar { kind, fpr: fpr.map(|of| of.rate), reads: reads.of_kind(kind)?.value })
        });
        let by_bits = |of: &Candidate| {
            let Effect { size, rates, reads, .. } = &of.outcome;
            ByBits {
                bits_per_key: of.bits_per_key,
                filter_size: size.value,
                fpr: rates.lookups.or(rates.random).map(|of| of.rate),
                absent_reads: reads.map(|reads| reads.absent.value),
                stored_reads: reads.map(|reads| reads.stored.value),
            }
        };
        Self {
            policy: Some(tuning.policy),
            policy_assumed: Some(tuning.policy_assumed),
            base_lg: Some(tuning.base_lg),
            bits_per_key: tuning.bits_per_key,
            tables: Some(sample.of_tables),
            tables_read: Some(sample.tables),
            bytes: Some(tuning.size()),
            bytes_read: Some(sample.bytes),
            entries: Some(sample.entries.value),
            logs: Some(tuning.logs),
            left_out: Some(tuning.left_out.len() as u64),
            false_negatives: Some(tuning.facts.false_negatives.hidden),
            lookups: tuning.lookups,
            filter_size: Some(now.size.value),
            random_fpr: now.rates.random,
            absent_reads: reads.map(|reads| reads.absent),
            stored_reads: reads.map(|reads| reads.stored),
            similar,
            levels: Some(tuning.levels.clone()),
            by_bits: Some(tuning.telling(advice).map(by_bits).collect()),
            budget: tuning.budget,
        }
    }
}

/// A table that is part of no number, as it could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeftOut {
    /// The name of the table's file.
    pub name: String,
    /// The reason.
    pub why: Fault,
}
