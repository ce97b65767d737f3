//! Invented databases.

use std::path::PathBuf;

use crate::audit::TruncatedKey;
use crate::audit::overview::{Kind, Overview, spans::Spans};
use crate::audit::rates::Rate;
use crate::report::{Estimate, FilterBlock, Frame, Inspected, Name, TableData};

/// A table of a database, with filters. `at`: its position on its level.
pub(super) fn table(number: u64, level: u8, at: u64) -> Inspected {
    let passed = 4000 + number % 700;
    let table = TableData {
        frame: Frame { path: PathBuf::from(format!("{number:06}.ldb")).into(), ..Frame::default() },
        live: Some(true),
        level: Some(level),
        file_size: Some(2_000_000 + number * 7),
        data_blocks: Some(500),
        entries: Some(Estimate { value: 20_000 + number, low: 19_000, high: 40_000 }),
        filter_policies: vec![Name::cut(b"leveldb.BuiltinBloomFilter2")],
        filter: Some(FilterBlock {
            policy: "leveldb.BuiltinBloomFilter2".to_owned(),
            size: 29_000,
            filters: 1000,
            empty_filters: 400,
            bits: 200_000 + number % 1000,
            bits_set: 99_000,
            probes: Some(6),
            base_lg: 11,
            estimated_fpr: Some(0.0084),
            random_fpr: Rate::of(passed, 400_000),
            similar_fpr: Rate::of(11, 1000),
            ..FilterBlock::default()
        }),
        ..TableData::default()
    };
    let ends = [at, at + 1].map(|at| TruncatedKey::new(format!("user/{at:012}/settings").as_bytes()));
    Inspected { table, number: Some(number), ends: Some(ends), ..Inspected::default() }
}

/// A database of `tables` tables, a hundredth of them on level 1 and the others on level 2.
pub(super) fn database(tables: u64) -> Overview {
    let upper = tables / 100;
    let of = |number: u64| match number < upper {
        true => (1, number, upper),
        false => (2, number - upper, tables - upper),
    };
    let span = |number: u64| {
        let (_, at, of) = of(number);
        (number, [at as f64 / of as f64, (at + 1) as f64 / of as f64])
    };
    let table = |number: u64| table(number, of(number).0, of(number).1);
    let mut overview = Overview {
        comparator: Some(b"leveldb.BytewiseComparator".to_vec()),
        is_bytewise: true,
        has_records: true,
        tables: (0..tables).map(table).collect(),
        spans: Spans((0..tables).map(span).collect()),
        ..Overview::new(Kind::Database)
    };
    overview.found.verified = true;
    overview
}

/// The same table without filters.
pub(super) fn unfiltered(found: Inspected) -> Inspected {
    let table = TableData { filter: None, filter_policies: Vec::new(), ..found.table };
    Inspected { table, ..found }
}
