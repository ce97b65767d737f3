//! Filter blocks: the bytes that both builders make from the same calls.

use std::fmt;

use anyhow::{Result, ensure};
use filterblock::{BloomFilterPolicy, FilterBlockBuilder, FilterPolicy};

use crate::hex;
use crate::leveldb::BlockScript;
use crate::random::Random;

/// Number of blocks that LevelDB builds in one call.
const BATCH: u64 = 1000;
const MAX_BITS_PER_KEY: u64 = 50;

/// The counts of a comparison without differences.
#[derive(Debug, Default)]
pub struct Report {
    /// The seed of the cases.
    pub seed: u64,
    /// Filter blocks built by both builders.
    pub blocks: u64,
    /// Calls to `StartBlock`.
    pub starts: u64,
    /// Calls to `StartBlock` that went back, within the range whose filter is not made yet.
    pub backward_starts: u64,
    /// Calls to `AddKey`.
    pub keys: u64,
    /// Keys of which our builder was given only the hash.
    pub hashed_keys: u64,
    /// Keys before the first `StartBlock`.
    pub early_keys: u64,
    /// Keys of 256 bytes and more, of which eight or more of one length came together.
    pub long_keys: u64,
    /// Bytes of the blocks built.
    pub bytes: u64,
    /// Size of the largest block in bytes.
    pub largest: usize,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "builder, seed {}: {} filter blocks, all bytes equal", self.seed, self.blocks)?;
        writeln!(f, "  block starts {:>12}, {} of them backward", self.starts, self.backward_starts)?;
        writeln!(
            f,
            "  keys         {:>12}, {} of them by hash, {} before any block, {} of 256 bytes and more",
            self.keys, self.hashed_keys, self.early_keys, self.long_keys
        )?;
        write!(f, "  bytes        {:>12}, largest block {}", self.bytes, self.largest)
    }
}

/// Builds `runs` random filter blocks with both builders and compares the bytes.
pub fn run(runs: u64, seed: u64) -> Result<Report> {
    // One builder for each setting, reused: it must reset itself.
    let mut builders: Vec<_> = (0..=MAX_BITS_PER_KEY as u32)
        .map(|bits| FilterBlockBuilder::new(BloomFilterPolicy::new(bits)))
        .collect();
    let mut report = Report { seed, ..Report::default() };
    let mut script = BlockScript::new();
    let mut ours = Vec::new();
    let mut ends = Vec::new();
    for batch in (0..runs).step_by(BATCH as usize) {
        let cases = batch..runs.min(batch + BATCH);
        script.clear();
        ours.clear();
        ends.clear();
        for case in cases.clone() {
            let mut random = Random::for_case(seed, case);
            let bits = random.between(1, MAX_BITS_PER_KEY) as u32;
            script.begin(bits);
            let builder = &mut builders[bits as usize];
            let policy = BloomFilterPolicy::new(bits);
            Case { random, script: &mut script, builder, policy, report: &mut report }.play()?;
            script.finish();
            builder.finish_into(&mut ours)?;
            ends.push(ours.len());
        }
        let theirs = script.build();
        let mut start = 0;
        for ((case, end), theirs) in cases.zip(&ends).zip(&theirs) {
            let ours = &ours[start..*end];
            ensure!(
                ours == theirs,
                "case {case} of seed {seed}: LevelDB built {}, we {}",
                hex(theirs),
                hex(ours)
            );
            report.blocks += 1;
            report.bytes += theirs.len() as u64;
            report.largest = report.largest.max(theirs.len());
            start = *end;
        }
    }
    Ok(report)
}

/// A filter block that LevelDB and we build.
struct Case<'a> {
    random: Random,
    script: &'a mut BlockScript,
    builder: &'a mut FilterBlockBuilder<BloomFilterPolicy>,
    policy: BloomFilterPolicy,
    report: &'a mut Report,
}

impl Case<'_> {
    fn play(mut self) -> Result<()> {
        let by_hash = self.random.one_in(3);
        let mut key = Vec::new();
        if self.random.one_in(10) {
            self.report.early_keys += self.keys(by_hash, &mut key)?;
        }
        let mut offset = 0;
        let mut filters = 0;
        for _ in 0..self.random.index(13) {
            if self.random.one_in(8) && offset > filters << 11 {
                offset = self.random.between(filters << 11, offset);
                self.report.backward_starts += 1;
            } else {
                offset += self.gap();
            }
            filters = offset >> 11;
            self.script.start_block(offset);
            self.builder.start_block(offset)?;
            self.report.starts += 1;
            self.keys(by_hash, &mut key)?;
        }
        Ok(())
    }

    /// Returns the distance to the next block: mostly some KiB, rarely so large that thousands of empty filters lie
    /// between.
    fn gap(&mut self) -> u64 {
        match self.random.below(1000) {
            0 => self.random.skewed(27),
            1..50 => self.random.skewed(20),
            50..150 => 2048 * self.random.between(0, 3),
            _ => self.random.skewed(13),
        }
    }

    fn keys(&mut self, by_hash: bool, key: &mut Vec<u8>) -> Result<u64> {
        let count = if self.random.one_in(300) { self.random.skewed(12) } else { self.random.skewed(5) };
        // Keys of one length are hashed together.
        let alike = self.random.one_in(3).then(|| alike_len(&mut self.random));
        if count >= 8 && alike.is_some_and(|len| len >= 256) {
            self.report.long_keys += count;
        }
        for _ in 0..count {
            if !self.random.one_in(16) {
                next_key(&mut self.random, alike, key);
            } // else the same key once more
            self.script.add_key(key);
            let hash = if by_hash { self.policy.hash_key(key) } else { None };
            match hash {
                Some(hash) => {
                    self.builder.add_hash(hash)?;
                    self.report.hashed_keys += 1;
                }
                None => self.builder.add_key(key),
            }
        }
        self.report.keys += count;
        Ok(count)
    }
}

/// Returns a length for many keys: mostly below 70 bytes, rarely up to 70,000, and then often near a power of two.
pub(super) fn alike_len(random: &mut Random) -> usize {
    if !random.one_in(500) {
        return random.index(70);
    }
    match random.below(4) {
        0 => random.index(70_000),
        1 => 65_530 + random.index(30),
        2 => 4090 + random.index(30),
        _ => 250 + random.index(30),
    }
}

/// Makes `key` a random key of the given length, or else of 0 to 200 bytes, mostly short.
fn next_key(random: &mut Random, len: Option<usize>, key: &mut Vec<u8>) {
    let len = match len {
        Some(len) => len,
        None if random.one_in(4) => random.index(201),
        None => random.index(33),
    };
    key.clear();
    random.fill(len, key);
}
