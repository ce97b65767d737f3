//! Makes the cases of the conformance suite anew (`generate`), or answers them as LevelDB or this library does.
//!
//! A line with a case comes in, `{"case": NAME, "kind": KIND, "given": {…}}`, and a line goes out: `{"case": NAME,
//! "answer": {…}}`, without `answer` if the implementation has no interface for the case.

#[path = "../../../../conformance/runners/filterblock.rs"]
mod filterblock;
mod leveldb;

use std::io::{BufRead as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use filterblock_interop::conformance::files;
use serde_json::{Value, json};

type Answer = fn(&str, &Value) -> Option<Value>;

fn main() -> Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("generate") => generate(),
        Some("filterblock") => reply(filterblock::answer),
        Some("leveldb") => reply(leveldb::answer),
        _ => bail!("usage: conformance generate, filterblock or leveldb"),
    }
}

/// Replaces the files in `crates/conformance/cases` by LevelDB's answers of today.
fn generate() -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("conformance").join("cases");
    for (name, lines) in files(&std::env::current_exe()?)? {
        println!("{name}: {} cases", lines.lines().count());
        std::fs::write(folder.join(name), lines)?;
    }
    Ok(())
}

fn reply(answer: Answer) -> Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line?)?;
        let kind = case["kind"].as_str().context("a case has a kind")?;
        let mut reply = json!({ "case": case["case"] });
        if let Some(answer) = answer(kind, &case["given"]) {
            reply["answer"] = answer;
        }
        writeln!(out, "{reply}")?;
        out.flush()?;
    }
    Ok(())
}

/// The bytes of a text in hexadecimal.
fn bytes(text: &Value) -> Vec<u8> {
    let text = text.as_str().expect("bytes in hexadecimal");
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("bytes in hexadecimal");
    (0..text.len()).step_by(2).map(byte).collect()
}

/// Writes the files of a database into a temporary folder.
fn database(given: &Value) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, contents) in given["files"].as_object().into_iter().flatten() {
        std::fs::write(folder.path().join(name), bytes(contents)).expect("a small file");
    }
    folder
}

/// The answer about a key.
fn got<E>(found: Result<Option<Vec<u8>>, E>) -> Value {
    match found {
        Ok(Some(value)) => json!({ "value": filterblock_interop::hex(&value) }),
        Ok(None) => json!({ "absent": true }),
        Err(_) => json!({ "error": true }),
    }
}

/// A key and its value.
type Entry = (Vec<u8>, Vec<u8>);

/// The answer about all entries.
fn listed<E>(entries: Result<Vec<Entry>, E>) -> Value {
    use filterblock_interop::hex;
    match entries {
        Ok(entries) => {
            let entries: Value = entries.iter().map(|(key, value)| json!([hex(key), hex(value)])).collect();
            json!({ "entries": entries })
        }
        Err(_) => json!({ "error": true }),
    }
}
