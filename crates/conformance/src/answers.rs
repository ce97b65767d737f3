//! Asking a runner: a line with the case goes in, a line with the answer comes out.
//!
//! A runner that ends instead of answering has crashed, and one that takes too long hangs. Both are replies, and the
//! next case starts the runner anew.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The longest that a runner may take for a case, its start included, unless told otherwise.
const PATIENCE: Duration = Duration::from_secs(600);

/// The longest that a runner may take to end once nothing more is asked.
const ENDING: Duration = Duration::from_secs(10);

/// The greatest length of an answer in bytes.
const MAX_ANSWER: u64 = 64 << 20;
/// The greatest length of what is kept of a runner's standard error, in bytes.
const MAX_SAID: u64 = 64 << 10;

/// An implementation, and how its runner is started.
#[derive(Debug, Clone)]
pub struct Runner {
    /// The name of the implementation.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<PathBuf>,
}

/// A runner's reply to a case.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// An answer.
    Answer(Value),
    /// The implementation has no interface for the case.
    Unsupported,
    /// The program ended. Its status, and the first of its messages that says what happened.
    Crashed(String),
    /// No answer came in time.
    Hung,
}

/// A runner that is asked case by case.
#[derive(Debug)]
pub struct Asking<'a> {
    runner: &'a Runner,
    patience: Duration,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    /// The folder for temporary files. If the runner crashes, the files that it leaves are removed with the folder.
    _temporary: TempDir,
    child: Child,
    input: ChildStdin,
    lines: Receiver<io::Result<String>>,
    /// The beginning of what the program writes to standard error.
    said: JoinHandle<String>,
}

impl<'a> Asking<'a> {
    /// Prepares to ask this runner, which is started with the first case.
    pub fn new(runner: &'a Runner) -> Self {
        Self { runner, patience: PATIENCE, running: None }
    }

    /// Sets how long to wait for each answer.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Asks one case.
    ///
    /// # Errors
    ///
    /// If the runner cannot be started, or answers something that is no answer to this case.
    pub fn ask(&mut self, name: &str, kind: &str, given: &Value) -> Result<Reply> {
        let mut line = json!({ "case": name, "kind": kind, "given": given }).to_string();
        line.push('\n');
        let mut running = match self.running.take() {
            Some(running) => running,
            None => start(self.runner)?,
        };
        // A runner that is gone does not read; its end is noticed below.
        let _ = running.input.write_all(line.as_bytes());
        match running.lines.recv_timeout(self.patience) {
            Ok(answer) => {
                let answer = answer.with_context(|| self.runner.name.clone())?;
                let answer: Value = serde_json::from_str(&answer)
                    .with_context(|| format!("{}, {name}: no JSON: {answer}", self.runner.name))?;
                ensure!(answer["case"] == json!(name), "{} answers {answer} to {name}", self.runner.name);
                self.running = Some(running);
                Ok(match answer.get("answer") {
                    Some(answer) => Reply::Answer(answer.clone()),
                    None => Reply::Unsupported,
                })
            }
            Err(RecvTimeoutError::Timeout) => {
                running.child.kill()?;
                running.child.wait()?;
                Ok(Reply::Hung)
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = running.child.wait()?;
                let said = running.said.join().unwrap_or_default();
                Ok(Reply::Crashed(format!("{status}: {}", first_words(&said))))
            }
        }
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if let Some(mut running) = self.running.take() {
            drop(running.input);
            // Some runners do not end when there is nothing more to answer.
            let deadline = Instant::now() + self.patience.min(ENDING);
            let ended = loop {
                let left = deadline.saturating_duration_since(Instant::now());
                match running.lines.recv_timeout(left) {
                    Ok(_) if !left.is_zero() => {}
                    Err(RecvTimeoutError::Disconnected) => break true,
                    Ok(_) | Err(RecvTimeoutError::Timeout) => break false,
                }
            };
            if !ended {
                let _ = running.child.kill();
            }
            let _ = running.child.wait();
        }
    }
}

fn start(runner: &Runner) -> Result<Running> {
    let (program, arguments) = runner.command.split_first().context("a runner is a program")?;
    let temporary = tempfile::tempdir()?;
    let mut child = Command::new(program)
        .args(arguments)
        .env("TMPDIR", temporary.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting {}", program.display()))?;
    let input = child.stdin.take().context("a pipe")?;
    let output = child.stdout.take().context("a pipe")?;
    let errors = child.stderr.take().context("a pipe")?;
    let (sender, lines) = channel();
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        while let Some(line) = next_line(&mut output).transpose() {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let said = thread::spawn(move || beginning(errors));
    Ok(Running { _temporary: temporary, child, input, lines, said })
}

/// Reads the next line, without its line break. `None` after the last one, and for a last line without a line break.
fn next_line(output: &mut impl io::BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    output.by_ref().take(MAX_ANSWER).read_line(&mut line)?;
    match line.strip_suffix('\n') {
        Some(whole) => Ok(Some(whole.to_owned())),
        None if line.len() as u64 == MAX_ANSWER => Err(io::Error::other(format!(
            "expected a line of at most {MAX_ANSWER} bytes, found a longer one"
        ))),
        None => Ok(None),
    }
}

/// Returns the beginning of what a program writes. All of it is read, so that the program does not wait for a reader.
fn beginning(mut from: impl Read) -> String {
    let mut said = Vec::new();
    let _ = from.by_ref().take(MAX_SAID).read_to_end(&mut said);
    let _ = io::copy(&mut from, &mut io::sink());
    String::from_utf8_lossy(&said).into_owned()
}

/// Returns the start of the first line that says what happened, without what differs from machine to machine and from
/// run to run: paths are cut to the package, and the number of a thread is left out.
fn first_words(said: &str) -> String {
    let line = said.lines().find(|line| line.contains("panic")).or_else(|| said.lines().next());
    let words = line.unwrap_or_default().split(' ').filter(|word| !word.starts_with('('));
    let words = words.map(|word| match word.match_indices('/').rev().nth(2) {
        Some((at, _)) if word.starts_with('/') => &word[at + 1..],
        _ => word,
    });
    words.collect::<Vec<_>>().join(" ").chars().take(200).collect()
}
