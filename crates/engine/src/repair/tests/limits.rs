//! Repairs of files in memory, within limits.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::{fs, io};

use bytes::Bytes;
use filterblock::table::{Meter, ReadAt, TableBuilder, WriteOptions};

use super::{DATABASE, RepairRequest, TARGET, run};
use crate::engine::Engine;
use crate::rebuild::tests::databases::Sample;
use crate::report::{RepairReport, RepairStatus};
use crate::walk::{Files, MemoryStorage, Source, Storage};
use crate::write::{MemoryOutput, NoOutput, Output, OutputFile, Result, Scratch, StreamOutput};

/// The files of a database, in memory and in a folder.
fn files() -> (MemoryStorage, tempfile::TempDir) {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join(DATABASE);
    Sample::Levels.make(&dir);
    let mut memory = MemoryStorage::default();
    for entry in fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_owned();
        memory.insert(Path::new(DATABASE).join(name), fs::read(&path).unwrap());
    }
    (memory, root)
}

/// Repairs the database in memory with a limit.
fn repair(memory: &MemoryStorage, max_output: Option<u64>, output: &mut dyn Output) -> (RepairReport, u64) {
    let meter = Arc::<Meter>::default();
    let mut engine = Engine::new().files(Files::new(Arc::new(memory.clone()))).meter(Arc::clone(&meter));
    if let Some(bytes) = max_output {
        engine = engine.max_output(bytes);
    }
    let report = engine.repair(Path::new(DATABASE), &RepairRequest::default(), output).unwrap();
    (report, meter.bytes_decoded())
}

#[test]
fn every_output_gets_the_same_files() {
    let (memory, root) = files();
    let repaired = run(root.path()).unwrap();
    let mut expected = BTreeMap::new();
    for entry in fs::read_dir(root.path().join(TARGET)).unwrap() {
        let entry = entry.unwrap();
        let contents = Bytes::from(fs::read(entry.path()).unwrap());
        expected.insert(entry.file_name().into_string().unwrap(), contents);
    }
    assert_eq!(expected.len(), 3);
    let mut output = MemoryOutput::default();
    let (report, decoded) = repair(&memory, None, &mut output);
    assert!(report.data.is_complete && report.data.sums.keys == repaired.data.sums.keys && decoded > 0);
    assert!(output.into_files().into_iter().eq(expected.clone()));
    let (mut streamed, mut names) = (BTreeMap::new(), Vec::new());
    let mut output = StreamOutput::new(|name: &str, contents: Bytes| {
        names.push(name.to_owned());
        streamed.insert(name.to_owned(), contents);
        Ok(())
    });
    repair(&memory, None, &mut output);
    // What has left is not kept.
    assert!(output.open("CURRENT").is_err() && output.open("000003.ldb").is_err());
    drop(output);
    assert!(streamed.into_iter().eq(expected));
    // What is unpacked in part is no database.
    assert_eq!(names.last().unwrap(), "CURRENT");
    let (report, _) = repair(&memory, None, &mut NoOutput);
    assert_eq!((report.data.status, report.data.sums.keys), (RepairStatus::DryRun, repaired.data.sums.keys));
}

/// Memory that gives back what was written with one bit changed.
#[derive(Default)]
struct WrongBit(MemoryOutput);

impl Output for WrongBit {
    fn create(&self, name: &str, like: Option<&dyn Source>) -> io::Result<Box<dyn OutputFile>> {
        self.0.create(name, like)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Source>> {
        let file = self.0.open(name)?;
        let mut contents = file.read_at(0, file.len()? as usize)?.to_vec();
        contents[10] ^= 1;
        Ok(Box::new(Bytes::from(contents)))
    }

    fn scratch(&self) -> io::Result<Box<dyn Scratch>> {
        self.0.scratch()
    }

    fn commit(&mut self) -> Result<Vec<String>> {
        panic!("no database appears that is not right")
    }
}

#[test]
fn new_tables_are_read_back_before_they_appear() {
    let (memory, _root) = files();
    for jobs in [1, 2] {
        let engine = Engine::new().files(Files::new(Arc::new(memory.clone()))).jobs(jobs);
        let request = RepairRequest::default();
        let failure = engine.repair(Path::new(DATABASE), &request, &mut WrongBit::default()).unwrap_err();
        assert!(failure.text.contains("this is a fault of this program, or of the disk"), "{failure}");
    }
}

#[test]
fn one_thread_and_three_make_the_same_database() {
    let (memory, _root) = files();
    let made = [1, 2].map(|jobs| {
        let engine = Engine::new().files(Files::new(Arc::new(memory.clone()))).jobs(jobs);
        let mut output = MemoryOutput::default();
        engine.repair(Path::new(DATABASE), &RepairRequest::default(), &mut output).unwrap();
        output.into_files()
    });
    assert!(made[0] == made[1] && made[0].len() == 3, "{:?}", made.map(|files| files.len()));
}

/// Files in memory, from which so many reads succeed before the disk fails.
#[derive(Debug)]
struct Failing(MemoryStorage, Arc<AtomicU64>);

struct FailingFile(Box<dyn Source>, Arc<AtomicU64>);

impl Storage for Failing {
    fn list(&self, path: &Path) -> io::Result<Option<Vec<(String, u64)>>> {
        self.0.list(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Source>> {
        Ok(Box::new(FailingFile(self.0.open(path)?, Arc::clone(&self.1))))
    }
}

impl ReadAt for FailingFile {
    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        let left = self.1.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        left.map_err(|_| io::Error::other("the disk fails"))?;
        self.0.read_at(offset, len)
    }

    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }
}

impl Source for FailingFile {}

#[test]
fn what_a_failing_disk_leaves_out_is_told() {
    let (memory, _root) = files();
    let repair = |left| {
        let storage = Failing(memory.clone(), Arc::new(AtomicU64::new(left)));
        let mut output = MemoryOutput::default();
        let engine = Engine::new().files(Files::new(Arc::new(storage))).jobs(2);
        let report = engine.repair(Path::new(DATABASE), &RepairRequest::default(), &mut output);
        report.ok().map(|report| (report, output.into_files()))
    };
    let (_, whole) = repair(u64::MAX).unwrap();
    let made: Vec<_> = (0..100).map(repair).collect();
    for (report, files) in made.iter().flatten() {
        let is_told = !report.losses.is_empty() || !report.data.unknown.is_empty();
        assert!(is_told || report.data.is_complete && *files == whole, "{report:?}");
    }
    assert!(made.first().unwrap().is_none() && made.last().unwrap().is_some());
}

/// Without its footer a table is searched for blocks, of which no more are decoded than allowed.
#[test]
fn blocks_that_are_found_are_decoded_within_the_limit() {
    let (mut memory, _root) = files();
    let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default().internal_keys(true));
    for number in 0_u64..300 {
        let key = [format!("many{number:04}").as_bytes(), &257_u64.to_le_bytes()].concat();
        builder.add(&key, &[0; 8000]).unwrap();
    }
    let mut file = builder.finish().unwrap().0;
    file.truncate(file.len() - 20);
    assert!(file.len() < 200_000);
    memory.insert(Path::new(DATABASE).join("000012.ldb"), file);
    let max_output = 50_000;
    let (report, decoded) = repair(&memory, Some(max_output), &mut NoOutput);
    assert!(!report.data.is_complete, "{report:?}");
    assert!(decoded < 6 * max_output, "{decoded}");
}

#[test]
fn what_lies_beyond_the_limit_is_lost_and_told() {
    let (memory, _root) = files();
    let mut by_the_limit = 0;
    for max_output in (0..6000).step_by(150) {
        let (report, decoded) = repair(&memory, Some(max_output), &mut NoOutput);
        assert_eq!(report.data.is_complete, report.losses.is_empty(), "{report:?}");
        assert!(report.data.is_complete || max_output < 3000, "{report:?}");
        let why = format!("more than {max_output} bytes; --max-output allows more");
        by_the_limit += u64::from(report.losses.iter().any(|loss| loss.data.why.contains(&why)));
        // For each table, the limit and one more block are decoded at most, and then its sound blocks twice
        // more.
        assert!(decoded <= 4 * (3 * max_output + 4096), "{decoded}");
        let keys = report.data.sums.keys;
        assert!(keys > 0 && (max_output > 0 || report.losses.len() == 4), "{report:?}");
    }
    assert!(by_the_limit > 0);
}
