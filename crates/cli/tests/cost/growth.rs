//! Runs the program on files that are made to cost as much as possible, in sizes that double. For a file of twice the
//! size, the program reads, decodes, allocates, holds and prints about twice as much at most.
//!
//! Environment variables go further than `cargo test` has time for:
//! - `FILTERBLOCK_ROUNDS=all`: the size doubles twice, from 32 KiB on, and not once.
//! - `GROWTH_DOUBLINGS`: how often the size doubles.
//! - `GROWTH_ONLY`: only files whose name contains this text are tried.
//! - `GROWTH_RUN`: only commands that contain this text are run.
//! - `GROWTH_TABLE`: every run is shown with file, command, size, reads, bytes read, decoded, allocated, held at the
//!   peak and printed, milliseconds, and exit status.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use crate::meter::{self, Taken};
use crate::{folders, hostile};

/// The size of the smallest files.
const START: usize = 32 << 10;
/// The factor by which a cost may grow when the size doubles, in hundredths.
const FACTOR: usize = 240;
/// The bytes by which a cost may grow in addition, whatever the size is. They are for buffers of fixed length.
const BASE: usize = 64 << 10;
/// A cost of up to this many times the file's size is always allowed. Budgets are in proportion to the size: a file may
/// use up its budget where one of half the size needs little of its own. A damaged table is opened once more for the hint
/// at what helps.
const ALWAYS: usize = 5;
/// Like `ALWAYS`, for the commands of `TUNING`, which open a table up to this many times. Opening a small file reads
/// all of it.
const ALWAYS_OF_TUNING: usize = 16;
/// Like `ALWAYS`, for `--carve`. After damage, it remembers each byte as a possible start of a block, in hash tables
/// that double until they hold the starts of a MiB. It may read the file this many times.
const ALWAYS_OF_CARVING: usize = 100;

/// The commands for crafted tables. They run on the table, or on a database that holds it alone.
const OF_TABLES: [&[&str]; 13] = [
    &["inspect", "FILE"],
    &["inspect", "--filters", "FILE"],
    &["inspect", "--filters", "--json", "FILE"],
    &["query", "FILE", "key"],
    &["verify", "--jobs", "1", "FILE"],
    &["extract", "FILE"],
    &["scan", "--max-output", "LIMIT", "FILE"],
    &["scan", "--all", "--json", "--max-output", "LIMIT", "FILE"],
    &["scan", "--all", "--carve", "--max-output", "LIMIT", "FILE"],
    &["scan", "--all", "--max-output", "LIMIT", "DATABASE"],
    &["scan", "--all", "--correct", "--max-output", "LIMIT", "FILE"],
    &["scan", "--all", "--correct", "--max-output", "LIMIT", "DATABASE"],
    &["repair", "--dry-run", "--max-output", "LIMIT", "--to", "NEW", "DATABASE"],
];
const OF_FOLDERS: [&[&str]; 16] = [
    &["inspect", "FILE"],
    &["inspect", "--json", "FILE"],
    &["query", "FILE", "key"],
    &["verify", "--jobs", "1", "FILE"],
    &["verify", "--json", "--jobs", "1", "FILE"],
    &["inspect", "--files-from", "LIST"],
    &["verify", "--jobs", "1", "--files-from", "LIST"],
    &["query", "--files-from", "LIST", "key"],
    &["scan", "FILE"],
    &["scan", "--correct", "FILE"],
    &["get", "FILE", "key"],
    &["manifest", "FILE"],
    &["manifest", "--json", "FILE"],
    &["scan", "--all", "--json", "FILE"],
    &["scan", "--all", "--json", "LOG"],
    &["repair", "--dry-run", "--max-output", "LIMIT", "--to", "NEW", "FILE"],
];
/// `LIMIT` in `--max-output LIMIT`, as a multiple of the file's size. The default is 256 MiB or more, which would let a
/// file of 32 KiB be decoded to thousands of times its size.
const LIMIT: usize = 8;
/// The commands that make filters for a table or a folder. `tune` and `report` try every setting with thousands of
/// keys. Unless the program is optimized, they take minutes: see `commands`.
const TUNING: [&[&str]; 3] = [
    &["tune", "--jobs", "1", "FILE"],
    &["report", "--jobs", "1", "FILE", "-o", "-"],
    &["rebuild", "--jobs", "1", "--to", "NEW", "DATABASE"],
];

/// Returns these commands, and in an optimized build also those of `TUNING`.
fn commands(these: &[&'static [&'static str]]) -> Vec<&'static [&'static str]> {
    let tuning = if cfg!(debug_assertions) { &[][..] } else { &TUNING };
    [these, tuning].concat()
}

/// Makes a file or a folder of about this many bytes, in this folder.
pub(crate) type Make = Box<dyn Fn(usize, &Path)>;

/// A file or folder that can be made in any size.
pub(crate) struct Hostile {
    pub(crate) name: String,
    pub(crate) make: Make,
}

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |value| value.parse().expect(variable))
}

/// Returns the arguments of a run on the files in `folder`. Words of `command` become paths: `FILE` that of the table
/// or database, `DATABASE` that of the database or of one with the table alone, `LOG` that of a log, `LIST` that of a
/// list of all tables, `NEW` that of a folder that does not exist. `LIMIT` becomes a number in proportion to `size`.
fn arguments(command: &[&str], folder: &Path, size: usize) -> Vec<OsString> {
    let argument = |&argument: &&str| match argument {
        "DATABASE" if folder.join("database").exists() => folder.join("database").into(),
        "FILE" | "DATABASE" => folder.join("000005.ldb").into(),
        "LOG" => folder.join("000005.ldb/000009.log").into(),
        "LIST" => folder.join("list").into(),
        "NEW" => folder.join("new").into(),
        "LIMIT" => (LIMIT * size).to_string().into(),
        argument => argument.into(),
    };
    command.iter().map(argument).collect()
}

/// Returns the costs that grew by more than they may from `before`, a run, to `after`, a run on a file of twice the
/// size. Costs of up to `always` bytes are allowed. `None`: no cost grew too much.
fn excess(before: Taken, after: Taken, always: usize) -> Option<String> {
    let parts = [
        // A read costs some bytes at least.
        ("reads, times 16", 16 * before.reads, 16 * after.reads),
        ("read", before.read, after.read),
        ("decoded", before.decoded, after.decoded),
        ("allocated", before.allocated, after.allocated),
        ("held", before.peak, after.peak),
        ("printed", before.printed, after.printed),
    ];
    let bad = parts
        .into_iter()
        .filter(|&(_, before, after)| after > before / 100 * FACTOR + BASE && after > always);
    let bad: Vec<_> = bad.map(|(what, before, after)| format!("{what} {before}, then {after}")).collect();
    (!bad.is_empty()).then(|| bad.join("; "))
}

/// Runs these commands on the file in sizes that double. Adds to `bad` what cost too much.
fn check(hostile: &Hostile, commands: &[&[&str]], bad: &mut Vec<String>) {
    let shown = std::env::var_os("GROWTH_TABLE").is_some();
    let run = std::env::var("GROWTH_RUN").unwrap_or_default();
    let commands: Vec<_> = commands.iter().filter(|command| command.join(" ").contains(&run)).collect();
    let mut before: Vec<Option<Taken>> = vec![None; commands.len()];
    let has_all_rounds = std::env::var_os("FILTERBLOCK_ROUNDS").is_some_and(|rounds| rounds == "all");
    for doubling in 0..=number("GROWTH_DOUBLINGS", if has_all_rounds { 2 } else { 1 }) {
        let folder = tempfile::tempdir().unwrap();
        let size = START << doubling;
        (hostile.make)(size, folder.path());
        for (command, before) in commands.iter().zip(&mut before) {
            if command.contains(&"LOG") && !folder.path().join("000005.ldb/000009.log").exists() {
                continue;
            }
            let after = meter::run(arguments(command, folder.path(), size));
            // The folder that `rebuild` has made.
            let _ = std::fs::remove_dir_all(folder.path().join("new"));
            let what = format!("{} | {} | {size}", hostile.name, command.join(" "));
            if shown {
                let Taken { reads, read, decoded, allocated, peak, printed, nanoseconds, status, .. } = after;
                let milliseconds = nanoseconds / 1_000_000;
                println!(
                    "{what} | {reads} | {read} | {decoded} | {allocated} | {peak} | {printed} | {milliseconds} | {status}"
                );
            }
            let times = match command {
                command if TUNING.contains(command) => ALWAYS_OF_TUNING,
                command if command.contains(&"--carve") => ALWAYS_OF_CARVING,
                _ => ALWAYS,
            };
            if let Some(excess) = before.replace(after).and_then(|before| excess(before, after, times * size))
            {
                bad.push(format!("{what}: {excess}"));
            }
        }
    }
}

/// A second process takes every second file.
#[test]
fn a_file_of_twice_the_size_takes_at_most_twice_as_much() {
    const SECOND: &str = "GROWTH_SECOND";
    let _alone = meter::alone();
    let only = std::env::var("GROWTH_ONLY").unwrap_or_default();
    let is_second = std::env::var_os(SECOND).is_some();
    let second = (!is_second).then(|| {
        let program = std::env::current_exe().unwrap();
        let test = ["growth::a_file_of_twice_the_size_takes_at_most_twice_as_much", "--exact", "--nocapture"];
        Command::new(program).args(test).env(SECOND, "").spawn().unwrap()
    });
    let mut bad = Vec::new();
    for (kind, files, commands) in [
        ("table: ", hostile::all(), commands(&OF_TABLES)),
        ("folder: ", folders::all(), commands(&OF_FOLDERS)),
    ] {
        for Hostile { name, make } in files.into_iter().skip(usize::from(is_second)).step_by(2) {
            let hostile = Hostile { name: format!("{kind}{name}"), make };
            if hostile.name.contains(&only) {
                check(&hostile, &commands, &mut bad);
            }
        }
    }
    let second = second.map(|mut second| second.wait().unwrap());
    assert!(bad.is_empty(), "{} runs took too much:\n{}", bad.len(), bad.join("\n"));
    assert!(second.is_none_or(|status| status.success()), "runs of the second process took too much");
}
