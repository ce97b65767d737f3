//! The events of a run for paths, folders and tables.

use std::io::{self, Read};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, path::Path, sync::Arc};

use filterblock::table::ReadAt;

use super::Progress;
use super::task::{Event, LogUse, TableFile, Task};
use crate::engine::Engine;
use crate::report::Fault;
use crate::walk::{Files, Inputs, MemoryStorage, OtherFile, Source, Storage};

/// Finds the lengths of files, but does not want tables whose names begin with 9.
struct Lengths;

impl Task for Lengths {
    type Found = u64;

    const IS_LONG: bool = true;

    fn logs(&self) -> LogUse {
        LogUse::Read
    }

    fn wants(&self, target: &TableFile) -> bool {
        !name(&target.path).starts_with('9')
    }

    fn table<R: ReadAt>(&self, _: &TableFile, source: &R, progress: &dyn Fn(u64)) -> u64 {
        let len = source.len().unwrap_or_default();
        progress(len);
        len
    }

    fn other(&self, _: OtherFile, _: &TableFile, contents: &mut dyn Read) -> Option<u64> {
        io::copy(contents, &mut io::sink()).ok()
    }
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

/// An event as a line.
fn line(event: Event<u64>) -> String {
    let of = |target: &TableFile| format!("{} of {}", name(&target.path), name(&target.input));
    let length =
        |result: Result<u64, Fault>| result.map_or_else(|error| error.to_string(), |len| len.to_string());
    match event {
        Event::Failed(file, _) => format!("failed {}, listed: {}", of(&file), file.listed),
        Event::Folder { place, logs, skipped, .. } => {
            format!("begin {}, logs: {}, passed over: {}", name(&place.path), logs.len(), skipped.len())
        }
        Event::Found(file, Some(_), result) => format!("log {}: {}", of(&file), length(result)),
        Event::Found(file, None, result) => {
            let folder = file.folder.as_ref().map(|folder| name(folder.path()));
            format!("table {} in {folder:?}, {} known: {}", of(&file), file.tables, length(result))
        }
        Event::End(place) => format!("end {}", name(&place.path)),
    }
}

fn told(engine: &Engine, inputs: Inputs) -> Vec<String> {
    let mut lines = Vec::new();
    let run = engine.run(inputs, &Lengths, &mut |event| {
        lines.push(line(event));
        Ok(())
    });
    run.unwrap();
    lines
}

fn inputs(dir: &Path, paths: &[&str]) -> Inputs {
    Inputs { paths: paths.iter().map(|path| dir.join(path)).collect(), ..Inputs::default() }
}

#[test]
fn each_path_leads_to_its_tables_in_order_on_any_number_of_threads() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    for folder in ["database", "database/000009.ldb", "database/000011.log", "empty", "plain"] {
        fs::create_dir(path(folder)).unwrap();
    }
    for file in
        ["database/CURRENT", "database/000010.ldb", "database/000005.ldb", "database/90.ldb", "plain/1.ldb"]
    {
        fs::write(path(file), file).unwrap();
    }
    fs::write(path("database/000012.log"), "xyz").unwrap();
    let expected = [
        "failed missing of missing, listed: false",
        "begin database, logs: 1, passed over: 1",
        "log 000012.log of database: 3",
        "failed 000009.ldb of database, listed: true",
        "table 000005.ldb of database in Some(\"database\"), 3 known: 19",
        "table 000010.ldb of database in Some(\"database\"), 3 known: 19",
        "end database",
        "failed empty of empty, listed: false",
        "table 000005.ldb of 000005.ldb in Some(\"database\"), 6 known: 19",
        "table 90.ldb of 90.ldb in Some(\"database\"), 6 known: 15",
        "table 1.ldb of 1.ldb in None, 6 known: 11",
        "failed list of list, listed: false",
    ];
    let paths = ["missing", "database", "empty", "database/000005.ldb", "database/90.ldb", "plain/1.ldb"];
    for (jobs, recursive) in [(1, false), (7, false), (2, true)] {
        let given = Inputs { list: Some(path("list")), recursive, ..inputs(dir.path(), &paths) };
        assert_eq!(told(&Engine::new().jobs(jobs), given), expected, "{jobs} threads");
    }
}

#[test]
fn an_input_below_which_nothing_is_found_is_told_once() {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["barren/a/b", "fruitful/a", "fruitful/b", "last"] {
        fs::create_dir_all(dir.path().join(folder)).unwrap();
    }
    fs::write(dir.path().join("fruitful/a/1.ldb"), "x").unwrap();
    let given = Inputs { recursive: true, ..inputs(dir.path(), &["barren", "fruitful", "last"]) };
    let expected = [
        "failed barren of barren, listed: false",
        "begin a, logs: 0, passed over: 0",
        "table 1.ldb of fruitful in Some(\"a\"), 1 known: 1",
        "end a",
        "failed last of last, listed: false",
    ];
    assert_eq!(told(&Engine::new(), given), expected);
}

/// Files in memory, in folders that cannot be listed.
#[derive(Debug)]
struct Unlistable(MemoryStorage);

impl Storage for Unlistable {
    fn list(&self, path: &Path) -> io::Result<Option<Vec<(String, u64)>>> {
        self.0.list(path)?.map_or(Ok(None), |_| Err(io::ErrorKind::PermissionDenied.into()))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Source>> {
        self.0.open(path)
    }
}

#[test]
fn a_table_in_a_folder_that_cannot_be_listed_comes_after_its_folder() {
    let mut memory = MemoryStorage::default();
    memory.insert("db/000005.ldb", "x");
    memory.insert("db/000007.ldb", "x");
    let engine = Engine::new().files(Files::new(Arc::new(Unlistable(memory))));
    let expected = [
        "failed db of 000005.ldb, listed: false",
        "table 000005.ldb of 000005.ldb in None, 2 known: 1",
        "table 000007.ldb of 000007.ldb in None, 2 known: 1",
    ];
    assert_eq!(told(&engine, inputs(Path::new("db"), &["000005.ldb", "000007.ldb"])), expected);
    // A page shows the table all the same.
    let overview = engine.overview(inputs(Path::new("db"), &["000005.ldb"]), false).unwrap();
    assert_eq!(overview.tables.len(), 1);
    assert!(engine.overview(inputs(Path::new("db"), &["000009.ldb"]), false).is_err());
}

/// A folder that is listed once before, and from then on after its program has changed it.
#[derive(Debug)]
struct Changing {
    before: MemoryStorage,
    after: MemoryStorage,
    listed: AtomicUsize,
}

impl Storage for Changing {
    fn list(&self, path: &Path) -> io::Result<Option<Vec<(String, u64)>>> {
        match self.listed.fetch_add(1, Ordering::Relaxed) {
            0 => self.before.list(path),
            _ => self.after.list(path),
        }
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Source>> {
        self.after.open(path)
    }
}

#[test]
fn a_table_that_a_vanished_log_became_is_looked_at() {
    let (mut before, mut after) = (MemoryStorage::default(), MemoryStorage::default());
    before.insert("db/000003.log", "xyz");
    after.insert("db/000005.ldb", "xy");
    let storage = Changing { before, after, listed: AtomicUsize::new(0) };
    let engine = Engine::new().files(Files::new(Arc::new(storage)));
    let expected =
        ["begin db, logs: 1, passed over: 0", "table 000005.ldb of db in Some(\"db\"), 1 known: 2", "end db"];
    assert_eq!(told(&engine, inputs(Path::new(""), &["db"])), expected);
}

// The test reads a database of the repository.
#[cfg(in_repository)]
#[test]
fn what_lies_in_memory_is_told_as_what_lies_in_a_folder() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/databases/levels");
    let dir = tempfile::tempdir().unwrap();
    let mut memory = MemoryStorage::default();
    for folder in ["db", "tables", "logs"] {
        fs::create_dir(dir.path().join(folder)).unwrap();
    }
    for entry in fs::read_dir(source).unwrap() {
        let entry = entry.unwrap();
        let file = entry.file_name().into_string().unwrap();
        let copies = [("db", true), ("tables", file.ends_with(".ldb")), ("logs", file.ends_with(".log"))];
        for (folder, _) in copies.into_iter().filter(|(_, is_copied)| *is_copied) {
            let path = dir.path().join(folder).join(&file);
            memory.insert(&path, fs::read(entry.path()).unwrap());
            fs::copy(entry.path(), path).unwrap();
        }
    }
    let paths = ["db", "tables", "logs", "nothing", "db/000005.ldb", "tables/000005.ldb"];
    let [of_files, of_memory] = [(); 2].map(|()| Arc::new(Announced::default()));
    let files = told(&Engine::new().progress(of_files.clone()), inputs(dir.path(), &paths));
    let in_memory = Engine::new().files(Files::new(Arc::new(memory))).progress(of_memory.clone());
    assert_eq!(told(&in_memory, inputs(dir.path(), &paths)), files);
    assert!(files.len() > 15, "{files:?}");
    let [expected, found] = [of_files, of_memory].map(|announced| announced.0.load(Ordering::Relaxed));
    assert!(expected > 1000 && found == expected, "{expected} bytes of files, {found} in memory");
}

/// Adds up the bytes that are announced.
#[cfg(in_repository)]
#[derive(Default)]
struct Announced(AtomicUsize);

#[cfg(in_repository)]
impl Progress for Announced {
    fn expect(&self, more: u64, _: bool) {
        self.0.fetch_add(more as usize, Ordering::Relaxed);
    }
}

/// Interrupts the run once at least `most` bytes have been reported.
#[derive(Debug)]
struct Until {
    bytes: AtomicUsize,
    most: usize,
}

impl Progress for Until {
    fn add(&self, bytes: u64) {
        self.bytes.fetch_add(bytes as usize, Ordering::Relaxed);
    }

    fn is_interrupted(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) >= self.most
    }
}

#[test]
fn a_run_ends_with_the_results_that_are_there() {
    let dir = tempfile::tempdir().unwrap();
    for number in 1..=20 {
        fs::write(dir.path().join(format!("{number:06}.ldb")), [0; 100]).unwrap();
    }
    let lines = |most| {
        let watch = Arc::new(Until { bytes: AtomicUsize::new(0), most });
        told(&Engine::new().jobs(1).progress(watch), inputs(dir.path(), &["", ""]))
    };
    assert_eq!(lines(usize::MAX).len(), 44);
    // The end of the first folder is reported, and the second folder is not begun.
    assert_eq!(lines(1000).len(), 12);
}

#[test]
fn an_error_of_what_shows_ends_the_run() {
    let dir = tempfile::tempdir().unwrap();
    for number in 1..=20 {
        fs::write(dir.path().join(format!("{number:06}.ldb")), "x").unwrap();
    }
    let mut left = 5;
    let result = Engine::new().run(inputs(dir.path(), &[""]), &Lengths, &mut |_| {
        left -= 1;
        if left == 0 { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    });
    assert_eq!((result.unwrap_err().kind(), left), (io::ErrorKind::BrokenPipe, 0));
}
