//! Times goleveldb in a process of its own, and LevelDB right before and after it.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use filterblock::{BloomFilterPolicy, FilterBlockReader};
use filterblock_interop::goleveldb;
use filterblock_interop::leveldb::build_table;
use filterblock_interop::leveldb::speed::{self, Lookups, Loops, Queries, Slices};

use super::data::{RANGE, keys, slices};
use super::reading::{OPTIONS, ROUND, lookups};
use super::report::{Row, Section, Unit};
use super::tables::entries;
use super::timing::fastest;

const PER_FILTER: usize = 40;
const BITS_PER_KEY: u32 = 10;

/// Each key with the offset of its data block.
fn in_order(keys: &[Vec<u8>]) -> Vec<(u64, &[u8])> {
    keys.iter().enumerate().map(|(index, key)| ((index / PER_FILTER) as u64 * RANGE, &key[..])).collect()
}

pub(crate) fn run(rounds: usize, count: usize, entries: usize) -> Result<Section> {
    let folder = tempfile::tempdir()?;
    let program = goleveldb::build("speed", folder.path())?
        .context("Go or goleveldb is missing: run interop/install-debian.sh")?;
    let mut rows = Vec::new();
    for len in [8, 16, 24, 64] {
        rows.extend(case(rounds, count, len, folder.path(), &program)?);
    }
    rows.extend(get(rounds, entries, folder.path())?);
    Ok(Section::new("goleveldb in a process of its own, LevelDB measured before and after it", rows))
}

fn case(rounds: usize, count: usize, len: usize, folder: &Path, program: &Path) -> Result<Vec<Row>> {
    let (present, absent) = (keys(0, count, Some(len), &[]), keys(1, count, Some(len), &[]));
    let slices = slices(&present);
    let (loops, raw) = (Loops::new(BITS_PER_KEY, false), Slices::new(&slices));
    let block = loops.build(&raw, PER_FILTER);
    let (hits, misses) = (in_order(&present), in_order(&absent));
    let (hits, misses) = (Queries::new(&hits), Queries::new(&misses));

    let reader = FilterBlockReader::new(BloomFilterPolicy::new(BITS_PER_KEY), &block[..]);
    let mut filters = Vec::new();
    for (_, filter) in &reader {
        let filter = filter?;
        filters.extend_from_slice(&u32::try_from(filter.len())?.to_le_bytes());
        filters.extend_from_slice(filter);
    }
    let files = ["present", "absent", "filters"].map(|name| folder.join(name));
    for (path, contents) in files.iter().zip([present.concat(), absent.concat(), filters]) {
        fs::write(path, contents)?;
    }

    let mut answers = Vec::new();
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    let mut leveldb = |answers: &mut Vec<u8>| -> [usize; 2] {
        let mut matched = [0; 2];
        for _ in 0..rounds.div_ceil(2) {
            let mut time = |to: usize, work: &mut dyn FnMut()| {
                let start = Instant::now();
                work();
                times[to].push(start.elapsed().as_nanos() as f64 / count as f64);
            };
            time(0, &mut || drop(black_box(loops.build(&raw, PER_FILTER))));
            for (to, queries) in [(1, &hits), (2, &misses)] {
                time(to, &mut || loops.ask(&block, queries, answers));
                matched[to - 1] = answers.iter().filter(|answer| **answer != 0).count();
            }
        }
        matched
    };
    leveldb(&mut answers);
    let output = Command::new(program)
        .args([BITS_PER_KEY as usize, len, PER_FILTER, rounds].map(|number| number.to_string()))
        .args(&files)
        .output()?;
    let matched = leveldb(&mut answers);
    ensure!(output.status.success(), "goleveldb: {}", String::from_utf8_lossy(&output.stderr));
    let output = String::from_utf8(output.stdout)?;
    let mut numbers = output.split_whitespace();
    let mut next = || -> Result<f64> { Ok(numbers.next().context("too few numbers")?.parse()?) };
    let theirs = [next()?, next()?];
    let theirs_matched = next()? as usize;
    let theirs = [theirs[0], theirs[1], next()?];
    ensure!([theirs_matched, next()? as usize] == matched, "goleveldb's answers differ");

    let rows_of = |((what, times), theirs): ((&str, Vec<f64>), f64)| {
        row(format!("{len} bytes, {what}"), fastest(times), theirs)
    };
    Ok(["build", "hit", "miss"].into_iter().zip(times).zip(theirs).map(rows_of).collect())
}

fn row(name: String, leveldb: f64, theirs: f64) -> Row {
    let fixed = vec![("LevelDB", leveldb), ("`goleveldb`", theirs)];
    Row { name, unit: Unit::TimesFaster, fixed, levels: Vec::new() }
}

/// Times lookups in a table in memory, without checksums and without a cache.
fn get(rounds: usize, count: usize, folder: &Path) -> Result<Vec<Row>> {
    let program = goleveldb::build("get", folder)?.context("Go was there just now")?;
    let tables = [entries(0, count)];
    let file = build_table(&OPTIONS, &tables[0].iter().cloned().collect())?;
    let opened = [speed::Table::open(&OPTIONS, &file)?];
    let absent = keys(99, 10 * ROUND, Some(16), &[]);
    let mut rows = Vec::new();
    for (kind, absent) in [("present", None), ("absent", Some(&absent[..]))] {
        let lookups = lookups(&tables, absent);
        let raw: Vec<_> = lookups.chunks(ROUND).map(Lookups::new).collect();
        let paths = [folder.join("table"), folder.join("keys")];
        fs::write(&paths[0], &file)?;
        fs::write(&paths[1], lookups.iter().flat_map(|(_, key)| *key).copied().collect::<Vec<u8>>())?;
        let mut times = Vec::new();
        let mut leveldb = || -> Result<()> {
            for raw in raw.iter().cycle().take(rounds.div_ceil(2)) {
                let start = Instant::now();
                black_box(raw.get(&opened)?);
                times.push(start.elapsed().as_nanos() as f64 / ROUND as f64);
            }
            Ok(())
        };
        leveldb()?;
        let output = Command::new(&program).args(["16", &rounds.to_string()]).args(&paths).output()?;
        leveldb()?;
        ensure!(output.status.success(), "goleveldb: {}", String::from_utf8_lossy(&output.stderr));
        let output = String::from_utf8(output.stdout)?;
        let (time, found) = output.trim().split_once(' ').context("two numbers")?;
        let expected = if absent.is_some() { 0 } else { lookups.len() };
        ensure!(found.parse::<usize>()? == expected, "goleveldb finds {found} of {expected} keys");
        rows.push(row(format!("`get` from a table in memory, {kind}"), fastest(times), time.parse()?));
    }
    Ok(rows)
}
