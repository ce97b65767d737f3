//! Filter blocks, sound and damaged: the answers of both readers to the same queries.

use std::fmt;

use anyhow::{Result, ensure};
use filterblock::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterPolicy};

use super::Row;
use super::builder::alike_len;
use crate::hex;
use crate::leveldb::{Answer, QueryScript};
use crate::random::Random;

const QUERIES_PER_BLOCK: u64 = 50;
/// Number of blocks that LevelDB is asked about in one call.
const BATCH: u64 = 200;

/// The counts of a comparison without differences.
#[derive(Debug, Default)]
pub struct Report {
    /// The seed of the cases.
    pub seed: u64,
    /// Filter blocks asked.
    pub blocks: u64,
    /// Filter blocks that had been damaged.
    pub damaged: u64,
    /// Queries in total.
    pub queries: u64,
    /// Queries for which LevelDB asked its policy.
    pub asked: u64,
    /// Queries that found no match.
    pub denied: u64,
    /// Queries to blocks whose number of filters had to be rounded down.
    pub rounded: u64,
    /// Queries for keys of 256 bytes and more.
    pub long: u64,
    /// For each condition, the queries that it decided, and how many of them found no match.
    pub rows: [(u64, u64); Row::ALL.len()],
}

impl Report {
    /// Fails unless every condition occurred and the policy was asked often enough for the
    /// comparison to be meaningful.
    pub fn ensure_covered(&self) -> Result<()> {
        for (row, (queries, _)) in Row::ALL.iter().zip(self.rows) {
            ensure!(queries > 0, "no query met the condition \"{}\"", row.label());
        }
        ensure!(self.rounded > 0, "no block had its number of filters rounded down");
        ensure!(self.long > 0, "no query was for a long key");
        let percent = self.asked * 100 / self.queries.max(1);
        ensure!(percent >= 30, "only {percent} % of the queries reached the policy");
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "reader, seed {}: {} queries, all answers equal", self.seed, self.queries)?;
        writeln!(f, "  {} filter blocks, {} of them damaged", self.blocks, self.damaged)?;
        let share = |part: u64| part as f64 * 100.0 / self.queries as f64;
        writeln!(
            f,
            "  {} ({:.1} %) reached the policy, {} ({:.1} %) found no match",
            self.asked,
            share(self.asked),
            self.denied,
            share(self.denied)
        )?;
        writeln!(f, "  {:<36} {:>12} {:>12}", "decided by", "queries", "no match")?;
        for (row, (queries, denied)) in Row::ALL.iter().zip(self.rows) {
            writeln!(f, "  {:<36} {queries:>12} {denied:>12}", row.label())?;
        }
        writeln!(f, "  {:<36} {:>12}", "count of filters rounded down, too", self.rounded)?;
        write!(f, "  {:<36} {:>12}", "for keys of 256 bytes and more", self.long)
    }
}

/// Asks both readers `queries` random queries and compares the answers.
pub fn run(queries: u64, seed: u64) -> Result<Report> {
    let blocks = queries.div_ceil(QUERIES_PER_BLOCK);
    let mut report = Report { seed, ..Report::default() };
    let mut script = QueryScript::new();
    for batch in (0..blocks).step_by(BATCH as usize) {
        script.clear();
        let mut cases = Vec::new();
        for case in batch..blocks.min(batch + BATCH) {
            let made = Case::new(seed, case)?;
            if made.is_defined() {
                script.block(&made.block);
                made.queries.iter().for_each(|(offset, key)| script.query(*offset, key));
            }
            cases.push(made);
        }
        let mut answers = script.answers().into_iter();
        for case in &cases {
            case.compare(&mut answers, &mut report)?;
        }
        ensure!(answers.next().is_none(), "as many answers as queries");
    }
    Ok(report)
}

struct Case {
    /// The case, for messages.
    name: String,
    block: Vec<u8>,
    damaged: bool,
    queries: Vec<(u64, Vec<u8>)>,
}

impl Case {
    fn new(seed: u64, case: u64) -> Result<Self> {
        let mut random = Random::for_case(seed, case);
        let mut stored = Vec::new();
        let base_lg = if random.one_in(4) { random.below(64) as u8 } else { 11 };
        // Keys of one length are asked for together.
        let alike = random.one_in(3).then(|| alike_len(&mut random));
        let block = build(&mut random, base_lg, alike, &mut stored)?;
        let damaged = random.one_in(2);
        let mut case = Self { name: format!("case {case} of seed {seed}"), block, damaged, queries: vec![] };
        if damaged {
            damage(&mut random, &mut case.block);
        }
        // The range by which a reader chooses the filter.
        let base_lg = case.block.last().copied().filter(|&lg| lg < 64).unwrap_or(base_lg);
        for _ in 0..QUERIES_PER_BLOCK {
            case.queries.push(query(&mut random, base_lg, alike, &stored));
        }
        Ok(case)
    }

    /// Returns true if LevelDB's behaviour is defined for this block.
    fn is_defined(&self) -> bool {
        !Row::of(&self.block, 0).0.is_undefined()
    }

    fn compare(&self, answers: &mut impl Iterator<Item = Answer>, report: &mut Report) -> Result<()> {
        let policy = BloomFilterPolicy::new(10);
        let reader = FilterBlockReader::new(policy, &self.block[..]);
        let queries: Vec<_> = self.queries.iter().map(|(offset, key)| (*offset, &key[..])).collect();
        let mut together = Vec::new();
        reader.keys_may_match(&queries, &mut together);
        ensure!(together.len() == queries.len(), "{}: {} answers", self.name, together.len());

        for (&(offset, key), together) in queries.iter().zip(together) {
            let (row, rounded) = Row::of(&self.block, offset);
            let expected = if row.is_undefined() {
                true
            } else {
                let theirs = answers.next().expect("an answer for each query");
                ensure!(theirs.policy_asked == row.asks_policy(), "{}: {row:?} is wrong", self.name);
                report.asked += u64::from(theirs.policy_asked);
                theirs.may_match
            };
            let single = reader.key_may_match(offset, key);
            let hash = policy.hash_key(key).expect("Bloom filters are made of hashes");
            let by_hash = reader.hash_may_match(offset, hash);
            ensure!(
                [single, together, by_hash] == [expected; 3],
                "{}: {expected} expected by \"{}\"; key_may_match {single}, keys_may_match {together}, \
                 hash_may_match {by_hash}; offset {offset}, key {}, block {}",
                self.name,
                row.label(),
                hex(key),
                hex(&self.block)
            );
            let index = Row::ALL.iter().position(|&other| other == row).expect("one of all");
            report.rows[index].0 += 1;
            report.rows[index].1 += u64::from(!expected);
            report.rounded += u64::from(rounded);
            report.long += u64::from(key.len() >= 256);
            report.denied += u64::from(!expected);
        }
        ensure!(self.damaged || reader.check().is_ok(), "{}: check finds a sound block malformed", self.name);
        report.blocks += 1;
        report.damaged += u64::from(self.damaged);
        report.queries += queries.len() as u64;
        Ok(())
    }
}

/// Builds a sound block. Adds its keys to `stored`, each with the offset of its data block.
fn build(
    random: &mut Random,
    base_lg: u8,
    alike: Option<usize>,
    stored: &mut Vec<(u64, Vec<u8>)>,
) -> Result<Vec<u8>> {
    let policy = BloomFilterPolicy::new(random.between(1, 50) as u32);
    let mut builder = FilterBlockBuilder::with_base_lg(policy, base_lg)?;
    let range = 1_u64 << base_lg;
    let mut offset = 0_u64;
    for _ in 0..random.between(1, 6) {
        builder.start_block(offset)?;
        for _ in 0..random.skewed(4) {
            let len = match alike {
                Some(len) => len,
                None if random.one_in(8) => random.index(201),
                None => random.index(21),
            };
            let key = random.bytes(len);
            builder.add_key(&key);
            stored.push((offset, key));
        }
        let next = range / 2 + random.below(range);
        let ranges = if random.one_in(4) { random.below(6) } else { 0 };
        offset = offset.saturating_add(next).saturating_add(range.saturating_mul(ranges));
    }
    Ok(builder.finish()?.to_vec())
}

fn query(
    random: &mut Random,
    base_lg: u8,
    alike: Option<usize>,
    stored: &[(u64, Vec<u8>)],
) -> (u64, Vec<u8>) {
    let (mut offset, mut key) = (0, Vec::new());
    if !stored.is_empty() {
        (offset, key) = stored[random.index(stored.len())].clone();
    }
    match random.below(20) {
        0 => offset = random.next_u64(),
        1 => offset = random.skewed(64),
        2..10 => offset = random.below(9).checked_shl(base_lg.into()).unwrap_or(0),
        _ => {}
    }
    match random.below(20) {
        0 => offset = offset.saturating_add(1 << base_lg),
        1 => offset = offset.saturating_sub(1),
        _ => {}
    }
    if random.one_in(2) {
        let len = alike.unwrap_or_else(|| random.index(21));
        key = random.bytes(len);
    }
    (offset, key)
}

/// Damages a sound filter block in one of many ways.
fn damage(random: &mut Random, block: &mut Vec<u8>) {
    match random.below(12) {
        0 => flip_bits(random, block),
        1 => block.truncate(random.index(block.len())),
        2 => insert_behind_array(random, block),
        3 => *block = some_bytes(random),
        4 => *block.last_mut().expect("not empty") = random.below(64) as u8,
        5 => *block.last_mut().expect("not empty") = random.between(64, 255) as u8,
        6 => move_array(random, block),
        7 => one_probe_byte(random, block),
        8 => empty_beyond(random, block),
        _ => change_entry(random, block),
    }
}

fn array_of(block: &[u8]) -> (usize, usize) {
    let end = block.len() - 5;
    let start = u32::from_le_bytes(block[end..end + 4].try_into().expect("four bytes"));
    (start as usize, end)
}

fn put_word(block: &mut [u8], at: usize, word: u32) {
    block[at..at + 4].copy_from_slice(&word.to_le_bytes());
}

fn flip_bits(random: &mut Random, block: &mut [u8]) {
    for _ in 0..random.between(1, 4) {
        let bit = random.index(block.len() * 8);
        block[bit / 8] ^= 1 << (bit % 8);
    }
}

/// Inserts stray bytes, so that the array's length is no multiple of four, or the array has too
/// many entries.
fn insert_behind_array(random: &mut Random, block: &mut Vec<u8>) {
    let (_, end) = array_of(block);
    let len = random.between(1, 9) as usize;
    let small = random.one_in(2);
    let stray = random.bytes(len).into_iter().map(|byte| if small { byte % 2 } else { byte });
    block.splice(end..end, stray.collect::<Vec<_>>());
}

fn some_bytes(random: &mut Random) -> Vec<u8> {
    let len = random.skewed(7) as usize;
    let mut bytes = random.bytes(len);
    if random.one_in(2) {
        // Small numbers, so that not only the first condition occurs.
        bytes.iter_mut().for_each(|byte| *byte = [0, 0, 0, 1, 4, 8, 11, 16][usize::from(*byte) % 8]);
    }
    bytes
}

fn move_array(random: &mut Random, block: &mut [u8]) {
    let (start, end) = array_of(block);
    let to = match random.below(5) {
        0 => random.next_u64() as u32,
        1 => random.index(end + 10) as u32,
        2 => (end as u32).saturating_add_signed(random.between(0, 4) as i32 - 2),
        _ => (start as u32).saturating_add_signed(random.between(0, 16) as i32 - 8),
    };
    put_word(block, end, to);
}

/// Changes a byte: byte 8, which is the first filter's number of probes if the filter has the usual
/// 9 bytes, or a random byte. Leaves the block unchanged if the byte is among the last five.
fn one_probe_byte(random: &mut Random, block: &mut [u8]) {
    let at = if random.one_in(2) { 8 } else { random.index(block.len()) };
    if at + 5 < block.len() {
        block[at] = if random.one_in(2) { random.between(28, 33) as u8 } else { random.below(256) as u8 };
    }
}

/// Gives two neighbouring offsets the same value beyond the filters.
fn empty_beyond(random: &mut Random, block: &mut [u8]) {
    let (start, end) = array_of(block);
    let count = (end - start) / 4;
    if count >= 2 {
        let at = start + 4 * random.index(count - 1);
        let offset = if random.one_in(3) { u32::MAX } else { (start + 1 + random.index(40)) as u32 };
        put_word(block, at, offset);
        put_word(block, at + 4, offset);
    }
}

fn change_entry(random: &mut Random, block: &mut [u8]) {
    let (start, end) = array_of(block);
    let count = (end - start) / 4;
    for _ in 0..random.between(1, 3) {
        if count > 0 {
            let offset = match random.below(4) {
                0 => random.next_u64() as u32,
                1 => (start + random.index(30)) as u32,
                _ => random.index(start + 1) as u32,
            };
            put_word(block, start + 4 * random.index(count), offset);
        }
    }
}
