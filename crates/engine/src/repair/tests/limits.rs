//! Dry runs on files in memory, within limits.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use filterblock::table::{Meter, TableBuilder, WriteOptions};

use super::{DATABASE, RepairRequest, TARGET, request, run};
use crate::rebuild::tests::databases::Sample;
use crate::repair::dry_run;
use crate::report::RepairStatus;
use crate::walk::MemoryStorage;

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

#[test]
fn a_dry_run_in_memory_yields_what_a_repair_writes() {
    let (memory, root) = files();
    let request = request(root.path());
    let mut keys: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    let dry = dry_run(&memory, Path::new(DATABASE), &request, &mut |saved| {
        assert!(saved.is_covered && saved.sequence > 0);
        keys.push((saved.user_key.to_vec(), saved.value.to_vec()));
    });
    let (dry, repaired) = (dry.unwrap(), run(root.path()).unwrap());
    assert_eq!((dry.status, dry.is_complete), (RepairStatus::DryRun, repaired.is_complete));
    let new = super::damage::entries(&root.path().join(TARGET));
    assert!(keys.into_iter().eq(new));
    assert!(request.meter.bytes_decoded() > 0);
}

/// Without its footer a table is searched for blocks, of which no more are decoded than allowed.
#[test]
fn blocks_that_are_found_are_decoded_within_the_limit() {
    let (mut memory, root) = files();
    let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default().internal_keys(true));
    for number in 0_u64..300 {
        let key = [format!("many{number:04}").as_bytes(), &257_u64.to_le_bytes()].concat();
        builder.add(&key, &[0; 8000]).unwrap();
    }
    let mut file = builder.finish().unwrap().0;
    file.truncate(file.len() - 20);
    assert!(file.len() < 200_000);
    memory.insert(Path::new(DATABASE).join("000012.ldb"), file);
    let (max_output, meter) = (50_000, Arc::new(Meter::default()));
    let request =
        RepairRequest { max_output: Some(max_output), meter: Arc::clone(&meter), ..request(root.path()) };
    let report = dry_run(&memory, Path::new(DATABASE), &request, &mut |_| ()).unwrap();
    assert!(!report.is_complete, "{report:?}");
    assert!(meter.bytes_decoded() < 6 * max_output, "{}", meter.bytes_decoded());
}

#[test]
fn what_lies_beyond_the_limit_is_lost_and_told() {
    let (memory, root) = files();
    let mut by_the_limit = 0;
    for max_output in (0..6000).step_by(150) {
        let meter = Arc::new(Meter::default());
        let request =
            RepairRequest { max_output: Some(max_output), meter: Arc::clone(&meter), ..request(root.path()) };
        let mut keys = 0;
        let report = dry_run(&memory, Path::new(DATABASE), &request, &mut |_| keys += 1).unwrap();
        assert_eq!(report.is_complete, report.losses.is_empty(), "{report:?}");
        assert!(report.is_complete || max_output < 3000, "{report:?}");
        let why = format!("at most {max_output} bytes of blocks and keys to decode (--max-output)");
        by_the_limit += u64::from(report.losses.iter().any(|loss| loss.why.contains(&why)));
        // For each table, the limit and one more block are decoded at most, and then its sound blocks twice
        // more.
        assert!(meter.bytes_decoded() <= 4 * (3 * max_output + 4096), "{}", meter.bytes_decoded());
        assert!(keys > 0 && (max_output > 0 || report.losses.len() == 4), "{report:?}");
    }
    assert!(by_the_limit > 0);
}
