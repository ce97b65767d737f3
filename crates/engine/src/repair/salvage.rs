//! All files: their readable parts and their standing.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use filterblock::KeyFormat;
use filterblock::database::{FileKind, LiveTable};
use filterblock::table::IdbComparator;

use super::examine::{Examined, check_format};
use super::input::{InputFile, Listing, Renamed, Stray};
use super::key_order::FoundOrder;
use super::lost::Place;
use super::manifests::{self, Manifests};
use super::members::{OldFile, Role, Salvaged};
use super::merge::STEP;
use super::operations::Operations;
use super::order::KeyOrder;
use super::table::{Expected, Limits, SavedTable, TableCursor, options};
use super::{RepairRequest, log};
use crate::audit::correct::footer;
use crate::audit::current_manifest::is_goleveldbs_log;
use crate::report::ErrorKind;
use crate::run::try_map;
use crate::walk::folder::nothing_at;
use crate::write::{Failure, Input, Output, Result, is_locked};

/// What is known before entries are merged into new tables.
pub(super) struct Salvage<'o> {
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
    pub(super) members: Vec<OldFile>,
    /// Names without a file, other than those of tables among the members.
    pub(super) strays: Vec<Stray>,
    /// Probably of the database.
    pub(super) unread: Vec<String>,
    pub(super) has_lost_folder: bool,
    pub(super) is_goleveldbs: bool,
    pub(super) operations: Operations<'o>,
    pub(super) output: &'o dyn Output,
}

impl<'o> Salvage<'o> {
    /// `output`: what does not fit into memory goes to its scratch files.
    pub(super) fn take(
        input: Input<'_>,
        request: &RepairRequest,
        output: &'o mut dyn Output,
    ) -> Result<Self> {
        let mut listing = Listing::of(input)?;
        listing.take_copies(FileKind::Log, |_, _| true);
        let found = manifests::read_all(input, &mut listing)?;
        let files = &listing.files;
        let is_named = found.iter().any(|one| one.manifest.comparator().is_some());
        let examined = Examined::tables(input, files, request.comparator.is_none() && !is_named)?;
        let manifests = Manifests::choose(input, found, &listing, &examined.whole);
        check_format(input, &listing, &manifests)?;
        if !files.iter().any(|file| file.kind != FileKind::Manifest && file.len > 0) {
            let why = match files.is_empty() && input.open("CURRENT").is_err() {
                true => nothing_at(input.dir).to_string(),
                false => "has nothing to save: no tables, no logs".to_owned(),
            };
            return Err(input.refused(why).of_kind(ErrorKind::Missing));
        }
        examined.check(input, files)?;
        let FoundOrder { order, comparator, is_assumed, mut may_be_idb, is_by_name } =
            FoundOrder::find(input, files, &manifests, request, examined.fit)?;
        let (bytes, number) = needed(files, &manifests);
        output.begin(bytes, number)?;
        let output: &'o dyn Output = output;
        let watch = &*input.engine.progress;
        watch.expect(files.iter().map(|file| file.len).sum(), false);
        let mut members = tables(input, files, &manifests, &order)?;
        let mut operations = Operations::new(order, output);
        for file in files.iter().filter(|file| file.kind == FileKind::Log) {
            input.check()?;
            let place = members.len();
            members.push(log_member(input, file, (&order, place), &mut operations)?);
            watch.add(file.len);
        }
        for (file, member) in members.iter_mut().enumerate() {
            let Salvaged::Table(table) = &mut member.saved else { continue };
            let partial = std::mem::take(&mut table.partial);
            let tags = partial.iter().filter_map(|entry| KeyFormat::LevelDb.split(&entry.key));
            let last = tags.map(|(_, tag)| tag >> 8).max().unwrap_or_default();
            table.facts.last_sequence = table.facts.last_sequence.max(last);
            let mut keys = partial.iter().filter_map(|entry| KeyFormat::LevelDb.user_key(&entry.key));
            table.facts.has_ambiguous_keys |= keys.clone().any(|key| !order.can_be_filtered(key));
            may_be_idb = may_be_idb && keys.all(IdbComparator::is_decodable);
            let mut entries = partial.iter().map(|entry| (&*entry.key, &*entry.value));
            let added = entries.try_for_each(|entry| operations.add_entry(entry, file, false));
            added.map_err(|error| Failure::system("sorting its entries", input.dir, &error))?;
            table.saved_partly = partial.len() as u64;
        }
        add_unsorted(input, &members, &mut operations)?;
        operations.sort();
        may_be_idb = may_be_idb && members.iter().all(OldFile::may_be_chromiums);
        let is_table = |one: &Renamed| {
            input.open(&one.name).is_ok_and(|file| footer::is_there(&file).unwrap_or_default())
        };
        let is_ours = |one: &Renamed| one.is_copy() || is_table(one);
        let unread = listing.renamed.into_iter().filter(is_ours).map(|one| one.name).collect();
        Ok(Self {
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
            output,
        })
    }
}

/// Several at a time.
fn tables(
    input: Input<'_>,
    files: &[InputFile],
    manifests: &Manifests,
    order: &KeyOrder,
) -> Result<Vec<OldFile>> {
    let records = manifests.tables();
    let tables: Vec<_> = files.iter().filter(|file| file.kind == FileKind::Table).collect();
    let read = |file: &InputFile| {
        input.check()?;
        let member = table_member(input, file, &records, order);
        input.engine.progress.add(file.len);
        member
    };
    try_map(input.engine.jobs, tables, read)
}

fn table_member(
    input: Input<'_>,
    file: &InputFile,
    records: &BTreeMap<u64, &LiveTable>,
    order: &KeyOrder,
) -> Result<OldFile> {
    let record = records.get(&file.number).copied();
    let limits = Limits::new(input.engine.max_output, file.len);
    let expected = Expected { order, record, limits: &limits };
    let read = input.open(&file.name).and_then(|source| SavedTable::read(source, &expected));
    input.engine.meter.add(limits.budget.meter());
    let saved = match read {
        Ok(table) => {
            let options = options().meter(Arc::clone(&input.engine.meter));
            Salvaged::Table(SavedTable { options, ..table })
        }
        Err(error)
            if is_locked(&error)
                || matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) =>
        {
            return Err(input.failed(&file.name, &error));
        }
        Err(error) => {
            let why = format!("it cannot be read: {error}");
            let missing = record.map(|record| SavedTable::missing(record, &why)).unwrap_or_default();
            Salvaged::Unreadable(missing, why)
        }
    };
    Ok(member(file, saved, Place::ANY_TABLE))
}

/// Adds entries of unsorted tables to `operations`, where they are sorted.
fn add_unsorted(input: Input<'_>, members: &[OldFile], operations: &mut Operations<'_>) -> Result<()> {
    for (file, member) in members.iter().enumerate() {
        let Salvaged::Table(table) = &member.saved else { continue };
        if table.facts.unsorted.is_none() {
            continue;
        }
        let failed = |error: io::Error| input.failed(&member.name, &error);
        let mut cursor =
            input.open(&member.name).and_then(|source| TableCursor::new(source, table)).map_err(failed)?;
        let (mut last, mut count) = (Vec::new(), 0_u32);
        while cursor.next().map_err(failed)? {
            count = count.wrapping_add(1);
            if count.is_multiple_of(STEP) {
                input.check()?;
            }
            // Of entries of one key and sequence number, LevelDB reads the first.
            if cursor.key() == last {
                continue;
            }
            last.clear();
            last.extend_from_slice(cursor.key());
            let added = operations.add_entry((cursor.key(), cursor.value()), file, true);
            added.map_err(|error| Failure::system("sorting its entries", input.dir, &error))?;
        }
    }
    Ok(())
}

/// The bytes of the tables and logs to be saved, and their number: those that the chosen MANIFEST lists, or all.
fn needed(files: &[InputFile], manifests: &Manifests) -> (u64, u64) {
    let is_live = |file: &&InputFile| match manifests.chosen().map(|chosen| &chosen.manifest) {
        Some(manifest) if file.kind == FileKind::Table => manifest.table(file.number).is_some(),
        Some(manifest) => file.kind == FileKind::Log && manifest.is_log_live(file.number),
        None => file.kind != FileKind::Manifest,
    };
    let live = || files.iter().filter(is_live);
    (live().fold(0, |sum, file| sum.saturating_add(file.len)), live().count() as u64)
}

fn member(file: &InputFile, saved: Salvaged, place: Place) -> OldFile {
    let (name, number, len) = (file.name.clone(), file.number, file.len);
    OldFile { name, number, len, saved, place, role: Role::Live }
}

fn log_member(
    input: Input<'_>,
    file: &InputFile,
    (order, place): (&KeyOrder, usize),
    all: &mut Operations<'_>,
) -> Result<OldFile> {
    let source = input.open(&file.name).map_err(|error| input.failed(&file.name, &error))?;
    let (mut has_ambiguous_keys, mut are_chromiums) = (false, true);
    let read = log::read(source, |operation, is_checksummed| {
        has_ambiguous_keys |= !order.can_be_filtered(operation.key);
        are_chromiums = are_chromiums && IdbComparator::is_decodable(operation.key);
        all.add(operation, place, is_checksummed)
    });
    let log = read.map_err(|error| input.failed(&file.name, &error))?;
    let log = log::SavedLog { has_ambiguous_keys, are_chromiums, ..log };
    Ok(member(file, Salvaged::Log(log), Place::LOGS))
}
