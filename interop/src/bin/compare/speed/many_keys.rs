//! Times lookups of keys, one by one, 4 at once and 256 at once: in tables in memory, from small ones that fit into the
//! cache to large ones, and in a table on a disk.

use std::cell::Cell;
use std::fs::File;
use std::hint::black_box;
use std::time::Instant;

use anyhow::{Result, ensure};
use bytes::Bytes;
use filterblock::BloomFilterPolicy;
use filterblock::table::{Compression, ReadOptions, Table, TableBuilder, WriteOptions};
use filterblock_interop::leveldb::speed::{self, Lookups};
use filterblock_interop::random::Random;
use rustix::fs::{Advice, fadvise};

use super::data::slices;
use super::reading::OPTIONS;
use super::report::{Cell as Column, Row, Section, Unit, at};
use super::timing::{Aims, Fixed, Measure, Turns, levels, set};

/// The number of keys of a round, and the largest number of keys of one call.
const MANY: usize = 256;
/// The number of calls, with [`MANY`] keys each, before the same keys come again.
const CALLS: usize = 512;
const TABLES: usize = 8;
const VALUE: [u8; 100] = [7; 100];
/// The size of an entry in its table, roughly.
const ENTRY: usize = 120;

/// The form of the keys.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Keys that differ in their first eight bytes.
    Early,
    /// Keys that begin with the same bytes: `user:00012345678`.
    Late,
}

impl Shape {
    const fn name(self) -> &'static str {
        match self {
            Self::Early => "keys that differ early",
            Self::Late => "keys with a common beginning",
        }
    }

    /// Returns a key of 16 bytes. Keys are in the order of their numbers.
    fn key(self, number: u64) -> Vec<u8> {
        match self {
            Self::Early => [number.to_be_bytes(), number.to_le_bytes()].concat(),
            Self::Late => format!("user:{number:011}").into_bytes(),
        }
    }

    /// Returns the numbers of up to `count` stored keys, in order. All are even; a key with an odd number is absent.
    fn numbers(self, random: &mut Random, count: usize) -> Vec<u64> {
        match self {
            Self::Early => {
                let mut numbers: Vec<u64> = (0..count).map(|_| number(random) & !1).collect();
                numbers.sort_unstable();
                numbers.dedup();
                numbers
            }
            Self::Late => (0..count as u64).map(|at| 16 * at + number(random) % 8 * 2).collect(),
        }
    }
}

fn number(random: &mut Random) -> u64 {
    u64::from_le_bytes(*random.bytes(8).first_chunk().expect("eight bytes"))
}

/// Builds a table of these keys. Its bytes are those that LevelDB would write.
fn table(shape: Shape, numbers: &[u64]) -> Result<Bytes> {
    let options =
        WriteOptions::default().compression(Compression::None).filter_policy(BloomFilterPolicy::new(10));
    let mut builder = TableBuilder::new(Vec::with_capacity(numbers.len() * 2 * ENTRY), options);
    numbers.iter().try_for_each(|&number| builder.add(&shape.key(number), &VALUE))?;
    Ok(builder.finish()?.0.into())
}

/// The number of a table, and the keys of one call.
type Call<'k> = (usize, Vec<&'k [u8]>);

/// Calls with the same number of keys. Each is about one table, and the calls go through the tables in turns.
struct Calls {
    keys: Vec<Vec<Vec<u8>>>,
    tables: usize,
}

impl Calls {
    fn new(shape: Shape, numbers: &[Vec<u64>], absent: bool, keys: usize) -> Self {
        let mut random = Random::new(9);
        let call = |call: usize| {
            let numbers = &numbers[call % numbers.len()];
            let mut key = || shape.key(numbers[random.index(numbers.len())] | u64::from(absent));
            (0..keys).map(|_| key()).collect()
        };
        Self { keys: (0..CALLS * MANY / keys).map(call).collect(), tables: numbers.len() }
    }

    /// Returns the calls in rounds of [`MANY`] keys.
    fn rounds(&self) -> Vec<Vec<Call<'_>>> {
        let calls = self.keys.iter().enumerate().map(|(at, keys)| (at % self.tables, slices(keys)));
        let calls: Vec<_> = calls.collect();
        calls.chunks(MANY / self.keys[0].len()).map(<[_]>::to_vec).collect()
    }
}

pub(crate) fn run(rounds: usize, count: usize, megabytes: usize) -> Result<Section> {
    let mut rows = Vec::new();
    let small = (format!("{count} entries"), count / TABLES);
    let large = [30, 250, 1000].into_iter().filter(|size| *size <= megabytes);
    let large = large.map(|size| (format!("{size} MB"), size * 1_000_000 / ENTRY / TABLES));
    for (size, count) in std::iter::once(small).chain(large) {
        for shape in [Shape::Early, Shape::Late] {
            let mut random = Random::new(7);
            let numbers: Vec<_> = (0..TABLES).map(|_| shape.numbers(&mut random, count)).collect();
            let files = numbers.iter().map(|numbers| table(shape, numbers)).collect::<Result<Vec<_>>>()?;
            for absent in [false, true] {
                for keys in [MANY, 4] {
                    let kind = if absent { "absent" } else { "present" };
                    let case = format!("{size}, {}, {kind}, {keys} a call", shape.name());
                    let calls = Calls::new(shape, &numbers, absent, keys);
                    rows.extend(case_of(rounds, &case, &files, &calls, aims(&size, absent, keys))?);
                }
            }
        }
    }
    let title = "Looking keys up in eight tables in memory, in no order, without checksums: one by one and many at once";
    Ok(Section::new(title, rows))
}

/// Aims for `get` and `get_many`.
fn aims(size: &str, absent: bool, keys: usize) -> [Option<Aims>; 2] {
    let single = Some([if size == "1000 MB" { 1.0 } else { 1.2 }; 3]);
    let many = (!absent && keys == MANY && size == "1000 MB").then_some([2.3; 3]);
    [single.filter(|_| keys == MANY), many]
}

fn case_of(
    rounds: usize,
    case: &str,
    files: &[Bytes],
    calls: &Calls,
    aims: [Option<Aims>; 2],
) -> Result<Vec<Row>> {
    let options = ReadOptions::default().verify_checksums(false);
    let open = |file: &Bytes| Table::open(file.clone(), &options);
    let ours: Vec<_> = files.iter().map(open).collect::<Result<_, _>>()?;
    let theirs: Vec<_> =
        files.iter().map(|file| speed::Table::open(&OPTIONS, file)).collect::<Result<_>>()?;
    let windows = calls.rounds();
    let raw: Vec<Vec<_>> = windows
        .iter()
        .map(|calls| calls.iter().flat_map(|(table, keys)| keys.iter().map(|key| (*table, *key))).collect())
        .collect();
    let raw: Vec<_> = raw.iter().map(|keys| Lookups::new(keys)).collect();
    // Each implementation goes through all windows, so that each meets the same keys.
    let in_turn = || {
        let turn = Cell::new(0);
        let count = windows.len();
        move || {
            turn.set((turn.get() + 1) % count);
            turn.get()
        }
    };
    let single = |window: usize| -> u64 {
        let get = |(table, keys): &(usize, Vec<&[u8]>)| -> u64 {
            let found = keys.iter().filter_map(|key| ours[*table].get(key).expect("a sound table"));
            found.map(|value| value.len() as u64).sum()
        };
        windows[window].iter().map(get).sum()
    };
    let mut values = Vec::new();
    let mut many = |window: usize| -> u64 {
        let get = |(table, keys): &(usize, Vec<&[u8]>)| -> u64 {
            ours[*table].get_many(keys, &mut values);
            let found = values.iter().filter_map(|value| value.as_ref().expect("a sound table").as_ref());
            found.map(|value| value.len() as u64).sum()
        };
        windows[window].iter().map(get).sum()
    };
    for (window, raw) in raw.iter().enumerate() {
        let expected = raw.get(&theirs)?;
        for level in levels() {
            set(level);
            ensure!(single(window) == expected, "other values are found at {level:?}");
            ensure!(many(window) == expected, "other values are found at once at {level:?}");
        }
    }
    let mut turns = Turns::new(case, MANY).in_runs_of(8);
    let next = in_turn();
    turns.fixed("LevelDB", || raw[next()].get(&theirs));
    let next = in_turn();
    let one = turns.faster("`get`", aims[0], || single(next()));
    let next = in_turn();
    let together = turns.ours(|| many(next()));
    turns.row("`get_many`", together, Measure::Faster(Fixed::FIRST), aims[1]);
    turns.row("`get_many` by `get`", together, Measure::FasterThanOurs(one), aims[1].or(Some([0.95; 3])));
    Ok(turns.run(rounds))
}

/// Times lookups in a table on a disk, of which nothing is in the system's cache.
pub(crate) fn cold(rounds: usize, megabytes: usize) -> Result<Section> {
    let mut random = Random::new(7);
    let shape = Shape::Early;
    let numbers = shape.numbers(&mut random, megabytes.min(500) * 1_000_000 / ENTRY);
    let file = tempfile::NamedTempFile::new()?;
    let contents = table(shape, &numbers)?;
    std::fs::write(file.path(), &contents)?;
    let size = contents.len() / 1_000_000;
    drop(contents);
    let handle = File::open(file.path())?;
    handle.sync_all()?;
    let options = ReadOptions::default().verify_checksums(false);
    let table = Table::open(File::open(file.path())?, &options)?;
    let keys: Vec<Vec<u8>> = (0..MANY).map(|_| shape.key(numbers[random.index(numbers.len())])).collect();
    let keys: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
    let forget = || fadvise(&handle, 0, None, Advice::DontNeed);
    let mut times = [Vec::new(), Vec::new()];
    let mut values = Vec::new();
    for _ in 0..rounds.min(20) {
        for (many, times) in [false, true].into_iter().zip(&mut times) {
            forget()?;
            let start = Instant::now();
            if many {
                table.get_many(&keys, &mut values);
                ensure!(values.iter().all(|value| matches!(value, Ok(Some(_)))), "all keys are there");
            } else {
                for key in &keys {
                    black_box(table.get(key)?);
                }
            }
            times.push(start.elapsed().as_nanos() as f64 / MANY as f64);
        }
    }
    let [one, many] = times.map(|times| at(times, 0.5));
    let cell = Column { time: many, value: one / many, processes: Vec::new(), aim: Some(4.0) };
    let row = Row {
        name: format!("{size} MB, {MANY} keys a call, present: `get_many` by `get`"),
        unit: Unit::TimesFaster,
        fixed: vec![("`get`", one)],
        levels: vec![cell],
    };
    Ok(Section::new(
        "Looking keys up in a table of which nothing is in the system's cache, medians",
        vec![row],
    ))
}
