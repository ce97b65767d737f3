//! All files: their readable parts and their standing.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use filterblock::KeyFormat;
use filterblock::database::{FileKind, LiveTable, Manifest};
use filterblock::table::IdbComparator;

use super::dialect::{check_format, check_tables};
use super::input::{Input, InputFile, Renamed, Stray, folder_of, refused};
use super::key_order::FoundOrder;
use super::lost::Place;
use super::manifests::{FoundManifest, Manifests, is_newer};
use super::members::{Member, Saved, Shares, Standing};
use super::merge::{Merge, STEP};
use super::operations::Operations;
use super::order::KeyOrder;
use super::table::{Expected, Limits, SavedTable, TableCursor, options};
use super::{RepairRequest, log};
use crate::audit::correct::footer;
use crate::audit::current_manifest::is_goleveldbs_log;
use crate::rebuild::request::check;
use crate::report::ErrorKind;
use crate::run::{Watch, try_map};
use crate::walk::folder::nothing_at;
use crate::write::{Failure, Result};

/// What is known before entries are merged into new tables.
pub(super) struct Survey {
    pub(super) manifests: Manifests,
    pub(super) order: KeyOrder,
    /// In the new MANIFEST.
    pub(super) comparator: Vec<u8>,
    pub(super) is_order_assumed: bool,
    /// All keys that were read have Chromium's form and order, too, though another order was inferred.
    pub(super) may_be_idb: bool,
    /// Chromium's, by the folder's name.
    pub(super) is_idb_by_name: bool,
    /// Tables by number, then logs by number, then tables that are missing.
    pub(super) members: Vec<Member>,
    /// Names without a file, other than those of tables among the members.
    pub(super) strays: Vec<Stray>,
    /// Probably of the database.
    pub(super) unread: Vec<String>,
    pub(super) has_lost_folder: bool,
    pub(super) is_goleveldbs: bool,
    pub(super) operations: Operations,
}

impl Survey {
    pub(super) fn take(
        input: &dyn Input,
        request: &RepairRequest,
        scratch: &Path,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let mut listing = input.files()?;
        listing.take_copies(FileKind::Log, |_, _| true);
        let manifests = Manifests::read(input, &mut listing)?;
        let files = &listing.files;
        check_format(input, files, &listing.foreign, &manifests)?;
        if !files.iter().any(|file| file.kind != FileKind::Manifest && file.len > 0) {
            let why = match files.is_empty() && input.open("CURRENT").is_err() {
                true => nothing_at(&folder_of(input)).to_string(),
                false => "has nothing to save: no tables, no logs".to_owned(),
            };
            return Err(refused(input, why).of_kind(ErrorKind::Missing));
        }
        check_tables(input, files)?;
        let FoundOrder { order, comparator, is_assumed, mut may_be_idb, is_by_name } =
            FoundOrder::find(input, files, &manifests, request)?;
        watch.expect(files.iter().map(|file| file.len).sum(), false);
        let mut members = tables(input, files, &manifests, (&order, request), watch)?;
        let mut operations = Operations::new(order, scratch.to_owned());
        for file in files.iter().filter(|file| file.kind == FileKind::Log) {
            check(watch)?;
            let place = members.len();
            members.push(log_member(input, file, (&order, place), &mut operations)?);
            watch.add(file.len);
        }
        for (file, member) in members.iter_mut().enumerate() {
            let Saved::Table(table) = &mut member.saved else { continue };
            let partial = std::mem::take(&mut table.partial);
            let tags = partial.iter().filter_map(|entry| KeyFormat::LevelDb.split(&entry.key));
            let last = tags.map(|(_, tag)| tag >> 8).max().unwrap_or_default();
            table.facts.last_sequence = table.facts.last_sequence.max(last);
            let mut keys = partial.iter().filter_map(|entry| KeyFormat::LevelDb.user_key(&entry.key));
            table.facts.has_ambiguous_keys |= keys.clone().any(|key| !order.can_be_filtered(key));
            may_be_idb = may_be_idb && keys.all(IdbComparator::is_decodable);
            let mut entries = partial.iter().map(|entry| (&*entry.key, &*entry.value));
            let added = entries.try_for_each(|entry| operations.add_entry(entry, file, false));
            added.map_err(|error| Failure::system("sorting entries in it", scratch, &error))?;
            table.saved_partly = partial.len() as u64;
        }
        add_unsorted(input, &members, &mut operations, (scratch, watch))?;
        operations.sort();
        may_be_idb = may_be_idb && members.iter().all(Member::may_be_chromiums);
        let is_table = |one: &Renamed| {
            input.open(&one.name).is_ok_and(|file| footer::is_there(&file).unwrap_or_default())
        };
        let is_ours = |one: &Renamed| one.is_copy() || is_table(one);
        let unread = listing.renamed.into_iter().filter(is_ours).map(|one| one.name).collect();
        let mut survey = Self {
            manifests,
            order,
            comparator,
            is_order_assumed: is_assumed,
            may_be_idb,
            is_idb_by_name: is_by_name,
            members,
            strays: listing.strays,
            unread,
            has_lost_folder: listing.has_lost_folder,
            is_goleveldbs: input.open("LOG").is_ok_and(|messages| is_goleveldbs_log(&messages)),
            operations,
        };
        survey.decide(input, watch)?;
        // A table may have either of two endings, so a name without a file does not matter if a whole table has its
        // number, or if one is reported as missing or unreadable.
        let is_the_one = |member: &&Member| match &member.saved {
            Saved::Table(table) => table.lost.is_empty(),
            Saved::Missing(_) | Saved::Unreadable(..) => true,
            Saved::Log(_) => false,
        };
        let numbers: BTreeSet<u64> =
            survey.members.iter().filter(is_the_one).map(|member| member.number).collect();
        survey.strays.retain(|stray| stray.kind != FileKind::Table || !numbers.contains(&stray.number));
        Ok(survey)
    }

    fn decide(&mut self, input: &dyn Input, watch: &dyn Watch) -> Result<()> {
        if let Some(trusted) = self.manifests.trusted() {
            match self.own_entries(trusted, input, watch)? {
                Some(why) => self.manifests.distrust(why),
                None => {
                    by_manifest(&mut self.members, &trusted.manifest, &self.strays);
                    return Ok(());
                }
            }
        }
        let Self { members, operations, order, .. } = self;
        let mut shares = Shares::default();
        let merge = Merge { input, members, operations, order, watch };
        merge.run(|entry| {
            shares.add(entry.user_key, entry.sequence, entry.file, order);
            Ok(())
        })?;
        shares.decide(members, order);
        Ok(())
    }
}

/// Entries with the same key and sequence number.
#[derive(Default)]
struct Same {
    key: Vec<u8>,
    sequence: u64,
    /// In a file that the MANIFEST has as live, too.
    is_known: bool,
    /// In this table, too, which the MANIFEST may have missed.
    missed: Option<usize>,
}

impl Survey {
    /// An entry that no live file has proves that a table which the MANIFEST may have missed is no mere leftover of a
    /// compaction. That may be any newer table or, if the MANIFEST's end is lost, any that it does not list.
    fn own_entries(
        &self,
        trusted: &FoundManifest,
        input: &dyn Input,
        watch: &dyn Watch,
    ) -> Result<Option<String>> {
        let Self { members, operations, order, .. } = self;
        let manifest = &trusted.manifest;
        let is_missed = |member: &Member| member.table().is_some() && trusted.may_miss(member.number);
        if !members.iter().any(is_missed) {
            return Ok(None);
        }
        let (mut same, mut own) = (Same::default(), None);
        let merge = Merge { input, members, operations, order, watch };
        merge.run(|entry| {
            let is_other =
                same.sequence != entry.sequence || order.compare(&same.key, entry.user_key).is_ne();
            if is_other {
                own = own.or(same.missed.filter(|_| !same.is_known));
                same.key.clear();
                same.key.extend_from_slice(entry.user_key);
                (same.sequence, same.is_known, same.missed) = (entry.sequence, false, None);
            }
            match members.get(entry.file) {
                Some(member) if is_missed(member) => same.missed = Some(entry.file),
                Some(member) if member.log().is_some() => {
                    same.is_known |= manifest.is_log_live(member.number);
                }
                Some(member) => same.is_known |= manifest.table(member.number).is_some(),
                None => {}
            }
            Ok(())
        })?;
        let own = own.or(same.missed.filter(|_| !same.is_known)).and_then(|at| members.get(at));
        Ok(own.map(|own| {
            let missed =
                if is_newer(manifest, own.number) { "newer" } else { "not in it, whose end is lost" };
            format!("{} is {missed}, and has entries that no table of the MANIFEST has", own.name)
        }))
    }
}

/// Adds missing tables, too.
fn by_manifest(members: &mut Vec<Member>, manifest: &Manifest, strays: &[Stray]) {
    for member in members.iter_mut() {
        let live = match member.log() {
            Some(_) => manifest.is_log_live(member.number).then_some(Place::LOGS),
            // Of two files with one number, the one whose name comes first is used.
            None => manifest.table(member.number).map(|live| Place::of_table(live.level, live.number)),
        };
        match live {
            Some(place) => member.place = place,
            None => member.standing = Standing::Obsolete,
        }
    }
    for at in 1..members.len() {
        let [before, member] = members.get_mut(at - 1..=at).unwrap_or_default() else { continue };
        let are_tables = before.table().is_some() && member.table().is_some();
        if are_tables && before.number == member.number {
            // A copy may be complete, and the file of the right name not.
            let fits = |one: &Member| manifest.table(one.number).is_some_and(|live| live.size == one.len);
            match fits(member) && !fits(before) {
                true => before.standing = Standing::Obsolete,
                false => member.standing = Standing::Obsolete,
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
fn table_numbers(members: &[Member]) -> BTreeSet<u64> {
    members.iter().filter(|member| member.table().is_some()).map(|member| member.number).collect()
}

/// `stray`: what is there instead of the file.
fn missing_member(live: &LiveTable, stray: Option<&str>) -> Member {
    let why = format!("expected a live table, found {}", stray.unwrap_or("no such file"));
    Member {
        name: FileKind::Table.file_name(live.number),
        number: live.number,
        len: 0,
        saved: Saved::Missing(SavedTable::missing(live, &why)),
        place: Place::of_table(live.level, live.number),
        standing: Standing::Live,
    }
}

/// Several at a time.
fn tables(
    input: &dyn Input,
    files: &[InputFile],
    manifests: &Manifests,
    how: (&KeyOrder, &RepairRequest),
    watch: &dyn Watch,
) -> Result<Vec<Member>> {
    let records = manifests.tables();
    let tables: Vec<_> = files.iter().filter(|file| file.kind == FileKind::Table).collect();
    let read = |file: &InputFile| {
        check(watch)?;
        let member = table_member(input, file, &records, how);
        watch.add(file.len);
        member
    };
    try_map(None, tables, read)
}

fn table_member(
    input: &dyn Input,
    file: &InputFile,
    records: &BTreeMap<u64, &LiveTable>,
    (order, request): (&KeyOrder, &RepairRequest),
) -> Result<Member> {
    let record = records.get(&file.number).copied();
    let limits = Limits::new(request.max_output, file.len);
    let expected = Expected { order, record, limits: &limits };
    let read = input.open(&file.name).and_then(|source| SavedTable::read(source, &expected));
    request.meter.add(limits.budget.meter());
    let saved = match read {
        Ok(table) => {
            let options = options().meter(Arc::clone(&request.meter));
            Saved::Table(SavedTable { options, ..table })
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
            return Err(failed(input, file, &error));
        }
        Err(error) => {
            let why = format!("expected a file that can be read, found: {error}");
            let missing = record.map(|record| SavedTable::missing(record, &why)).unwrap_or_default();
            Saved::Unreadable(missing, why)
        }
    };
    Ok(member(file, saved, Place::ANY_TABLE))
}

/// Adds entries of unsorted tables to `operations`, where they are sorted.
fn add_unsorted(
    input: &dyn Input,
    members: &[Member],
    operations: &mut Operations,
    (scratch, watch): (&Path, &dyn Watch),
) -> Result<()> {
    for (file, member) in members.iter().enumerate() {
        let Saved::Table(table) = &member.saved else { continue };
        if table.facts.unsorted.is_none() {
            continue;
        }
        let path = input.path_of(&member.name);
        let failed = |error: io::Error| Failure::system("reading it", &path, &error);
        let mut cursor =
            input.open(&member.name).and_then(|source| TableCursor::new(source, table)).map_err(failed)?;
        let (mut last, mut count) = (Vec::new(), 0_u32);
        while cursor.next().map_err(failed)? {
            count = count.wrapping_add(1);
            if count.is_multiple_of(STEP) {
                check(watch)?;
            }
            // Of entries of one key and sequence number, LevelDB reads the first.
            if cursor.key() == last {
                continue;
            }
            last.clear();
            last.extend_from_slice(cursor.key());
            let added = operations.add_entry((cursor.key(), cursor.value()), file, true);
            added.map_err(|error| Failure::system("sorting entries in it", scratch, &error))?;
        }
    }
    Ok(())
}

fn member(file: &InputFile, saved: Saved, place: Place) -> Member {
    let (name, number, len) = (file.name.clone(), file.number, file.len);
    Member { name, number, len, saved, place, standing: Standing::Live }
}

fn failed(input: &dyn Input, file: &InputFile, error: &io::Error) -> Failure {
    Failure::system("reading it", &input.path_of(&file.name), error)
}

fn log_member(
    input: &dyn Input,
    file: &InputFile,
    (order, place): (&KeyOrder, usize),
    all: &mut Operations,
) -> Result<Member> {
    let source = input.open(&file.name).map_err(|error| failed(input, file, &error))?;
    let (mut has_ambiguous_keys, mut are_chromiums) = (false, true);
    let read = log::read(source, |operation, is_right| {
        has_ambiguous_keys |= !order.can_be_filtered(operation.key);
        are_chromiums = are_chromiums && IdbComparator::is_decodable(operation.key);
        all.add(operation, place, is_right)
    });
    let log = read.map_err(|error| failed(input, file, &error))?;
    let log = log::SavedLog { has_ambiguous_keys, are_chromiums, ..log };
    Ok(member(file, Saved::Log(log), Place::LOGS))
}
