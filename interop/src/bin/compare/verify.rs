//! Times `filterblock verify` and LevelDB's iteration with checksums, over tables that LevelDB wrote. Each run is a
//! process of its own, and the two programs take turns. Processor time and memory are measured as well.
//!
//! LevelDB opens each table through its own `Env`, which maps the file into memory, and iterates over it. The tables
//! are read one by one, not merged as in a database. Linux only.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use clap::{Args, Subcommand};
use filterblock_interop::leveldb::{
    Compression, DatabaseOptions, Entries, TableBuilder, TableOptions, repair, speed,
};
use filterblock_interop::random::Random;

#[derive(Subcommand)]
pub(crate) enum Mode {
    /// Writes tables, times everything that is to be compared, and removes the tables.
    All {
        /// The folder for the tables; a new folder is made in it.
        folder: PathBuf,
        #[command(flatten)]
        tables: Tables,
        /// Number of rounds; the best of each counts.
        #[arg(long, default_value_t = 5)]
        rounds: usize,
    },
    /// Writes tables, for the commands below.
    Write {
        /// An existing empty folder.
        folder: PathBuf,
        #[command(flatten)]
        tables: Tables,
    },
    /// One run of LevelDB's iteration.
    Walk { folder: PathBuf },
    /// One run of `filterblock verify`.
    Verify { folder: PathBuf, jobs: u32 },
}

/// Tables to write.
#[derive(Args)]
pub(crate) struct Tables {
    /// Size of all tables together, in bytes.
    #[arg(long, default_value_t = 2_000_000_000)]
    bytes: u64,
    /// Size of each table in bytes; LevelDB's default is 2 MiB.
    #[arg(long, default_value_t = 2 << 20)]
    table_bytes: u64,
    /// Write the tables without Snappy.
    #[arg(long)]
    uncompressed: bool,
}

pub(crate) fn run(mode: Mode) -> Result<()> {
    match mode {
        Mode::All { folder, tables, rounds } => {
            let folder = tempfile::tempdir_in(folder)?;
            write(folder.path(), &tables)?;
            compare(folder.path(), rounds)
        }
        Mode::Write { folder, tables } => write(&folder, &tables),
        Mode::Walk { folder } => timed(|| {
            let mut bytes = 0;
            for path in paths(&folder)? {
                bytes += speed::walk_file(&path)?;
            }
            ensure!(bytes > 0, "no entries");
            Ok(())
        }),
        Mode::Verify { folder, jobs } => timed(|| {
            let words = ["filterblock", "verify", "--json", "--jobs", &jobs.to_string()].map(OsString::from);
            let arguments = words.into_iter().chain([folder.clone().into()]);
            let status = filterblock_cli::run(arguments, io::sink(), io::stderr());
            ensure!(status == 0, "verify: status {status}");
            Ok(())
        }),
    }
}

/// The cost of a run.
#[derive(Clone, Copy)]
struct Cost {
    wall: f64,
    /// Processor time of all threads.
    processor: f64,
    /// The largest resident memory, in KiB; LevelDB's includes the mapped files.
    memory: u64,
}

/// Does the work, and prints the cost of the whole process, which does nothing else.
fn timed(work: impl FnOnce() -> Result<()>) -> Result<()> {
    let start = Instant::now();
    work()?;
    let wall = start.elapsed().as_secs_f64();
    // After the name in parentheses, user and system time are the 12th and 13th field, in
    // hundredths of a second.
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit(')').next().context("fields")?.split_whitespace();
    let ticks: Vec<u64> = fields.skip(11).take(2).map(str::parse).collect::<Result<_, _>>()?;
    let status = fs::read_to_string("/proc/self/status")?;
    let memory = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("VmHWM")?;
    let memory = memory.trim().trim_end_matches(" kB");
    println!("{wall} {} {memory}", ticks.iter().sum::<u64>() as f64 / 100.0);
    Ok(())
}

/// Runs a command, and returns its cost. `core`: the only core that it may use.
fn measure(core: Option<u32>, words: &[&str]) -> Result<Cost> {
    let program = std::env::current_exe()?;
    let mut command = match core {
        Some(core) => {
            let mut command = Command::new("taskset");
            command.args(["-c", &core.to_string()]).arg(program);
            command
        }
        None => Command::new(program),
    };
    let output = command.arg("verify").args(words).output().context("running taskset, of util-linux")?;
    ensure!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let numbers: Vec<f64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let [wall, processor, memory] = numbers[..] else { anyhow::bail!("three numbers: {text}") };
    Ok(Cost { wall, processor, memory: memory as u64 })
}

fn compare(folder: &Path, rounds: usize) -> Result<()> {
    let folder = folder.to_str().context("a folder in UTF-8")?;
    let runs: [(&str, Option<u32>, Vec<&str>); 3] = [
        ("LevelDB iterates, one core", Some(0), vec!["walk", folder]),
        ("verify, one core", Some(0), vec!["verify", folder, "1"]),
        ("verify, two cores", None, vec!["verify", folder, "2"]),
    ];
    let mut costs: [Vec<Cost>; 3] = Default::default();
    for round in 0..=rounds {
        for ((_, core, words), costs) in runs.iter().zip(&mut costs) {
            let cost = measure(*core, words)?;
            // The first round reads the files into the page cache.
            if round > 0 {
                costs.push(cost);
            }
        }
    }
    let least = |costs: &[Cost], of: fn(&Cost) -> f64| costs.iter().map(of).fold(f64::INFINITY, f64::min);
    for ((what, ..), costs) in runs.iter().zip(&costs) {
        println!(
            "{what:<28} {:6.2} s, {:6.2} s of processors, {} MiB at most",
            least(costs, |cost| cost.wall),
            least(costs, |cost| cost.processor),
            costs.iter().map(|cost| cost.memory).max().unwrap_or_default() / 1024
        );
    }
    let [walk, one, two] =
        costs.map(|costs| (least(&costs, |cost| cost.wall), least(&costs, |cost| cost.processor)));
    println!(
        "speed beside LevelDB's, one core: {:.2} by the clock, {:.2} by processor time",
        walk.0 / one.0,
        walk.1 / one.1
    );
    println!("two cores beside one: {:.2} by the clock", one.0 / two.0);
    Ok(())
}

fn paths(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths: Vec<_> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ldb"));
    paths.sort();
    Ok(paths)
}

/// Writes tables as a database has them: internal keys with user keys of 16 bytes, values of 100 bytes that Snappy
/// halves, ten bits a key.
fn write(folder: &Path, tables: &Tables) -> Result<()> {
    let &Tables { bytes, table_bytes, uncompressed } = tables;
    let compression = if uncompressed { Compression::None } else { Compression::Snappy };
    let options =
        TableOptions { compression, bits_per_key: Some(10), internal_keys: true, ..TableOptions::default() };
    let mut random = Random::new(1);
    let noise = random.bytes(1 << 20);
    let (mut written, mut tables, mut number) = (0, 0u64, 0u64);
    while written < bytes {
        let mut file = Vec::new();
        let mut builder = TableBuilder::new(&options, |piece| file.extend_from_slice(piece));
        let mut entries = Entries::new();
        while builder.file_size() < table_bytes {
            entries.clear();
            for _ in 0..500 {
                let key =
                    [format!("{number:016}").as_bytes(), &((number + 1) << 8 | 1).to_le_bytes()].concat();
                let half = &noise[random.index(noise.len() - 50)..][..50];
                entries.push(&key, &[half, half].concat());
                number += 1;
            }
            builder.add(&entries);
        }
        builder.finish()?;
        tables += 1;
        written += file.len() as u64;
        fs::write(folder.join(format!("{:06}.ldb", tables + 4)), &file)?;
    }
    // Writes a MANIFEST that lists all the tables, and leaves the tables as they are.
    repair(folder, &DatabaseOptions { compression, ..DatabaseOptions::default() })?;
    println!("{tables} tables of LevelDB, {written} bytes, {number} entries, {compression:?}");
    Ok(())
}
