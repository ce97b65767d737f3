//! Times `filterblock scan --hex` and LevelDB's iterator, which prints the same lines, over one database that LevelDB
//! wrote. Each run is a process of its own, and the two programs take turns. Linux only.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use clap::Subcommand;
use filterblock_interop::leveldb::{Database, DatabaseOptions, Filter, WriteBatch};
use filterblock_interop::random::Random;

#[derive(Subcommand)]
pub(crate) enum Mode {
    /// Writes a database, compares what both programs print, times them in turns, and removes the database.
    All {
        /// The folder for the database; a new folder is made in it.
        folder: PathBuf,
        /// Size of all keys and values, in bytes.
        #[arg(long, default_value_t = 1_000_000_000)]
        bytes: u64,
        /// Number of rounds; the best of each counts.
        #[arg(long, default_value_t = 5)]
        rounds: usize,
    },
    /// Prints the entries that LevelDB's iterator finds, in lines like those of `scan --hex`.
    Leveldb { folder: PathBuf },
    /// Prints the lines of `filterblock scan --hex`.
    Scan { folder: PathBuf },
}

pub(crate) fn run(mode: Mode) -> Result<()> {
    match mode {
        Mode::All { folder, bytes, rounds } => {
            let folder = tempfile::tempdir_in(folder)?;
            write(folder.path(), bytes)?;
            compare(folder.path(), rounds)
        }
        Mode::Leveldb { folder } => by_leveldb(&folder),
        Mode::Scan { folder } => {
            let words = ["filterblock", "scan", "--hex"].map(OsString::from);
            let arguments = words.into_iter().chain([folder.into()]);
            let status = filterblock_cli::run(arguments, io::stdout().lock(), io::stderr());
            ensure!(status == 0, "scan: status {status}");
            Ok(())
        }
    }
}

/// Writes keys of 17 to 20 bytes in random order and values of 100 bytes, of which 50 are random, with overwrites and
/// deletions, on several levels.
fn write(folder: &Path, bytes: u64) -> Result<()> {
    let options = DatabaseOptions { filter: Filter::BuiltIn(10), ..DatabaseOptions::default() };
    let mut database = Database::open(folder, &options)?;
    let mut random = Random::for_case(1, 0);
    let keys = bytes / 120;
    let (mut batch, mut written, mut is_compacted) = (WriteBatch::new(), 0, false);
    while written < bytes {
        if written > bytes / 50 * 49 && !is_compacted {
            // Otherwise LevelDB would go on compacting while it is timed.
            database.compact(None);
            is_compacted = true;
        }
        for _ in 0..1000 {
            let number = random.below(keys);
            let key = format!("user/{number:010}/{}", number % 7919);
            if random.one_in(20) {
                batch.delete(key.as_bytes());
                continue;
            }
            let mut value = random.bytes(50);
            value.resize(100, b'v');
            written += (key.len() + value.len()) as u64;
            batch.put(key.as_bytes(), &value);
        }
        database.write(&batch)?;
        batch.clear();
    }
    Ok(())
}

fn by_leveldb(folder: &Path) -> Result<()> {
    let database = Database::open(folder, &DatabaseOptions::default())?;
    let mut out = BufWriter::with_capacity(32 << 10, io::stdout().lock());
    let digits: Vec<[u8; 2]> = (0..=255u8)
        .map(|byte| [byte >> 4, byte & 15].map(|digit| b"0123456789abcdef"[usize::from(digit)]))
        .collect();
    let (mut line, mut result) = (Vec::new(), Ok(()));
    database.scan(|key, value| {
        line.clear();
        key.iter().for_each(|&byte| line.extend(digits[usize::from(byte)]));
        line.push(b'\t');
        value.iter().for_each(|&byte| line.extend(digits[usize::from(byte)]));
        line.push(b'\n');
        result = out.write_all(&line);
        result.is_ok()
    })?;
    result?;
    out.flush()?;
    Ok(())
}

/// Returns the time of a run by the clock, in seconds.
fn time(word: &str, folder: &Path, out: impl Into<Stdio>) -> Result<f64> {
    let start = Instant::now();
    let status =
        Command::new(std::env::current_exe()?).args(["scan", word]).arg(folder).stdout(out).status()?;
    ensure!(status.success(), "{word}: {status}");
    Ok(start.elapsed().as_secs_f64())
}

fn compare(folder: &Path, rounds: usize) -> Result<()> {
    // Opening turns the log into tables, so that both programs find the same files.
    drop(Database::open(folder, &DatabaseOptions::default())?);
    let lines = |word: &str| -> Result<PathBuf> {
        let path = folder.join(word);
        time(word, folder, File::create(&path)?)?;
        Ok(path)
    };
    let (theirs, ours) = (lines("leveldb")?, lines("scan")?);
    let same = Command::new("cmp").args([&theirs, &ours]).status().context("running cmp")?;
    ensure!(same.success(), "they print different lines");
    println!("the same {} bytes of lines", fs::metadata(&theirs)?.len());
    fs::remove_file(theirs)?;
    fs::remove_file(ours)?;
    let mut best = [f64::INFINITY; 2];
    for _ in 0..rounds {
        for (word, best) in ["leveldb", "scan"].into_iter().zip(&mut best) {
            *best = best.min(time(word, folder, Stdio::null())?);
        }
    }
    let [theirs, ours] = best;
    println!("LevelDB {theirs:.2} s, scan {ours:.2} s: {:.2} of LevelDB's speed", theirs / ours);
    Ok(())
}
