//! The order of the keys of a damaged database.

use filterblock::KeyFormat;
use filterblock::database::FileKind;
use filterblock::quote;
use filterblock::table::{IdbComparator, ReadAt, Table};

use super::input::{Input, InputFile};
use super::manifests::{Manifests, unknown_order};
use super::order::Order;
use super::request::RepairRequest;
use super::table::options;
use crate::audit::reading::limit_walks;
use crate::rebuild::{Failure, Result};
use crate::report::ErrorKind;

/// The greatest number of entries that are looked at to find the order of a table.
const TRIED: usize = 10_000;

/// The order of the keys, and how it is known.
pub(super) struct KeyOrder {
    pub(super) order: Order,
    /// The comparator's name in the new MANIFEST.
    pub(super) comparator: Vec<u8>,
    /// The order was inferred from tables or, without keys in tables, taken to be bytewise.
    pub(super) is_assumed: bool,
    /// Chromium's order fits the tables as well as the one that was inferred.
    pub(super) may_be_idb: bool,
}

impl KeyOrder {
    const fn known(order: Order, comparator: Vec<u8>) -> Self {
        Self { order, comparator, is_assumed: false, may_be_idb: false }
    }

    /// Finds the order: the one asked for, the one that a MANIFEST names, or else one that fits the tables.
    pub(super) fn find(
        input: &dyn Input,
        files: &[InputFile],
        manifests: &Manifests,
        request: &RepairRequest,
    ) -> Result<Self> {
        let named = manifests.comparator();
        let known = |name: &[u8]| Order::of(name).ok_or_else(|| unknown_order(input, files, name));
        match (&request.comparator, named) {
            (Some(asked), named) => {
                let name = if asked == "bytewise" { Order::Bytewise.name() } else { asked };
                let order = known(name.as_bytes())?;
                let named = named.unwrap_or(order.name().as_bytes());
                if Order::of(named).is_some_and(|named| named != order) {
                    let why = format!(
                        "expected keys in the order of {}, which a MANIFEST names, found --comparator {asked}",
                        quote(named)
                    );
                    return Err(Failure::refused(&input.path_of(""), why));
                }
                Ok(Self::known(order, named.to_vec()))
            }
            (None, Some(named)) => Ok(Self::known(known(named)?, named.to_vec())),
            (None, None) => Self::of_tables(input, files),
        }
    }

    /// The order that the first keys of all tables are in.
    fn of_tables(input: &dyn Input, files: &[InputFile]) -> Result<Self> {
        let mut fit = Fit { bytewise: true, idb: true, are_chromiums: true };
        for file in files.iter().filter(|file| file.kind == FileKind::Table) {
            if let Ok(source) = input.open(&file.name) {
                fit.look_at(&source);
            }
        }
        let order = match fit {
            Fit { bytewise: true, .. } => Order::Bytewise,
            Fit { idb: true, .. } => Order::Idb,
            _ => {
                let why = "expected keys in an order that is known (leveldb.BytewiseComparator, idb_cmp1), found \
                           another, and no MANIFEST that names it";
                return Err(Failure::refused(&input.path_of(""), why).of_kind(ErrorKind::Unsupported));
            }
        };
        let may_be_idb = order != Order::Idb && fit.idb && fit.are_chromiums;
        Ok(Self { order, comparator: order.name().as_bytes().to_vec(), is_assumed: true, may_be_idb })
    }
}

/// The orders that fit the keys seen so far.
#[derive(Clone, Copy)]
struct Fit {
    bytewise: bool,
    idb: bool,
    /// All keys have Chromium's form. Other keys are in Chromium's order, too, if they are in bytewise order.
    are_chromiums: bool,
}

impl Fit {
    /// Looks at the first keys of a table, as far as they can be read.
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
            let ascends =
                |order: Order| last.as_ref().is_none_or(|last| order.compare_internal(last, key).is_lt());
            self.bytewise = self.bytewise && ascends(Order::Bytewise);
            self.idb = self.idb && ascends(Order::Idb);
            self.are_chromiums = self.are_chromiums
                && KeyFormat::LevelDb.user_key(key).is_some_and(IdbComparator::is_decodable);
            last = Some(key.to_vec());
        }
    }
}
