//! Makes the files. Every question whose answer is not known already goes to the program whose
//! answer must hold.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::answers::{Asking, Reply, Runner};
use super::cases::{self, Origin, complete};
use super::runners::{build_go, linked};

/// The names of the files and what is in them. `program` is `conformance-runner`.
pub fn files(program: &Path) -> Result<Vec<(String, String)>> {
    let go = tempfile::tempdir()?;
    let goleveldb = Runner {
        name: "goleveldb".to_owned(),
        version: String::new(),
        command: vec![build_go("goleveldb", go.path())?],
    };
    let leveldb = linked(program, "leveldb", "");
    let ours = linked(program, "filterblock", "");
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
