//! All that each command prints about each kind of database, at 80 columns and as JSON, with the exit statuses, held
//! against `crates/cli/tests/expected`. A change of output is a change of these files: `EXPECT=write cargo test --test golden`
//! writes them.
#![cfg(unix)]

#[allow(dead_code, reason = "not all of it is used here")]
#[path = "../../../../tests/common/databases.rs"]
mod databases;
#[allow(dead_code, reason = "not all of it is used here")]
#[path = "../../../../tests/common/reports.rs"]
mod reports;

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::{pty, termios};

/// What a terminal of 80 columns, or a file, gets of a run of the program in `folder`, and the exit status.
fn run(folder: &Path, arguments: &[&str], is_terminal: bool) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_filterblock"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stderr(Stdio::piped());
    command.env("NO_COLOR", "1").env("TERM", "xterm").env("LC_ALL", "C.UTF-8");
    let mut out: File;
    let mut child = if is_terminal {
        let master = pty::openpt(pty::OpenptFlags::RDWR | pty::OpenptFlags::NOCTTY).unwrap();
        pty::grantpt(&master).unwrap();
        pty::unlockpt(&master).unwrap();
        let name = pty::ptsname(&master, Vec::new()).unwrap();
        let end = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let size = termios::Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        termios::tcsetwinsize(&end, size).unwrap();
        out = File::from(master);
        command.stdout(end).spawn().unwrap()
    } else {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        out = File::from(std::os::fd::OwnedFd::from(child.stdout.take().unwrap()));
        child
    };
    // The command holds the program's end of the terminal.
    drop(command);
    let out = std::thread::spawn(move || {
        let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
        // A terminal that nobody writes to any longer gives an error on Linux.
        while let Ok(len @ 1..) = out.read(&mut buffer) {
            bytes.extend(&buffer[..len]);
        }
        bytes
    });
    let mut err = Vec::new();
    child.stderr.take().unwrap().read_to_end(&mut err).unwrap();
    let status = child.wait().unwrap().code().expect("no signal");
    let mut text = format!("$ filterblock {}\n", arguments.join(" "));
    let place = folder.canonicalize().unwrap();
    for (stream, bytes) in [(1, out.join().unwrap()), (2, err)] {
        let bytes = String::from_utf8_lossy(&bytes).replace(&format!("{}/", place.display()), "/tmp/");
        for line in without_random_names(&bytes).lines() {
            let line = line.trim_end();
            writeln!(text, "{stream}|{}{line}", if line.is_empty() { "" } else { " " }).unwrap();
        }
    }
    writeln!(text, "=> {status}\n").unwrap();
    text
}

/// The text with the random part of each hidden folder's name cut off.
fn without_random_names(text: &str) -> String {
    const HIDDEN: &str = "/.filterblock-";
    let is_digit = |c: char| c.is_ascii_hexdigit();
    let mut parts = text.split(HIDDEN);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + HIDDEN + part.trim_start_matches(is_digit))
}

/// A folder whose path no shell and no JSON string has to escape, wherever `TMPDIR` leads: paths are printed both ways.
fn place() -> tempfile::TempDir {
    tempfile::tempdir_in("/tmp").unwrap()
}

fn testdata() -> PathBuf {
    databases::testdata("")
}

fn copy(source: &Path, folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    for entry in fs::read_dir(source).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
    }
}

/// The outputs of all commands that take a database, for the one that `make` makes, and for a lookup of `key`.
fn of_database(name: &str, key: &str, make: &dyn Fn(&Path)) -> String {
    let place = place();
    let folder = place.path();
    make(&folder.join(name));
    let (rebuilt, repaired) = (format!("{name}-rebuilt"), format!("{name}-repaired"));
    let mut text = String::new();
    let mut add = |arguments: &[&str], is_terminal| text += &run(folder, arguments, is_terminal);
    for command in ["inspect", "verify", "manifest"] {
        add(&[command, name], true);
        add(&[command, name, "--json"], false);
    }
    add(&["tune", name], true);
    add(&["scan", name, "--sizes", "--limit", "10"], true);
    add(&["scan", name, "--all", "--json", "--limit", "3"], false);
    add(&["get", name, key], false);
    add(&["report", name, "-o", "page.html"], true);
    let policy = ["--policy", "leveldb.BuiltinBloomFilter2"];
    add(&["rebuild", name, "--to", &rebuilt, policy[0], policy[1]], true);
    add(&["repair", name, "--to", &repaired, "--dry-run", "--json"], false);
    add(&["repair", name, "--to", &repaired], true);
    add(&["verify", &repaired], true);
    add(&["scan", &repaired, "--sizes", "--limit", "10"], true);
    add(&["rebuild", name, "--in-place", "--json", policy[0], policy[1]], false);
    text
}

/// The outputs of all commands that take a table or a log.
fn of_file(source: &str) -> String {
    let place = place();
    let name = source.rsplit('/').next().unwrap();
    fs::copy(testdata().join(source), place.path().join(name)).unwrap();
    let mut text = String::new();
    let mut add = |arguments: &[&str], is_terminal| text += &run(place.path(), arguments, is_terminal);
    for command in ["inspect", "verify"] {
        add(&[command, name], true);
        add(&[command, name, "--json"], false);
    }
    add(&["tune", name], true);
    add(&["query", name, "aardvark", "zebra"], true);
    add(&["query", name, "aardvark", "zebra", "--json"], false);
    add(&["scan", name, "--sizes", "--limit", "5"], true);
    add(&["scan", name, "--carve", "--sizes", "--limit", "5"], true);
    add(&["report", name, "-o", "page.html"], true);
    add(&["manifest", name], true);
    add(&["repair", name, "--to", "new"], true);
    text
}

/// Holds `text` against the expected output of this kind.
#[track_caller]
fn check(kind: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected").join(format!("{kind}.txt"));
    if std::env::var_os("EXPECT").is_some_and(|what| what == "write") {
        fs::write(path, text).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    if let Some(at) =
        text.lines().zip(expected.lines().chain(std::iter::repeat(""))).position(|(a, b)| a != b)
    {
        let around = |text: &str| {
            let lines: Vec<_> = text.lines().skip(at.saturating_sub(6)).take(14).collect();
            lines.join("\n")
        };
        panic!(
            "{}, line {}\nexpected:\n{}\nfound:\n{}",
            path.display(),
            at + 1,
            around(&expected),
            around(text)
        );
    }
    assert_eq!(text.len(), expected.len(), "{}: fewer lines than expected", path.display());
}

#[test]
fn of_sound_databases() {
    for (name, source, key) in [
        ("levels", "databases/levels", "item/0001/919"),
        ("reversed", "databases/reversed", "nokey"),
        ("unfiltered", "databases/unfiltered", "nokey"),
        ("goleveldb", "goleveldb/base-lg-11", "nokey"),
    ] {
        check(name, &of_database(name, key, &|folder| copy(&testdata().join(source), folder)));
    }
    check("levels-tune", &run(&testdata().join("databases"), &["tune", "levels", "--json"], false));
}

#[test]
fn of_databases_from_public_reports() {
    for (name, _) in reports::CASES {
        let key = match name {
            "manifest-cut" | "manifest-zero" | "copy-name" | "copy-name-alone" | "upper-case" => "new",
            "order" => "b",
            "swapped" => "k08",
            "short-key" => "banana",
            _ => "k",
        };
        check(name, &of_database(name, key, &|folder| reports::make(name, folder)));
    }
}

#[test]
fn of_files() {
    for (kind, source) in [
        ("table", "tables/words-4096-bloom10-snappy.ldb"),
        ("log", "databases/levels/000010.log"),
        ("riak-table", "basho/versions-bloom2.ldb"),
        ("bedrock-table", "bedrock/words-1024-bloom10-zlib.ldb"),
        ("rocksdb-table", "constructed/rocksdb-full-filter.ldb"),
    ] {
        check(kind, &of_file(source));
    }
}
