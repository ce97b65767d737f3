//! `filterblock repair`, without writing, on damaged databases and on any files.

use std::path::Path;
use std::sync::Arc;

use arbitrary::{Arbitrary as _, Unstructured};
use filterblock::database::FileKind;
use filterblock::table::Meter;
use filterblock_engine::MemoryStorage;
use filterblock_engine::repair::{Prefer, RepairRequest, dry_run};
use filterblock_engine::report::RepairReport;
use filterblock_fuzz::Input;
use filterblock_fuzz::database::{DamagedDatabase, Files, Written};
use filterblock_fuzz::hostile::{self, Hostile};

/// The limit on decoded bytes of a table, for each byte of all files. It is so small that inputs reach it.
const MOST_A_BYTE: u64 = 64;

/// Runs an input: a kind, then a damaged database as `filterblock_fuzz` makes it, a hostile structure, or files of
/// any bytes.
pub fn run(data: &[u8]) {
    let Some((&kind, data)) = data.split_first() else { return };
    match kind % 4 {
        _ if kind == 0xff => hostile(&hostile::make(data)),
        0 => {
            any_files(data);
        }
        _ => {
            let Ok(damaged) = DamagedDatabase::arbitrary(&mut Unstructured::new(data)) else { return };
            repair(&damaged.files, damaged.written());
        }
    }
}

/// Repairs a hostile table or MANIFEST, alone, and then with CURRENT and a table.
fn hostile(made: &Hostile) {
    let (name, contents) = match made {
        Hostile::Table(file) => ("000005.ldb", file.to_vec()),
        Hostile::Manifest(manifest) => ("MANIFEST-000004", manifest.clone()),
    };
    let mut files = Files::from([(name.to_owned(), contents)]);
    repair(&files, None);
    files.insert("CURRENT".to_owned(), b"MANIFEST-000004\n".to_vec());
    files.entry("000005.ldb".to_owned()).or_insert_with(|| b"a table".to_vec());
    repair(&files, None);
}

/// Repairs files of any bytes, each with a kind, a number and its contents.
fn any_files(data: &[u8]) {
    let mut input = Input(data);
    let mut files = Files::new();
    while !input.is_empty() && files.len() < 8 {
        let kind = input.byte();
        let number = u64::from(kind / 4) + 1;
        let kind =
            [FileKind::Table, FileKind::Log, FileKind::Manifest, FileKind::Table][usize::from(kind % 4)];
        let len = usize::from(input.byte()) << 4 | usize::from(input.byte() & 15);
        let (contents, rest) = input.0.split_at(len.min(input.0.len()));
        input.0 = rest;
        files.insert(kind.file_name(number), contents.to_vec());
    }
    repair(&files, None);
}

/// Repairs a database with each of the two preferences. `written`: the values that may be found in the database;
/// `None`: any.
fn repair(files: &Files, written: Option<&Written>) {
    let newest = repair_as(files, written, Prefer::Newest);
    let sound = repair_as(files, written, Prefer::Sound);
    let (Some(newest), Some(sound)) = (newest, sound) else { return };
    assert_eq!(newest.sums.keys, sound.sums.keys + sound.sums.left_out, "doubtful keys are left out");
    assert_eq!((newest.sums.doubtful, newest.is_complete), (sound.sums.doubtful, sound.is_complete));
}

fn repair_as(files: &Files, written: Option<&Written>, prefer: Prefer) -> Option<RepairReport> {
    let mut memory = MemoryStorage::default();
    let size: usize = files.values().map(Vec::len).sum();
    files.iter().for_each(|(name, contents)| memory.insert(Path::new("db").join(name), contents.clone()));
    let meter = Arc::new(Meter::default());
    let max_output = MOST_A_BYTE * size as u64;
    let request = RepairRequest {
        target: "new".into(),
        prefer,
        comparator: None,
        policy: None,
        hash: None,
        bits_per_key: None,
        dry_run: true,
        max_output: Some(max_output),
        meter: Arc::clone(&meter),
    };
    let (mut last, mut count, mut uncovered, mut sequence): (Option<Vec<u8>>, u64, u64, u64) =
        (None, 0, 0, 0);
    let report = dry_run(&memory, Path::new("db"), &request, &mut |saved| {
        // Entries that no checksum covers may be wrong if zeros are not the only damage. They count as doubtful.
        if let Some(written) = written.filter(|_| saved.is_covered) {
            assert!(written.holds(saved.user_key, saved.value), "{saved:?} was never written");
        }
        assert!(last.as_deref() != Some(saved.user_key), "{saved:?} comes twice");
        last = Some(saved.user_key.to_vec());
        sequence = sequence.max(saved.sequence);
        count += 1;
        uncovered += u64::from(!saved.is_covered);
    });
    // A look at a table decodes at most twice the limit: the limit, and one more block, which is no larger than the
    // limit. Its sound blocks fit in the limit, and are decoded three times more at most. That makes five times the
    // limit; six leaves room for the small table beside it.
    let most = 6 * max_output;
    assert!(meter.bytes_decoded() <= most, "{} bytes decoded, of {size}", meter.bytes_decoded());
    assert!(meter.bytes_read() <= 64 * size as u64, "{} bytes read, of {size}", meter.bytes_read());
    let report = report.ok()?;
    assert_eq!(report.sums.keys, count);
    assert!(report.sums.doubtful >= uncovered && (prefer == Prefer::Newest || uncovered == 0));
    assert!(sequence <= report.sums.last_sequence && report.sums.doubtful >= report.doubtful.len() as u64);
    if report.is_complete {
        assert!(report.losses.is_empty() && report.doubtful.is_empty() && report.unknown.is_empty());
        assert!(report.manifest.is_some(), "without a MANIFEST nothing is complete");
    }
    Some(report)
}
