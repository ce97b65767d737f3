//! Lookups: the tables that each lookup reaches, and where it ends.

use filterblock::table::{ReadAt, Table};

use super::{input::Input, sample_keys::entry_type};
use crate::audit::reading::decode_limit_of;
use crate::report::{SimilarKind, TuneFailure};
use crate::run::map;
use crate::{
    audit::key_encoding::KeyEncoding, audit::order::KeyOrder, audit::rates::FenceKeys,
    audit::rates::ProbeBudget,
};

/// In the last eight bytes of an internal key.
const DELETION: u8 = 0;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LookupKey {
    /// Drawn from this table. Counts as present only if the lookup finds a value in this table.
    Stored { table: u32 },
    /// Made from a key that is stored in this table.
    Similar { table: u32, kind: SimilarKind },
    /// Given by the user.
    Own,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Lookup {
    pub(super) key: Vec<u8>,
    pub(super) kind: LookupKey,
    /// The tables that may hold the key, in the order of the search.
    pub(super) visits: Vec<u32>,
    /// `None`: no table has the key.
    pub(super) end: Option<LookupEnd>,
}

/// The entry that a lookup finds first for its key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct LookupEnd {
    /// Tables searched before the one with the entry.
    pub(super) after: u32,
    pub(super) is_deletion: bool,
}

impl Lookup {
    /// True if no table has even a deletion of the key.
    pub(super) const fn is_absent(&self) -> bool {
        self.end.is_none()
    }

    /// True if the lookup finds a value, and counts as one of a stored key.
    pub(super) fn is_present(&self) -> bool {
        let Some(end) = self.end.filter(|end| !end.is_deletion) else { return false };
        match self.kind {
            LookupKey::Stored { table } => self.visits.get(end.after as usize) == Some(&table),
            LookupKey::Own => true,
            LookupKey::Similar { .. } => false,
        }
    }

    pub(super) fn in_vain(&self) -> &[u32] {
        let asked = self.end.map_or(self.visits.len(), |end| end.after as usize);
        self.visits.get(..asked).unwrap_or(&self.visits)
    }
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct TableFilters {
    /// The policy, known or not; `None`: no filters were found.
    pub(super) name: Option<String>,
    /// So that they can be checked.
    pub(super) sound: bool,
    /// Of the filter block, in bytes.
    pub(super) size: u64,
    pub(super) base_lg: Option<u8>,
    /// The places of the table's entries in the range of keys.
    pub(super) marks: FenceKeys,
}

pub(super) type Survey = Vec<Result<TableFilters, TuneFailure>>;

/// Sorts the lookups by key and finds the end of each.
pub(super) fn settle(input: &Input<'_>, lookups: &mut [Lookup]) -> Survey {
    lookups.sort_by(|a, b| input.order.compare(&a.key, &b.key));
    let mut of_tables: Vec<Vec<(u32, u32)>> = vec![Vec::new(); input.tables.len()];
    for (number, lookup) in (0..).zip(&*lookups) {
        for (after, &table) in (0..).zip(&lookup.visits) {
            if let Some(of_table) = of_tables.get_mut(table as usize) {
                of_table.push((number, after));
            }
        }
    }
    let shared: &[Lookup] = lookups;
    let marks = ProbeBudget::for_each_of(input.tables.len()).marks;
    let key = |number: u32| shared.get(number as usize).map_or(&[][..], |lookup| &lookup.key);
    let look = |(table, sought): (usize, &Vec<(u32, u32)>)| {
        let table = input.open(table)?;
        let ends = find(&table, sought, &key, (input.encoding, input.order))?;
        Ok::<_, TuneFailure>((filters(&table, marks), ends))
    };
    let found = map(input.jobs, of_tables.iter().enumerate().collect(), look);
    let mut survey = Vec::with_capacity(found.len());
    for result in found {
        survey.push(result.map(|(filters, ends)| {
            for (number, end) in ends {
                if let Some(lookup) = lookups.get_mut(number as usize) {
                    lookup.end = Some(lookup.end.map_or(end, |before| before.min(end)));
                }
            }
            filters
        }));
    }
    survey
}

fn filters<R: ReadAt>(table: &Table<R>, marks: u64) -> TableFilters {
    let reader = table.filter();
    TableFilters {
        name: table.filter_name().map(str::to_owned),
        sound: reader.is_some_and(|reader| reader.check().is_ok()),
        size: table.filter_handle().map_or(0, |handle| handle.size),
        base_lg: reader.map(|reader| reader.base_lg()),
        marks: FenceKeys::of(table, marks),
    }
}

/// `sought` is in key order. Returns the numbers of the keys found, with the ends of their lookups. Decodes a block at
/// most once, and only if it may hold a key according to the index and the filter.
fn find<'k, R: ReadAt>(
    table: &Table<R>,
    sought: &[(u32, u32)],
    key: &impl Fn(u32) -> &'k [u8],
    (encoding, order): (KeyEncoding, KeyOrder),
) -> filterblock::Result<Vec<(u32, LookupEnd)>> {
    let mut found = Vec::new();
    let mut left = decode_limit_of(table);
    let mut sought = sought.iter().peekable();
    let mut index = table.index();
    let mut block = table.index();
    let mut in_block = Vec::new();
    let mut end = 0;
    while sought.peek().is_some() && index.next()? {
        let Some(last) = encoding.filtered(index.key()) else { break };
        let handle = index.handle()?;
        // A damaged index may list blocks repeatedly or out of order. No filters are made for such a table.
        if handle.offset < end {
            break;
        }
        end = handle.end().unwrap_or(u64::MAX);
        in_block.clear();
        while let Some(&&(number, after)) =
            sought.peek().filter(|(number, _)| order.compare(key(*number), last).is_le())
        {
            sought.next();
            let may_match =
                table.filter().is_none_or(|filter| filter.key_may_match(handle.offset, key(number)));
            in_block.extend(may_match.then_some((number, after)));
        }
        if in_block.is_empty() || left == 0 {
            continue;
        }
        block.enter(table, handle)?;
        left = left.saturating_sub(block.size() as u64);
        let mut waiting = in_block.iter().peekable();
        while waiting.peek().is_some() && block.next()? {
            left = left.saturating_sub(block.key().len() as u64);
            let Some(stored) = encoding.filtered(block.key()) else { break };
            while waiting.next_if(|(number, _)| order.compare(key(*number), stored).is_lt()).is_some() {}
            // The same key may be looked up twice.
            while let Some(&&(number, after)) =
                waiting.peek().filter(|(number, _)| order.compare(key(*number), stored).is_eq())
            {
                waiting.next();
                let is_internal = encoding != KeyEncoding::Whole;
                let is_deletion = is_internal && entry_type(block.key()) == Some(DELETION);
                found.push((number, LookupEnd { after, is_deletion }));
            }
        }
    }
    Ok(found)
}
