//! The key order of a damaged database.

use filterblock::database::FileKind;
use filterblock::quote;
use filterblock::table::{IdbComparator, ReadAt, Table};

use super::RepairRequest;
use super::input::{Input, InputFile, refused};
use super::manifests::{Manifests, unknown_order};
use super::order::KeyOrder;
use super::table::{options, split};
use crate::audit::reading::limit_walks;
use crate::report::ErrorKind;
use crate::write::Result;

/// Entries to read to find the order of a table.
const TRIED: usize = 10_000;

pub(super) struct FoundOrder {
    pub(super) order: KeyOrder,
    /// In the new MANIFEST.
    pub(super) comparator: Vec<u8>,
    /// Inferred from tables, or bytewise for want of keys.
    pub(super) is_assumed: bool,
    /// Chromium's order fits as well.
    pub(super) may_be_idb: bool,
    /// Chromium's, by the folder's name.
    pub(super) is_by_name: bool,
}

/// Of folders that Chromium keeps IndexedDB in.
const INDEXED_DB: &str = ".indexeddb.leveldb";
/// One in this many pairs of neighbouring keys may be out of order.
const MOST_WRONG: u64 = 8;

impl FoundOrder {
    const fn known(order: KeyOrder, comparator: Vec<u8>) -> Self {
        Self { order, comparator, is_assumed: false, may_be_idb: false, is_by_name: false }
    }

    /// The order asked for, the one that a MANIFEST names, or else one that fits the tables.
    pub(super) fn find(
        input: &dyn Input,
        files: &[InputFile],
        manifests: &Manifests,
        request: &RepairRequest,
    ) -> Result<Self> {
        let named = manifests.comparator();
        let known = |name: &[u8]| KeyOrder::of(name).ok_or_else(|| unknown_order(input, files, name));
        match (&request.comparator, named) {
            (Some(asked), named) => {
                let name = if asked == "bytewise" { KeyOrder::Bytewise.name() } else { asked };
                let order = known(name.as_bytes())?;
                let named = named.unwrap_or(order.name().as_bytes());
                if KeyOrder::of(named).is_some_and(|named| named != order) {
                    let why =
                        format!("keys are ordered by {}, not by {asked}, says the MANIFEST", quote(named));
                    return Err(refused(input, why));
                }
                Ok(Self::known(order, named.to_vec()))
            }
            (None, Some(named)) => Ok(Self::known(known(named)?, named.to_vec())),
            (None, None) => Self::of_tables(input, files),
        }
    }

    /// The order of the first keys of nearly all tables; Chromium's, if it fits and the folder has the name of one of
    /// Chromium's.
    fn of_tables(input: &dyn Input, files: &[InputFile]) -> Result<Self> {
        let mut fit = Fit { pairs: 0, bytewise: 0, idb: 0, are_chromiums: true };
        for file in files.iter().filter(|file| file.kind == FileKind::Table) {
            if let Ok(source) = input.open(&file.name) {
                fit.look_at(&source);
            }
        }
        let folder = input.path_of("");
        let is_named = folder.file_name().is_some_and(|name| name.to_string_lossy().ends_with(INDEXED_DB));
        let fits = |wrong: u64| wrong.saturating_mul(MOST_WRONG) <= fit.pairs;
        let is_by_name = is_named && fits(fit.idb);
        let order = match fit {
            _ if is_by_name => KeyOrder::Idb,
            Fit { bytewise: 0, .. } => KeyOrder::Bytewise,
            Fit { idb: 0, .. } => KeyOrder::Idb,
            Fit { are_chromiums: true, .. } if fits(fit.idb) && fit.idb < fit.bytewise => KeyOrder::Idb,
            _ if fits(fit.bytewise) => KeyOrder::Bytewise,
            _ => {
                let why = "the order of keys is not known here, and no MANIFEST names it";
                let remedy = "--comparator leveldb.BytewiseComparator, or idb_cmp1, if it is one of these";
                return Err(refused(input, why).of_kind(ErrorKind::Unsupported).remedy(remedy));
            }
        };
        let may_be_idb = order != KeyOrder::Idb && fit.idb == 0 && fit.are_chromiums;
        let comparator = order.name().as_bytes().to_vec();
        Ok(Self { order, comparator, is_assumed: true, may_be_idb, is_by_name })
    }
}

#[derive(Clone, Copy)]
struct Fit {
    /// Neighbouring keys.
    pairs: u64,
    /// Pairs not in bytewise order, and not in Chromium's.
    bytewise: u64,
    idb: u64,
    /// All keys have Chromium's form. Other keys in bytewise order are in Chromium's, too.
    are_chromiums: bool,
}

impl Fit {
    fn look_at<R: ReadAt>(&mut self, source: &R) {
        let options = limit_walks(options(), None);
        let Ok(table) = Table::open(source, &options) else { return };
        let mut last: Option<Vec<u8>> = None;
        let mut cursor = table.into_cursor();
        for _ in 0..TRIED {
            match cursor.next() {
                Ok(true) => {}
                Ok(false) => return,
                Err(_) => {
                    cursor.skip_block();
                    last = None;
                    continue;
                }
            }
            let key = cursor.key();
            let Some((user_key, _)) = split(key) else { continue };
            let is_wrong =
                |order: KeyOrder| last.as_ref().is_some_and(|last| order.compare_internal(last, key).is_ge());
            self.pairs = self.pairs.saturating_add(u64::from(last.is_some()));
            self.bytewise = self.bytewise.saturating_add(u64::from(is_wrong(KeyOrder::Bytewise)));
            self.idb = self.idb.saturating_add(u64::from(is_wrong(KeyOrder::Idb)));
            self.are_chromiums = self.are_chromiums && IdbComparator::is_decodable(user_key);
            last = Some(key.to_vec());
        }
    }
}
