//! The answers of implementations, as a table and case by case.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use filterblock_interop::conformance::answers::{Asking, Reply, Runner};
use filterblock_interop::conformance::judge::{Verdict, judge};
use filterblock_interop::conformance::read_back::judge_table;
use filterblock_interop::conformance::runners::{ALL, linked, runner};
use serde_json::Value;

use super::{cases, runner_program};

/// The lines of the page between which the table stands.
const BEGIN: &str = "<!-- by `conformance page`: -->\n";
const END: &str = "<!-- to here -->\n";

/// The outcome of a case for an implementation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Passed,
    DiffersSafely,
    Wrong,
    Crashed,
    NoInterface,
}

impl Outcome {
    fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::DiffersSafely => "differs safely",
            Self::Wrong => "wrong",
            Self::Crashed => "crashed",
            Self::NoInterface => "no interface",
        }
    }
}

/// An answer, and its outcome.
struct Judged<'a> {
    case: &'a Value,
    outcome: Outcome,
    said: String,
}

impl Judged<'_> {
    fn kind(&self) -> &str {
        self.case["kind"].as_str().unwrap_or_default()
    }

    fn name(&self) -> &str {
        self.case["case"].as_str().unwrap_or_default()
    }
}

/// Prints the answers of each implementation that are not LevelDB's.
pub(super) fn list(wanted: &[String], only: Option<&str>) -> Result<()> {
    let (built, files) = (tempfile::tempdir()?, cases()?);
    if let Some(only) = only {
        let case = files.iter().flat_map(|(_, cases)| cases).find(|case| case["case"] == only);
        println!("{:#}", case.with_context(|| format!("{only:?} is the name of no case"))?);
    }
    for runner in runners(wanted, built.path())? {
        for judged in ask(&runner, &files, only)? {
            if only.is_some() || !matches!(judged.outcome, Outcome::Passed | Outcome::NoInterface) {
                println!("{}\t{}\t{}\t{}", runner.name, judged.outcome.name(), judged.name(), judged.said);
            }
        }
    }
    Ok(())
}

/// Puts the table of all implementations into `docs/conformance.md`.
pub(super) fn write() -> Result<()> {
    let (built, files) = (tempfile::tempdir()?, cases()?);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("docs").join("conformance.md");
    let page = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let (before, rest) = page.split_once(BEGIN).context("the table's first line is missing")?;
    let (_, after) = rest.split_once(END).context("the table's last line is missing")?;
    let (mut table, mut firsts) = (String::new(), String::new());
    let kinds = files.iter().flat_map(|(_, cases)| cases).filter_map(|case| case["kind"].as_str());
    let columns: BTreeSet<&str> = kinds.collect();
    let names: Vec<_> = columns.iter().map(|kind| format!("`{kind}`")).collect();
    writeln!(
        table,
        "| | sound input read | {} |\n|---|---{}|",
        names.join(" | "),
        "|---".repeat(columns.len())
    )?;
    for runner in runners(&[], built.path())? {
        let judged = ask(&runner, &files, None)?;
        let cells: Vec<_> = columns.iter().map(|kind| cell(&judged, kind)).collect();
        let Runner { name, version, .. } = &runner;
        writeln!(table, "| {name} {version} | {} | {} |", sound_read(&judged), cells.join(" | "))?;
        for outcome in [Outcome::DiffersSafely, Outcome::Wrong, Outcome::Crashed] {
            for kind in &columns {
                let first = judged.iter().find(|judged| judged.outcome == outcome && judged.kind() == *kind);
                if let Some(first) = first {
                    let said = first.said.replace('|', "\\|");
                    writeln!(
                        firsts,
                        "| {} | {} | `{}` | {said} |",
                        runner.name,
                        outcome.name(),
                        first.name()
                    )?;
                }
            }
        }
    }
    let firsts = format!("| implementation | | first case | what it says |\n|---|---|---|---|\n{firsts}");
    fs::write(&path, format!("{before}{BEGIN}{table}\n{firsts}{END}{after}"))?;
    println!("{}", path.display());
    Ok(())
}

/// The number of sound cases that were read without an error, of those that were asked.
fn sound_read(judged: &[Judged<'_>]) -> String {
    let sound = judged.iter().filter(|judged| judged.case["given"]["sound"] == true);
    let asked: Vec<_> = sound.filter(|judged| judged.outcome != Outcome::NoInterface).collect();
    let read = asked.iter().filter(|judged| judged.outcome <= Outcome::DiffersSafely).count();
    format!("{read} of {}", asked.len())
}

/// Returns the counts of a kind's cases by outcome, as a cell of the table.
fn cell(judged: &[Judged<'_>], kind: &str) -> String {
    let mut counts: BTreeMap<Outcome, usize> = BTreeMap::new();
    for judged in judged.iter().filter(|judged| judged.kind() == kind) {
        *counts.entry(judged.outcome).or_default() += 1;
    }
    let unanswered = counts.remove(&Outcome::NoInterface).unwrap_or_default();
    if counts.is_empty() {
        return "-".to_owned();
    }
    let mut parts: Vec<_> =
        counts.iter().map(|(outcome, count)| format!("{count} {}", outcome.name())).collect();
    if unanswered > 0 {
        parts.push(format!("{unanswered} not asked"));
    }
    parts.join(", ")
}

/// Asks all cases, or only the one of this name.
fn ask<'a>(
    runner: &Runner,
    files: &'a [(String, Vec<Value>)],
    only: Option<&str>,
) -> Result<Vec<Judged<'a>>> {
    let mut asking = Asking::new(runner);
    let leveldb = linked(&runner_program()?, "leveldb", "");
    let mut leveldb = Asking::new(&leveldb);
    let cases = files.iter().flat_map(|(_, cases)| cases);
    let cases = cases.filter(|case| only.is_none_or(|only| case["case"] == only));
    cases.map(|case| judged(case, &mut asking, &mut leveldb)).collect()
}

fn judged<'a>(case: &'a Value, asking: &mut Asking<'_>, leveldb: &mut Asking<'_>) -> Result<Judged<'a>> {
    let (name, kind) = (case["case"].as_str().unwrap_or_default(), case["kind"].as_str().unwrap_or_default());
    let (outcome, said) = match asking.ask(name, kind, &case["given"])? {
        Reply::Unsupported => (Outcome::NoInterface, String::new()),
        Reply::Crashed(said) => (Outcome::Crashed, said),
        Reply::Hung => (Outcome::Crashed, "no answer within ten minutes".to_owned()),
        Reply::Answer(answer) => match verdict(case, &answer, leveldb)? {
            Verdict::Passed => (Outcome::Passed, short(&answer)),
            Verdict::DiffersSafely => (Outcome::DiffersSafely, short(&answer)),
            Verdict::Wrong => {
                (Outcome::Wrong, format!("{} instead of {}", short(&answer), short(&case["must"])))
            }
        },
    };
    Ok(Judged { case, outcome, said })
}

fn verdict(case: &Value, answer: &Value, leveldb: &mut Asking<'_>) -> Result<Verdict> {
    match judge(case, answer) {
        Verdict::Wrong if case["kind"] == "table_build" => {
            judge_table(case, answer, |kind, question| read_by(leveldb, case, kind, &question))
        }
        verdict => Ok(verdict),
    }
}

/// Returns the answer of `reader` about a table that another runner built.
fn read_by(reader: &mut Asking<'_>, case: &Value, kind: &str, question: &Value) -> Result<Option<Value>> {
    Ok(match reader.ask(case["case"].as_str().unwrap_or_default(), kind, question)? {
        Reply::Answer(answer) => Some(answer),
        _ => None,
    })
}

/// An answer, cut where it is long.
fn short(answer: &Value) -> String {
    const LONG: usize = 100;
    let text = answer.to_string();
    match text.char_indices().nth(LONG) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

fn runners(wanted: &[String], built: &Path) -> Result<Vec<Runner>> {
    let (all, linked) = (ALL.map(str::to_owned), runner_program()?);
    let wanted = if wanted.is_empty() { &all[..] } else { wanted };
    wanted.iter().map(|name| runner(name, &linked, built)).collect()
}
