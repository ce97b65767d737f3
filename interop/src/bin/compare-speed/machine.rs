//! The machine and the versions that were measured.

use std::{env, fs, thread};

/// Prints the lines above the tables.
pub(crate) fn describe() {
    let processor =
        first_line_with("/proc/cpuinfo", "model name").unwrap_or_else(|| env::consts::ARCH.to_owned());
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let busy = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let busy = busy.split(' ').next().unwrap_or("unknown");
    let arguments: Vec<_> = env::args().skip(1).collect();
    println!("- Machine: {processor}, {processors} processors; load average at the start: {busy}");
    println!("- {}; LevelDB 1.23 as {}", env!("RUSTC_VERSION"), env!("LEVELDB_BUILD"));
    println!("- `cargo run --release -p filterblock-interop --bin compare-speed -- {}`", arguments.join(" "));
    println!(
        "- Medians of rounds in turns, in nanoseconds for each key unless stated; in brackets LevelDB's time by this one, above 1 is"
    );
    println!(
        "  faster than LevelDB. Columns for internal keys are compared with LevelDB's for internal keys."
    );
    println!("- Ten bits a key are k 6.");
}

/// Returns the text after the colon.
fn first_line_with(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
