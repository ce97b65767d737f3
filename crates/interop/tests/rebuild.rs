//! `filterblock rebuild` on databases of LevelDB and goleveldb; `compare rebuild` takes any number of them. A database in use
//! is not touched, and one that is being rebuilt cannot be opened.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use filterblock_interop::compare::rebuild::files::{Files, new_folder};
use filterblock_interop::compare::rebuild::{self, Programs, identity};
use filterblock_interop::leveldb::{Compression, Store, StoreFilter, StoreOptions, WriteBatch};
use filterblock_interop::random::Random;

#[test]
fn rebuilt_databases_have_all_entries_and_filters_that_deny_no_key() {
    let programs = Programs::build(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    let report = rebuild::run(200, 1, Duration::from_millis(400), programs.as_ref()).unwrap();
    // The cases reach everything that is counted.
    println!("{report}");
    assert!(report.tables[..3].iter().all(|tables| *tables > 50), "{report}");
    assert!(report.several_on_level_0 > 10 && report.with_log > 15 && report.sst > 50, "{report}");
    assert!(report.compared_filters > 200 && report.repaired > 20, "{report}");
    assert!(report.refused > 20 && report.undone > 10 && report.writes > 10_000, "{report}");
    assert!(report.denied > report.asked / 4 && report.denied < report.asked * 3 / 4, "{report}");
}

#[test]
fn tables_rebuilt_with_what_they_had_are_the_same_byte_for_byte() {
    assert_eq!(identity::run(1).unwrap().len(), 8);
}

/// Holds a database open with LevelDB: the locks of one process do not exclude each other.
const COMPARE: &str = env!("CARGO_BIN_EXE_compare");
/// Debian's Python, for which Debian packages plyvel.
const PYTHON: &str = "/usr/bin/python3";
const PLYVEL: &str =
    "import plyvel, sys; db = plyvel.DB(sys.argv[1]); print('open', flush=True); sys.stdin.read()";

/// A way to open a database and hold it open.
struct Opener {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<&'static str>,
}

impl Opener {
    fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(folder);
        command
    }

    /// Opens the database, and holds it open until the child's standard input is closed.
    fn hold(&self, folder: &Path) -> Child {
        let mut child = self.command(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "open\n", "{}", self.name);
        child
    }

    /// Tries to open the database, and closes it at once.
    fn attempt(&self, folder: &Path) -> Output {
        self.command(folder).stdin(Stdio::null()).output().unwrap()
    }
}

/// LevelDB, and goleveldb and plyvel if they are installed.
fn openers() -> Vec<Opener> {
    let mut openers = vec![Opener { name: "LevelDB", program: COMPARE.into(), arguments: vec!["hold"] }];
    if let Some(programs) = Programs::build(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap() {
        openers.push(Opener { name: "goleveldb", program: programs.reader, arguments: vec!["-hold"] });
    }
    let plyvel = Command::new(PYTHON).args(["-c", "import plyvel"]).output();
    if plyvel.is_ok_and(|output| output.status.success()) {
        openers.push(Opener { name: "plyvel", program: PYTHON.into(), arguments: vec!["-c", PLYVEL] });
    } else {
        eprintln!("python3-plyvel is not installed: it opens no database");
    }
    openers
}

/// Writes a database in this many batches of about 2 MiB.
fn write(folder: &Path, batches: u64) {
    let (compression, filter) = (Compression::None, StoreFilter::BuiltIn(10));
    let options = StoreOptions { compression, filter, ..StoreOptions::default() };
    let mut store = Store::open(folder, &options).unwrap();
    let mut random = Random::new(3);
    for part in 0..batches {
        let mut batch = WriteBatch::new();
        for number in 0..4096_u64 {
            batch.put(&(part << 20 | number).to_be_bytes(), &random.bytes(500));
        }
        store.write(&batch).unwrap();
    }
}

fn tool(arguments: &[&str], database: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_filterblock-under-test"));
    command.arg("rebuild").args(arguments).arg(database);
    command
}

#[test]
fn a_database_in_use_is_not_touched() {
    let folder = new_folder().unwrap();
    let (database, to) = (folder.path().join("db"), folder.path().join("to"));
    write(&database, 2);
    let to_option = to.to_str().unwrap();
    for opener in openers() {
        let mut holder = opener.hold(&database);
        let before = Files::read(&database).unwrap();
        for arguments in
            [&["--in-place"][..], &["--in-place", "--no-undo"], &["--to", to_option], &["--undo"]]
        {
            let output = tool(arguments, &database).output().unwrap();
            let message = String::from_utf8(output.stderr).unwrap();
            let name = opener.name;
            assert_eq!(output.status.code(), Some(3), "{name}, {arguments:?}: {message}");
            assert!(message.contains("another program has it open"), "{name}, {arguments:?}: {message}");
            before.ensure_same(&Files::read(&database).unwrap()).unwrap();
            let names: Vec<_> =
                folder.path().read_dir().unwrap().map(|file| file.unwrap().file_name()).collect();
            assert_eq!(names, ["db"], "{name}, {arguments:?}");
        }
        drop(holder.stdin.take());
        assert!(holder.wait().unwrap().success());
    }
    // Closed, it is not in use.
    let filters = ["--policy", "leveldb.BuiltinBloomFilter2"];
    assert!(tool(&["--in-place", filters[0], filters[1]], &database).status().unwrap().success());
}

/// Sends a process the signal that stops it, or the one that lets it go on.
fn signal(child: &Child, signal: &str) {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Returns true if a process is stopped (`T` in its status).
fn is_stopped(child: &Child) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    stat.rsplit(')').next().unwrap().trim_start().starts_with('T')
}

/// Starts a rebuild and stops it as soon as `has_begun` returns true, which shows that something
/// was written.
fn stopped(arguments: &[&str], database: &Path, has_begun: impl Fn() -> bool) -> Child {
    let mut child = tool(arguments, database).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(600);
    while !has_begun() {
        assert!(child.try_wait().unwrap().is_none(), "the rebuild was over at once");
        assert!(Instant::now() < end, "nothing was written");
        std::thread::sleep(Duration::from_micros(200));
    }
    signal(&child, "-STOP");
    while !is_stopped(&child) {
        assert!(child.try_wait().unwrap().is_none(), "the rebuild was over before it was stopped");
        std::thread::yield_now();
    }
    child
}

/// Checks that nothing opens the database while the rebuild is stopped, and that it then ends well.
fn check_stopped(mut child: Child, database: &Path) {
    for opener in openers() {
        let before = Files::read(database).unwrap();
        let output = opener.attempt(database);
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && output.stdout.is_empty(), "{} opens it", opener.name);
        let is_lock = ["lock", "temporarily unavailable"].iter().any(|word| messages.contains(word));
        assert!(is_lock, "{}: {messages}", opener.name);
        // LevelDB renames and begins its LOG before it asks for the lock.
        let now = Files::read(database).unwrap();
        for name in before.names().filter(|name| !name.starts_with("LOG")) {
            before.ensure_same_file(name, &now, name).unwrap();
        }
    }
    let second = tool(&["--in-place"], database).output().unwrap();
    assert_eq!(second.status.code(), Some(3), "{}", String::from_utf8_lossy(&second.stderr));
    signal(&child, "-CONT");
    assert!(child.wait().unwrap().success());
    for opener in openers() {
        let output = opener.attempt(database);
        assert!(output.status.success(), "{}: {}", opener.name, String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_database_that_is_rebuilt_in_place_cannot_be_opened() {
    let folder = new_folder().unwrap();
    let database = folder.path().join("db");
    write(&database, 40);
    let has_begun = || {
        let names = database.read_dir().unwrap().map(|file| file.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().ends_with(".dbtmp")).count() > 2
    };
    let child = stopped(&["--in-place", "--no-undo", "--jobs", "1"], &database, has_begun);
    check_stopped(child, &database);
}

#[test]
fn a_database_that_is_rebuilt_to_a_folder_cannot_be_opened() {
    let folder = new_folder().unwrap();
    let (database, to) = (folder.path().join("db"), folder.path().join("to"));
    write(&database, 40);
    let has_begun = || folder.path().read_dir().unwrap().count() > 1;
    let child = stopped(&["--to", to.to_str().unwrap(), "--jobs", "1"], &database, has_begun);
    assert!(!to.exists());
    check_stopped(child, &database);
}
