//! Sound tables with one structure damaged and the checksums corrected: no panic, no endless walk,
//! and no wrong answer about what the damage leaves intact.

use std::sync::OnceLock;

use arbitrary::{Arbitrary, Unstructured};
use bytes::Bytes;
use filterblock::Error;
use filterblock::table::{Lookup, ReadOptions, Table};

use filterblock_fuzz::table::{self, Damage, Entry, Intact, Parts};

/// Maximum number of data blocks of a sample that are kept: enough for a first, a last and one between.
const MAX_BLOCKS: usize = 3;
/// The limit on decoded bytes: more than a walk through any sound sample decodes.
const MAX_OUTPUT: u64 = 64 << 10;

/// Number of keys that are asked for in every way, in the damaged data block and in each of the
/// others.
const ASKED_OF_DAMAGED: usize = 4;
const ASKED_OF_INTACT: usize = 1;

/// The most steps back. Each step decodes the entries after a restart again, and damage may leave only one restart.
const MAX_STEPS_BACK: usize = 1000;

/// Maximum number of blocks, and of filters, of a damaged table that are read.
const MAX_LOOKED_AT: usize = 8;

#[derive(Arbitrary, Debug)]
struct Plan<'a> {
    sample: u8,
    filtered: bool,
    base_lg: u8,
    verify_checksums: bool,
    whole_tail: bool,
    first_asked: u8,
    damage: Damage<'a>,
}

impl Plan<'_> {
    fn parts(&self) -> &'static Parts {
        &samples()[usize::from(self.sample) % samples().len()]
    }

    fn file(&self) -> Bytes {
        let base_lg = self.filtered.then_some(self.base_lg % 64);
        self.parts().assemble(base_lg, self.damage).into()
    }
}

/// The initial tables: small, one of every kind that is read differently.
fn samples() -> &'static [Parts] {
    static SAMPLES: OnceLock<Vec<Parts>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let written = |file: &[u8], internal| {
            let mut parts = Parts::of(file, internal).expect("a sound table");
            // More blocks would be of the same kind, and cost time.
            parts.data.truncate(MAX_BLOCKS);
            parts
        };
        let others = [
            written(include_bytes!("../../testdata/tables/single-4096-bloom10.ldb"), false),
            written(include_bytes!("../../testdata/tables/empty-4096-bloom10.ldb"), false),
            written(include_bytes!("../../testdata/tables/dense-256-bloom10-snappy.ldb"), false),
            written(include_bytes!("../../testdata/bedrock/words-1024-bloom10-zlib.ldb"), false),
            written(include_bytes!("../../testdata/bedrock/words-1024-bloom10-deflate.ldb"), false),
            written(include_bytes!("../../testdata/constructed/leveldb-zstd.ldb"), false),
            written(include_bytes!("../../testdata/constructed/bedrock-zstd.ldb"), false),
            written(include_bytes!("../../testdata/basho/numbers-bloom2.ldb"), true),
        ];
        table::samples().iter().cloned().chain(others).collect()
    })
}

/// A table that may be damaged.
#[derive(Debug)]
pub struct Made {
    /// The table.
    pub file: Bytes,
    /// True if nothing is damaged.
    pub sound: bool,
    /// True if the table's keys are a database's.
    pub internal: bool,
    /// True if data blocks and index are unchanged.
    pub data_is_intact: bool,
}

/// Makes the table that `data` describes. `None` if `data` describes none.
pub fn make(data: &[u8]) -> Option<Made> {
    let plan = Plan::arbitrary_take_rest(Unstructured::new(data)).ok()?;
    let parts = plan.parts();
    Some(Made {
        file: plan.file(),
        sound: matches!(plan.damage, Damage::Nothing),
        internal: parts.internal,
        data_is_intact: matches!(plan.damage.leaves(parts.data.len()), Intact::All | Intact::AllButFilters),
    })
}

/// Runs an input: the choice of a table and of read options, and the damage.
pub fn run(data: &[u8]) {
    let Ok(plan) = Plan::arbitrary_take_rest(Unstructured::new(data)) else { return };
    let parts = plan.parts();
    let options = ReadOptions::default()
        .internal_keys(parts.internal)
        .verify_checksums(plan.verify_checksums)
        .tail_size(if plan.whole_tail { 64 << 10 } else { 48 })
        .max_block_size(64 << 10)
        .max_output(MAX_OUTPUT);
    let intact = plan.damage.leaves(parts.data.len());
    let table = match Table::open(plan.file(), &options) {
        Ok(table) => table,
        Err(error) => {
            assert_is_of_the_file(&error);
            assert_eq!(intact, Intact::Nothing, "{error}");
            return;
        }
    };
    if matches!(intact, Intact::All | Intact::AllBut(_) | Intact::AllButLost(_)) {
        assert_eq!(table.filter().is_some(), plan.filtered);
        assert!(table.filter_error().is_none());
    }
    for (number, block) in parts.data.iter().enumerate() {
        // A few keys of each block, chosen by the input. The walk below reads all of them.
        let damaged =
            matches!(intact, Intact::AllBut(damaged) | Intact::AllButLost(damaged) if damaged == number);
        let asked = if damaged { ASKED_OF_DAMAGED } else { ASKED_OF_INTACT };
        let step = block.entries.len().div_ceil(asked).max(1);
        for entry in block.entries.iter().skip(usize::from(plan.first_asked) % step).step_by(step) {
            ask(&table, entry, number, intact, parts.internal);
        }
    }
    if let (Damage::Checksum(_, 1..), Intact::AllBut(number), true) =
        (plan.damage, intact, plan.verify_checksums)
    {
        for (key, _) in &parts.data[number].entries {
            assert!(table.get(key).is_err(), "a wrong checksum goes unnoticed");
        }
    }
    let intact = matches!(intact, Intact::All | Intact::AllButFilters);
    walk(&table, intact.then_some(parts), plan.first_asked >= 128);
    walk_back(&table, intact.then_some(parts));
    look_around(&table);
}

/// Checks that an error is about the file.
fn assert_is_of_the_file(error: &Error) {
    assert!(
        matches!(error, Error::Corrupt { .. } | Error::Unsupported { .. } | Error::Limit { .. }),
        "{error:?}"
    );
}

/// Returns the result of a call that succeeded, or `None`. An error must be about the file.
fn checked<T>(result: Result<T, Error>) -> Option<T> {
    result.inspect_err(assert_is_of_the_file).ok()
}

/// Asks everything about one stored key.
fn ask(table: &Table<Bytes>, (key, value): &Entry, number: usize, intact: Intact, internal: bool) {
    let may_contain = checked(table.may_contain(key));
    let value_found = checked(table.get(key));
    let sought = checked(table.get_entry(key));
    let mut cursor = table.cursor();
    let cursor_found = checked(cursor.seek(key)).map(|found| found.then(|| cursor.key().to_vec()));
    let lookup = internal.then(|| {
        let (user_key, tag) = key.split_at(key.len() - 8);
        let tag = u64::from_le_bytes(tag.try_into().expect("eight bytes"));
        let expected = if tag & 1 == 1 { Lookup::Value(value.clone().into()) } else { Lookup::Deleted };
        (checked(table.get_at(user_key, tag >> 8)), expected)
    });
    match intact {
        Intact::Nothing => return,
        Intact::AllBut(damaged) if damaged == number => {
            assert_eq!(may_contain, Some(true), "a stored key is denied");
            return;
        }
        Intact::AllButLost(lost) if lost == number => return,
        Intact::AllButFilters if may_contain == Some(false) => {
            assert!(table.filter().is_some_and(|_| table.filter_error().is_none()));
            assert_eq!(value_found, Some(None));
        }
        _ => {
            assert_eq!(may_contain, Some(true), "a stored key is denied");
            assert_eq!(value_found.flatten().as_deref(), Some(&value[..]));
            let sought = sought.flatten().expect("a stored key is found");
            assert_eq!((&sought.0[..], &sought.1[..]), (&key[..], &value[..]));
            if let Some((found, expected)) = lookup {
                assert_eq!(found, Some(expected));
            }
        }
    }
    assert_eq!(cursor_found, Some(Some(key.clone())), "a cursor does not ask filters");
}

/// Walks through all entries, with a cursor and perhaps an iterator too. They must equal those of
/// `parts`, if given.
fn walk(table: &Table<Bytes>, parts: Option<&Parts>, iterate: bool) {
    let mut expected = parts.map(|parts| parts.data.iter().flat_map(|block| &block.entries));
    let mut copies = iterate.then(|| table.iter());
    let mut walked = 0;
    let mut cursor = table.cursor();
    while let Some(true) = checked(cursor.next()) {
        if let Some(expected) = &mut expected {
            let (key, value) = expected.next().expect("no more entries than were put in");
            assert!(cursor.key() == key && cursor.value() == value, "a walk does not ask filters");
        }
        if let Some(copies) = &mut copies {
            let copy = copies.next().map(|copy| copy.expect("the cursor read this"));
            let (key, value) = copy.expect("as many entries as the cursor finds");
            assert!(cursor.key() == key && cursor.value() == value);
        }
        walked += 1;
        // Each entry takes at least three decoded bytes.
        assert!(walked <= MAX_OUTPUT / 3, "the walk does not end");
    }
    assert!(expected.is_none_or(|mut expected| expected.next().is_none()), "a walk finds all");
    // The error that ended the walk also ends the iterator.
    let Some(copies) = copies else { return };
    let rest = copies.take(2).map(checked).filter(Option::is_some).count();
    assert_eq!(rest, 0, "the iterator goes on behind the end");
}

/// Walks back from the last entry, and once forward and back on the way. The entries must equal those of `parts`, if
/// given.
fn walk_back(table: &Table<Bytes>, parts: Option<&Parts>) {
    let mut expected = parts.map(|parts| parts.data.iter().flat_map(|block| &block.entries).rev());
    let mut cursor = table.cursor();
    let mut found = checked(cursor.seek_to_last());
    for walked in 0..MAX_STEPS_BACK {
        let Some(true) = found else { break };
        if let Some(expected) = &mut expected {
            let (key, value) = expected.next().expect("no more entries than were put in");
            assert!(
                cursor.key() == key && cursor.value() == value,
                "the way back has what the way there has"
            );
        }
        if walked == 3 {
            let entry = (cursor.key().to_vec(), cursor.value().to_vec());
            let turned = checked(cursor.next()) == Some(true) && checked(cursor.prev()) == Some(true);
            assert!(turned || parts.is_none(), "a step there and back fails");
            if parts.is_some() {
                assert!(
                    cursor.key() == entry.0 && cursor.value() == entry.1,
                    "a step there and back leads elsewhere"
                );
            }
        }
        found = checked(cursor.prev());
    }
    if let Some(expected) = &mut expected {
        let whole = found == Some(false) && expected.next().is_none();
        assert!(whole || found == Some(true), "a walk back finds all");
    }
}

/// Calls the methods that inspect a table.
fn look_around(table: &Table<Bytes>) {
    for block in table.data_blocks().take(MAX_LOOKED_AT).filter_map(checked) {
        checked(table.compression_of(block));
        if let Some(mut block) = checked(table.block_cursor(block)) {
            let size = block.size();
            let entries = std::iter::from_fn(|| checked(block.next()).filter(|&found| found)).count();
            assert!(entries <= size / 3);
        }
    }
    if let Some(mut metaindex) = table.metaindex() {
        while let Some(true) = checked(metaindex.next()) {
            checked(metaindex.handle());
        }
    }
    if let Some(filter) = table.filter() {
        checked(filter.check());
        for (_, filter) in filter.iter().take(MAX_LOOKED_AT) {
            checked(filter);
        }
    }
    assert!(table.file_size() >= 48 && !format!("{table:?}").is_empty());
}
