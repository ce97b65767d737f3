//! Lookups: the tables that each lookup reaches, and where it ends.

use std::collections::BTreeMap;

use filterblock::table::{BlockHandle, ReadAt, Table};

use super::input::{Input, TuneRequest};
use super::key_kinds::{KeyKind, SIMILAR};
use super::sample_keys::{DrawnKey, MAX_KEY};
use super::similar_keys::SimilarKeys;
use crate::audit::key_encoding::KeyEncoding;
use crate::audit::policies::Policy;
use crate::audit::rates::{FenceKeys, ProbeBudget, SplitMix};
use crate::audit::reading::decode_limit_of;
use crate::report::Fault;
use crate::run::map;

/// The user's lookups to follow, unless all tables are decoded.
const MAX_LOOKUPS: usize = 100_000;
/// Bytes of stored keys to make keys of each kind from, approximately.
const MAX_SIMILAR_BYTES: usize = 16 << 20;
/// The type of an entry, in the last eight bytes of its internal key.
const DELETION: u8 = 0;

pub(super) struct Lookup {
    key: Vec<u8>,
    /// Stored keys that were drawn count as random.
    pub(super) kind: KeyKind,
    /// The table that holds the key, or the key that it was made from. `None`: given by the user.
    home: Option<u32>,
    /// The tables that may hold the key, in the order of the search.
    visits: Vec<u32>,
    /// `None`: no table has the key.
    pub(super) end: Option<LookupEnd>,
}

/// The entry that a lookup finds first for its key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LookupEnd {
    /// Tables searched before the one with the entry.
    after: u32,
    pub(super) is_deletion: bool,
}

impl Lookup {
    /// True if the lookup finds a value, and counts as one of a stored key: a drawn one only if that is the entry drawn.
    pub(super) fn is_present(&self) -> bool {
        let Some(end) = self.end.filter(|end| !end.is_deletion) else { return false };
        match self.kind {
            KeyKind::Own => true,
            KeyKind::Random => self.visits.get(end.after as usize).copied() == self.home,
            _ => false,
        }
    }

    /// Returns what the lookup stands for, each with the tables searched in vain. `has_own`: the user gave lookups.
    /// Drawn keys stand for stored ones, and for random ones, which are checked everywhere.
    pub(super) fn questions(&self, has_own: bool) -> impl Iterator<Item = (KeyKind, &[u32])> {
        let asked = self.end.map_or(self.visits.len(), |end| end.after as usize);
        let in_vain = self.visits.get(..asked).unwrap_or(&self.visits);
        let is_present = self.is_present();
        let first = match self.kind {
            KeyKind::Similar(_) if self.end.is_some() => None,
            KeyKind::Own => Some((if is_present { KeyKind::Present } else { KeyKind::Own }, in_vain)),
            kind => Some((kind, &self.visits[..])),
        };
        let is_stored = self.kind == KeyKind::Random && is_present && !has_own;
        first.into_iter().chain(is_stored.then_some((KeyKind::Present, in_vain)))
    }
}

/// Makes lookups of the stored keys and of similar ones. Adds at most `most` of the user's own, evenly spaced.
pub(super) fn make_lookups(
    input: &Input<'_>,
    request: &TuneRequest,
    drawn: &[DrawnKey],
    similar: &SimilarKeys,
    most: usize,
) -> Vec<Lookup> {
    let mut random = SplitMix(3);
    let bytes: usize = drawn.iter().map(|drawn| drawn.key.len()).sum();
    let step = bytes.div_ceil(MAX_SIMILAR_BYTES).max(1);
    let mut lookups = Vec::new();
    let mut add = |key: Vec<u8>, kind: KeyKind, home: Option<u32>| {
        let visits = input.visits(&key);
        lookups.push(Lookup { key, kind, home, visits, end: None });
    };
    for (at, DrawnKey { key, next, table }) in drawn.iter().enumerate() {
        add(key.clone(), KeyKind::Random, Some(*table));
        for kind in SIMILAR.into_iter().filter(|_| at % step == 0) {
            let made = similar.make(kind, key, next.as_deref(), &mut random);
            if let Some(made) = made.filter(|made| input.order.can_be_filtered(made)) {
                add(made, KeyKind::Similar(kind), Some(*table));
            }
        }
    }
    let most = if request.all { most } else { most.min(MAX_LOOKUPS) };
    let step = request.lookups.len().div_ceil(most.max(1)).max(1);
    let own = request.lookups.iter().step_by(step).map(Vec::as_slice);
    own.filter(|key| (**key).len() <= MAX_KEY).for_each(|key| add(key.to_vec(), KeyKind::Own, None));
    lookups
}

pub(super) fn has_own(lookups: &[Lookup]) -> bool {
    lookups.iter().any(|lookup| lookup.kind == KeyKind::Own)
}

/// What a table's lookups ask of its filters.
#[derive(Clone, Default)]
pub(super) struct Asked<'l> {
    /// Keys that are not in the table, in key order. Random keys, and keys similar to the table's own, are made when its
    /// filters are tried.
    pub(super) keys: Vec<(&'l [u8], KeyKind)>,
    /// The lookups, by kind, of absent keys made from the table's own keys that reach it.
    pub(super) similar: [u64; 4],
}

/// Returns what is asked of each table.
pub(super) fn asked<'l>(input: &Input<'_>, lookups: &'l [Lookup]) -> Vec<Asked<'l>> {
    let has_own = has_own(lookups);
    let mut asked = vec![Asked::default(); input.tables.len()];
    for lookup in lookups {
        for (kind, visits) in lookup.questions(has_own) {
            for &table in visits {
                let Some(asked) = asked.get_mut(table as usize) else { continue };
                match kind {
                    KeyKind::Similar(kind) if lookup.home == Some(table) => asked.similar[kind as usize] += 1,
                    KeyKind::Similar(kind) => asked.keys.push((&lookup.key, KeyKind::Stranger(kind))),
                    KeyKind::Random => {}
                    kind => asked.keys.push((&lookup.key, kind)),
                }
            }
        }
    }
    asked
}

#[derive(Clone, Debug)]
pub(super) struct TableFilters {
    /// The policy, known or not; `None`: no filters were found.
    pub(super) name: Option<String>,
    /// So that they can be checked.
    pub(super) sound: bool,
    /// Of the filter block, in bytes.
    pub(super) size: u64,
    /// The places of the table's entries in the range of keys.
    pub(super) marks: FenceKeys,
}

impl TableFilters {
    fn of<R: ReadAt>(table: &Table<R>, marks: u64) -> Self {
        Self {
            name: table.filter_name().map(str::to_owned),
            sound: table.filter().is_some_and(|reader| reader.check().is_ok()),
            size: table.filter_handle().map_or(0, |handle| handle.size),
            marks: FenceKeys::of(table, marks),
        }
    }

    pub(super) fn is_usable(&self, policy: Policy) -> bool {
        self.sound && self.name.as_deref() == Some(policy.name())
    }
}

/// Sorts the lookups by key and finds the end of each. Returns the filters of each table that can be read, and adds the
/// others to `faults`.
pub(super) fn settle(
    input: &Input<'_>,
    lookups: &mut [Lookup],
    faults: &mut BTreeMap<usize, Fault>,
) -> Vec<Option<TableFilters>> {
    lookups.sort_by(|a, b| input.order.compare(&a.key, &b.key));
    // By table, the numbers of the lookups that reach it, and of the tables searched before.
    let mut of_tables: Vec<Vec<(u32, u32)>> = vec![Vec::new(); input.tables.len()];
    for (number, lookup) in (0..).zip(&*lookups) {
        for (after, &table) in (0..).zip(&lookup.visits) {
            of_tables[table as usize].push((number, after));
        }
    }
    let marks = ProbeBudget::for_each_of(input.tables.len()).marks;
    let key = |number: u32| &lookups[number as usize].key[..];
    let found = map(input.jobs, of_tables.iter().enumerate().collect(), |(table, sought)| {
        let table = input.open(table)?;
        Ok::<_, Fault>((TableFilters::of(&table, marks), find(&table, sought, key, input)?))
    });
    let mut survey = Vec::with_capacity(found.len());
    for (table, result) in found.into_iter().enumerate() {
        let result = result.map_err(|error| faults.entry(table).or_insert(error));
        survey.push(result.ok().map(|(filters, found)| {
            for (number, end) in found {
                let first = &mut lookups[number as usize].end;
                *first = Some(first.map_or(end, |before| before.min(end)));
            }
            filters
        }));
    }
    survey
}

/// `sought` is in key order. Returns the numbers of the lookups whose keys are found, with their ends. Decodes a block
/// at most once, and only if it may hold a key according to the index and the filter.
fn find<'k, R: ReadAt>(
    table: &Table<R>,
    sought: &[(u32, u32)],
    key: impl Fn(u32) -> &'k [u8],
    input: &Input<'_>,
) -> filterblock::Result<Vec<(u32, LookupEnd)>> {
    let (encoding, order) = (input.encoding, input.order);
    let blocks = locate(table, sought.iter().map(|(number, _)| key(*number)), input)?;
    let may_match = |(handle, (number, _)): &(BlockHandle, &(u32, u32))| {
        table.filter().is_none_or(|filter| filter.key_may_match(handle.offset, key(*number)))
    };
    let sought: Vec<_> = blocks.into_iter().zip(sought).filter(may_match).collect();
    let mut left = decode_limit_of(table);
    let mut block = table.index();
    let mut found = Vec::new();
    for of_block in sought.chunk_by(|(one, _), (next, _)| one.offset == next.offset) {
        let Some((handle, _)) = of_block.first().filter(|_| left > 0) else { break };
        block.enter(table, *handle)?;
        left = left.saturating_sub(block.size() as u64);
        let mut waiting = of_block.iter().map(|(_, sought)| **sought).peekable();
        while waiting.peek().is_some() && block.next()? {
            left = left.saturating_sub(block.key().len() as u64);
            let Some(stored) = encoding.filtered(block.key()) else { break };
            while waiting.next_if(|(number, _)| order.compare(key(*number), stored).is_lt()).is_some() {}
            // The same key may be looked up twice.
            while let Some((number, after)) =
                waiting.next_if(|(number, _)| order.compare(key(*number), stored).is_eq())
            {
                let entry_type = block.key().iter().nth_back(7).copied();
                let is_deletion = encoding != KeyEncoding::Whole && entry_type == Some(DELETION);
                found.push((number, LookupEnd { after, is_deletion }));
            }
        }
    }
    Ok(found)
}

/// Returns the data blocks that may hold `keys`, which are in key order. Keys after the last entry have none. A damaged
/// index may list blocks repeatedly or out of order: it is read up to there, as no filters are made for such a table.
pub(super) fn locate<'k, R>(
    table: &Table<R>,
    keys: impl Iterator<Item = &'k [u8]>,
    input: &Input<'_>,
) -> filterblock::Result<Vec<BlockHandle>> {
    let mut keys = keys.peekable();
    let (mut index, mut end, mut found) = (table.index(), 0, Vec::new());
    while keys.peek().is_some() && index.next()? {
        let Some(last) = input.encoding.filtered(index.key()) else { break };
        let handle = index.handle()?;
        if handle.offset < end {
            break;
        }
        end = handle.end().unwrap_or(u64::MAX);
        while keys.next_if(|key| input.order.compare(key, last).is_le()).is_some() {
            found.push(handle);
        }
    }
    Ok(found)
}
