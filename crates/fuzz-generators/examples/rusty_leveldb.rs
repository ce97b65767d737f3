//! Looks for crashes of the crate `rusty-leveldb`, and for entries that the crate invents, in databases damaged by
//! seed. Each database is read in a process of its own.
//!
//! ```text
//! cargo run --release --example rusty_leveldb                # for a minute
//! cargo run --release --example rusty_leveldb for SECONDS
//! cargo run --release --example rusty_leveldb seed NUMBER    # one input again
//! ```
//!
//! Checksums are put right for even seeds. For odd seeds they are left wrong, so that only entries that were written
//! may be found.

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::time::{Duration, Instant};
use std::{env, io, process, thread};

use filterblock_fuzz::Checksums;
use filterblock_fuzz::database::{DatabaseDamager, Files, samples};
use rusty_leveldb::env::Env;
use rusty_leveldb::{DB, LdbIterator as _, MemEnv, Options};

/// The longest time that one database may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Returns all entries that a walk through a database finds, then those that lookups of these keys find.
fn read<'k>(
    files: &Files,
    keys: impl Iterator<Item = &'k [u8]>,
) -> rusty_leveldb::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let memory = MemEnv::new();
    for (name, contents) in files {
        memory.open_writable_file(&Path::new("database").join(name))?.write_all(contents)?;
    }
    let env: Box<dyn Env> = Box::new(memory);
    let options =
        Options { env: Rc::new(env), create_if_missing: false, paranoid_checks: true, ..Options::default() };
    let mut database = DB::open("database", options)?;
    let mut found = Vec::new();
    let mut entries = database.new_iter()?;
    while let Some(entry) = entries.next() {
        found.push(entry);
    }
    found.extend(keys.filter_map(|key| Some((key.to_vec(), database.get(key)?.to_vec()))));
    Ok(found)
}

/// Reads the database that a seed leads to. Ends the program if that takes too long. Panics if checksums were left
/// wrong, and an entry is found that was never written.
fn once(seed: u64) {
    thread::spawn(|| {
        thread::sleep(PATIENCE);
        eprintln!("panicked at no place:\nit takes more than {PATIENCE:?}");
        process::exit(101);
    });
    let sample = &samples()[0];
    let checksums = if seed.is_multiple_of(2) { Checksums::PutRight } else { Checksums::LeftWrong };
    let damager = DatabaseDamager::new(sample.files.clone()).older(sample.older.clone()).checksums(checksums);
    let written = damager.written();
    let found = read(&damager.damage(seed), written.keys()).unwrap_or_default();
    for (key, value) in &found {
        let (key_text, value_text) = (key.escape_ascii(), value.escape_ascii());
        assert!(
            checksums == Checksums::PutRight || written.holds(key, value),
            "{key_text} was never given the value {value_text}"
        );
    }
}

/// Tries one seed after the other, and prints the first crash at each place.
fn hunt(limit: Duration) -> io::Result<()> {
    let (program, start, mut places) = (env::current_exe()?, Instant::now(), HashSet::new());
    for seed in 0_u64.. {
        if start.elapsed() >= limit {
            println!("{seed} databases, crashes at {} places", places.len());
            break;
        }
        let run =
            Command::new(&program).args(["seed", &seed.to_string()]).env("RUST_BACKTRACE", "0").output()?;
        let said = String::from_utf8_lossy(&run.stderr);
        // "thread 'main' (7) panicked at PATH:LINE:COLUMN:" and the message or, if memory runs out, only a message.
        let (place, message) = match said.split_once("panicked at ") {
            Some((_, panic)) => panic.split_once('\n').unwrap_or((panic, "")),
            None => ("", &said[..]),
        };
        if !run.status.success() && places.insert(place.to_owned()) {
            let place = place.find("rusty-leveldb-").map_or(place, |at| &place[at..]);
            let message = message.lines().next().unwrap_or_default();
            println!("{:.1?}, seed {seed}: {}: {place} {message}", start.elapsed(), run.status);
        }
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    let number = words.get(1).map_or(60, |text| text.parse().expect("a number"));
    if words.first().is_none_or(|word| word == "for") {
        return hunt(Duration::from_secs(number));
    }
    once(number);
    Ok(())
}
