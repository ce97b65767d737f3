//! The test programs: building them, and running them with a fault switched on.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::catalogue::Selection;

/// The limit on the memory of a test program, in KiB. A fault may ask for memory without end.
const MEMORY: &str = "8388608";

/// A test program and the folder that it runs in.
#[derive(Debug)]
pub(crate) struct Program {
    path: PathBuf,
    folder: PathBuf,
    /// True for a program of the tool, false for one of the library.
    pub(crate) is_tools: bool,
}

/// The test programs of a build, by name: that of the test target or, for unit tests, that of the crate.
pub(crate) type Programs = BTreeMap<String, Program>;

/// Builds the test programs of `copy` that these arguments of `cargo test` select. On failure returns what cargo wrote.
pub(crate) fn build(copy: &Path, target: &Path, arguments: &[&str]) -> Result<Programs, String> {
    let output = Command::new("cargo")
        .args(["test", "--offline", "--no-run"])
        .args(arguments)
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_TERM_COLOR", "never")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_PROFILE_TEST_DEBUG", "0")
        // Switches cause warnings because they make conditions constant, code unreachable and modules public.
        .env("RUSTFLAGS", "--cap-lints allow")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(text);
    }
    // `  Executable filters/main.rs (target/debug/deps/filters-0123456789abcdef)`
    let listed = text.lines().filter_map(|line| {
        let (source, path) =
            line.trim_start().strip_prefix("Executable ")?.strip_suffix(')')?.split_once(" (")?;
        let path = copy.join(path);
        let (name, _) = path.file_name()?.to_str()?.rsplit_once('-')?;
        let is_library = name.starts_with("filterblock");
        // The program itself has no tests, and its name is the library's.
        if is_library && source != "unittests src/lib.rs" {
            return None;
        }
        Some((name.to_owned(), path))
    });
    let cli = copy.join("cli");
    let programs: Programs = listed
        .map(|(name, path)| {
            let is_engines = name == "filterblock_engine";
            let is_programs = name == "filterblock_cli"
                || cli.join("tests").join(&name).is_dir()
                || cli.join("tests").join(format!("{name}.rs")).is_file();
            let folder = match () {
                () if is_engines => copy.join("engine"),
                () if is_programs => cli.clone(),
                () if name.starts_with("filterblock") => copy.to_owned(),
                () => copy.join("tests"),
            };
            let is_tools = is_engines || is_programs;
            (name, Program { path, folder, is_tools })
        })
        .collect();
    if programs.is_empty() { Err(format!("cargo named no test programs:\n{text}")) } else { Ok(programs) }
}

/// The end of a run of a test program.
pub(crate) enum Outcome {
    /// No test failed. This many passed.
    Passed(u64),
    /// This test failed.
    Failed(String),
    /// The program ended in this way, though no test had failed.
    Broken(String),
    /// The program was stopped after this time.
    Hung(Duration),
}

impl Program {
    /// The names of all tests in the program.
    pub(crate) fn tests(&self) -> Result<Vec<String>, String> {
        let explain = |error| format!("{}: {error}", self.path.display());
        let output =
            Command::new(&self.path).args(["--list", "--format", "terse"]).output().map_err(explain)?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
    }

    /// Runs the selected tests up to the first failure, with this fault or with none (0).
    pub(crate) fn run(
        &self,
        selection: &Selection,
        fault: usize,
        temporary: &Path,
        limit: Duration,
    ) -> Outcome {
        let started = Command::new("sh")
            .args(["-c", "ulimit -v $0; exec \"$@\"", MEMORY])
            .arg(&self.path)
            .args((!selection.filter.is_empty()).then_some(&selection.filter))
            .current_dir(&self.folder)
            .env("FILTERBLOCK_FAULT", fault.to_string())
            .env("TMPDIR", temporary)
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        match started {
            Ok(child) => watch(child, limit),
            Err(error) => Outcome::Broken(format!("{}: {error}", self.path.display())),
        }
    }
}

fn watch(mut child: Child, limit: Duration) -> Outcome {
    let end = Instant::now() + limit;
    let (to, lines) = mpsc::channel();
    if let Some(out) = child.stdout.take() {
        std::thread::spawn(move || {
            BufReader::new(out).lines().map_while(Result::ok).try_for_each(|line| to.send(line))
        });
    }
    let mut passed = 0;
    let outcome = loop {
        match lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                let Some(result) = line.strip_prefix("test ") else { continue };
                if let Some((test, "FAILED")) = result.rsplit_once(" ... ") {
                    break Outcome::Failed(test.trim_end_matches(" - should panic").to_owned());
                }
                passed += u64::from(result.ends_with(" ... ok"));
            }
            Err(RecvTimeoutError::Timeout) => break Outcome::Hung(limit),
            Err(RecvTimeoutError::Disconnected) => {
                return match child.wait() {
                    Ok(status) if status.success() => Outcome::Passed(passed),
                    Ok(status) => Outcome::Broken(status.to_string()),
                    Err(error) => Outcome::Broken(error.to_string()),
                };
            }
        }
    };
    // Stops the program and all that it has started.
    let group = format!("-{}", child.id());
    let stopped = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
    if stopped.is_err() {
        drop(child.kill());
    }
    drop(child.wait());
    outcome
}
