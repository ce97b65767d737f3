//! Results of `tune`, made by hand for the tests of the code that shows them.

use filterblock::policy::OWN_POLICIES;

use crate::report::{
    Action, Advice, Budget, BudgetOrigin, Choice, EntryCount, ErrorKind, Estimate, FoundFilters, Level,
    LevelBits, LevelOutcome, Lookups, Memory, NearKind, NearReads, Outcome, Rates, Reads, SampleSize,
    Setting, Tried, TuneFault, Tuning, Visits,
};
use crate::words::{leave_text, rebuild_text};
use crate::{audit::Policy, audit::rates::MeasuredRate};

fn about(value: f64, distance: f64) -> Estimate {
    Estimate { value, low: f64::max(0.0, value - distance), high: value + distance }
}

fn rates(bits: Option<u32>, random: u64, neighbours: u64) -> Rates {
    Rates {
        formula: bits.map(|bits| (0..bits).fold(1.0, |product, _| product * 0.618)),
        random: MeasuredRate::of(random, 100_000),
        neighbours: MeasuredRate::of(neighbours, 100_000),
        ..Rates::default()
    }
}

const MIB: f64 = 1_048_576.0;

/// An outcome on two levels. `passed`: the numbers of random keys and of neighbours that pass, out of 100,000
/// each.
fn outcome(bits: [Option<u32>; 2], size: Estimate, passed: [u64; 2], reads: [f64; 3]) -> Outcome {
    let [upper, lower] = bits;
    let same = upper.filter(|_| upper == lower);
    let [random, neighbours] = passed;
    let [read_random, read_neighbours, present] = reads;
    let part = |share: f64| about(size.value * share, (size.high - size.value) * share);
    let level = |number, bits_per_key, share: f64| LevelOutcome {
        number: Some(number),
        bits_per_key,
        size: part(share),
        rates: rates(bits_per_key, random, neighbours),
        reads: Some(about(read_neighbours * share, 0.034 * share)),
    };
    Outcome {
        size,
        bytes_per_entry: size.value / 12_300_000.0,
        rates: rates(same, random, neighbours),
        reads: Some(Reads {
            random: about(read_random, 0.012),
            neighbours: about(read_neighbours, 0.034),
            worst: Some(NearKind::Between),
            near: NearReads {
                changed: Some(about(read_random, 0.013)),
                between: Some(about(read_neighbours, 0.034)),
                ..NearReads::default()
            },
            lookups: None,
            present: about(present, 0.021),
        }),
        levels: vec![level(1, upper, 0.1), level(3, lower, 0.9)],
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

fn choice(base_lg: u8, bits: [(Option<u8>, u32); 2], outcome: Outcome) -> Choice {
    let bits = bits.map(|(level, bits_per_key)| LevelBits { level, bits_per_key }).to_vec();
    Choice { policy: Policy::Builtin2, base_lg, bits, outcome }
}

fn level(
    number: u8,
    tables: u64,
    unfiltered: u64,
    mebibytes: u64,
    entries: Estimate,
    visits: [f64; 2],
) -> Level {
    let [absent, present] = visits;
    let visits = Some(Visits { absent, present });
    Level { number: Some(number), tables, unfiltered, size: mebibytes << 20, entries, visits }
}

/// A LevelDB database of which some tables were sampled, with advice to rebuild it with a different number of
/// bits a key on each level.
pub fn rebuild() -> Tuning {
    let policy = Policy::Builtin2;
    let mut settings: Vec<Tried> =
        [4, 5, 6, 8, 9, 10, 11, 12, 20].into_iter().map(|bits| tried(policy, 11, bits, bits == 9)).collect();
    settings.extend([9, 10, 11].map(|bits| tried(policy, 16, bits, false)));
    let murmur3 = Policy::Own(OWN_POLICIES[1]);
    settings.extend([9, 10].map(|bits| tried(murmur3, 11, bits, false)));
    settings.push(tried(murmur3, 16, 9, false));
    let uniform = choice(16, [(Some(1), 10), (Some(3), 10)], settings[10].outcome.clone());
    let size = about(14.2 * MIB, 0.2 * MIB);
    let by_level = outcome([Some(17), Some(9)], size, [700, 900], [0.0189, 0.0312, 1.013]);
    let by_level = choice(16, [(Some(1), 17), (Some(3), 9)], by_level);
    let now = outcome([None; 2], about(14.6 * MIB, 0.1 * MIB), [2170, 3180], [0.0432, 0.0809, 1.04]);
    let arguments = ["--bits-per-key", "1=17,3=9", "--base-lg", "16"].map(str::to_owned).to_vec();
    Tuning {
        policy,
        policy_assumed: false,
        sample: SampleSize {
            tables: 40,
            of_tables: 1203,
            bytes: 82 << 20,
            of_bytes: 2 << 30,
            entries: about(12_345_678.0, 250_000.0),
            distinct_keys: None,
            all: false,
        },
        levels: vec![
            level(1, 103, 3, 200, about(1_234_567.0, 25_000.0), [0.987_65, 0.9]),
            level(3, 1100, 0, 1848, about(11_111_111.0, 240_000.0), [1.0, 0.0]),
        ],
        budget: Budget { bytes: 15_309_210, origin: BudgetOrigin::InUse },
        uniform: Some(uniform),
        advice: Advice {
            action: Action::Rebuild,
            text: rebuild_text(&now, &by_level, FoundFilters::OfPolicy),
            choice: Some(by_level.clone()),
            arguments: Some(arguments),
        },
        by_level: Some(by_level),
        lookups: None,
        memory: Memory { mapped_tables: 1000, heap_tables: 203, heap_bytes: 2_500_000 },
        faults: vec![TuneFault {
            path: "my db/000099.ldb".into(),
            error: "expected a footer, found the end".to_owned(),
            name: "000099.ldb".to_owned(),
            kind: Some(ErrorKind::Damaged),
            denied: 0,
        }],
        found: FoundFilters::OfPolicy,
        notes: vec!["the database has a log with newer writes".to_owned()],
        is_damaged: false,
        now,
        settings,
    }
}

fn all(tables: u64, bytes: u64, entries: f64) -> SampleSize {
    let entries = Estimate::exact(entries);
    let keys = (entries.value * 0.75) as u64;
    let distinct_keys = Some(EntryCount { count: keys, low: keys, high: keys, exact: true });
    SampleSize { tables, of_tables: tables, bytes, of_bytes: bytes, entries, distinct_keys, all: true }
}

/// A database of which all tables were decoded, with the user's lookups, and nothing to gain.
pub fn leave() -> Tuning {
    let mut tuning = rebuild();
    let rate = |bits: u32| MeasuredRate::of(u64::from(bits), 900);
    let lookups = |bits: u32, outcome: &mut Outcome| {
        outcome.rates.lookups = rate(bits);
        outcome.levels.iter_mut().for_each(|level| level.rates.lookups = rate(bits));
        outcome.reads = outcome.reads.map(|reads| Reads { lookups: Some(about(0.5, 0.1)), ..reads });
        outcome.size = Estimate::exact(outcome.size.value);
    };
    lookups(9, &mut tuning.now);
    tuning.settings.retain(|tried| tried.setting.base_lg == 11 && tried.setting.policy == Policy::Builtin2);
    tuning.settings.iter_mut().for_each(|tried| lookups(tried.setting.bits_per_key, &mut tried.outcome));
    for level in &mut tuning.levels {
        level.tables = 2;
        level.unfiltered = 0;
        level.entries = Estimate::exact(6000.0);
    }
    let outcome = tuning.settings.iter().find(|tried| tried.in_use).unwrap().outcome.clone();
    let choice = choice(11, [(Some(1), 9), (Some(3), 9)], outcome);
    let budget = Budget { bytes: 16 << 20, origin: BudgetOrigin::Given };
    let text = leave_text(budget, &tuning.now, None, false);
    Tuning {
        sample: all(4, 2 << 30, 12_000.0),
        budget,
        uniform: Some(choice.clone()),
        by_level: Some(choice),
        advice: Advice { action: Action::Leave, text, ..Advice::default() },
        lookups: Some(Lookups { given: 2000, used: 1000, present: 100 }),
        memory: Memory { mapped_tables: 4, ..Memory::default() },
        notes: Vec::new(),
        is_damaged: false,
        faults: Vec::new(),
        ..tuning
    }
}

fn no_advice(why: &str) -> Advice {
    Advice { text: format!("no advice: {why}"), ..Advice::default() }
}

/// A single table without filters.
pub fn table() -> Tuning {
    let policy = Policy::Builtin2;
    let mut settings: Vec<Tried> = [4, 10, 11].map(|bits| tried(policy, 11, bits, false)).into();
    for tried in &mut settings {
        tried.outcome.reads = None;
        tried.outcome.levels.truncate(1);
        tried.outcome.levels[0].number = None;
        tried.outcome.size = Estimate::exact(f64::from(tried.setting.bits_per_key) * 500.0);
        tried.outcome.bytes_per_entry = tried.outcome.size.value / 4000.0;
    }
    let pass = Some(MeasuredRate { rate: 1.0, low: 1.0, high: 1.0, asked: 4000 });
    let rates = Rates { random: pass, neighbours: pass, ..Rates::default() };
    let now = Outcome {
        rates,
        levels: vec![LevelOutcome { rates, ..LevelOutcome::default() }],
        ..Outcome::default()
    };
    let mut choice = choice(11, [(None, 10); 2], settings[1].outcome.clone());
    choice.bits.truncate(1);
    Tuning {
        policy,
        policy_assumed: true,
        sample: all(1, 100_000, 4000.0),
        levels: vec![Level {
            number: None,
            tables: 1,
            unfiltered: 1,
            size: 100_000,
            entries: Estimate::exact(4000.0),
            visits: None,
        }],
        now,
        settings,
        budget: Budget { bytes: 5000, origin: BudgetOrigin::TenBits },
        uniform: Some(choice),
        by_level: None,
        advice: no_advice("a single table has no lookups to weigh"),
        lookups: None,
        memory: Memory { mapped_tables: 1, ..Memory::default() },
        notes: Vec::new(),
        is_damaged: false,
        faults: Vec::new(),
        found: FoundFilters::None,
    }
}

/// A database without an entry.
pub fn empty() -> Tuning {
    Tuning {
        sample: all(0, 0, 0.0),
        levels: Vec::new(),
        now: Outcome::default(),
        settings: Vec::new(),
        uniform: None,
        advice: no_advice("there are no entries"),
        ..table()
    }
}
