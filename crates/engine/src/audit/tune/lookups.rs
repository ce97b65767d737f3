//! Lookups: the tables that each lookup reaches, and where it ends.

use filterblock::table::{ReadAt, Table};

use super::{input::Input, sample_keys::entry_type};
use crate::audit::reading::decode_limit_of;
use crate::report::{SimilarKind, TuneFailure};
use crate::run::map;
use crate::{
    audit::key_encoding::KeyEncoding, audit::order::Order, audit::rates::Marks, audit::rates::ProbeBudget,
};

/// The type of a deletion in the last eight bytes of an internal key.
const DELETION: u8 = 0;

/// The origin of a lookup's key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A stored key, drawn from this table. The key counts as present only if the lookup finds a value for
    /// it in this table.
    Stored { table: u32 },
    /// A key made from a key that is stored in this table.
    Similar { table: u32, kind: SimilarKind },
    /// A key that the user gave.
    Own,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Lookup {
    pub(super) key: Vec<u8>,
    pub(super) kind: Kind,
    /// The indices of the tables that may hold the key, in the order in which a lookup searches them.
    pub(super) visits: Vec<u32>,
    /// The entry that ends the lookup. `None`: the key was found in no table.
    pub(super) end: Option<End>,
}

/// The entry that a lookup finds first for its key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct End {
    /// The number of tables searched before the one that holds the entry.
    pub(super) after: u32,
    pub(super) is_deletion: bool,
}

impl Lookup {
    /// Returns true if no table has an entry for the key, not even a deletion.
    pub(super) const fn is_absent(&self) -> bool {
        self.end.is_none()
    }

    /// Returns true if the lookup finds a value, and counts as a lookup of a present key.
    pub(super) fn is_present(&self) -> bool {
        let Some(end) = self.end.filter(|end| !end.is_deletion) else { return false };
        match self.kind {
            Kind::Stored { table } => self.visits.get(end.after as usize) == Some(&table),
            Kind::Own => true,
            Kind::Similar { .. } => false,
        }
    }

    /// The tables checked in vain.
    pub(super) fn in_vain(&self) -> &[u32] {
        let asked = self.end.map_or(self.visits.len(), |end| end.after as usize);
        self.visits.get(..asked).unwrap_or(&self.visits)
    }
}

/// The filters that a table has.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct TableFilters {
    /// The name of the policy, known or not; `None` if no filters were found in the table.
    pub(super) name: Option<String>,
    /// True if the filter block is sound, so that its filters can be checked.
    pub(super) sound: bool,
    /// The size of the filter block in bytes.
    pub(super) size: u64,
    pub(super) base_lg: Option<u8>,
    /// The places of the table's entries in the range of keys.
    pub(super) marks: Marks,
}

/// The filters of each table, or the error that prevented reading the table.
pub(super) type Survey = Vec<Result<TableFilters, TuneFailure>>;

/// Sorts the lookups by key, finds the end of each, and learns which filters each table has.
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
        marks: Marks::of(table, marks),
    }
}

/// Finds the keys in the table among those looked up, which are in the order of the table. Returns the numbers
/// of the keys found, with the ends of their lookups. A block is decoded at most once, and only if it may hold
/// one of the keys according to the index and the filter.
fn find<'k, R: ReadAt>(
    table: &Table<R>,
    sought: &[(u32, u32)],
    key: &impl Fn(u32) -> &'k [u8],
    (encoding, order): (KeyEncoding, Order),
) -> filterblock::Result<Vec<(u32, End)>> {
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
        // A damaged index may name blocks repeatedly or out of order. No filters are made for such a
        // table.
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
                found.push((number, End { after, is_deletion }));
            }
        }
    }
    Ok(found)
}
