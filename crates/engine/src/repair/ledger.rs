//! The repair report, made from what was found.

use filterblock::KeyFormat;
use filterblock::database::FileKind;

use super::decide::VersionChooser;
use super::doubt;
use super::input::{LOST, Stray};
use super::log_loss::{self, LogLoss};
use super::lost::{Bound, Loss, Place};
use super::manifests::{End, FoundManifest, is_newer};
use super::members::{OldFile, Role, Salvaged};
use super::salvage::Salvage;
use super::table::Unsorted;
use crate::audit::skipped::MAX_SEQUENCE;
use crate::report::{
    LossKind, LossReport, Name, OfFile, RepairReport, RepairRole, RepairSums, RepairedFile, RepairedKind,
    Unknown,
};
use crate::text::count;

/// In a note.
const MOST_NAMES: usize = 10;
/// If Chromium's order fits as well as the one that was inferred.
const MAY_BE_IDB: &str = "the keys are in bytewise order, but have the form and the order of Chromium's IndexedDB, too; \
                          if they are of it, repair with --comparator idb_cmp1";
/// If the folder's name decides the key order.
const IDB_BY_NAME: &str = "the order of keys is idb_cmp1, as the folder has the name of Chromium's IndexedDB";
/// On a table that the MANIFEST may have missed.
const UNREAD: &str = "newer than the MANIFEST, and cannot be read whole";
/// On a table that the lost records of the MANIFEST may have listed.
const UNLISTED: &str = "not in the MANIFEST, whose end is missing, and cannot be read whole";

pub(super) fn table_losses(members: &[OldFile]) -> Vec<Loss> {
    let mut losses = Vec::new();
    for (file, member) in members.iter().enumerate() {
        let Some(table) = member.table().filter(|_| member.role == Role::Live) else { continue };
        losses.extend(table.lost.iter().map(|range| Loss {
            range: range.clone(),
            file,
            place: member.place,
            filter: table.filter.clone(),
            maybe_stale: 0,
            from_obsolete: 0,
            ruled_out: 0,
        }));
    }
    losses
}

pub(super) fn log_losses(salvage: &Salvage<'_>) -> Vec<LogLoss> {
    let live = salvage.members.iter().filter(|member| member.role == Role::Live);
    let logs: Vec<_> = live.filter_map(|member| Some((&*member.name, member.log()?))).collect();
    let after = salvage.manifests.chosen().map(|chosen| chosen.manifest.last_sequence());
    let after = after.filter(|last| *last <= MAX_SEQUENCE);
    log_loss::losses(&logs, after)
}

pub(super) fn write(
    report: &mut RepairReport,
    salvage: &Salvage<'_>,
    decided: VersionChooser<'_>,
    logs: &[LogLoss],
) {
    report.data.manifest = salvage.manifests.chosen().map(|chosen| chosen.name.clone());
    report.data.comparator = Some(Name::cut(&salvage.comparator));
    report.data.is_comparator_assumed = salvage.is_order_assumed;
    report.files = files(salvage);
    report.losses = decided.losses.all.iter().map(|loss| loss_of(salvage, loss)).collect();
    report.losses.extend(logs.iter().map(log_loss));
    report.data.unknown = unknown(salvage, logs);
    report.notes.extend(notes(salvage, logs));
    report.notes.extend(salvage.is_idb_by_name.then(|| IDB_BY_NAME.to_owned()));
    report.notes.extend(salvage.may_be_idb.then(|| MAY_BE_IDB.to_owned()));
    report.stale_keys = decided.stale_keys;
    let last = salvage.members.iter().map(OldFile::last_sequence).max().unwrap_or_default();
    let operations = logs.iter().map(LogLoss::operations);
    report.data.sums = RepairSums {
        bits_corrected: report.files.iter().map(|file| file.data.corrected.len() as u64).sum(),
        losses: report.losses.len() as u64,
        lost_writes: operations.sum(),
        last_sequence: last.max(salvage.manifests.last_sequence()),
        old_size: salvage.members.iter().map(|member| member.len).sum(),
        ..decided.sums
    };
    // A file that is no longer used, or of the same age, is no damage.
    let is_fault = |file: &RepairedFile| {
        let has_fault = !file.corrected.is_empty() || file.losses > 0 || file.note.is_some();
        has_fault && file.role != RepairRole::Obsolete || file.role == RepairRole::Missing
    };
    let is_damage = |file: &RepairedFile| match file.kind {
        RepairedKind::Manifest => file.role == RepairRole::Used && is_fault(file),
        _ => is_fault(file),
    };
    report.data.is_complete =
        report.losses.is_empty() && report.data.unknown.is_empty() && report.data.sums.maybe_stale == 0;
    report.data.is_damaged = !report.data.is_complete
        || salvage.manifests.current().is_none()
        || report.files.iter().any(|file| is_damage(&file.data));
}

/// Facts that are no losses.
fn notes(salvage: &Salvage<'_>, logs: &[LogLoss]) -> Vec<String> {
    let live = salvage.members.iter().filter(|member| member.role == Role::Live);
    let has_no_loss = |name: &str| logs.iter().all(|loss| loss.log != name);
    let sound = live.filter_map(|member| Some((&*member.name, member.log()?)));
    let sound: Vec<_> = sound.filter(|(name, _)| has_no_loss(name)).collect();
    let manifest = |end| salvage.manifests.chosen().filter(|one| one.end == end).map(|one| &*one.name);
    let cut_manifest = manifest(End::Cut).map(|name| {
        format!("the last record of {name} is incomplete, as after a kill; no table has entries that it does not list")
    });
    let cut_log = sound.iter().rfind(|(_, log)| log.end == End::Cut).map(|(name, log)| {
        let number = count(log.last_sequence);
        format!(
            "the last write in {name} is incomplete, as after a kill; if the file was cut off in another way, writes \
             after sequence number {number} are lost"
        )
    });
    let zeros = sound.iter().filter(|(_, log)| log.end == End::Zeros).map(|(name, _)| *name);
    let zeros = listed(manifest(End::Zeros).into_iter().chain(zeros))
        .map(|names| format!("zeros at the end are reserved space, and no loss: {names}"));
    let unread = listed(salvage.unread.iter().map(|name| &**name))
        .map(|names| format!("not read, though the names are like those of the database's files: {names}"));
    let lost = salvage
        .has_lost_folder
        .then(|| format!("the folder {LOST}/ was not read: LevelDB's RepairDB moves tables and logs there"));
    let chosen = salvage.manifests.chosen();
    let current = chosen
        .filter(|_| salvage.manifests.current().is_none())
        .map(|chosen| format!("CURRENT was missing or damaged; {} was used", chosen.name));
    [current, unlisted(salvage), cut_manifest, cut_log, zeros, unread, lost].into_iter().flatten().collect()
}

/// The tables that the MANIFEST missed, though it was chosen otherwise.
fn unlisted(salvage: &Salvage<'_>) -> Option<String> {
    let outdated = salvage.manifests.outdated()?;
    let is_missed = |it: &&OldFile| matches!(it.saved, Salvaged::Table(_)) && outdated.may_miss(it.number);
    let missed = || salvage.members.iter().filter(is_missed);
    let names = listed(missed().map(|member| &*member.name))?;
    let entries = missed().filter_map(|member| Some(member.table()?.facts.entries)).sum();
    Some(match missed().count() {
        1 => format!("{names} was not in the MANIFEST: its {} saved", entries_are(entries)),
        _ => format!("{names} were not in the MANIFEST: their {} saved", entries_are(entries)),
    })
}

fn entries_are(entries: u64) -> String {
    if entries == 1 { "only entry is".to_owned() } else { format!("{} entries are", count(entries)) }
}

/// `None`: there are none.
fn listed<'n>(mut names: impl Iterator<Item = &'n str>) -> Option<String> {
    let first: Vec<_> = names.by_ref().take(MOST_NAMES).collect();
    let more = match names.count() {
        0 => String::new(),
        more => format!(" and {} more", count(more as u64)),
    };
    (!first.is_empty()).then(|| format!("{}{more}", first.join(", ")))
}

fn unknown(salvage: &Salvage<'_>, logs: &[LogLoss]) -> Vec<Unknown> {
    let mut unknown = Vec::new();
    match (salvage.manifests.chosen(), salvage.manifests.outdated()) {
        (Some(chosen), _) => unknown.extend(doubt::reasons(salvage, chosen)),
        (None, outdated) => {
            // Lost records may have named a later log.
            let has_log = |one: &FoundManifest| {
                salvage.members.iter().any(|it| it.log().is_some() && one.manifest.is_log_live(it.number))
            };
            let known = outdated.filter(|one| one.end == End::Whole || !has_log(one));
            let logs = known.map(|one| doubt::missing_logs(salvage, &one.manifest)).unwrap_or_default();
            let what = match outdated {
                Some(one) if one.end == End::Whole && !logs.is_empty() => None,
                Some(one) if one.end == End::Whole => {
                    Some(format!("{} is older than the newest table", one.name))
                }
                Some(one) => Some(format!("the end of {} is missing", one.name)),
                None if salvage.manifests.all().is_empty() => Some("there is no MANIFEST".to_owned()),
                None => Some("no MANIFEST can be used".to_owned()),
            };
            let files = what.map(|what| format!("{what}, so another table or log may be missing unnoticed"));
            unknown.extend(files.map(Unknown::Files));
            unknown.extend(logs.into_iter().map(Unknown::Writes));
        }
    }
    if !logs.is_empty() {
        let what = "writes are lost from logs, so any key may have had a newer value";
        unknown.push(Unknown::Writes(what.to_owned()));
    }
    if salvage.members.iter().filter_map(OldFile::log).any(|log| log.end == End::Hidden) {
        let what = "zeros in the middle of a log hide writes, so writes may be lost from it";
        unknown.push(Unknown::Writes(what.to_owned()));
    }
    unknown
}

fn files(salvage: &Salvage<'_>) -> Vec<OfFile<RepairedFile>> {
    let chosen = salvage.manifests.chosen();
    let manifests = salvage.manifests.all().iter().map(|one| {
        let data = RepairedFile {
            kind: RepairedKind::Manifest,
            role: match chosen {
                Some(chosen) if chosen.name == one.name => RepairRole::Used,
                _ => RepairRole::NotUsed,
            },
            size: Some(one.len),
            entries: one.manifest.records(),
            corrected: one.patches.iter().map(|patch| patch.offset).collect(),
            losses: u64::from(one.rejection.is_some()),
            note: joined([
                renamed(&one.name, FileKind::Manifest, one.number),
                one.rejection.as_ref().or(one.skipped.as_ref()).cloned(),
            ]),
            ..RepairedFile::default()
        };
        OfFile { name: one.name.clone(), data }
    });
    let records = salvage.manifests.tables();
    let members = salvage.members.iter().map(|member| {
        let role = match (&member.saved, &member.role) {
            (Salvaged::Missing(_) | Salvaged::Unreadable(..), _) => RepairRole::Missing,
            (_, Role::Live) => RepairRole::Live,
            (_, Role::Obsolete) => RepairRole::Obsolete,
            (_, Role::ObsoleteBetween(..)) => RepairRole::PartlyObsolete,
        };
        let (table, log) = (member.table(), member.log());
        let patches = table.map(|table| &table.patches).or(log.map(|log| &log.patches));
        let note = match &member.saved {
            Salvaged::Unreadable(_, why) => Some(why.clone()),
            _ => match chosen.filter(|one| doubt::is_unread(member, one)) {
                Some(one) if is_newer(&one.manifest, member.number) => Some(UNREAD.to_owned()),
                Some(_) => Some(UNLISTED.to_owned()),
                None => table.and_then(|table| table.carved.clone()),
            },
        };
        let kind = if log.is_some() { FileKind::Log } else { FileKind::Table };
        let unsorted = table.is_some_and(|table| table.facts.unsorted >= Some(Unsorted::InBlocks));
        let unsorted = unsorted.then(|| "keys are out of order, and were sorted".to_owned());
        let overlapped = chosen.filter(|_| member.role == Role::Live && table.is_some()).and_then(|one| {
            let live = one.manifest.table(member.number)?;
            let other = one.manifest.overlapped_by(live)?;
            Some(format!("overlaps {} on level {}", FileKind::Table.file_name(other.number), live.level))
        });
        let note = joined([renamed(&member.name, kind, member.number), note, unsorted, overlapped]);
        let user_key =
            |key: Option<&Vec<u8>>| key.and_then(|key| KeyFormat::LevelDb.user_key(key)).map(<[u8]>::to_vec);
        let level = table.and_then(|_| records.get(&member.number)).map(|record| record.level);
        let data = RepairedFile {
            kind: if log.is_some() { RepairedKind::Log } else { RepairedKind::Table },
            role,
            level,
            size: (!matches!(member.saved, Salvaged::Missing(_))).then_some(member.len),
            entries: table
                .map(|table| table.facts.entries.saturating_add(table.saved_partly))
                .or(log.map(|log| log.operations))
                .unwrap_or_default(),
            first_key: user_key(table.and_then(|table| table.facts.smallest.as_ref())),
            last_key: user_key(table.and_then(|table| table.facts.largest.as_ref())),
            damaged: log.map(|log| log.damaged.clone()).unwrap_or_default(),
            corrected: patches.into_iter().flatten().map(|patch| patch.offset).collect(),
            losses: table
                .map(|table| table.lost.len())
                .or(log.map(|log| log.damaged.len()))
                .unwrap_or_default() as u64,
            note,
        };
        OfFile { name: member.name.clone(), data }
    });
    let mut files: Vec<_> = manifests.chain(members).chain(strays(salvage)).collect();
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files
}

/// `None`: the name is that of a file of this kind.
fn renamed(name: &str, kind: FileKind, number: u64) -> Option<String> {
    let is_renamed = FileKind::parse(name).is_none();
    is_renamed.then(|| format!("taken for {}, which is missing", kind.file_name(number)))
}

fn joined<const N: usize>(remarks: [Option<String>; N]) -> Option<String> {
    remarks.into_iter().flatten().reduce(|all, next| format!("{all}; {next}"))
}

/// Names without a file that may stand for a file of the database.
fn strays(salvage: &Salvage<'_>) -> impl Iterator<Item = OfFile<RepairedFile>> {
    let may_matter = |stray: &&Stray| {
        let chosen = salvage.manifests.chosen().map(|chosen| &chosen.manifest);
        match stray.kind {
            FileKind::Table => chosen.is_none_or(|chosen| is_newer(chosen, stray.number)),
            FileKind::Log => chosen.is_none_or(|chosen| chosen.is_log_live(stray.number)),
            _ => true,
        }
    };
    salvage.strays.iter().filter(may_matter).map(|stray| {
        let (kind, role) = match stray.kind {
            FileKind::Table => (RepairedKind::Table, RepairRole::Missing),
            FileKind::Log => (RepairedKind::Log, RepairRole::Missing),
            _ => (RepairedKind::Manifest, RepairRole::NotUsed),
        };
        let note = Some(format!("{} is in its place", stray.why));
        let data = RepairedFile { kind, role, note, ..RepairedFile::default() };
        OfFile { name: stray.name.clone(), data }
    })
}

fn loss_of(salvage: &Salvage<'_>, loss: &Loss) -> OfFile<LossReport> {
    let key = |bound: &Option<Bound>| bound.as_ref().map(|bound| bound.user_key.clone());
    let member = salvage.members.get(loss.file);
    let bytes = &loss.range.bytes;
    debug_assert!(loss.place >= Place::LOGS, "tables are older than logs");
    let data = LossReport {
        kind: LossKind::Table,
        first_key: key(&loss.range.low),
        last_key: key(&loss.range.high),
        offset: Some(bytes.start),
        bytes: Some(bytes.end.saturating_sub(bytes.start)),
        maybe_stale: loss.maybe_stale,
        from_obsolete: loss.from_obsolete,
        ruled_out: loss.ruled_out,
        why: loss.range.why.clone(),
        ..LossReport::default()
    };
    OfFile { name: member.map(|member| member.name.clone()).unwrap_or_default(), data }
}

fn log_loss(loss: &LogLoss) -> OfFile<LossReport> {
    let data = LossReport {
        kind: LossKind::Log,
        offset: loss.offset,
        writes: loss.operations(),
        last_sequence_before: Some(loss.after).filter(|after| *after > 0),
        first_sequence_after: loss.before,
        why: loss.why.to_owned(),
        ..LossReport::default()
    };
    OfFile { name: loss.log.clone(), data }
}
