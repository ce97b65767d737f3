//! Why a chosen MANIFEST may not account for everything that was in the database.

use filterblock::database::{FileKind, Manifest};

use super::input::Stray;
use super::manifests::{End, FoundManifest};
use super::members::{OldFile, Role, Salvaged};
use super::salvage::Salvage;
use crate::audit::skipped::MAX_SEQUENCE;
use crate::report::Unknown;
use crate::text::count;

/// More may be missing than the losses in live files.
pub(super) fn reasons(salvage: &Salvage<'_>, chosen: &FoundManifest) -> Vec<Unknown> {
    let manifest = &chosen.manifest;
    let mut reasons = Vec::new();
    if chosen.end == End::Hidden {
        let what =
            "zeros in the middle of the MANIFEST hide records, so a table or a log may be missing unnoticed";
        reasons.push(Unknown::Files(what.to_owned()));
    }
    if let Some(later) = salvage.manifests.later(&salvage.strays) {
        reasons.push(Unknown::Files(format!("{later}, so a table or a log may be missing unnoticed")));
    }
    reasons.extend(unread_tables(salvage, chosen).map(Unknown::Files));
    reasons.extend(missing_logs(salvage, manifest).into_iter().map(Unknown::Writes));
    if manifest.last_sequence() > MAX_SEQUENCE {
        let last = manifest.last_sequence();
        reasons.push(Unknown::Writes(format!(
            "the MANIFEST's last sequence number is {last}, greater than any can be, so writes may be missing from logs \
             unnoticed"
        )));
    }
    reasons
}

fn unread_tables(salvage: &Salvage<'_>, manifest: &FoundManifest) -> Option<String> {
    let unread = salvage.members.iter().filter(|member| is_unread(member, manifest));
    let strays = salvage.strays.iter().filter(|stray| stray.kind == FileKind::Table);
    let strays = strays.filter(|stray| manifest.may_miss(stray.number));
    let mut names = unread.map(|member| &*member.name).chain(strays.map(|stray| &*stray.name));
    let first = names.next()?;
    let tables = match names.count() {
        0 => format!("{first} is"),
        1 => format!("{first} and 1 more table are"),
        more => format!("{first} and {more} more tables are"),
    };
    let missed = match manifest.end {
        End::Whole => "newer than the MANIFEST",
        _ => "not in the MANIFEST, whose end is missing,",
    };
    Some(format!(
        "{tables} {missed} and cannot be read whole, so entries that no other file has may be missing"
    ))
}

/// True for a table that the MANIFEST may have missed, with unreadable parts. Not if its writer was stopped: the
/// entries at its beginning show what it was made from.
pub(super) fn is_unread(member: &OldFile, manifest: &FoundManifest) -> bool {
    let has_unread_parts = match &member.saved {
        Salvaged::Unreadable(..) => true,
        Salvaged::Table(table) => {
            let is_beginning = table.is_cut_off && table.facts.entries.max(table.saved_partly) > 0;
            member.len > 0 && !table.lost.is_empty() && !is_beginning
        }
        Salvaged::Missing(_) | Salvaged::Log(_) => false,
    };
    has_unread_parts && manifest.may_miss(member.number)
}

pub(super) fn missing_logs(salvage: &Salvage<'_>, manifest: &Manifest) -> Vec<String> {
    let mut reasons = Vec::new();
    let is_log = |stray: &&Stray| stray.kind == FileKind::Log && manifest.is_log_live(stray.number);
    for stray in salvage.strays.iter().filter(is_log) {
        let Stray { name, why, .. } = stray;
        reasons.push(format!("{name} is no file but {why}, so writes may be missing"));
    }
    let logs = || salvage.members.iter().filter(|member| member.log().is_some());
    let tables = salvage.members.iter().filter(|it| it.log().is_none() && it.role != Role::Obsolete);
    let last = tables.map(OldFile::last_sequence).max().unwrap_or_default();
    // LevelDB removes a log only after it has recorded a newer one. goleveldb also removes one without writes once
    // there is a newer log.
    for number in [manifest.prev_log_number(), manifest.log_number()] {
        let is_there = logs().any(|log| log.number == number)
            || salvage.strays.iter().any(|stray| stray.kind == FileKind::Log && stray.number == number)
            || salvage.is_goleveldbs && logs().any(|log| log.number > number);
        if number > 0 && !is_there {
            let name = FileKind::Log.file_name(number);
            reasons.push(match last {
                0 => format!("{name} is missing, so writes may be lost"),
                last => {
                    format!("{name} is missing, so writes after sequence number {} may be lost", count(last))
                }
            });
        }
    }
    reasons
}
