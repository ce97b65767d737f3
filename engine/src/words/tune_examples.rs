//! Results of `tune`, made by hand for the tests of what shows them.

use crate::audit::policies::Policy;
use crate::audit::rates::measured::MeasuredRate;
use crate::audit::tune::report::{
    Advice, Budget, BudgetOrigin, Choice, Estimate, Level, LevelOutcome, Lookups, Memory, Outcome, Rates,
    Reads, SampleSize, Setting, Tried, Tuning, Visits,
};
use crate::report::error_kind::ErrorKind;

pub fn exact(value: f64) -> Estimate {
    Estimate { value, low: value, high: value }
}

pub fn about(value: f64, distance: f64) -> Estimate {
    Estimate { value, low: f64::max(0.0, value - distance), high: value + distance }
}

fn rates(bits: Option<u32>, random: u64, neighbours: u64) -> Rates {
    Rates {
        formula: bits.map(|bits| (0..bits).fold(1.0, |product, _| product * 0.618)),
        random: MeasuredRate::of(random, 100_000),
        neighbours: MeasuredRate::of(neighbours, 100_000),
        lookups: None,
    }
}

const MIB: f64 = 1_048_576.0;

/// An outcome on two levels. `passed`: random keys and neighbours that pass, of 100,000.
fn outcome(bits: [Option<u32>; 2], size: Estimate, passed: [u64; 2], reads: [f64; 3]) -> Outcome {
    let [upper, lower] = bits;
    let same = upper.filter(|_| upper == lower);
    let [random, neighbours] = passed;
    let [read_random, read_neighbours, present] = reads;
    let part = |share: f64| about(size.value * share, (size.high - size.value) * share);
    let level = |bits_per_key, share: f64| LevelOutcome {
        bits_per_key,
        size: part(share),
        rates: rates(bits_per_key, random, neighbours),
    };
    Outcome {
        size,
        bytes_per_key: size.value / 12_300_000.0,
        rates: rates(same, random, neighbours),
        reads: Some(Reads {
            random: about(read_random, 0.012),
            neighbours: about(read_neighbours, 0.034),
            lookups: None,
            present: about(present, 0.021),
        }),
        levels: vec![level(upper, 0.1), level(lower, 0.9)],
    }
}

fn tried(policy: Policy, base_lg: u8, bits: u32, in_use: bool) -> Tried {
    let size = about(f64::from(bits) * 1.5 * MIB, 0.1 * MIB);
    let passed = u64::from(40 - bits);
    let reads = [0.02, 0.03, 1.02].map(|reads| reads * f64::from(30 - bits) / 10.0);
    Tried {
        setting: Setting { policy, base_lg, bits_per_key: bits },
        in_use,
        outcome: outcome([Some(bits); 2], size, [passed * 10, passed * 30], reads),
    }
}

/// A database of LevelDB's, of which a part was looked at, with advice to rebuild it with other
/// bits on each level.
pub fn rebuild() -> Tuning {
    let policy = Policy::Builtin2;
    let mut settings: Vec<Tried> =
        [4, 5, 6, 8, 9, 10, 11, 12, 20].into_iter().map(|bits| tried(policy, 11, bits, bits == 9)).collect();
    settings.extend([9, 10, 11].map(|bits| tried(policy, 16, bits, false)));
    settings.extend([9, 10].map(|bits| tried(Policy::Murmur3, 11, bits, false)));
    settings.push(tried(Policy::Murmur3, 16, 9, false));
    let uniform = &settings[10];
    let uniform = Choice {
        policy,
        base_lg: 16,
        bits: vec![(Some(1), 10), (Some(3), 10)],
        outcome: uniform.outcome.clone(),
    };
    let by_level = Choice {
        policy,
        base_lg: 16,
        bits: vec![(Some(1), 17), (Some(3), 9)],
        outcome: outcome(
            [Some(17), Some(9)],
            about(14.2 * MIB, 0.2 * MIB),
            [700, 900],
            [0.0189, 0.0312, 1.013],
        ),
    };
    Tuning {
        policy,
        policy_assumed: false,
        sample: SampleSize {
            tables: 40,
            of_tables: 1203,
            bytes: 82 << 20,
            of_bytes: 2 << 30,
            entries: about(12_345_678.0, 250_000.0),
        },
        levels: vec![
            Level {
                number: Some(1),
                tables: 103,
                unfiltered: 3,
                size: 200 << 20,
                entries: about(1_234_567.0, 25_000.0),
                visits: Some(Visits { absent: 0.987_65, present: 0.9 }),
            },
            Level {
                number: Some(3),
                tables: 1100,
                unfiltered: 0,
                size: 1848 << 20,
                entries: about(11_111_111.0, 240_000.0),
                visits: Some(Visits { absent: 1.0, present: 0.0 }),
            },
        ],
        now: outcome([None; 2], about(14.6 * MIB, 0.1 * MIB), [2170, 3180], [0.0432, 0.0809, 1.04]),
        settings,
        budget: Budget { bytes: 15_309_210, origin: BudgetOrigin::InUse },
        uniform: Some(uniform),
        by_level: Some(by_level.clone()),
        advice: Advice::Rebuild {
            choice: Box::new(by_level),
            arguments: ["--bits-per-key", "1=17,3=9", "--base-lg", "16"].map(str::to_owned).to_vec(),
        },
        lookups: None,
        memory: Memory { mapped_tables: 1000, heap_tables: 203, heap_bytes: 2_500_000 },
        notes: vec!["the database has a log with newer writes".to_owned()],
        faults: vec![("000099.ldb".to_owned(), "expected a footer, found the end".to_owned())],
        fault_kind: Some(ErrorKind::Damaged),
    }
}

/// A database that was looked at as a whole, with the user's lookups, and nothing to gain.
pub fn leave() -> Tuning {
    let mut tuning = rebuild();
    let rate = |bits: u32| MeasuredRate::of(u64::from(bits), 900);
    let lookups = |bits: u32, outcome: &mut Outcome| {
        outcome.rates.lookups = rate(bits);
        outcome.levels.iter_mut().for_each(|level| level.rates.lookups = rate(bits));
        outcome.reads = outcome.reads.map(|reads| Reads { lookups: Some(about(0.5, 0.1)), ..reads });
        outcome.size = exact(outcome.size.value);
    };
    lookups(9, &mut tuning.now);
    tuning.settings.retain(|tried| tried.setting.base_lg == 11 && tried.setting.policy == Policy::Builtin2);
    tuning.settings.iter_mut().for_each(|tried| lookups(tried.setting.bits_per_key, &mut tried.outcome));
    for level in &mut tuning.levels {
        level.tables = 2;
        level.unfiltered = 0;
        level.entries = exact(6000.0);
    }
    let outcome = tuning.settings.iter().find(|tried| tried.in_use).unwrap().outcome.clone();
    let bits = vec![(Some(1), 9), (Some(3), 9)];
    let choice = Choice { policy: Policy::Builtin2, base_lg: 11, bits, outcome };
    Tuning {
        sample: SampleSize {
            tables: 4,
            of_tables: 4,
            bytes: 2 << 30,
            of_bytes: 2 << 30,
            entries: exact(12_000.0),
        },
        budget: Budget { bytes: 16 << 20, origin: BudgetOrigin::Given },
        uniform: Some(choice.clone()),
        by_level: Some(choice),
        advice: Advice::Leave { ten_bits: None },
        lookups: Some(Lookups { given: 2000, used: 1000, present: 100 }),
        memory: Memory { mapped_tables: 4, heap_tables: 0, heap_bytes: 0 },
        notes: Vec::new(),
        faults: Vec::new(),
        fault_kind: None,
        ..tuning
    }
}

/// A single table without filters.
pub fn table() -> Tuning {
    let policy = Policy::Builtin2;
    let mut settings: Vec<Tried> = [4, 10, 11].map(|bits| tried(policy, 11, bits, false)).into();
    for tried in &mut settings {
        tried.outcome.reads = None;
        tried.outcome.levels.truncate(1);
        tried.outcome.size = exact(f64::from(tried.setting.bits_per_key) * 500.0);
        tried.outcome.bytes_per_key = tried.outcome.size.value / 4000.0;
    }
    let all = Some(MeasuredRate { rate: 1.0, low: 1.0, high: 1.0, asked: 4000 });
    let rates = Rates { formula: None, random: all, neighbours: all, lookups: None };
    let now = Outcome {
        rates,
        levels: vec![LevelOutcome { rates, ..LevelOutcome::default() }],
        ..Outcome::default()
    };
    let choice = Choice { policy, base_lg: 11, bits: vec![(None, 10)], outcome: settings[1].outcome.clone() };
    Tuning {
        policy,
        policy_assumed: true,
        sample: SampleSize {
            tables: 1,
            of_tables: 1,
            bytes: 100_000,
            of_bytes: 100_000,
            entries: exact(4000.0),
        },
        levels: vec![Level {
            number: None,
            tables: 1,
            unfiltered: 1,
            size: 100_000,
            entries: exact(4000.0),
            visits: None,
        }],
        now,
        settings,
        budget: Budget { bytes: 5000, origin: BudgetOrigin::TenBits },
        uniform: Some(choice),
        by_level: None,
        advice: Advice::None { why: "a single table has no lookups to weigh" },
        lookups: None,
        memory: Memory { mapped_tables: 1, heap_tables: 0, heap_bytes: 0 },
        notes: Vec::new(),
        faults: Vec::new(),
        fault_kind: None,
    }
}

/// A database without an entry.
pub fn empty() -> Tuning {
    Tuning {
        sample: SampleSize::default(),
        levels: Vec::new(),
        now: Outcome::default(),
        settings: Vec::new(),
        uniform: None,
        advice: Advice::None { why: "there are no entries" },
        ..table()
    }
}
