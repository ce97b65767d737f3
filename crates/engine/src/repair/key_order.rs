//! The key order of a damaged database.

use filterblock::quote;

use super::RepairRequest;
use super::examine::Fit;
use super::input::InputFile;
use super::manifests::{Manifests, unknown_order};
use super::order::KeyOrder;
use crate::report::ErrorKind;
use crate::write::{Input, Result};

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
        input: Input<'_>,
        files: &[InputFile],
        manifests: &Manifests,
        request: &RepairRequest,
        fit: Fit,
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
                    return Err(input.refused(why));
                }
                Ok(Self::known(order, named.to_vec()))
            }
            (None, Some(named)) => Ok(Self::known(known(named)?, named.to_vec())),
            (None, None) => Self::of_tables(input, fit),
        }
    }

    /// The order of the first keys of nearly all tables; Chromium's, if it fits and the folder has the name of one of
    /// Chromium's.
    fn of_tables(input: Input<'_>, fit: Fit) -> Result<Self> {
        let is_named = input.dir.file_name().is_some_and(|name| name.to_string_lossy().ends_with(INDEXED_DB));
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
                return Err(input.refused(why).of_kind(ErrorKind::Unsupported).remedy(remedy));
            }
        };
        let may_be_idb = order != KeyOrder::Idb && fit.idb == 0 && fit.are_chromiums;
        let comparator = order.name().as_bytes().to_vec();
        Ok(Self { order, comparator, is_assumed: true, may_be_idb, is_by_name })
    }
}
