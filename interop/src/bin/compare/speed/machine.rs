//! The machine and the versions that were measured.

use std::{env, fs, thread};

/// Prints the lines above the tables.
pub(crate) fn describe(processes: usize) {
    let processor =
        first_line_with("/proc/cpuinfo", "model name").unwrap_or_else(|| env::consts::ARCH.to_owned());
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let busy = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let busy = busy.split(' ').next().unwrap_or("unknown");
    let arguments: Vec<_> = env::args().skip(1).collect();
    println!("- Machine: {processor}, {processors} processors; load average at the start: {busy}");
    println!("- {}; LevelDB 1.23, Debian's source built with -O2 -DNDEBUG", env!("RUSTC_VERSION"));
    println!("- `cargo run --release -p filterblock-interop --bin compare -- {}`", arguments.join(" "));
    println!(
        "- In turns, in short rounds: the time within which the fastest twentieth of them ends, in nanoseconds for each"
    );
    println!(
        "  key unless stated, and in bold the speedup over LevelDB, its time divided by ours. Behind it, after ≥ or ≤,"
    );
    println!("  the aim. In brackets beside other implementations, LevelDB's time divided by theirs.");
    if processes > 0 {
        println!(
            "- In brackets beside ours: median and 95th percentile of the ratios in {processes} other processes."
        );
    }
    println!(
        "- Ten bits a key, k 6, unless stated. Our builders keep their buffers from round to round, which LevelDB's cannot."
    );
}

/// Returns the text after the colon of the first line that begins with `name`.
fn first_line_with(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
