//! The conformance suite: cases with LevelDB's answers.
//!
//! [`cases`] makes the questions. [`answers`], from the package for everybody's implementations, asks LevelDB, and
//! goleveldb where LevelDB has no answer. Every question whose answer is not known already goes to the program whose
//! answer must hold.

pub mod cases;
pub mod table;

use std::path::{Path, PathBuf};
use std::process::Command;

use answers::{Asking, Reply, Runner};
use anyhow::{Context as _, Result, bail, ensure};
use cases::{Origin, complete};
pub use filterblock_conformance::{answers, judge, read_back};
use serde_json::Value;

/// A case as a runner gets it, without the answer that must hold.
#[derive(Debug, Clone)]
pub struct Question {
    /// The case's name, which stays as it is once published: the kind, a slash, and what is special.
    pub name: String,
    /// The kind of the question.
    pub kind: &'static str,
    /// The input.
    pub given: Value,
    /// The keys that are stored in what is given, and their values: no answer may deny them.
    pub stored: Stored,
    /// The program that gave the answer, if it is no longer at hand, and that answer.
    pub known: Option<(&'static str, Value)>,
}

/// The facts about the key that is asked for, or about the table, that no answer may deny.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stored {
    /// There is nothing to deny.
    Nothing,
    /// The filter was made for the key.
    InFilter,
    /// The table was written with this value for the key, in hexadecimal.
    Value(String),
    /// The table was written without the key.
    Absent,
    /// The table was written with these entries.
    Entries(Value),
}

/// Returns a runner in the program `conformance`.
pub fn linked(program: &Path, name: &str) -> Runner {
    Runner { name: name.to_owned(), command: vec![program.to_owned(), name.into()] }
}

/// Builds goleveldb's runner into `folder`, against Debian's packages.
fn goleveldb(folder: &Path) -> Result<PathBuf> {
    let program = folder.join("goleveldb");
    let source = "conformance/runners/goleveldb/main.go";
    let status = Command::new("go")
        .args(["build", "-o"])
        .arg(&program)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name(source))
        .env("GO111MODULE", "off")
        .env("GOPATH", "/usr/share/gocode")
        .status()
        .context("running go, which install-debian.sh installs")?;
    ensure!(status.success(), "go build: {status}");
    Ok(program)
}

/// The names of the files and what is in them. `program` is `conformance`.
pub fn files(program: &Path) -> Result<Vec<(String, String)>> {
    let go = tempfile::tempdir()?;
    let goleveldb = Runner { name: "goleveldb".to_owned(), command: vec![goleveldb(go.path())?] };
    let leveldb = linked(program, "leveldb");
    let ours = linked(program, "filterblock");
    let mut leveldb = Asking::new(&leveldb);
    let mut goleveldb = Asking::new(&goleveldb);
    let mut ours = Asking::new(&ours);
    let mut files = Vec::new();
    for (file, questions) in cases::all() {
        let mut lines = String::new();
        for question in &questions {
            if let Some((origin, answer)) = &question.known {
                lines.push_str(&complete(question, origin, answer).to_string());
                lines.push('\n');
                continue;
            }
            let origin = Origin::of(question);
            let asked = match origin {
                Origin::LevelDb => &mut leveldb,
                Origin::GoLevelDb => &mut goleveldb,
                Origin::Ours => &mut ours,
            };
            let reply = asked.ask(&question.name, question.kind, &question.given);
            let Reply::Answer(answer) = reply.with_context(|| question.name.clone())? else {
                bail!("{}: {} gives no answer", question.name, origin.name());
            };
            lines.push_str(&complete(question, origin.name(), &answer).to_string());
            lines.push('\n');
        }
        files.push((format!("{file}.jsonl"), lines));
    }
    Ok(files)
}
