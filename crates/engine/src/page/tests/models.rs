//! Invented databases.

use crate::audit::overview::{Kind, Overview, spans::Spans};
use crate::audit::rates::MeasuredRate;
use crate::audit::{CutKey, Policy};
use crate::report::{
    Action, Advice, Budget, BudgetOrigin, Choice, EntryCount, Estimate, FilterBlock, FoundFilters, Level,
    LevelBits, LevelOutcome, Lookups, Memory, Name, NearKind, NearReads, Outcome, Rates, Reads, SampleSize,
    Setting, Table, Tried, TuneFault, Tuning, Visits,
};
use crate::words::{leave_text, rebuild_text};

/// A table of a database, with filters. `at`: its position on its level.
pub(super) fn table(number: u64, level: u8, at: u64) -> Table {
    let passed = 4000 + number % 700;
    Table {
        path: format!("{number:06}.ldb").into(),
        live: Some(true),
        level: Some(level),
        number: Some(number),
        ends: Some([at, at + 1].map(|at| CutKey::new(format!("user/{at:012}/settings").as_bytes()))),
        file_size: Some(2_000_000 + number * 7),
        data_blocks: Some(500),
        entries: Some(EntryCount { count: 20_000 + number, low: 19_000, high: 40_000, exact: false }),
        metaindex: vec![Name::cut(b"filter.leveldb.BuiltinBloomFilter2")],
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
            random_fpr: MeasuredRate::of(passed, 400_000),
            neighbour_fpr: MeasuredRate::of(11, 1000),
            ..FilterBlock::default()
        }),
        ..Table::default()
    }
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
pub(super) fn unfiltered(table: Table) -> Table {
    Table { filter: None, metaindex: Vec::new(), ..table }
}

fn about(value: f64) -> Estimate {
    Estimate { value, low: value * 0.98, high: value * 1.03 }
}

/// The effects of filters with `bits` bits a key.
fn outcome(bits: u32, levels: u8) -> Outcome {
    let rate = 0.6185_f64.powi(bits as i32);
    let measured = MeasuredRate::of((rate * 1e6) as u64, 1_000_000);
    let rates = Rates { formula: Some(rate), random: measured, neighbours: measured, ..Rates::default() };
    let size = about(f64::from(bits) * 1e6);
    Outcome {
        size,
        bytes_per_entry: f64::from(bits) / 8.0,
        rates,
        reads: Some(Reads {
            random: about(3.0 * rate),
            neighbours: about(3.1 * rate),
            worst: Some(NearKind::Between),
            near: NearReads {
                changed: Some(about(3.05 * rate)),
                between: Some(about(3.1 * rate)),
                ..NearReads::default()
            },
            lookups: Some(about(2.9 * rate)),
            present: about(1.0 + rate),
        }),
        levels: (1..=levels)
            .map(|number| {
                let size = about(size.value / f64::from(levels));
                let reads = Some(about(2.9 * rate / f64::from(levels)));
                LevelOutcome { number: Some(number), bits_per_key: Some(bits), size, rates, reads }
            })
            .collect(),
    }
}

/// A table that could not be read.
pub(super) fn fault(name: &str, error: &str) -> TuneFault {
    TuneFault { path: name.into(), error: error.to_owned(), name: name.to_owned(), kind: None, denied: 0 }
}

/// The effects that other filters would have on a database with levels 1 and 2.
pub(super) fn tuning(advises: bool) -> Tuning {
    let level = |number| Level {
        number: Some(number),
        tables: 50,
        unfiltered: 0,
        size: 1 << 30,
        entries: about(4e6),
        visits: Some(Visits { absent: 0.9, present: 0.4 }),
    };
    let setting = |bits_per_key, base_lg| Setting { policy: Policy::Builtin2, base_lg, bits_per_key };
    let settings =
        [11, 14, 16, 63].into_iter().flat_map(|base_lg| (4..=20).map(move |bits| setting(bits, base_lg)));
    let settings = settings.map(|setting| Tried {
        setting,
        in_use: setting == (Setting { policy: Policy::Builtin2, base_lg: 11, bits_per_key: 10 }),
        outcome: outcome(setting.bits_per_key, 2),
    });
    let choice = Choice {
        policy: Policy::Builtin2,
        base_lg: 16,
        bits: [(1, 20), (2, 9)]
            .map(|(level, bits_per_key)| LevelBits { level: Some(level), bits_per_key })
            .to_vec(),
        outcome: outcome(14, 2),
    };
    let (now, budget) = (outcome(10, 2), Budget { bytes: 10_000_000, origin: BudgetOrigin::InUse });
    Tuning {
        policy: Policy::Builtin2,
        policy_assumed: false,
        sample: SampleSize {
            tables: 40,
            of_tables: 100,
            bytes: 4 << 20,
            of_bytes: 10 << 20,
            entries: about(8e6),
            distinct_keys: None,
            all: false,
        },
        levels: vec![level(1), level(2)],
        settings: settings.collect(),
        budget,
        uniform: None,
        by_level: Some(choice.clone()),
        advice: match advises {
            true => Advice {
                action: Action::Rebuild,
                text: rebuild_text(&now, &choice, FoundFilters::OfPolicy),
                choice: Some(choice),
                arguments: Some(vec!["--bits-per-key".to_owned(), "1=20,2=9".to_owned()]),
            },
            false => Advice {
                action: Action::Leave,
                text: leave_text(budget, &now, None, false),
                ..Advice::default()
            },
        },
        now,
        lookups: Some(Lookups { given: 100, used: 90, present: 30 }),
        memory: Memory { mapped_tables: 100, heap_tables: 0, heap_bytes: 0 },
        notes: vec!["C++ LevelDB writes base_lg 11 only".to_owned()],
        is_damaged: false,
        faults: vec![fault("000009.ldb", "not a table")],
        found: FoundFilters::OfPolicy,
    }
}
