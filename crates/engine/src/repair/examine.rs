//! One look at each table before anything is saved: whose it is, whether it opens, and the orders that its keys fit.

use std::collections::BTreeSet;
use std::path::Path;

use filterblock::database::FileKind;
use filterblock::policy::Origin;
use filterblock::table::{IdbComparator, Table};

use super::fragments::{Fragments, Piece};
use super::input::{InputFile, Listing};
use super::manifests::Manifests;
use super::order::KeyOrder;
use super::table::{options, split};
use crate::audit::reading::limit_walks;
use crate::report::ErrorKind;
use crate::run::try_map;
use crate::text::scan_command;
use crate::walk::FoundFormat;
use crate::write::{Failure, Input, Result};

/// Entries to read to tell whether a table is of a database.
const FIRST: usize = 16;
/// Entries to read to find the order of a table.
const TRIED: usize = 10_000;

/// What the tables say together.
#[derive(Default)]
pub(super) struct Examined {
    tables: usize,
    /// The names of those that open.
    pub(super) whole: BTreeSet<String>,
    /// Why some are of another program, and how many.
    foreign: Option<(String, usize)>,
    /// The name of the first of those without keys of a database, and how many they are.
    other_keys: Option<(String, usize)>,
    pub(super) fit: Fit,
}

/// How well the first keys of tables fit the orders that are known.
#[derive(Clone, Copy)]
pub(super) struct Fit {
    /// Neighbouring keys.
    pub(super) pairs: u64,
    /// Pairs not in bytewise order, and not in Chromium's.
    pub(super) bytewise: u64,
    pub(super) idb: u64,
    /// All keys have Chromium's form. Other keys in bytewise order are in Chromium's, too.
    pub(super) are_chromiums: bool,
}

impl Default for Fit {
    fn default() -> Self {
        Self { pairs: 0, bytewise: 0, idb: 0, are_chromiums: true }
    }
}

#[derive(Default)]
struct Look {
    is_whole: bool,
    foreign: Option<&'static str>,
    has_other_keys: bool,
    fit: Fit,
}

impl Examined {
    /// `needs_order`: nothing names the order of keys.
    pub(super) fn tables(input: Input<'_>, files: &[InputFile], needs_order: bool) -> Result<Self> {
        let tables: Vec<_> = files.iter().filter(|file| file.kind == FileKind::Table).collect();
        let looks = try_map(input.engine.jobs, tables.clone(), |file| {
            input.check()?;
            Ok(Look::at(input, &file.name, needs_order))
        })?;
        let mut examined = Self { tables: looks.len(), ..Self::default() };
        for (file, look) in tables.into_iter().zip(looks) {
            examined.whole.extend(look.is_whole.then(|| file.name.clone()));
            if let Some(why) = look.foreign {
                let (_, count) = examined.foreign.get_or_insert_with(|| (why.to_owned(), 0));
                *count = count.saturating_add(1);
            } else if look.has_other_keys {
                let (_, count) = examined.other_keys.get_or_insert_with(|| (file.name.clone(), 0));
                *count = count.saturating_add(1);
            }
            let (fit, of) = (&mut examined.fit, look.fit);
            fit.pairs = fit.pairs.saturating_add(of.pairs);
            fit.bytewise = fit.bytewise.saturating_add(of.bytewise);
            fit.idb = fit.idb.saturating_add(of.idb);
            fit.are_chromiums &= of.are_chromiums;
        }
        Ok(examined)
    }

    /// Refuses a database if more than half of its tables are of another program or of no database.
    pub(super) fn check(&self, input: Input<'_>, files: &[InputFile]) -> Result<()> {
        // Tables next to a log or a MANIFEST that begins with a sound record are of a database, whatever their keys.
        let has_record = |file: &InputFile| {
            let first = input.open(&file.name).and_then(|source| Fragments::new(source)?.next());
            matches!(first, Ok(Some(Piece::Fragment(fragment))) if fragment.is_sound)
        };
        let mut others = files.iter().filter(|file| file.kind != FileKind::Table);
        let other_keys = self.other_keys.as_ref().filter(|_| !others.any(has_record));
        let count = |of: Option<&(String, usize)>| of.map_or(0, |(_, count)| *count);
        let all = count(self.foreign.as_ref()).saturating_add(count(other_keys));
        if all.saturating_mul(2) <= self.tables {
            return Ok(());
        }
        let no_database = |(name, _): &(String, usize)| {
            format!(
                "its tables are of no database: their keys have no sequence number; to read them one by one: {}",
                scan_command(Path::new("DB"), || [Path::new(name)].into_iter())
            )
        };
        let why = self.foreign.as_ref().map(|(why, _)| why.clone()).or(other_keys.map(no_database));
        why.map_or(Ok(()), |why| Err(input.refused(why).of_kind(ErrorKind::Unsupported)))
    }
}

impl Look {
    fn at(input: Input<'_>, name: &str, needs_order: bool) -> Self {
        let mut look = Self::default();
        let Ok(source) = input.open(name) else { return look };
        let Ok(table) = Table::open(source, &limit_walks(options(), None)) else { return look };
        look.is_whole = true;
        look.foreign = match table.origin() {
            Some(Origin::Basho) => Some("is Riak's: its tables are only read"),
            Some(Origin::RocksDb) => Some("its tables are RocksDB's, by the names in their metaindex"),
            _ => None,
        };
        let (mut cursor, mut last) = (table.into_cursor(), None);
        let (mut all, mut others) = (0_usize, 0_usize);
        for at in 0..if needs_order { TRIED } else { FIRST } {
            match cursor.next() {
                Ok(true) => {}
                Ok(false) => break,
                Err(_) => {
                    cursor.skip_block();
                    last = None;
                    continue;
                }
            }
            let user_key = split(cursor.key());
            if at < FIRST {
                all = all.saturating_add(1);
                others = others.saturating_add(usize::from(user_key.is_none()));
            }
            if let Some((user_key, _)) = user_key.filter(|_| needs_order) {
                look.fit.add(last.as_deref(), cursor.key(), user_key);
                last = Some(cursor.key().to_vec());
            }
        }
        look.has_other_keys = others > 0 && others.saturating_mul(2) >= all;
        look
    }
}

impl Fit {
    fn add(&mut self, last: Option<&[u8]>, key: &[u8], user_key: &[u8]) {
        let is_wrong =
            |order: KeyOrder| u64::from(last.is_some_and(|last| order.compare_internal(last, key).is_ge()));
        self.pairs = self.pairs.saturating_add(u64::from(last.is_some()));
        self.bytewise = self.bytewise.saturating_add(is_wrong(KeyOrder::Bytewise));
        self.idb = self.idb.saturating_add(is_wrong(KeyOrder::Idb));
        self.are_chromiums &= IdbComparator::is_decodable(user_key);
    }
}

/// Refuses a database of another format, or an encrypted one.
pub(super) fn check_format(input: Input<'_>, listing: &Listing, manifests: &Manifests) -> Result<()> {
    let current = (FileKind::Current, 0, Path::new("CURRENT"));
    let foreign = listing.foreign.iter().map(|name| (FileKind::Foreign, 0, Path::new(name)));
    let files = listing.files.iter().map(|file| (file.kind, file.number, Path::new(&file.name)));
    let files: Vec<_> = files.chain(foreign).chain([current]).collect();
    let open = |path: &Path| Some(Box::new(input.open(path.to_str()?).ok()?) as _);
    let manifest = manifests.chosen().map(|chosen| &chosen.manifest);
    match FoundFormat::of_files(manifest, manifests.other_format(), &files, &open) {
        Some(found) => Err(Failure::other_format(input.dir, &found)),
        None => Ok(()),
    }
}
