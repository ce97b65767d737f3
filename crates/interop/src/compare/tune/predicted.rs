//! The output of `filterblock tune --json`.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::model::Kind;
use crate::compare::tool::{self, Outcome};

/// The object that `tune` prints about a database.
#[derive(Debug)]
pub(super) struct Tuning(Value);

/// A number with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Estimate {
    pub(super) fn of(json: &Value) -> Result<Self> {
        let number = |name: &str| json[name].as_f64().with_context(|| format!("{name} in {json}"));
        let estimate = Self { value: number("value")?, low: number("low")?, high: number("high")? };
        let is_in_order = estimate.low <= estimate.value && estimate.value <= estimate.high;
        ensure!(is_in_order, "an interval that does not hold its number: {json}");
        Ok(estimate)
    }

    /// Another number, with an interval as wide as this one's in proportion.
    pub(super) fn like(self, value: f64) -> Self {
        let share = value / self.value.max(f64::MIN_POSITIVE);
        Self { value, low: self.low * share, high: self.high * share }
    }

    /// The standard error that the interval stands for.
    pub(super) fn error(self) -> f64 {
        (self.high - self.low) / 2.0 / 1.96
    }
}

/// The predictions for some filters.
#[derive(Debug, Clone)]
pub(super) struct Predicted {
    /// The size of all filters in bytes.
    pub(super) size: f64,
    /// The reads for absent keys: the user's own, or random ones.
    pub(super) absent: Estimate,
    pub(super) stored: Estimate,
    /// The reads for the worst of the kinds of similar keys that are likely. `None`: not printed for other filters.
    pub(super) similar: Option<(Kind, Estimate)>,
}

/// Filters that the database may be given.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub(super) policy: String,
    pub(super) bits_per_key: u64,
    /// The arguments for `filterblock rebuild`.
    pub(super) arguments: Vec<OsString>,
    pub(super) predicted: Predicted,
}

/// The option for the hash of today's LevelDB and of goleveldb.
const HASH: [&str; 2] = ["--hash", "unsigned"];
const OLD_NAME: &str = "leveldb.BuiltinBloomFilter";

impl Tuning {
    /// Runs `filterblock tune` and reads its output.
    pub(super) fn of(folder: &Path, all: bool, lookups: Option<&Path>) -> Result<Self> {
        let mut arguments: Vec<OsString> = ["tune", "--json"].map(OsString::from).into();
        if all {
            arguments.push("--all".into());
        }
        if let Some(lookups) = lookups {
            arguments.extend(["--hex".into(), "--lookups".into(), lookups.into()]);
        }
        arguments.push(folder.into());
        let outcome = tool::run(&arguments);
        let Outcome { status, messages, .. } = &outcome;
        ensure!(*status == 0, "tune: status {status}: {messages}");
        let mut lines = outcome.json()?;
        let tuning = lines.pop().context("tune says nothing")?;
        ensure!(lines.is_empty() && tuning["object"] == "tuning", "not one tuning: {tuning}");
        Ok(Self(tuning))
    }

    /// The predictions for the filters in use.
    pub(super) fn now(&self) -> Result<Predicted> {
        let similar = &self.0["similar"];
        let kind = match similar["kind"].as_str() {
            Some("changed") => Some(Kind::Changed),
            Some("between-numbers") => Some(Kind::Between),
            Some("cut-short") => Some(Kind::Cut),
            Some("lengthened") => Some(Kind::Longer),
            _ => None,
        };
        let absent = Estimate::of(&self.0["absent_reads"])?;
        // Only the number is printed. Its interval is about as wide as that of the other absent keys.
        let reads = similar["reads"].as_f64();
        Ok(Predicted {
            size: self.number(&self.0["filter_size"])?,
            absent,
            stored: Estimate::of(&self.0["stored_reads"])?,
            similar: kind.zip(reads).map(|(kind, reads)| (kind, absent.like(reads))),
        })
    }

    fn number(&self, of: &Value) -> Result<f64> {
        of.as_f64().with_context(|| format!("{of} in {}", self.0))
    }

    /// The bytes of all tables.
    pub(super) fn bytes(&self) -> Result<u64> {
        self.0["bytes"].as_u64().context("bytes")
    }

    /// Returns the number of tables that `tune` read, and of all tables.
    pub(super) fn sample(&self) -> Result<(u64, u64)> {
        Ok((
            self.0["tables_read"].as_u64().context("tables_read")?,
            self.0["tables"].as_u64().context("tables")?,
        ))
    }

    /// The verdict, in a word, and the choice if a rebuild is advised.
    pub(super) fn advice(&self) -> Result<(&str, Option<Choice>)> {
        let verdict = self.0["verdict"].as_str().context("verdict")?;
        if self.0["action"] != "rebuild" {
            return Ok((verdict, None));
        }
        let words = self.0["arguments"].as_array().context("arguments")?;
        let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
        let bits = words.iter().position(|word| *word == "--bits-per-key").and_then(|at| words.get(at + 1));
        let bits = bits.map_or(Ok(10), |bits| bits.parse())?;
        let mut choice = self.choice(bits)?;
        choice.arguments = words.iter().map(OsString::from).collect();
        Ok((verdict, Some(choice)))
    }

    /// One of the numbers of bits per key tried, by `number`. `wanted`: this one.
    pub(super) fn candidate(&self, number: usize, wanted: Option<u64>) -> Result<Choice> {
        let rows = self.0["by_bits"].as_array().context("by_bits")?;
        let bits = rows.get(number % rows.len().max(1)).and_then(|row| row["bits_per_key"].as_u64());
        self.choice(wanted.or(bits).context("no candidate")?)
    }

    fn choice(&self, bits_per_key: u64) -> Result<Choice> {
        let rows = self.0["by_bits"].as_array().context("by_bits")?;
        let row = rows.iter().find(|row| row["bits_per_key"] == bits_per_key);
        let row = row.with_context(|| format!("{bits_per_key} bits in {}", self.0))?;
        let policy = self.0["policy"].as_str().context("policy")?.to_owned();
        let bits = bits_per_key.to_string();
        let mut words = vec!["--policy", &policy, "--bits-per-key", &bits];
        if policy == OLD_NAME {
            words.extend(HASH);
        }
        let now = self.now()?;
        let predicted = Predicted {
            size: self.number(&row["filter_size"])?,
            // Only the numbers are printed. Their intervals are about as wide as those of the filters in use.
            absent: now.absent.like(self.number(&row["absent_reads"])?),
            stored: now.stored.like(self.number(&row["stored_reads"])?),
            similar: None,
        };
        let arguments = words.iter().map(OsString::from).collect();
        Ok(Choice { bits_per_key, arguments, predicted, policy })
    }
}
