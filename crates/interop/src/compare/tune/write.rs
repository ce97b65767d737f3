//! Writes the databases, with LevelDB or goleveldb.

use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Result, ensure};
use filterblock::database::{Manifest, log_has_writes};

use super::cases::{Case, Step, Writer};
use crate::hex;
use crate::leveldb::{Compression, Store, StoreFilter, StoreOptions, WriteBatch};
use crate::random::Random;

/// A buffer so large that nothing is flushed before the database is opened the next time.
const LARGE_BUFFER: usize = 256 << 20;
/// The numbers of tables on level 0, and of bytes on level 1, at which LevelDB compacts by itself.
const MAX_LEVEL_0: usize = 4;
const MAX_LEVEL_1: u64 = 10 << 20;

/// A write: a key, and its value unless it is deleted.
type Write = (Vec<u8>, Option<Vec<u8>>);

/// The options of LevelDB with a case's filters.
pub(super) fn options(case: &Case, bits: Option<u32>) -> StoreOptions {
    StoreOptions {
        write_buffer_size: LARGE_BUFFER,
        max_file_size: 1 << 20,
        block_size: case.block_size,
        compression: if case.snappy { Compression::Snappy } else { Compression::None },
        filter: match bits {
            None => StoreFilter::None,
            Some(bits) if case.writer.has_old_name() => StoreFilter::Legacy(bits),
            Some(bits) => StoreFilter::BuiltIn(bits),
        },
        ..StoreOptions::default()
    }
}

/// Writes a case's database. `goleveldb` is the program `go/databases`. `None`: databases of goleveldb are not written.
pub(super) fn write(case: &Case, folder: &Path, goleveldb: Option<&Path>, random: &mut Random) -> Result<()> {
    let universe = case.keys.universe(case.universe);
    if let Writer::Goleveldb { table_size, base_lg } = case.writer {
        let Some(program) = goleveldb else { return Ok(()) };
        write_with_goleveldb(case, folder, program, (table_size, base_lg), &universe, random)?;
    } else {
        for step in &case.steps {
            match *step {
                Step::Use { bits, write_buffer, .. } => {
                    let options =
                        StoreOptions { write_buffer_size: write_buffer, ..self::options(case, bits) };
                    apply(&mut Store::open(folder, &options)?, &used(case, step, &universe, random))?;
                    settle(folder, &options)?;
                }
                Step::Layer { level: 0, part, keys, runs, deletions, bits } => {
                    for _ in 0..runs {
                        let writes = drawn(case, &universe, part, keys / runs, deletions, random);
                        flush(folder, &self::options(case, bits), &writes)?;
                    }
                }
                Step::Layer { level, part, keys, runs, deletions, bits } => {
                    let width = (part.1 - part.0) / runs as f64;
                    for run in 0..runs {
                        let from = part.0 + width * run as f64;
                        let writes =
                            drawn(case, &universe, (from, from + width), keys / runs, deletions, random);
                        let options = self::options(case, bits);
                        flush(folder, &options, &writes)?;
                        sink(folder, &options, &writes, level)?;
                    }
                }
            }
        }
    }
    // This opening removes tables that nothing refers to any more, which the openings before may have left.
    let held = StoreOptions { hold_background: true, ..options(case, None) };
    drop(Store::open(folder, &held)?);
    ensure_logs_are_empty(folder)
}

fn ensure_logs_are_empty(folder: &Path) -> Result<()> {
    for file in std::fs::read_dir(folder)? {
        let path = file?.path();
        let is_log = path.extension().is_some_and(|extension| extension == "log");
        ensure!(!is_log || !log_has_writes(&path)?, "{}: writes are left", path.display());
    }
    Ok(())
}

/// Draws different random keys from a part of the universe, in random order, each with a value or a deletion.
fn drawn(
    case: &Case,
    universe: &[Vec<u8>],
    part: (f64, f64),
    count: u64,
    deletions: u64,
    random: &mut Random,
) -> Vec<Write> {
    let [from, to] = [part.0, part.1].map(|end| (end * universe.len() as f64) as usize);
    let mut keys: Vec<_> = universe[from..to.min(universe.len())].iter().collect();
    let count = (count as usize).min(keys.len());
    for at in 0..count {
        let other = at + random.index(keys.len() - at);
        keys.swap(at, other);
    }
    keys[..count].iter().map(|key| ((*key).clone(), new_value(case, deletions, random))).collect()
}

fn new_value(case: &Case, deletions: u64, random: &mut Random) -> Option<Vec<u8>> {
    let len = random.between(case.value.0, case.value.1) as usize;
    (random.below(100) >= deletions).then(|| value(random, len))
}

/// The writes of a step of use: any keys, with repetition.
fn used(case: &Case, step: &Step, universe: &[Vec<u8>], random: &mut Random) -> Vec<Write> {
    let Step::Use { writes, deletions, .. } = *step else { return Vec::new() };
    let key = |random: &mut Random| universe[random.index(universe.len())].clone();
    (0..writes).map(|_| (key(random), new_value(case, deletions, random))).collect()
}

fn apply(store: &mut Store, writes: &[Write]) -> Result<()> {
    for chunk in writes.chunks(500) {
        let mut batch = WriteBatch::new();
        for (key, value) in chunk {
            match value {
                Some(value) => batch.put(key, value),
                None => batch.delete(key),
            }
        }
        store.write(&batch)?;
    }
    Ok(())
}

/// Makes a table on level 0 of these writes: when the database is opened the next time, LevelDB makes it of the log.
fn flush(folder: &Path, options: &StoreOptions, writes: &[Write]) -> Result<()> {
    let held = StoreOptions { hold_background: true, ..options.clone() };
    apply(&mut Store::open(folder, &held)?, writes)?;
    drop(Store::open(folder, &held)?);
    Ok(())
}

/// Compacts the tables in the range of these writes down to a level.
fn sink(folder: &Path, options: &StoreOptions, writes: &[Write], level: u8) -> Result<()> {
    let (Some(first), Some(last)) =
        (writes.iter().map(|write| &write.0).min(), writes.iter().map(|write| &write.0).max())
    else {
        return Ok(());
    };
    let store = Store::open(folder, options)?;
    for above in 0..level {
        store.compact_level(above, Some((first, last)));
    }
    Ok(())
}

/// Lets LevelDB compact as it likes, until it has nothing left to do.
fn settle(folder: &Path, options: &StoreOptions) -> Result<()> {
    for round in 1..100 {
        let manifest = Manifest::read(folder)?;
        let level_1: u64 = manifest.level(1).iter().map(|table| table.size).sum();
        let logs_are_empty = ensure_logs_are_empty(folder).is_ok();
        if logs_are_empty && manifest.level(0).len() < MAX_LEVEL_0 && level_1 < MAX_LEVEL_1 {
            return Ok(());
        }
        let _open = Store::open(folder, options)?;
        thread::sleep(Duration::from_millis(50 * round));
    }
    anyhow::bail!("LevelDB does not end compacting")
}

fn write_with_goleveldb(
    case: &Case,
    folder: &Path,
    program: &Path,
    (table_size, base_lg): (u64, u8),
    universe: &[Vec<u8>],
    random: &mut Random,
) -> Result<()> {
    for step in &case.steps {
        let Step::Use { write_buffer, bits, .. } = *step else {
            anyhow::bail!("{}: goleveldb has its own ways", case.name)
        };
        let mut steps = String::new();
        for (number, (key, value)) in (1..).zip(used(case, step, universe, random)) {
            match value {
                Some(value) => writeln!(steps, "put ={} ={}", hex(&key), hex(&value))?,
                None => writeln!(steps, "delete ={}", hex(&key))?,
            }
            if number % 100 == 0 {
                steps.push_str("write\n");
            }
        }
        steps.push_str("write\nreopen\n");
        let input = tempfile::NamedTempFile::new()?;
        std::fs::write(input.path(), steps)?;
        let mut command = Command::new(program);
        command.arg("-bits").arg(bits.unwrap_or(0).to_string());
        command.arg("-base-lg").arg(base_lg.to_string());
        command.arg("-block-size").arg(case.block_size.to_string());
        command.arg("-table-size").arg(table_size.to_string());
        command.arg("-write-buffer").arg(write_buffer.to_string());
        if case.snappy {
            command.arg("-snappy");
        }
        let output = command.arg(folder).stdin(File::open(input.path())?).output()?;
        ensure!(output.status.success(), "goleveldb: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

/// The form of the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keys {
    /// 16 random bytes.
    Random,
    /// `C`, a random hash of 32 bytes and a small number, like the keys of Bitcoin's unspent outputs.
    Hashes,
    /// `key` and twelve digits, counted up.
    Counter,
    /// Coordinates of a region in two 32-bit integers, then one or two bytes for the kind of record, like the keys of
    /// Minecraft's chunks.
    Chunks,
    /// `https://host/path/number`.
    Links,
    /// Every second number, as 64 bits big-endian.
    BigEndian,
    /// Every second number, as 64 bits little-endian.
    LittleEndian,
    /// Every second number, as `%016x`.
    Hexadecimal,
    /// Every second number, as `%016d`.
    Decimal,
    /// `block/` and every second number, as `%d`.
    Blocks,
}

impl Keys {
    /// The key of a number. Different numbers have different keys.
    fn key(self, number: u64) -> Vec<u8> {
        match self {
            Self::Random => Random::for_case(1, number).bytes(16),
            Self::Hashes => {
                let mut key = vec![b'C'];
                Random::for_case(2, number / 2).fill(32, &mut key);
                key.push((number % 2) as u8);
                key
            }
            Self::Counter => format!("key{number:012}").into_bytes(),
            Self::Chunks => {
                const RECORDS: [&[u8]; 8] =
                    [b"\x2f\0", b"\x2f\x01", b"\x2f\x02", b"\x2f\x03", b"+", b",", b"1", b"6"];
                let (chunk, record) = (number / 8, number % 8);
                let (x, z) = ((chunk % 48) as i32 - 24, (chunk / 48) as i32 - 24);
                [&x.to_le_bytes()[..], &z.to_le_bytes(), RECORDS[record as usize]].concat()
            }
            Self::Links => {
                let host = number.wrapping_mul(0x9e37_79b9) % 97;
                format!("https://host{host}.example/articles/{}/{number}", number % 13).into_bytes()
            }
            Self::BigEndian => (2 * number).to_be_bytes().to_vec(),
            Self::LittleEndian => (2 * number).to_le_bytes().to_vec(),
            Self::Hexadecimal => format!("{:016x}", 2 * number).into_bytes(),
            Self::Decimal => format!("{:016}", 2 * number).into_bytes(),
            Self::Blocks => format!("block/{}", 2 * number).into_bytes(),
        }
    }

    /// Returns the missing key that follows `key`, where every second number is stored, or else a close neighbour of
    /// `key`. `None` if keys of this form have no such neighbour.
    pub(super) fn between(self, key: &[u8], random: &mut Random) -> Option<Vec<u8>> {
        let text = |key: &[u8]| String::from_utf8(key.to_vec()).ok();
        Some(match self {
            Self::BigEndian => (u64::from_be_bytes(key.try_into().ok()?) + 1).to_be_bytes().to_vec(),
            Self::LittleEndian => (u64::from_le_bytes(key.try_into().ok()?) + 1).to_le_bytes().to_vec(),
            Self::Hexadecimal => {
                format!("{:016x}", u64::from_str_radix(&text(key)?, 16).ok()? + 1).into_bytes()
            }
            Self::Decimal => format!("{:016}", text(key)?.parse::<u64>().ok()? + 1).into_bytes(),
            Self::Blocks => {
                let number: u64 = text(key)?.strip_prefix("block/")?.parse().ok()?;
                format!("block/{}", number + 1).into_bytes()
            }
            Self::Random => {
                let mut key = key.to_vec();
                let last = key.last_mut()?;
                let distance = random.between(1, 3) as u8;
                *last = match random.below(2) {
                    0 => last.wrapping_add(distance),
                    _ => last.wrapping_sub(distance),
                };
                key
            }
            Self::Counter => {
                format!("key{:012}", text(key)?.strip_prefix("key")?.parse::<u64>().ok()? + 1).into_bytes()
            }
            Self::Links => {
                let key = text(key)?;
                let (path, number) = key.rsplit_once('/')?;
                let (number, distance) = (number.parse::<u64>().ok()?, random.between(1, 3));
                let other =
                    if random.below(2) == 0 { number + distance } else { number.checked_sub(distance)? };
                format!("{path}/{other}").into_bytes()
            }
            Self::Hashes | Self::Chunks => return None,
        })
    }

    /// The keys of the numbers below `count`, in order.
    pub(super) fn universe(self, count: u64) -> Vec<Vec<u8>> {
        let mut keys: Vec<_> = (0..count).map(|number| self.key(number)).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

/// A value of which Snappy saves half.
pub(super) fn value(random: &mut Random, len: usize) -> Vec<u8> {
    let mut value = random.bytes(len.div_ceil(2));
    value.resize(len, b'v');
    value
}
