//! System calls that fail, signals, and full file systems: the program stops, and the database has all that it
//! had.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use filterblock_crash_states::Tree;
use filterblock_crash_states::tree::Entry;

use super::case::{Case, work_folder};
use super::check::{Check, Checker};
use super::log::Kind;
use super::mode::{DATABASE, Mode, TARGET};
use super::record::{Disturbance, Fault};
use crate::random::Random;

const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const SIGNALS: [(&str, i32); 2] = [("INT", 2), ("TERM", 15)];

/// The endings of many runs that something disturbed.
#[derive(Debug, Default, Clone, Copy)]
pub struct Endings {
    /// The number of runs.
    pub runs: u64,
    /// The number of runs that ended with status 0.
    pub done: u64,
    /// The number of runs that a signal ended.
    pub ended_by_signal: u64,
    /// The number of runs, ended by a signal or not, whose database was found to be as before, with nothing left
    /// behind.
    pub undone: u64,
}

impl fmt::Display for Endings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runs, done, ended_by_signal, undone } = self;
        write!(
            f,
            "{runs} runs: {done} done all the same, {ended_by_signal} ended by the signal, {undone} undone"
        )
    }
}

/// Lets calls of each kind fail: each call alone with EIO, and each call and all later ones with ENOSPC.
pub fn faults(case: &Case, mode: Mode, random: &mut Random) -> Result<Endings> {
    let mut endings = Endings::default();
    let before = case.before(mode)?.context("no mode that needs more tables")?;
    for kind in Kind::FAILING {
        for (errno, count) in [(EIO, 1), (ENOSPC, 1 << 40)] {
            for first in 1.. {
                let fault = Fault { kind, first, count, errno };
                let disturbance = Disturbance { fault: Some(fault), ..Disturbance::default() };
                let recorded = case.record(mode, &before, disturbance)?;
                if !recorded.recording.is_hit {
                    break;
                }
                let what = || format!("{mode} with {fault:?}: {}", recorded.recording.ending());
                let status = recorded.recording.status.with_context(what)?;
                ensure!(!recorded.recording.messages.contains("panicked"), what());
                ensure!(status == 0 || !recorded.recording.messages.is_empty(), "no message: {}", what());
                ensure!(matches!(status, 0..=3), what());
                endings.runs += 1;
                endings.done += u64::from(status == 0);
                if status != 0 && count == 1 && !is_committed(&before, &recorded.after)? {
                    // After a sync that failed nobody knows what is durable, and what could be needed stays.
                    let stays = matches!(kind, Kind::Sync | Kind::SyncFolder)
                        && recorded.recording.messages.contains("nothing is removed");
                    if !stays {
                        is_as_before(mode, &before, &recorded.after).with_context(what)?;
                        endings.undone += 1;
                    }
                }
                sound(case, &recorded.after, mode, random).with_context(what)?;
            }
        }
    }
    Ok(endings)
}

/// Sends signals after random operations, and at random times.
pub fn signals(case: &Case, mode: Mode, count: u64, random: &mut Random) -> Result<Endings> {
    let mut endings = Endings::default();
    let before = case.before(mode)?.context("no mode that needs more tables")?;
    let whole = case.record(mode, &before, Disturbance::default())?;
    let operations = whole.recording.operations.len() as u64;
    for at in 0..count {
        let (name, number) = SIGNALS[(at % 2) as usize];
        let (after, ended, status, what) = if at % 4 < 2 {
            let signal = Some((random.between(1, operations), number));
            let disturbance = Disturbance { signal, ..Disturbance::default() };
            let recorded = case.record(mode, &before, disturbance)?;
            let ended = recorded.recording.signal;
            let what = format!("{mode}, {signal:?}: {}", recorded.recording.ending());
            (recorded.after, ended, recorded.recording.status, what)
        } else {
            let folder = work_folder()?;
            let root = folder.path().join("root");
            before.write(&root)?;
            let seconds = format!("0.{:06}", random.below(25_000));
            let output = Command::new("timeout")
                .args(["--preserve-status", "--signal", name, &seconds])
                .arg(&case.program)
                .args(case.arguments(mode, &root))
                .output()?;
            let status = output.status.code().context("timeout ends by itself")?;
            let ended = (status == 128 + number).then_some(number);
            let what = format!("{mode}, {name} after {seconds} s: {output:?}");
            (Tree::read(&root)?.0, ended, ended.map_or(Some(status), |_| None), what)
        };
        endings.runs += 1;
        ensure!(ended == Some(number) || status.is_some_and(|status| status <= 2), what);
        endings.ended_by_signal += u64::from(ended.is_some());
        endings.done += u64::from(status == Some(0));
        if status != Some(0) && !is_committed(&before, &after)? {
            is_as_before(mode, &before, &after).with_context(|| what.clone())?;
            endings.undone += 1;
        }
        sound(case, &after, mode, random).context(what)?;
    }
    Ok(endings)
}

/// Runs the program on file systems that are almost full. `None` if mounting one is not permitted.
pub fn small_file_systems(case: &Case, mode: Mode, random: &mut Random) -> Result<Option<Endings>> {
    let before = case.before(mode)?.context("no mode that needs more tables")?;
    let listing = before.listing();
    let bytes: usize = listing
        .values()
        .flat_map(Entry::contents)
        .map(|contents| contents.len().next_multiple_of(4096))
        .sum();
    let files = listing.len() as u64 + 2;
    let sizes = (0..20).map(|step| (bytes as u64 + step * step * 4096, None));
    let inodes = (0..24).map(|more| (bytes as u64 + (8 << 20), Some(files + more)));
    let mut endings = Endings::default();
    for (size, inodes) in sizes.chain(inodes) {
        let folder = work_folder()?;
        let mut options = format!("size={size}");
        if let Some(inodes) = inodes {
            options += &format!(",nr_inodes={inodes}");
        }
        let Some(mounted) = Mounted::new(folder.path(), &options)? else { return Ok(None) };
        let root = mounted.0.join("root");
        if before.write(&root).is_err() {
            continue; // Not even the database has room.
        }
        let (status, said) = case.run(mode, &root)?;
        let what = || format!("{mode} on a file system of {options}: status {status}: {said}");
        ensure!(matches!(status, 0..=2) && (status == 0 || !said.is_empty()), what());
        endings.runs += 1;
        endings.done += u64::from(status == 0);
        let (after, _) = Tree::read(&root)?;
        drop(mounted);
        // One of several commits may have been made.
        if status != 0 && !is_committed(&before, &after)? {
            is_as_before(mode, &before, &after).with_context(what)?;
            endings.undone += 1;
        }
        sound(case, &after, mode, random).with_context(what)?;
    }
    Ok(Some(endings))
}

/// A tmpfs. Dropping it unmounts it.
struct Mounted(PathBuf);

impl Mounted {
    fn new(folder: &Path, options: &str) -> Result<Option<Self>> {
        let place = folder.join("small");
        fs::create_dir(&place)?;
        let mut mount = Command::new("mount");
        let output = mount.args(["-t", "tmpfs", "-o", options, "filterblock-small"]).arg(&place).output()?;
        Ok(output.status.success().then_some(Self(place)))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Lazily, because a program that another thread is starting may have a file there open for a moment.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

fn is_committed(before: &Tree, after: &Tree) -> Result<bool> {
    let (current, target) = (Path::new(DATABASE).join("CURRENT"), Path::new(TARGET));
    Ok(before.contents(&current)? != after.contents(&current)? || after.listing().contains_key(target))
}

/// Fails if anything has changed. `--discard` may already have removed a part of what it removes.
fn is_as_before(mode: Mode, before: &Tree, after: &Tree) -> Result<()> {
    let (before, after) = (before.listing(), after.listing());
    let differing: Vec<_> = before
        .keys()
        .chain(after.keys())
        .filter(|path| mode != Mode::Discard || path.starts_with(DATABASE))
        .filter(|path| before.get(*path).map(Entry::contents) != after.get(*path).map(Entry::contents))
        .map(|path| path.display().to_string())
        .collect();
    ensure!(differing.is_empty(), "not as before: {differing:?}");
    Ok(())
}

/// Checks that LevelDB opens the database and repairs it, and that the program does its work the next time.
fn sound(case: &Case, tree: &Tree, mode: Mode, random: &mut Random) -> Result<()> {
    let mut checker = Checker::new(case, None)?;
    for check in [Check::LevelDb, Check::Repair, Check::Again] {
        checker.check(check, tree, mode, random)?;
    }
    Ok(())
}
