//! Golden values that LevelDB writes: hashes, Bloom filters, filter blocks.

use std::path::Path;

use anyhow::Result;
use filterblock_interop::leveldb::{BlockScript, Bloom, hash};
use filterblock_interop::random::Random;

use crate::text::{Text, hex};

pub(crate) fn write(folder: &Path) -> Result<()> {
    hashes(folder)?;
    bloom(folder)?;
    build(folder)
}

/// The seed of Bloom filters.
const SEED: u32 = 0xbc9f_1d34;

fn hashes(folder: &Path) -> Result<()> {
    let mut text = Text::new("<key> <seed> <hash>");
    let mut random = Random::new(10);
    let mut line = |key: &[u8], seed| {
        text.line(format!("{} {seed:08x} {:08x}", hex(key), hash(key, seed)));
    };
    for byte in 0..=255 {
        line(&[byte], SEED);
    }
    for len in 0..=40 {
        for seed in [SEED, 0, 1, u32::MAX, 0x5bd1_e995] {
            line(&random.bytes(len), seed);
        }
        line(&vec![0; len], SEED);
        line(&vec![0xff; len], SEED);
    }
    for len in [63, 64, 65, 200, 1000] {
        line(&random.bytes(len), SEED);
    }
    text.write(&folder.join("hash.txt"))
}

fn bloom(folder: &Path) -> Result<()> {
    let mut text = Text::new(
        "bits <bits per key>, key <key>..., filter <the filter of these keys>,\n\
         then any number of: probe <key> <1: may be there, 0: is not there>",
    );
    let mut random = Random::new(11);
    for bits in [0, 1, 2, 3, 5, 9, 10, 14, 15, 16, 20, 29, 30, 43, 44, 50, 100, 1000] {
        for count in [0, 1, 2, 7, 13, 40] {
            let mut keys: Vec<Vec<u8>> = (0..count).map(|_| short_key(&mut random)).collect();
            if count == 13 {
                // Repeated keys count towards the size of the filter.
                keys[12] = keys[0].clone();
                keys[11] = keys[0].clone();
            }
            if count == 40 && bits > 50 {
                continue; // Some kilobytes that would show nothing new.
            }
            let bloom = Bloom::new(bits);
            let filter = bloom.create_filter(&keys);
            text.line(format!("bits {bits}"));
            keys.iter().for_each(|key| text.line(format!("key {}", hex(key))));
            text.line(format!("filter {}", hex(&filter)));
            for _ in 0..4 {
                let key = short_key(&mut random);
                let answer = u8::from(bloom.key_may_match(&key, &filter));
                text.line(format!("probe {} {answer}", hex(&key)));
            }
        }
    }
    text.write(&folder.join("bloom.txt"))
}

fn short_key(random: &mut Random) -> Vec<u8> {
    let len = random.index(13);
    random.bytes(len)
}

enum Step {
    Start(u64),
    Key(Vec<u8>),
}
use Step::{Key, Start};

fn build(folder: &Path) -> Result<()> {
    let mut text = Text::new(
        "bits <bits per key>, then any number of: start <block offset>, key <key>;\n\
         then: block <the filter block>",
    );
    let key = |text: &str| Key(text.as_bytes().to_vec());
    let mut cases = vec![
        (10, vec![]),
        (10, vec![Start(0)]),
        (10, vec![Start(0), key("")]),
        (10, vec![key("before"), key("any"), key("block")]),
        (10, vec![key("before"), Start(0), key("after")]),
        (10, vec![key("before"), Start(2048), key("after")]),
        (10, vec![Start(5000)]),
        (10, vec![Start(5000), key("late")]),
        (10, vec![Start(0), key("one"), Start(2047), key("same range"), Start(2048), key("next")]),
        (10, vec![Start(2049), key("two"), Start(4095), key("three"), Start(4096)]),
        (10, vec![Start(0), key("twice"), key("twice"), Start(0), key("twice")]),
        (10, vec![Start(0), key("near"), Start(1 << 18), key("far")]),
        (10, vec![Start(0), key("last"), Start(6144)]),
        (0, vec![Start(0), key("no"), key("bits"), Start(2048), key("at all")]),
        (1, (0..100).map(|i| Key(vec![i])).collect()),
        (100, (0..20).map(|i| Key(vec![i, 0xff])).collect()),
    ];
    let mut random = Random::new(12);
    cases.extend((0..80).map(|_| random_case(&mut random)));

    let mut script = BlockScript::new();
    for (bits, steps) in &cases {
        script.begin(*bits);
        for step in steps {
            match step {
                Start(offset) => script.start_block(*offset),
                Key(key) => script.add_key(key),
            }
        }
        script.finish();
    }
    for ((bits, steps), block) in cases.iter().zip(script.build()) {
        text.line(format!("bits {bits}"));
        for step in steps {
            match step {
                Start(offset) => text.line(format!("start {offset}")),
                Key(key) => text.line(format!("key {}", hex(key))),
            }
        }
        text.line(format!("block {}", hex(&block)));
    }
    text.write(&folder.join("filter_block_build.txt"))
}

fn random_case(random: &mut Random) -> (u32, Vec<Step>) {
    let bits = random.between(1, 50) as u32;
    let mut steps = vec![];
    let mut offset = 0;
    for _ in 0..random.index(5) {
        offset += random.skewed(15);
        steps.push(Start(offset));
        let keys = random.skewed(4);
        steps.extend((0..keys).map(|_| Key(short_key(random))));
    }
    (bits, steps)
}
