//! Measures the cost of one run, in a process of its own.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use clap::Subcommand;
use filterblock_interop::leveldb::Store;

use super::data;

#[derive(Subcommand)]
pub(crate) enum Work {
    /// `filterblock` with these arguments.
    Tool {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// LevelDB's `CompactRange(nullptr, nullptr)`, with filters of ten bits a key.
    Compact { folder: PathBuf },
    /// CRC-32C of all tables.
    Crc { folder: PathBuf },
}

impl Work {
    fn run(self) -> Result<()> {
        match self {
            Self::Tool { arguments } => {
                let arguments = [OsString::from("filterblock")].into_iter().chain(arguments);
                let status = filterblock_cli::run(arguments, io::sink(), io::stderr());
                ensure!(status == 0, "filterblock: status {status}");
            }
            Self::Compact { folder } => {
                let before = data::tables(&folder)?;
                let store = Store::open(&folder, &data::options_with_filters())?;
                store.compact(None);
                drop(store);
                let kept = data::tables(&folder)?.iter().filter(|path| before.contains(path)).count();
                ensure!(kept == 0, "CompactRange left {kept} of {} tables as they were", before.len());
            }
            Self::Crc { folder } => {
                let mut sum = 0;
                for path in data::tables(&folder)? {
                    let (mut file, mut crc) = (File::open(path)?, 0);
                    let mut buffer = vec![0; 256 << 10];
                    loop {
                        let len = file.read(&mut buffer)?;
                        if len == 0 {
                            break;
                        }
                        crc = crc32c::crc32c_append(crc, &buffer[..len]);
                    }
                    sum ^= crc;
                }
                std::hint::black_box(sum);
            }
        }
        Ok(())
    }
}

/// The cost of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// Seconds by the clock.
    pub(crate) wall: f64,
    /// Seconds of all threads, in the program and in the system.
    pub(crate) processor: f64,
    /// The largest resident memory, in KiB.
    pub(crate) memory: u64,
}

/// Does the work, and prints the cost of the whole process, which does nothing else.
pub(crate) fn print_cost(work: Work) -> Result<()> {
    let start = Instant::now();
    work.run()?;
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

/// Runs `rebuild cost` with the arguments `words` and the folder. Returns the cost that it prints.
pub(crate) fn measure(words: &[&str], folder: &Path) -> Result<Cost> {
    let output =
        Command::new(std::env::current_exe()?).args(["rebuild", "cost"]).args(words).arg(folder).output()?;
    ensure!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let numbers: Vec<f64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let [wall, processor, memory] = numbers[..] else { anyhow::bail!("three numbers: {text}") };
    Ok(Cost { wall, processor, memory: memory as u64 })
}
