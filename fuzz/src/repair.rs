//! `filterblock repair`, into memory, on damaged databases and on any files.

use std::io;
use std::path::Path;
use std::sync::Arc;

use arbitrary::{Arbitrary as _, Unstructured};
use filterblock::KeyFormat;
use filterblock::database::{DatabaseListing, FileKind};
use filterblock::table::{Meter, ReadOptions, Table};
use filterblock_engine::repair::{Prefer, RepairRequest};
use filterblock_engine::report::RepairReport;
use filterblock_engine::{Engine, Files, MemoryOutput, MemoryStorage};
use filterblock_fuzz::Input;
use filterblock_fuzz::database::{DamagedDatabase, Files as Contents, Written};
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
    let mut files = Contents::from([(name.to_owned(), contents)]);
    repair(&files, None);
    files.insert("CURRENT".to_owned(), b"MANIFEST-000004\n".to_vec());
    files.entry("000005.ldb".to_owned()).or_insert_with(|| b"a table".to_vec());
    repair(&files, None);
}

/// Repairs files of any bytes, each with a kind, a number and its contents.
fn any_files(data: &[u8]) {
    let mut input = Input(data);
    let mut files = Contents::new();
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
fn repair(files: &Contents, written: Option<&Written>) {
    let newest = repair_as(files, written, Prefer::Newest);
    let sound = repair_as(files, written, Prefer::Sound);
    let (Some(newest), Some(sound)) = (newest, sound) else { return };
    assert_eq!(
        newest.data.sums.keys,
        sound.data.sums.keys + sound.data.sums.left_out,
        "doubtful keys are left out"
    );
    assert_eq!(
        (newest.data.sums.maybe_stale, newest.data.is_complete),
        (sound.data.sums.maybe_stale, sound.data.is_complete)
    );
}

fn repair_as(files: &Contents, written: Option<&Written>, prefer: Prefer) -> Option<RepairReport> {
    let mut memory = MemoryStorage::default();
    let size: usize = files.values().map(Vec::len).sum();
    files.iter().for_each(|(name, contents)| memory.insert(Path::new("db").join(name), contents.clone()));
    let meter = Arc::new(Meter::default());
    let max_output = MOST_A_BYTE * size as u64;
    let request = RepairRequest { prefer, ..RepairRequest::default() };
    let engine = Engine::new().files(Files::new(Arc::new(memory)));
    let engine = engine.meter(Arc::clone(&meter)).max_output(max_output).jobs(1);
    let mut output = MemoryOutput::default();
    let report = engine.repair(Path::new("db"), &request, &mut output);
    // A look at a table decodes at most twice the limit: the limit, and one more block, which is no larger than the
    // limit. Its sound blocks fit in the limit, and are decoded three times more at most. That makes five times the
    // limit; six leaves room for the small table beside it.
    let most = 6 * max_output;
    assert!(meter.bytes_decoded() <= most, "{} bytes decoded, of {size}", meter.bytes_decoded());
    assert!(meter.bytes_read() <= 64 * size as u64, "{} bytes read, of {size}", meter.bytes_read());
    let report = report.ok()?;
    check(output, &report, written);
    assert!(report.data.sums.maybe_stale >= report.stale_keys.len() as u64);
    if report.data.is_complete {
        assert!(report.losses.is_empty() && report.stale_keys.is_empty() && report.data.unknown.is_empty());
        assert!(report.data.manifest.is_some(), "without a MANIFEST nothing is complete");
    }
    Some(report)
}

/// Reads the new database back.
fn check(output: MemoryOutput, report: &RepairReport, written: Option<&Written>) {
    let files = output.into_files();
    let mut listing =
        DatabaseListing::new(files.iter().map(|(name, file)| (name.clone(), file.len() as u64)));
    while let Some(name) = listing.wanted().map(ToOwned::to_owned) {
        listing.supply_from(files.get(&name).map(|file| &file[..]).ok_or(io::ErrorKind::NotFound.into()));
    }
    let database = listing.into_database();
    let manifest = database.manifest().expect("the new MANIFEST is sound");
    let (mut count, mut last) = (0, None);
    for table in manifest.tables() {
        let name =
            database.table_path(table.number).file_name().and_then(|name| name.to_str()).unwrap().to_owned();
        let file =
            files.get(&name).or_else(|| files.get(&name.replace(".ldb", ".sst"))).expect("a new table");
        let table = Table::open(file.clone(), &ReadOptions::default().internal_keys(true))
            .expect("a new table opens");
        let mut entries = table.cursor();
        while entries.next().expect("new blocks are sound") {
            let (user_key, tag) = KeyFormat::LevelDb.split(entries.key()).expect("an internal key");
            // Entries that no checksum covers may be wrong if zeros are not the only damage. They count as doubtful.
            if let Some(written) = written.filter(|_| report.data.sums.maybe_stale == 0) {
                assert!(written.holds(user_key, entries.value()), "{user_key:?} was never written");
            }
            assert!(last.as_deref() != Some(user_key), "{user_key:?} comes twice");
            last = Some(user_key.to_vec());
            assert!(tag >> 8 <= report.data.sums.last_sequence);
            count += 1;
        }
    }
    assert_eq!(report.data.sums.keys, count);
}
