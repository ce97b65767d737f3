//! Which files are live: according to the MANIFEST or, without one, by the entries that files share.

use std::collections::{BTreeMap, BTreeSet};

use filterblock::database::{FileKind, LiveTable, Manifest};

use super::input::Stray;
use super::lost::Place;
use super::manifests::{FoundManifest, is_newer};
use super::members::{OldFile, Role, Salvaged};
use super::merge::Merge;
use super::order::KeyOrder;
use super::salvage::Salvage;
use super::table::SavedTable;
use crate::write::{Input, Result};

/// Later files to pair a file with for one shared entry: thousands of files may have it.
const MOST_SHARING: usize = 32;

/// Gives each file its role, and drops names without a file that do not matter.
pub(super) fn decide(salvage: &mut Salvage<'_>, input: Input<'_>) -> Result<()> {
    assign(salvage, input)?;
    // A table may have either of two endings, so a name without a file does not matter if a whole table has its
    // number, or if one is reported as missing or unreadable.
    let is_the_one = |member: &&OldFile| match &member.saved {
        Salvaged::Table(table) => table.lost.is_empty(),
        Salvaged::Missing(_) | Salvaged::Unreadable(..) => true,
        Salvaged::Log(_) => false,
    };
    let numbers: BTreeSet<u64> =
        salvage.members.iter().filter(is_the_one).map(|member| member.number).collect();
    salvage.strays.retain(|stray| stray.kind != FileKind::Table || !numbers.contains(&stray.number));
    Ok(())
}

/// Goes by the chosen MANIFEST. If it may have missed a table with entries of its own, it is chosen no longer.
fn assign(salvage: &mut Salvage<'_>, input: Input<'_>) -> Result<()> {
    let Salvage { manifests, members, operations, order, strays, .. } = salvage;
    if let Some(chosen) = manifests.chosen()
        && !members.iter().any(|member| is_missed(member, chosen))
    {
        by_manifest(members, &chosen.manifest, strays);
        return Ok(());
    }
    let mut shared = SharedEntries::new(members, order, manifests.chosen());
    let merge = Merge { input, members, operations, order };
    merge.run(|entry| {
        shared.add(entry.user_key, entry.sequence, entry.file);
        Ok(())
    })?;
    shared.end_of_entry();
    let SharedEntries { own, pairs, .. } = shared;
    let chosen = manifests.chosen();
    let own = own.and_then(|at| members.get(at));
    if let (Some(chosen), None) = (chosen, own) {
        by_manifest(members, &chosen.manifest, strays);
        return Ok(());
    }
    let why = own.zip(chosen).map(|(own, chosen)| {
        let is_newer = is_newer(&chosen.manifest, own.number);
        let missed = if is_newer { "newer" } else { "not in it, whose end is lost" };
        format!("{} is {missed}, and has entries that no table of the MANIFEST has", own.name)
    });
    why.into_iter().for_each(|why| manifests.reject(why));
    by_pairs(members, pairs, order);
    Ok(())
}

/// A table that the MANIFEST may have missed: a newer one or, if the MANIFEST's end is lost, any that it does not list.
fn is_missed(member: &OldFile, chosen: &FoundManifest) -> bool {
    member.table().is_some() && chosen.may_miss(member.number)
}

/// Files that have the same entry.
struct SharedEntries<'m> {
    members: &'m [OldFile],
    order: &'m KeyOrder,
    chosen: Option<&'m FoundManifest>,
    key: Vec<u8>,
    sequence: u64,
    /// With the present entry.
    files: Vec<usize>,
    /// One of a pair was made from the other.
    pairs: BTreeSet<(usize, usize)>,
    /// A table that the MANIFEST may have missed, and that has an entry which no live file has: it is no mere leftover of
    /// a compaction.
    own: Option<usize>,
}

impl<'m> SharedEntries<'m> {
    fn new(members: &'m [OldFile], order: &'m KeyOrder, chosen: Option<&'m FoundManifest>) -> Self {
        let (key, files, pairs) = (Vec::new(), Vec::new(), BTreeSet::new());
        Self { members, order, chosen, key, sequence: 0, files, pairs, own: None }
    }

    /// Takes entries in the order of keys and then of sequence numbers.
    fn add(&mut self, user_key: &[u8], sequence: u64, file: usize) {
        if self.files.is_empty()
            || self.sequence != sequence
            || self.order.compare(&self.key, user_key).is_ne()
        {
            self.end_of_entry();
            self.key.clear();
            self.key.extend_from_slice(user_key);
            self.sequence = sequence;
        }
        self.files.push(file);
    }

    fn end_of_entry(&mut self) {
        for (at, &one) in self.files.iter().enumerate() {
            let others = self.files.iter().skip(at.saturating_add(1)).take(MOST_SHARING);
            self.pairs.extend(others.map(|&other| (one, other)));
        }
        if let (None, Some(chosen)) = (self.own, self.chosen) {
            let is_missed =
                |file: &usize| self.members.get(*file).is_some_and(|member| is_missed(member, chosen));
            let is_live = |file: &usize| {
                let member = self.members.get(*file).filter(|member| !self::is_missed(member, chosen));
                member.is_some_and(|member| match member.log() {
                    Some(_) => chosen.manifest.is_log_live(member.number),
                    None => chosen.manifest.table(member.number).is_some(),
                })
            };
            let missed = self.files.iter().rfind(|file| is_missed(file));
            self.own = missed.filter(|_| !self.files.iter().any(is_live)).copied();
        }
        self.files.clear();
    }
}

/// Of tables that share an entry, the one with the lower number is obsolete between the ends of all tables made from it,
/// or completely if these have no sound blocks. A log that shares an entry with a table is obsolete.
fn by_pairs(members: &mut [OldFile], pairs: BTreeSet<(usize, usize)>, order: &KeyOrder) {
    let mut made_of: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (one, other) in pairs {
        let (Some(a), Some(b)) = (members.get(one), members.get(other)) else { continue };
        let is_log = |member: &OldFile| member.log().is_some();
        let (old, new) = match (is_log(a), is_log(b)) {
            (true, true) => continue,
            (true, false) => (one, other),
            (false, true) => (other, one),
            (false, false) if a.number < b.number => (one, other),
            (false, false) if a.number > b.number => (other, one),
            // Two tables with the same number.
            _ => continue,
        };
        made_of.entry(old).or_default().insert(new);
    }
    let mut decided = Vec::new();
    for (old, new) in made_of {
        let ends = new.iter().filter_map(|&at| members.get(at)?.ends());
        let hull = ends.reduce(|(low, high), (next_low, next_high)| {
            let low = if order.compare(next_low, low).is_lt() { next_low } else { low };
            let high = if order.compare(next_high, high).is_gt() { next_high } else { high };
            (low, high)
        });
        let is_log = members.get(old).is_some_and(|member| member.log().is_some());
        let role = match hull {
            Some((low, high)) if !is_log => Role::ObsoleteBetween(low.to_vec(), high.to_vec()),
            _ => Role::Obsolete,
        };
        decided.push((old, role));
    }
    for (at, role) in decided {
        if let Some(member) = members.get_mut(at) {
            member.role = role;
        }
    }
}

/// Adds missing tables, too.
fn by_manifest(members: &mut Vec<OldFile>, manifest: &Manifest, strays: &[Stray]) {
    for member in members.iter_mut() {
        let live = match member.log() {
            Some(_) => manifest.is_log_live(member.number).then_some(Place::LOGS),
            // Of two files with one number, the one whose name comes first is used.
            None => manifest.table(member.number).map(|live| Place::of_table(live.level, live.number)),
        };
        match live {
            Some(place) => member.place = place,
            None => member.role = Role::Obsolete,
        }
    }
    for at in 1..members.len() {
        let [before, member] = members.get_mut(at - 1..=at).unwrap_or_default() else { continue };
        let are_tables = before.table().is_some() && member.table().is_some();
        if are_tables && before.number == member.number {
            // A copy may be complete, and the file of the right name not.
            let fits = |one: &OldFile| manifest.table(one.number).is_some_and(|live| live.size == one.len);
            match fits(member) && !fits(before) {
                true => before.role = Role::Obsolete,
                false => member.role = Role::Obsolete,
            }
        }
    }
    // A MANIFEST may list a million tables, and a folder hold as many names.
    let numbers = table_numbers(members);
    let strays = strays.iter().rev().filter(|stray| stray.kind == FileKind::Table);
    let strays: BTreeMap<u64, &str> = strays.map(|stray| (stray.number, stray.why)).collect();
    let missing = manifest.tables().iter().filter(|live| !numbers.contains(&live.number));
    members.extend(missing.map(|live| missing_member(live, strays.get(&live.number).copied())));
}

/// Those of missing tables, too.
fn table_numbers(members: &[OldFile]) -> BTreeSet<u64> {
    members.iter().filter(|member| member.table().is_some()).map(|member| member.number).collect()
}

/// `stray`: what is there instead of the file.
fn missing_member(live: &LiveTable, stray: Option<&str>) -> OldFile {
    let why = stray.map_or("the table is missing".to_owned(), |what| format!("{what} is in its place"));
    OldFile {
        name: FileKind::Table.file_name(live.number),
        number: live.number,
        len: 0,
        saved: Salvaged::Missing(SavedTable::missing(live, &why)),
        place: Place::of_table(live.level, live.number),
        role: Role::Live,
    }
}
