//! The output of `filterblock tune --json`.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::compare::tool::{self, Outcome};

/// The lines that `tune` prints about a database.
#[derive(Debug)]
pub(super) struct Tuning {
    settings: Vec<Value>,
    tuning: Value,
}

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

    /// The standard error that the interval stands for.
    pub(super) fn error(self) -> f64 {
        (self.high - self.low) / 2.0 / 1.96
    }
}

/// The predictions for some filters.
#[derive(Debug, Clone)]
pub(super) struct Predicted {
    /// The size of all filters in bytes.
    pub(super) size: Estimate,
    pub(super) random: Estimate,
    /// The reads for the worst of the kinds that are likely for the database's keys.
    pub(super) neighbours: Estimate,
    pub(super) worst: Option<&'static str>,
    /// The reads by kind: changed, between, cut, longer.
    pub(super) near: [Option<Estimate>; 4],
    /// The reads for the user's own lookups of absent keys.
    pub(super) lookups: Option<Estimate>,
    pub(super) present: Estimate,
}

/// The kinds of keys near stored ones.
const NEAR: [&str; 4] = ["changed", "between", "cut", "longer"];

fn near(json: &Value) -> Result<[Option<Estimate>; 4]> {
    let mut near = [None; 4];
    for (near, kind) in near.iter_mut().zip(NEAR) {
        *near = if json[kind].is_null() { None } else { Some(Estimate::of(&json[kind])?) };
    }
    Ok(near)
}

impl Predicted {
    fn of(outcome: &Value) -> Result<Self> {
        let reads = &outcome["reads"];
        let lookups = &reads["lookups"];
        Ok(Self {
            size: Estimate::of(&outcome["size"])?,
            random: Estimate::of(&reads["random"])?,
            neighbours: Estimate::of(&reads["neighbours"])?,
            worst: NEAR.into_iter().find(|kind| reads["worst"] == *kind),
            near: near(&reads["near"])?,
            lookups: if lookups.is_null() { None } else { Some(Estimate::of(lookups)?) },
            present: Estimate::of(&reads["present"])?,
        })
    }

    /// The reads of the user's absent keys, or else of neighbours or random keys, whichever are more.
    pub(super) fn absent(&self) -> Estimate {
        let is_random = self.random.value > self.neighbours.value;
        self.lookups.unwrap_or(if is_random { self.random } else { self.neighbours })
    }
}

/// Filters that the database may be given.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub(super) policy: String,
    /// The bits and `base_lg`, as text for people.
    pub(super) filters: String,
    /// The arguments for `filterblock rebuild`.
    pub(super) arguments: Vec<OsString>,
    pub(super) predicted: Predicted,
}

/// The option for the hash of today's LevelDB and of goleveldb.
const HASH: [&str; 2] = ["--hash", "unsigned"];
const OLD_NAME: &str = "leveldb.BuiltinBloomFilter";

impl Choice {
    /// Reads a choice of the JSON, or a setting, which has the same bits on all levels.
    fn of(json: &Value) -> Result<Self> {
        let policy = json["policy"].as_str().context("policy")?.to_owned();
        let base_lg = json["base_lg"].as_u64().context("base_lg")?;
        let levels: Vec<(u64, u64)> = match &json["bits_per_key"] {
            Value::Array(levels) => {
                let level = |level: &Value| Some((level["level"].as_u64()?, level["bits_per_key"].as_u64()?));
                levels.iter().map(level).collect::<Option<_>>().context("bits_per_key by level")?
            }
            bits => vec![(0, bits.as_u64().context("bits_per_key")?)],
        };
        let bits = match &levels[..] {
            [] => bail!("no bits a key: {json}"),
            [(_, bits), rest @ ..] if rest.iter().all(|(_, other)| other == bits) => bits.to_string(),
            levels => {
                levels.iter().map(|(level, bits)| format!("{level}={bits}")).collect::<Vec<_>>().join(",")
            }
        };
        let base_lg = base_lg.to_string();
        let mut words = vec!["--policy", &policy, "--bits-per-key", &bits, "--base-lg", &base_lg];
        if policy == OLD_NAME {
            words.extend(HASH);
        }
        Ok(Self {
            filters: format!("{bits}; {base_lg}"),
            arguments: words.iter().map(OsString::from).collect(),
            predicted: Predicted::of(&json["outcome"])?,
            policy,
        })
    }
}

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
        Self::parse(outcome.json()?)
    }

    fn parse(mut lines: Vec<Value>) -> Result<Self> {
        let tuning = lines.pop().context("tune says nothing")?;
        ensure!(tuning["object"] == "tuning", "the last line is no tuning: {tuning}");
        ensure!(tuning["status"] == "ok", "{tuning}");
        let other = lines.iter().find(|line| line["object"] != "setting");
        ensure!(other.is_none(), "not a setting: {other:?}");
        Ok(Self { settings: lines, tuning })
    }

    pub(super) fn now(&self) -> Result<Predicted> {
        Predicted::of(&self.tuning["now"]).context("now")
    }

    /// The bytes of all tables.
    pub(super) fn bytes(&self) -> Result<u64> {
        let levels = self.tuning["levels"].as_array().context("levels")?;
        levels.iter().map(|level| level["size"].as_u64().context("the size of a level")).sum()
    }

    /// The policy that readers of the database have.
    pub(super) fn policy(&self) -> Result<&str> {
        self.tuning["policy"].as_str().context("policy")
    }

    /// Returns the number of tables that `tune` read, and of all tables.
    pub(super) fn sample(&self) -> Result<(u64, u64)> {
        let sample = &self.tuning["sample"];
        Ok((sample["tables"].as_u64().context("tables")?, sample["of_tables"].as_u64().context("of_tables")?))
    }

    /// The best filters within the budget with the same bits on all levels.
    pub(super) fn uniform(&self) -> Result<Option<Choice>> {
        self.choice(&self.tuning["uniform"]).context("uniform")
    }

    /// The best filters within the budget with bits by level.
    pub(super) fn by_level(&self) -> Result<Option<Choice>> {
        self.choice(&self.tuning["by_level"]).context("by_level")
    }

    /// The maximum size of all filters, in bytes.
    pub(super) fn budget(&self) -> Result<f64> {
        self.tuning["budget"]["bytes"].as_f64().context("budget")
    }

    /// The action, in a word, and the choice if the advice is to rebuild.
    pub(super) fn advice(&self) -> Result<(&str, Option<Choice>)> {
        let advice = &self.tuning["advice"];
        let action = advice["action"].as_str().context("action")?;
        let choice = self.choice(&advice["choice"]).context("advice")?;
        ensure!((action == "rebuild") == choice.is_some(), "{advice}");
        let Some(mut choice) = choice else { return Ok((action, None)) };
        let words = advice["arguments"].as_array().context("arguments")?;
        let words = words.iter().map(|word| word.as_str().map(OsString::from));
        choice.arguments = words.collect::<Option<_>>().context("arguments")?;
        Ok((action, Some(choice)))
    }

    fn choice(&self, json: &Value) -> Result<Option<Choice>> {
        (!json.is_null()).then(|| Choice::of(json)).transpose()
    }

    /// Returns one of the settings tried for the policy of the database's readers, by `number`. `wanted`: only
    /// settings of these bits a key and this `base_lg` count.
    pub(super) fn setting(&self, number: usize, wanted: Option<(u64, u64)>) -> Result<Choice> {
        let policy = self.policy()?;
        let is_wanted = |line: &&Value| {
            let is_same =
                |(bits, base_lg): (u64, u64)| line["bits_per_key"] == bits && line["base_lg"] == base_lg;
            line["policy"] == policy && wanted.is_none_or(is_same)
        };
        let mut settings: Vec<_> = self.settings.iter().filter(is_wanted).collect();
        ensure!(!settings.is_empty(), "no setting of {policy} was tried");
        let at = number % settings.len();
        Choice::of(settings.swap_remove(at)).context("setting")
    }
}
