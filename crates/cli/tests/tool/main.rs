//! The program as its users meet it: arguments in, output and exit status out.

#[allow(dead_code, reason = "not all of it is used here")]
#[path = "../../../../tests/common/databases.rs"]
mod databases;
#[allow(dead_code, reason = "not all of it is used here")]
#[path = "../../../../tests/common/reports.rs"]
mod reports;
#[path = "../../../../tests/common/tables.rs"]
mod tables;

mod build;
mod carve;
mod correct;
mod damage;
mod dialects;
mod distinct_keys;
mod entries;
mod extract;
mod files;
mod get;
mod inspect;
mod inspect_database;
#[cfg(unix)]
mod interrupt;
mod json;
mod json_frame;
mod key_counts;
mod kinds_of_folder;
mod large_values;
mod lost_keys;
mod manifests;
mod output;
mod promises;
mod public_current;
mod public_format;
mod public_logs;
mod public_repair;
mod public_state;
mod public_versions;
mod query;
mod query_database;
mod query_many;
mod query_riak;
// On systems other than Unix, `rebuild` makes copies only.
#[cfg(unix)]
mod rebuild;
mod repair;
mod repair_page;
mod report;
mod scan;
mod scan_bounds;
mod shell;
mod storages;
mod tune;
mod tune_denied;
mod tune_state;
mod tune_truth;
mod unfinished;
mod verify;
mod verify_database;

use databases as manifest;

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The end of an advised `filterblock rebuild` without options, for a path that needs no quotes.
const REBUILT: &str = if cfg!(windows) { "-rebuilt" } else { " --in-place" };

/// The results of a run of the program.
#[derive(Debug)]
struct Run {
    status: i32,
    out: String,
    err: String,
    raw: Vec<u8>,
}

impl Run {
    /// The lines of the output as JSON.
    #[track_caller]
    fn all_json(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    /// The lines of the output as JSON, without totals, and without folders that have no problems.
    #[track_caller]
    fn json(&self) -> Vec<Value> {
        let is_whole = |value: &Value| match value["object"].as_str() {
            Some("folder") => value["problems"].as_array().is_none_or(Vec::is_empty),
            object => object == Some("totals"),
        };
        self.all_json().into_iter().filter(|value| !is_whole(value)).collect()
    }

    /// The only line of [`json`](Self::json).
    #[track_caller]
    fn one(&self) -> Value {
        let mut lines = self.json();
        assert_eq!(lines.len(), 1, "{self:?}");
        lines.remove(0)
    }

    #[track_caller]
    fn expect(self, status: i32) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    #[track_caller]
    fn quiet(self) -> Self {
        assert_eq!(self.err, "", "{self:?}");
        self
    }
}

/// The message about a file that does not exist.
const fn not_found() -> &'static str {
    "no such file or folder"
}

fn command<A: AsRef<OsStr>>(arguments: &[A]) -> Command {
    of_program(Path::new(env!("CARGO_BIN_EXE_filterblock")), arguments)
}

fn of_program<A: AsRef<OsStr>>(program: &Path, arguments: &[A]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(variable);
    }
    command
}

/// Runs the program for ten minutes at most, which only ends a test that hangs.
#[track_caller]
fn run<A: AsRef<OsStr>>(arguments: &[A]) -> Run {
    finish(command(arguments).spawn().unwrap())
}

/// Runs the program as another user, who is in no group but their own. They may have no way to the program's folder.
#[cfg(unix)]
#[track_caller]
fn run_as<A: AsRef<OsStr>>(user: u32, arguments: &[A]) -> Run {
    use std::os::unix::{fs::PermissionsExt as _, process::CommandExt as _};
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = place.path().join("filterblock");
    // A file that this process had open for writing could not be run while another thread starts a program.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_filterblock")).arg(&program).status().unwrap();
    assert!(copied.success());
    finish(of_program(&program, arguments).uid(user).gid(user).spawn().unwrap())
}

/// Runs the program for 15 minutes at most. On an idle machine it takes some seconds.
#[track_caller]
fn run_long<A: AsRef<OsStr>>(arguments: &[A]) -> Run {
    finish_within(command(arguments).spawn().unwrap(), Duration::from_secs(15 * 60))
}

#[track_caller]
fn run_with_input<A: AsRef<OsStr>>(arguments: &[A], input: &[u8]) -> Run {
    let mut child = command(arguments).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    finish(child)
}

#[track_caller]
fn finish(child: Child) -> Run {
    // Only a test that hangs takes this long, even on a busy machine.
    finish_within(child, Duration::from_secs(600))
}

#[track_caller]
fn finish_within(mut child: Child, limit: Duration) -> Run {
    // Read by threads of their own, so that full pipes do not stop the program.
    let mut out = child.stdout.take().unwrap();
    let mut err = child.stderr.take().unwrap();
    let read = |from: &mut dyn std::io::Read| {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        bytes
    };
    let out = std::thread::spawn(move || read(&mut out));
    let err = std::thread::spawn(move || read(&mut err));
    let start = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if start.elapsed() > limit => {
                child.kill().unwrap();
                panic!("the program hangs");
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let Output { status, stdout, stderr } =
        Output { status, stdout: out.join().unwrap(), stderr: err.join().unwrap() };
    Run { status: status.code().expect("no signal"), out: text(&stdout), err: text(&stderr), raw: stdout }
}

fn table(name: &str) -> PathBuf {
    tables::testdata().join("tables").join(name)
}

fn database(name: &str) -> PathBuf {
    tables::testdata().join("databases").join(name)
}

/// Writes a MANIFEST of these records, after one with the comparator and the numbers that every MANIFEST needs, and
/// CURRENT.
fn write_manifest(folder: &std::path::Path, edits: &[manifest::Edit]) {
    let all: Vec<_> =
        [manifest::Edit::sound()].iter().chain(edits).map(|manifest::Edit(edit)| edit.clone()).collect();
    std::fs::write(folder.join("MANIFEST-000004"), manifest::log(&all).0).unwrap();
    std::fs::write(folder.join("CURRENT"), "MANIFEST-000004\n").unwrap();
}

/// Writes `contents` to a file in `folder`.
fn file(folder: &tempfile::TempDir, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, contents).unwrap();
    path
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Arguments of different types as one list.
macro_rules! args {
    ($($argument:expr),* $(,)?) => {
        [$(std::ffi::OsString::from(AsRef::<std::ffi::OsStr>::as_ref(&$argument))),*]
    };
}
pub(crate) use args;

/// The path as a word of a command.
fn word(path: &str) -> String {
    if path.contains(' ') { format!("'{path}'") } else { path.to_owned() }
}

/// The commands that `--help` lists, without `help`.
fn commands() -> Vec<String> {
    let help = run(&["--help"]).expect(0).quiet().out;
    let (_, list) = help.split_once("\nRescue:\n").unwrap();
    let (list, _) = list.split_once("\nOptions:\n").unwrap();
    let names = list.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names: Vec<String> = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    assert!(names.len() >= 13 && names[0] == "repair" && names.last().unwrap() == "man", "{help}");
    names
}

#[test]
fn help_and_version() {
    for command in commands() {
        let help = run(&[&*command, "--help"]).expect(0).quiet().out;
        assert!(help.contains("Examples:\n  "), "{help}");
        assert!(
            help.contains("\nExit status:\n  0    ") || help.contains("\nExit status, unless "),
            "{help}"
        );
        assert!(help.contains("\n  141  the output was closed early, as by head\n"), "{help}");
        assert!(help.lines().all(|line| line.len() <= 80), "{help}");
        let short = run(&[&*command, "-h"]).expect(0).quiet().out;
        assert!(short.len() < help.len() && !short.contains("Advanced:"), "{short}");
        let most =
            if ["get", "manifest", "extract", "query", "verify"].contains(&&*command) { 28 } else { 40 };
        assert!(short.lines().count() <= most, "{command}: {short}");
    }
    assert!(run(&["--help"]).expect(0).quiet().out.contains("Examples:"));
    let version = format!("filterblock {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(run(&["--version"]).expect(0).quiet().out, version);
}

#[test]
fn wrong_usage_is_status_2_and_prints_no_results() {
    for arguments in [
        &["frobnicate"][..],
        &[],
        &["inspect"],
        &["inspect", "--frobnicate", "x"],
        &["query"],
        &["verify"],
        &["verify", "-0", "x"],
        &["verify", "--jobs", "0", "x"],
        &["query", "x"],
        &["query", "x", "key", "--comparator", "frobnicate"],
        &["extract"],
        &["get", "x"],
        &["manifest"],
        &["get", "x", "--hex", "0"],
        &["scan", "x", "--raw", "--json"],
        &["inspect", "--color", "frobnicate", "x"],
    ] {
        let run = run(arguments).expect(2);
        assert_eq!(run.out, "", "{arguments:?}");
        assert!(!run.err.is_empty(), "{arguments:?}");
    }
}
