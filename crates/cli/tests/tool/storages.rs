//! Files outside the local file system: which parts the program reads, and what it reports if they change.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::{io, ops::Range};

use bytes::Bytes;
use filterblock::table::{Compression, ReadAt, TableBuilder, WriteOptions};
use filterblock_engine::report::{
    Depth, EntryData, FaultData, ManifestLine, Other, QueryLine, ScanLine, Verdict, Verified, write_line,
};
use filterblock_engine::{
    Engine, Files, Inputs, InspectLine, LookupKeys, MemoryStorage, QueryOutput, QueryRequest, ScanRequest,
    Source, Storage,
};

use super::*;

/// Files in memory. Records what is read of the tables. Can make a file change once it has been opened.
#[derive(Debug, Default)]
struct Watched {
    memory: MemoryStorage,
    changed: Option<PathBuf>,
    notes: Arc<Mutex<Notes>>,
}

#[derive(Debug, Default)]
struct Notes {
    reads: Vec<Range<u64>>,
    needed: Vec<Vec<Range<u64>>>,
}

struct WatchedFile {
    file: Box<dyn Source>,
    has_changed: bool,
    notes: Arc<Mutex<Notes>>,
}

impl Storage for Watched {
    fn list(&self, path: &Path) -> io::Result<Option<Vec<(String, u64)>>> {
        self.memory.list(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Source>> {
        let (file, has_changed) = (self.memory.open(path)?, self.changed.as_deref() == Some(path));
        Ok(Box::new(WatchedFile { file, has_changed, notes: Arc::clone(&self.notes) }))
    }
}

impl Source for WatchedFile {}

impl ReadAt for WatchedFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        if self.has_changed {
            return Err(io::ErrorKind::StaleNetworkFileHandle.into());
        }
        self.notes.lock().unwrap().reads.push(offset..offset + len as u64);
        self.file.read_at(offset, len)
    }

    fn will_need(&self, ranges: &[Range<u64>]) {
        self.notes.lock().unwrap().needed.push(ranges.to_vec());
    }
}

fn inputs(path: impl Into<PathBuf>) -> Inputs {
    Inputs { paths: vec![path.into()], ..Inputs::default() }
}

/// An engine with one job.
fn engine(storage: impl Storage + 'static) -> Engine {
    Engine::new().jobs(1).files(Files::new(Arc::new(storage)))
}

/// The lines that `inspect`, `verify` and `scan` write.
fn lines(engine: &Engine, inputs: &Inputs) -> Vec<Value> {
    let mut text = Vec::new();
    let inspect = |line| match line {
        InspectLine::Folder(folder) => write_line(&mut text, &folder.data()),
        InspectLine::Table(found) => write_line(&mut text, &found.table),
        InspectLine::Other(verified, file_size) => write_line(&mut text, &Other::new(&verified, file_size)),
        InspectLine::Unreadable(unreadable, _) => write_line(&mut text, &unreadable),
        InspectLine::Totals(totals) => write_line(&mut text, &totals),
    };
    engine.inspect(inputs.clone(), &mut { inspect }).unwrap();
    engine.verify(inputs.clone(), &mut |verified: Verified| write_line(&mut text, &verified.data())).unwrap();
    let scan = |line: ScanLine<'_>| match line {
        ScanLine::Entry(input, row) => write_line(&mut text, &EntryData::new(input, &row, true)),
        ScanLine::Fault(subject, fault) | ScanLine::State(subject, _, fault) => {
            write_line(&mut text, &FaultData::new(subject, fault))
        }
        ScanLine::End(..) => Ok(()),
    };
    engine.scan(inputs.clone(), ScanRequest::default()).for_each(scan).unwrap();
    let text = String::from_utf8(text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Files in memory with the contents of the database `levels`.
fn levels() -> MemoryStorage {
    let mut memory = MemoryStorage::default();
    for file in std::fs::read_dir(database("levels")).unwrap() {
        let file = file.unwrap();
        memory.insert(Path::new("/db").join(file.file_name()), std::fs::read(file.path()).unwrap());
    }
    memory
}

#[test]
fn a_file_that_changes_is_changed_and_not_damaged() {
    for (name, least) in [("000005.ldb", 3), ("000007.ldb", 3), ("000010.log", 1), ("CURRENT", 3)] {
        let changed = Some(Path::new("/db").join(name));
        let storage = Watched { memory: levels(), changed, ..Watched::default() };
        let found = lines(&engine(storage), &inputs("/db"));
        let kinds: Vec<&str> = found.iter().filter_map(|line| line["error_kind"].as_str()).collect();
        assert!(kinds.len() >= least && kinds.iter().all(|kind| *kind == "changed"), "{name}: {kinds:?}");
    }
}

/// A file that changes while it is read may be sound, so it counts as unreadable. One with damaged contents makes the
/// database damaged.
#[test]
fn what_cannot_be_read_of_a_database_is_not_damage() {
    let outcome = |storage: Watched| {
        let (engine, inputs) = (engine(storage), inputs("/db"));
        let inspected = engine.inspect(inputs.clone(), &mut |_: InspectLine| Ok(())).unwrap();
        let verified = engine.verify(inputs, &mut |_: Verified| Ok(())).unwrap();
        [inspected.verdicts, verified.verdicts].map(|verdicts| {
            assert_eq!(verdicts.all(), 1);
            *Verdict::ALL.iter().find(|verdict| verdicts.of(**verdict) > 0).unwrap()
        })
    };
    assert_eq!(outcome(Watched { memory: levels(), ..Watched::default() }), [Verdict::Fine; 2]);
    for name in ["CURRENT", "MANIFEST-000008", "000010.log"] {
        let path = Path::new("/db").join(name);
        let storage = Watched { memory: levels(), changed: Some(path.clone()), ..Watched::default() };
        assert_eq!(outcome(storage), [Verdict::CannotTell; 2], "{name}");
        let mut memory = levels();
        let mut contents = std::fs::read(database("levels").join(name)).unwrap();
        contents[10] ^= 1;
        memory.insert(path, contents);
        assert_eq!(outcome(Watched { memory, ..Watched::default() }), [Verdict::Damaged; 2], "{name}");
    }
}

/// Files in memory. The MANIFEST is gone when it has been opened a number of times.
#[derive(Debug)]
struct Vanishing {
    memory: MemoryStorage,
    opened: AtomicUsize,
    most: usize,
}

impl Storage for Vanishing {
    fn list(&self, path: &Path) -> io::Result<Option<Vec<(String, u64)>>> {
        self.memory.list(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Source>> {
        if path.ends_with("MANIFEST-000008") && self.opened.fetch_add(1, Relaxed) >= self.most {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.memory.open(path)
    }
}

/// The program that uses the database removes a MANIFEST when it has written another.
#[test]
fn what_was_read_of_a_manifest_is_shown_though_it_vanishes() {
    let read = |most: usize| {
        let storage = Arc::new(Vanishing { memory: levels(), opened: AtomicUsize::new(0), most });
        let engine = Engine::new().files(Files::new(storage.clone()));
        let mut text = Vec::new();
        let mut show = |line: ManifestLine<'_>| line.write_json(&mut text);
        let outcome = engine.manifest(inputs("/db"), &mut show).unwrap();
        (
            String::from_utf8(text).unwrap(),
            outcome.verdicts.of(Verdict::CannotTell) > 0,
            storage.opened.load(Relaxed),
        )
    };
    let (whole, has_failed, opened) = read(usize::MAX);
    assert!(!has_failed && whole.contains(r#""object":"state""#) && opened > 3, "{whole}");
    // Only the search for zeros and for the size of the file opens it as late as that.
    for late in 1..3 {
        let (text, has_failed, _) = read(opened - late);
        assert_eq!((text, has_failed), (whole.clone(), false), "{late}");
    }
    let (text, has_failed, _) = read(opened - 3);
    assert!(
        has_failed && text.contains("MANIFEST-000008") && !text.contains(r#""object":"state""#),
        "{text}"
    );
}

/// A log has no data blocks that a lookup could read, so the count of tables left out does not include it.
#[test]
fn a_log_that_cannot_be_read_is_no_table_left_out() {
    let keys = LookupKeys::new(vec![b"item/0000/0".to_vec()]);
    let question = QueryRequest { keys: Arc::new(keys), wanted: QueryOutput::Answers };
    for (name, expected) in [("000010.log", 0), ("000009.ldb", 1)] {
        let changed = Some(Path::new("/db").join(name));
        let storage = Watched { memory: levels(), changed, ..Watched::default() };
        let (mut left_out, mut errors) = (Vec::new(), 0);
        let mut take = |line: QueryLine<'_>| {
            match line {
                QueryLine::Lookups { tables_left_out, .. } => left_out.push(tables_left_out),
                QueryLine::Table { error, answers, .. } => {
                    answers.for_each(drop);
                    errors += usize::from(error.is_some());
                }
                _ => {}
            }
            Ok(())
        };
        let outcome = engine(storage).query(inputs("/db"), &question, &mut take).unwrap();
        assert!(outcome.is_unsound, "{name}");
        assert_eq!((left_out, errors), (vec![expected], 1), "{name}");
    }
}

/// A table of many blocks.
fn large() -> Bytes {
    let options = WriteOptions::default().compression(Compression::None);
    let mut builder = TableBuilder::new(Vec::new(), options);
    for key in 0..20_000 {
        builder.add(format!("key/{key:010}").as_bytes(), &[b'v'; 100]).unwrap();
    }
    builder.finish().unwrap().0.into()
}

#[test]
fn few_reads_are_in_three_places_that_are_told_before() {
    let (path, table) = (Path::new("/tables/000005.ldb"), large());
    let read = |few_reads: bool, depth: Depth| {
        let mut memory = MemoryStorage::default();
        memory.insert(path, table.clone());
        let storage = Watched { memory, ..Watched::default() };
        let notes = Arc::clone(&storage.notes);
        let engine = engine(storage).depth(depth).few_reads(few_reads);
        let mut tables = 0;
        let mut count = |line| {
            tables += usize::from(matches!(line, InspectLine::Table(found) if found.faults.is_empty()));
            Ok(())
        };
        engine.inspect(inputs(path), &mut count).unwrap();
        assert_eq!(tables, 1);
        std::mem::take(&mut *notes.lock().unwrap())
    };
    let Notes { reads, needed } = read(true, Depth::Sample);
    let [places] = &*needed else { panic!("{needed:?}") };
    assert_eq!(places.len(), 16);
    // All but the first bytes, which tell whether the file is encrypted, and the end of the table.
    let others = reads.iter().filter(|read| read.end != table.len() as u64 && **read != (0..16));
    let others: Vec<_> = others.collect();
    let is_told =
        |read: &Range<u64>| places.iter().any(|place| place.start <= read.start && read.end <= place.end);
    assert!(others.len() >= 16 && others.iter().all(|read| is_told(read)), "{others:?}");
    let gaps = places.windows(2).filter(|pair| pair[0].end != pair[1].start).count();
    assert_eq!(gaps, 2);
    assert!(read(false, Depth::Sample).needed.is_empty());
    for (few_reads, depth) in [(true, Depth::Tail), (true, Depth::All)] {
        assert!(read(few_reads, depth).needed.is_empty());
    }
}
