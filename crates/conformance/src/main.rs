//! Asks a runner all cases, and prints what is not LevelDB's answer.

#[path = "../runners/filterblock.rs"]
mod filterblock;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use std::{fmt, fs};

use anyhow::{Context as _, Result, ensure};
use clap::{Parser, Subcommand};
use filterblock_conformance::answers::{Asking, Reply, Runner};
use filterblock_conformance::judge::{Verdict, judge};
use filterblock_conformance::{cases_folder, read_back};
use serde_json::Value;

/// The conformance suite for anybody's implementation. Needs no LevelDB.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Subcommand)]
enum Subcommands {
    /// Ask a runner, print each answer that is not LevelDB's, and the counts of each kind
    ///
    /// The exit status is 0 if no answer is wrong and no case made the runner crash or hang, 1 if an answer is wrong
    /// or a case did so, and 2 if there is no such kind or case, or the runner cannot be asked.
    Run {
        /// Ask the cases of this kind alone
        #[arg(long)]
        kind: Option<String>,
        /// Ask this case alone
        #[arg(long)]
        case: Option<String>,
        /// Seconds that an answer may take
        #[arg(long, default_value_t = 60)]
        timeout: u64,
        /// The runner and its arguments
        #[arg(long, num_args = 1.., required = true, allow_hyphen_values = true, value_name = "PROGRAM")]
        command: Vec<PathBuf>,
    },
}

/// Number of crashes, with no answer before them, after which a runner is taken for one that does not start.
const FRUITLESS: usize = 5;

/// The result of a case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Passed,
    DiffersSafely,
    Wrong,
    Crashed,
    NotAsked,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Passed => "passed",
            Self::DiffersSafely => "differs safely",
            Self::Wrong => "wrong",
            Self::Crashed => "crashed",
            Self::NotAsked => "no interface",
        })
    }
}

fn main() -> ExitCode {
    let Subcommands::Run { kind, case, timeout, command } = Arguments::parse().command;
    let wanted = |of: &Value| {
        kind.as_ref().is_none_or(|kind| of["kind"] == **kind)
            && case.as_ref().is_none_or(|case| of["case"] == **case)
    };
    match run(&command, Duration::from_secs(timeout), wanted) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("conformance: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Asks the cases that are wanted. Returns true if no answer was wrong, and no case made the runner crash or hang.
fn run(command: &[PathBuf], patience: Duration, wanted: impl Fn(&Value) -> bool) -> Result<bool> {
    let cases: Vec<Value> = cases()?.into_iter().filter(wanted).collect();
    ensure!(
        !cases.is_empty(),
        "expected the kind or the name of a case, found one that is in no file of cases"
    );
    let name = command.first().map(|program| program.display().to_string()).unwrap_or_default();
    let runner = Runner { name, command: command.to_vec() };
    let mut asking = Asking::new(&runner).patience(patience);
    let mut counts: BTreeMap<&str, BTreeMap<Outcome, u64>> = BTreeMap::new();
    let (mut sound, mut read) = (0, 0);
    for (number, case) in cases.iter().enumerate() {
        let text = |field: &str| case[field].as_str().unwrap_or_default();
        let (outcome, said) = outcome(case, asking.ask(text("case"), text("kind"), &case["given"])?)?;
        if !matches!(outcome, Outcome::Passed | Outcome::NotAsked) {
            println!("{outcome}\t{}\t{said}", text("case"));
        }
        *counts.entry(text("kind")).or_default().entry(outcome).or_default() += 1;
        let all_crashed =
            counts.values().flat_map(BTreeMap::keys).all(|outcome| *outcome == Outcome::Crashed);
        ensure!(
            number + 1 < FRUITLESS || !all_crashed,
            "expected answers from {}, found that it ended {FRUITLESS} times without one",
            runner.name
        );
        if case["given"]["sound"] == true && outcome != Outcome::NotAsked {
            sound += 1;
            read += u64::from(outcome <= Outcome::DiffersSafely);
        }
    }
    println!();
    for (kind, outcomes) in &counts {
        let parts: Vec<_> = outcomes.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
        println!("{kind:20} {}", parts.join(", "));
    }
    println!("{:20} {read} of {sound}", "sound input read");
    let bad = |outcome: &Outcome| matches!(outcome, Outcome::Wrong | Outcome::Crashed);
    Ok(!counts.values().flat_map(BTreeMap::keys).any(bad))
}

fn outcome(case: &Value, reply: Reply) -> Result<(Outcome, String)> {
    Ok(match reply {
        Reply::Unsupported => (Outcome::NotAsked, String::new()),
        Reply::Crashed(said) => (Outcome::Crashed, said),
        Reply::Hung => (Outcome::Crashed, "no answer in time".to_owned()),
        Reply::Answer(answer) => {
            let verdict = match judge(case, &answer) {
                // Without LevelDB at hand, this library reads what was built.
                Verdict::Wrong if case["kind"] == "table_build" => {
                    read_back::judge_table(case, &answer, |kind, given| {
                        Ok(filterblock::answer(kind, &given))
                    })?
                }
                verdict => verdict,
            };
            match verdict {
                Verdict::Passed => (Outcome::Passed, String::new()),
                Verdict::DiffersSafely => (Outcome::DiffersSafely, short(&answer)),
                Verdict::Wrong => {
                    (Outcome::Wrong, format!("{} instead of {}", short(&answer), short(&case["must"])))
                }
            }
        }
    })
}

fn short(answer: &Value) -> String {
    const LONG: usize = 100;
    let text = answer.to_string();
    text.char_indices().nth(LONG).map_or_else(|| text.clone(), |(at, _)| format!("{}…", &text[..at]))
}

fn cases() -> Result<Vec<Value>> {
    let folder = cases_folder();
    let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        for line in text.lines() {
            cases.push(serde_json::from_str(line).with_context(|| path.display().to_string())?);
        }
    }
    Ok(cases)
}
