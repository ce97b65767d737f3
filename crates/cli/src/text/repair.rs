//! The results of a repair, as text.

use std::io;
use std::path::Path;

use filterblock::{escape_path, quote};
use filterblock_engine::report::{
    FileStanding, LossKind, LossReport, RepairReport, RepairStatus, RepairedFile,
};
use filterblock_engine::words::{count, counted, size};

use crate::io::{Console, Tone};

const MOST: usize = 20;

pub(crate) fn write(database: &Path, report: &RepairReport, console: &mut Console) -> io::Result<()> {
    let path = escape_path(database);
    let sums = &report.sums;
    let done = match report.status {
        RepairStatus::DryRun => "would be saved; nothing was written",
        _ => "saved",
    };
    let keys = console.tone(Tone::Good, format!("{} {done}", counted(sums.keys, "key")));
    writeln!(console, "{path}: {keys}")?;
    let manifest = report.manifest.as_deref().unwrap_or("none can be trusted");
    writeln!(console, "  MANIFEST         {manifest}")?;
    if let Some(name) = &report.comparator {
        let how = report.comparator_inferred().map(|how| format!(", {how}")).unwrap_or_default();
        writeln!(console, "  comparator       {name}{how}")?;
    }
    writeln!(console, "  bits corrected   {}", count(sums.bits_corrected))?;
    writeln!(console, "  lost             {}", lost(report))?;
    if sums.doubtful > 0 {
        let filled = match sums.filled {
            0 => String::new(),
            filled => format!(", {} of them from obsolete files", count(filled)),
        };
        let left_out = match sums.left_out {
            0 => String::new(),
            left_out => format!(", {} left out", count(left_out)),
        };
        writeln!(console, "  doubtful         {}{filled}{left_out}", counted(sums.doubtful, "key"))?;
    }
    if report.status == RepairStatus::Repaired {
        writeln!(console, "  new tables       {}, {}", count(sums.tables), size(sums.new_size))?;
    }
    if let (Some(policy), Some(bits)) = (&report.policy, report.bits_per_key) {
        writeln!(console, "  filters          {policy}, {bits} bits a key")?;
    }
    if report.verified {
        writeln!(console, "  verified         every block, entry and filter of the new tables")?;
    }
    report.files.iter().try_for_each(|file| file_line(file, console))?;
    for loss in report.losses.iter().take(MOST) {
        loss_line(loss, console)?;
    }
    rest(report.losses.len(), "loss", "losses", console)?;
    for key in report.doubtful.iter().take(MOST) {
        let what = if key.is_deletion { "deleted" } else { "of number" };
        let obsolete = if key.is_obsolete { ", which is obsolete" } else { "" };
        let text = format!("{} {what} {} in {}{obsolete}", quote(&key.key), key.sequence, key.file);
        writeln!(console, "  doubtful: {text}")?;
    }
    rest(usize::try_from(sums.doubtful).unwrap_or(usize::MAX), "doubtful key", "doubtful keys", console)?;
    conclusion(report, console)
}

fn lost(report: &RepairReport) -> String {
    let tables = report.losses.iter().filter(|loss| loss.kind == LossKind::Table).count();
    let logs = report.losses.len().saturating_sub(tables);
    let operations = match report.sums.lost_operations {
        Some(0) => String::new(),
        Some(operations) => format!(" with {}", counted(operations, "operation")),
        None => " with an unknown number of operations".to_owned(),
    };
    match (tables, logs) {
        (0, 0) => "nothing that is known".to_owned(),
        (tables, 0) => format!("{} of keys in tables", counted(tables as u64, "range")),
        (0, logs) => format!("{} of logs{operations}", counted(logs as u64, "part")),
        (tables, logs) => format!(
            "{} of keys in tables, {} of logs{operations}",
            counted(tables as u64, "range"),
            counted(logs as u64, "part")
        ),
    }
}

fn file_line(file: &RepairedFile, console: &mut Console) -> io::Result<()> {
    let mut facts = Vec::new();
    match file.standing {
        FileStanding::Missing => facts.push("missing".to_owned()),
        FileStanding::Obsolete => facts.push("obsolete".to_owned()),
        FileStanding::PartlyObsolete => facts.push("partly obsolete".to_owned()),
        FileStanding::Distrusted => facts.push("not trusted".to_owned()),
        FileStanding::Live | FileStanding::Trusted => {}
    }
    if !file.corrected.is_empty() {
        let offsets: Vec<_> = file.corrected.iter().take(MOST).map(u64::to_string).collect();
        facts.push(format!("one bit corrected at offset {}", offsets.join(", ")));
    }
    facts.extend(file.remark.clone());
    if facts.is_empty() {
        return Ok(());
    }
    writeln!(console, "  {}: {}", file.name, facts.join("; "))
}

fn loss_line(loss: &LossReport, console: &mut Console) -> io::Result<()> {
    let key = |key: &Option<Vec<u8>>, none: &str| match key {
        Some(key) => quote(key).to_string(),
        None => none.to_owned(),
    };
    let keys = match (&loss.first_key, &loss.last_key) {
        (None, None) => "any key".to_owned(),
        (first, last) => format!("keys from {} to {}", key(first, "the first"), key(last, "the last")),
    };
    let bytes =
        loss.bytes.map(|bytes| format!("{} at offset {}, ", size(bytes), loss.offset.unwrap_or_default()));
    let operations = loss.operations.map(|operations| format!(", {}", counted(operations, "operation")));
    let text = format!(
        "lost in {}: {}{keys}{}: {}",
        loss.name,
        bytes.unwrap_or_default(),
        operations.unwrap_or_default(),
        loss.why
    );
    let text = console.tone(Tone::Bad, text);
    writeln!(console, "  {text}")
}

fn rest(all: usize, one: &str, many: &str, console: &mut Console) -> io::Result<()> {
    match all.saturating_sub(MOST) {
        0 => Ok(()),
        1 => writeln!(console, "  1 more {one}, which --json shows"),
        more => writeln!(console, "  {} more {many}, which --json shows", count(more as u64)),
    }
}

fn conclusion(report: &RepairReport, console: &mut Console) -> io::Result<()> {
    writeln!(console)?;
    match report.is_complete {
        true => writeln!(console, "Nothing is lost.")?,
        false if report.unknown.is_empty() => writeln!(console, "Nothing is lost but what is told above.")?,
        false => {
            for why in &report.unknown {
                writeln!(console, "It is not known whether more is lost: {why}.")?;
            }
        }
    }
    match &report.target {
        Some(target) => writeln!(console, "The new database is {}.", escape_path(target)),
        None => Ok(()),
    }
}
