//! The program on a database that LevelDB is writing to, flushing and compacting all the time.
//!
//! Runs for 15 seconds, or as long as `FILTERBLOCK_IN_USE_SECONDS` says.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use filterblock_interop::leveldb::{Compression, Database, DatabaseOptions, Filter, WriteBatch};
use filterblock_interop::random::Random;
use serde_json::Value;

/// The count of numbers that are new in each round. Each number has a key that is written again later, and a key
/// that is deleted later.
const KEYS_A_ROUND: u64 = 200;
/// The number of rounds after which LevelDB closes the database and opens it again, which makes a new MANIFEST.
const ROUNDS_A_SESSION: u64 = 60;

/// The pause after each round. LevelDB is optimized. If our program is not, it would never catch up without a
/// pause.
const PAUSE: Duration = Duration::from_millis(if cfg!(debug_assertions) { 20 } else { 0 });

fn key(number: u64) -> String {
    // Spread over all tables, so that every compaction moves some.
    format!("key {:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Writes until `over`. `settled`: the keys below this number are written.
fn write(folder: &Path, settled: &AtomicU64, over: &AtomicBool) {
    let options = DatabaseOptions {
        write_buffer_size: 64 << 10,
        max_file_size: 1 << 20,
        compression: Compression::Snappy,
        filter: Filter::BuiltIn(10),
        ..DatabaseOptions::default()
    };
    let mut round = 0_u64;
    while !over.load(Ordering::Acquire) {
        let mut database = Database::open(folder, &options).unwrap();
        for _ in 0..ROUNDS_A_SESSION {
            let mut batch = WriteBatch::new();
            let first = settled.load(Ordering::Acquire);
            for number in first..first + KEYS_A_ROUND {
                batch.put(key(number).as_bytes(), &number.to_le_bytes().repeat(40));
                // Written again, so that compactions have something to drop.
                batch.put(key(number / 2).as_bytes(), &round.to_le_bytes().repeat(30));
                batch.put(format!("temporary {number}").as_bytes(), &[b'v'; 100]);
                batch.delete(format!("temporary {}", number.saturating_sub(1000)).as_bytes());
            }
            database.write(&batch).unwrap();
            settled.store(first + KEYS_A_ROUND, Ordering::Release);
            round += 1;
            if round.is_multiple_of(17) {
                database.compact(None);
            }
            if over.load(Ordering::Acquire) {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs the program. Returns its exit status, its output and its messages.
fn run(arguments: &[&str], folder: &Path, rest: &[String]) -> (u8, String, String) {
    let (out, messages) = (Shared::default(), Shared::default());
    let all = ["filterblock"].iter().chain(arguments).map(OsString::from);
    let all = all.chain([folder.into()]).chain(rest.iter().map(OsString::from));
    let status = filterblock_cli::run(all, out.clone(), messages.clone());
    (status, out.take(), messages.take())
}

fn lines(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_database_in_use_is_sound_and_denies_no_key() {
    let seconds = std::env::var("FILTERBLOCK_IN_USE_SECONDS").ok();
    let seconds = seconds.map_or(15, |seconds| seconds.parse().expect("a number of seconds"));
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (settled, over) = (AtomicU64::new(0), AtomicBool::new(false));
    let mut runs: BTreeMap<&str, u64> = BTreeMap::new();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| write(folder, &settled, &over));
        while settled.load(Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
        let end = Instant::now() + Duration::from_secs(seconds);
        let mut random = Random::new(27);
        let mut failure = None;
        while Instant::now() < end && failure.is_none() && !writer.is_finished() {
            failure = look(folder, &settled, &mut random, &mut runs).err();
        }
        over.store(true, Ordering::Release);
        writer.join().unwrap();
        assert_eq!(failure, None, "after {runs:?} and {settled:?} keys");
    });
    println!("{runs:?}, {} keys", settled.load(Ordering::Acquire));
    assert!(runs.values().all(|runs| *runs > 3), "{runs:?}");
}

/// Runs each command once. The error describes one that failed, missed a key or printed keys out of order.
fn look(
    folder: &Path,
    settled: &AtomicU64,
    random: &mut Random,
    runs: &mut BTreeMap<&'static str, u64>,
) -> Result<(), String> {
    for command in ["inspect", "verify", "query"] {
        let number = random.below(settled.load(Ordering::Acquire));
        let keys = if command == "query" { vec![key(number)] } else { Vec::new() };
        let (status, out, messages) = run(&[command, "--json"], folder, &keys);
        *runs.entry(command).or_default() += 1;
        let lines = lines(&out);
        let found = lines.iter().any(|line| line["may_match"] == true && line["error"].is_null());
        if status != 0 || (command == "query" && !found) {
            let odd = |line: &&Value| !line["error_kind"].is_null() || line["object"] == "folder";
            let odd: Vec<_> = lines.iter().filter(odd).collect();
            return Err(format!("{command} {keys:?}: status {status}, {messages} {odd:?}"));
        }
    }
    let keys = settled.load(Ordering::Acquire);
    let (status, out, messages) = run(&["scan", "--keys", "--prefix", "key "], folder, &[]);
    *runs.entry("scan").or_default() += 1;
    let found: BTreeSet<&str> = out.lines().collect();
    let is_sorted = out.lines().is_sorted_by(|a, b| a < b);
    if let Some(number) = (0..keys).find(|number| !found.contains(&*key(*number))) {
        return Err(format!("scan: status {status}, {messages} no key {number} of {keys}"));
    }
    if status != 0 || !is_sorted {
        return Err(format!("scan: status {status}, in order: {is_sorted}, {messages}"));
    }
    Ok(())
}
