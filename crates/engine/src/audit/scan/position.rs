//! How far the entries of a database were shown, for a reading that goes on from there.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::PathBuf;

use filterblock::InternalKey;
use filterblock::table::{Comparator as _, SharedComparator};

#[derive(Default)]
pub(crate) struct ScanPosition {
    /// The last entry that was shown. After a resumption, entries up to it are skipped. `None`: no entry was shown.
    pub(super) place: Option<ResumePoint>,
    /// The numbers of the tables whose faults of size or order have been reported.
    pub(super) contradicted: BTreeSet<u64>,
    /// The incomplete tables that the database does not use.
    pub(super) leftovers: BTreeSet<PathBuf>,
}

/// The place of an entry in the order of a database.
pub(super) struct ResumePoint {
    pub(super) user_key: Vec<u8>,
    pub(super) sequence: u64,
}

impl ResumePoint {
    /// Returns true if the entry with this key is at the place or before it. With `all`, the place is at one version of
    /// its key, in order from the newest; otherwise it is after all versions of its key.
    pub(super) fn has_passed(
        &self,
        key: &InternalKey<'_>,
        all: bool,
        order: Option<&SharedComparator>,
    ) -> bool {
        let (user_key, place) = (key.user_key, &*self.user_key);
        match order.map_or_else(|| user_key.cmp(place), |order| order.compare(user_key, place)) {
            Ordering::Less => true,
            Ordering::Equal => !all || key.sequence >= self.sequence,
            Ordering::Greater => false,
        }
    }
}
