//! The choice of the version of each key, and whether it is certain.

use std::cmp::Ordering;

use super::Prefer;
use super::lost::{Losses, Place};
use super::members::OldFile;
use super::merge::Entry;
use super::order::KeyOrder;
use crate::report::{OfFile, RepairSums, StaleKey};
use crate::write::Result;

/// Stale keys to report one by one.
const MAX_STALE: usize = 10_000;

/// The newest version of the current key in the live or in the obsolete files.
#[derive(Default)]
struct Candidate {
    is_set: bool,
    sequence: u64,
    is_value: bool,
    value: Vec<u8>,
    file: usize,
    place: Option<Place>,
    is_checksummed: bool,
}

impl Candidate {
    fn offer(&mut self, entry: &Entry<'_>, place: Place) {
        // Of one sequence number, prefers entries with correct checksums, then values, then the topmost level, then the
        // first entry, which LevelDB iterates over.
        let is_value = entry.value.is_some();
        let is_above = self.is_value == is_value && self.place.is_some_and(|before| place.is_above(before));
        match (self.sequence, self.is_checksummed).cmp(&(entry.sequence, entry.is_checksummed)) {
            _ if !self.is_set => {}
            Ordering::Greater => return,
            Ordering::Equal if !is_above => return,
            _ => {}
        }
        self.is_set = true;
        self.place = Some(place);
        (self.sequence, self.is_value) = (entry.sequence, is_value);
        (self.file, self.is_checksummed) = (entry.file, entry.is_checksummed);
        self.value.clear();
        self.value.extend_from_slice(entry.value.unwrap_or_default());
    }
}

/// Takes the entries of all files in order, and passes the keys of the new database to a sink.
pub(super) struct VersionChooser<'m> {
    members: &'m [OldFile],
    order: &'m KeyOrder,
    prefer: Prefer,
    pub(super) losses: Losses,
    key: Vec<u8>,
    live: Candidate,
    old: Candidate,
    pub(super) sums: RepairSums,
    pub(super) stale_keys: Vec<OfFile<StaleKey>>,
}

/// A key with the version that is used.
pub(super) struct SavedKey<'s> {
    pub(super) user_key: &'s [u8],
    pub(super) sequence: u64,
    pub(super) value: &'s [u8],
}

/// Takes keys in ascending order.
pub(super) trait KeySink {
    fn put(&mut self, key: SavedKey<'_>) -> Result<()>;
}

impl<'m> VersionChooser<'m> {
    pub(super) fn new(members: &'m [OldFile], order: &'m KeyOrder, prefer: Prefer, losses: Losses) -> Self {
        Self {
            members,
            order,
            prefer,
            losses,
            key: Vec::new(),
            live: Candidate::default(),
            old: Candidate::default(),
            sums: RepairSums::default(),
            stale_keys: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, entry: &Entry<'_>, sink: &mut dyn KeySink) -> Result<()> {
        let has_key = self.live.is_set || self.old.is_set;
        if has_key && self.order.compare(&self.key, entry.user_key).is_ne() {
            self.end_of_key(sink)?;
        }
        if !(self.live.is_set || self.old.is_set) {
            self.key.clear();
            self.key.extend_from_slice(entry.user_key);
        }
        let member = self.members.get(entry.file);
        let is_old = member.is_some_and(|member| member.is_obsolete_at(entry.user_key, self.order));
        let place = self.place_of(entry.file);
        if is_old {
            self.old.offer(entry, place)
        } else {
            self.live.offer(entry, place)
        }
        Ok(())
    }

    pub(super) fn finish(&mut self, sink: &mut dyn KeySink) -> Result<()> {
        if self.live.is_set || self.old.is_set { self.end_of_key(sink) } else { Ok(()) }
    }

    fn end_of_key(&mut self, sink: &mut dyn KeySink) -> Result<()> {
        let place = self.live.is_set.then(|| self.place_of(self.live.file));
        let covering = self.covering(place);
        let is_newer = self.old.is_set && (!self.live.is_set || self.old.sequence > self.live.sequence);
        let is_from_obsolete = is_newer && covering.is_some();
        let is_maybe_stale = covering.is_some() || !self.live.is_checksummed;
        let chosen = if is_from_obsolete { &self.old } else { &self.live };
        if chosen.is_set {
            self.count(is_from_obsolete, is_maybe_stale, covering);
            let chosen = if is_from_obsolete { &self.old } else { &self.live };
            if chosen.is_value && (self.prefer == Prefer::Newest || !is_maybe_stale) {
                sink.put(SavedKey { user_key: &self.key, sequence: chosen.sequence, value: &chosen.value })?;
                self.sums.keys = self.sums.keys.saturating_add(1);
            }
        }
        (self.live.is_set, self.old.is_set) = (false, false);
        Ok(())
    }

    fn place_of(&self, file: usize) -> Place {
        self.members.get(file).map_or(Place::ANY_TABLE, |member| member.place)
    }

    /// The lost range that may have had a newer version of the key than the one in `place`. `place`: `None` if no live
    /// file has it.
    fn covering(&mut self, place: Option<Place>) -> Option<usize> {
        let active = self.losses.at(&self.key).to_vec();
        active.into_iter().find(|&at| {
            let Some(loss) = self.losses.all.get_mut(at) else { return false };
            place.is_none_or(|place| loss.place <= place) && loss.may_hold(&self.key)
        })
    }

    fn count(&mut self, is_from_obsolete: bool, is_maybe_stale: bool, covering: Option<usize>) {
        if !is_maybe_stale {
            return;
        }
        let chosen = if is_from_obsolete { &self.old } else { &self.live };
        let loss = covering.and_then(|at| self.losses.all.get_mut(at));
        if let Some(loss) = loss {
            loss.maybe_stale = loss.maybe_stale.saturating_add(1);
            loss.from_obsolete = loss.from_obsolete.saturating_add(u64::from(is_from_obsolete));
        }
        let is_kept = self.prefer == Prefer::Newest;
        self.sums.maybe_stale = self.sums.maybe_stale.saturating_add(1);
        self.sums.from_obsolete = self.sums.from_obsolete.saturating_add(u64::from(is_from_obsolete));
        self.sums.left_out = self.sums.left_out.saturating_add(u64::from(!is_kept && chosen.is_value));
        if self.stale_keys.len() < MAX_STALE {
            let file = self.members.get(chosen.file).map(|member| member.name.clone());
            let key = StaleKey {
                key: self.key.clone(),
                sequence: chosen.sequence,
                is_deletion: !chosen.is_value,
                is_obsolete: is_from_obsolete,
                is_kept,
            };
            self.stale_keys.push(OfFile { name: file.unwrap_or_default(), data: key });
        }
    }
}
