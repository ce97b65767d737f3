//! Golden values: hashes, Bloom filters and filter blocks that LevelDB writes, and what it reads from filter blocks, sound
//! and damaged.

use std::path::Path;

use anyhow::Result;
use filterblock_interop::leveldb::{BlockScript, Bloom, QueryScript, hash};
use filterblock_interop::random::Random;

use crate::{Text, hex};

pub(crate) fn write(folder: &Path) -> Result<()> {
    hashes(folder)?;
    bloom(folder)?;
    build(folder)?;
    queries(folder)
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

/// Two keys, each in a filter that the other is not in.
const KEYS: [&[u8]; 2] = [b"apple", b"pear"];

fn queries(folder: &Path) -> Result<()> {
    let mut text = Text::new(
        "block <the filter block> <what it shows>, then any number of:\n\
         query <block offset> <key> <1: may match, 0: does not> <whether policy or layout decided>\n\
         Where LevelDB's behaviour is undefined, the last two are: undefined -",
    );
    let sound = sound();
    let offsets = [0, 2048, 4096, 8191, 8192, u64::MAX];
    for case in cases(&sound) {
        ask(&mut text, &case.name, &case.block, &offsets, &KEYS);
    }
    base_lg_cases(&mut text);
    text.write(&folder.join("filter_block_query.txt"))
}

/// Builds four filters: of `apple`, an empty one, of `pear`, of `apple` and `pear`.
fn sound() -> Vec<u8> {
    let mut script = BlockScript::new();
    script.begin(10);
    script.start_block(0);
    script.add_key(b"apple");
    script.start_block(4096);
    script.add_key(b"pear");
    script.start_block(6144);
    script.add_key(b"apple");
    script.add_key(b"pear");
    script.finish();
    script.build().remove(0)
}

struct Case {
    name: String,
    block: Vec<u8>,
}

fn cases(sound: &[u8]) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut case = |name: &str, block: Vec<u8>| cases.push(Case { name: name.replace(' ', "-"), block });
    let array = sound.len() - 5 - 4 * 4;
    // Blocks with other offsets: of filters 0 to 3, and of the array.
    let with = |changes: &[(usize, u32)]| {
        let mut block = sound.to_vec();
        for &(index, offset) in changes {
            let at = array + 4 * index;
            block[at..at + 4].copy_from_slice(&offset.to_le_bytes());
        }
        block
    };
    let end = array as u32;

    case("sound", sound.to_vec());
    case("no filters", b"\0\0\0\0\x0b".to_vec());
    for len in 0..5 {
        case(&format!("{len} bytes"), sound[..len].to_vec());
    }
    case("array offset one too large", with(&[(4, sound.len() as u32 - 4)]));
    case("array offset at the most", with(&[(4, sound.len() as u32 - 5)]));
    case("array offset 2^32-1", with(&[(4, u32::MAX)]));
    for shift in [1, 2, 3] {
        case(&format!("array offset {shift} lower"), with(&[(4, end - shift)]));
        case(&format!("array offset {shift} higher"), with(&[(4, end + shift)]));
    }
    case("array offset 4 lower", with(&[(4, end - 4)]));
    case("array offset 4 higher", with(&[(4, end + 4)]));
    case("array offset 0", with(&[(4, 0)]));
    case("start above limit", with(&[(0, 10)]));
    case("start above limit in the last", with(&[(3, end + 1)]));
    case("limit beyond the array", with(&[(1, end + 1)]));
    case("empty at the array", with(&[(1, end), (2, end)]));
    case("empty beyond the array", with(&[(1, end + 1), (2, end + 1)]));
    case("empty at 2^32-1", with(&[(0, u32::MAX), (1, u32::MAX)]));
    case("all offsets 0", with(&[(0, 0), (1, 0), (2, 0), (3, 0)]));
    case("one filter over all", with(&[(1, end)]));
    case("filter of one byte", with(&[(0, 0), (1, 1)]));
    case("filter of two bytes", with(&[(0, 0), (1, 2)]));
    for stray in 1..=4 {
        let mut block = sound.to_vec();
        let at = sound.len() - 5;
        block.splice(at..at, vec![9; stray]);
        case(&format!("{stray} bytes behind the array"), block);
    }
    for k in [0, 1, 5, 7, 29, 30, 31, 32, 127, 128, 255] {
        let mut block = sound.to_vec();
        block[8] = k;
        case(&format!("k {k} in the first"), block);
    }
    cases
}

/// Asks with every value of the last byte. A value of 63 leaves one bit of an offset. Larger values are undefined in
/// LevelDB.
fn base_lg_cases(text: &mut Text) {
    let mut script = BlockScript::new();
    script.begin(10);
    script.add_key(b"apple");
    script.finish();
    let mut block = script.build().remove(0);
    for base_lg in 0..=255 {
        *block.last_mut().expect("five bytes at least") = base_lg;
        let next = 1_u64.checked_shl(base_lg.into());
        let mut offsets = vec![0];
        if let Some(next) = next {
            offsets.extend([next - 1, next]);
        }
        let keys: &[&[u8]] = if base_lg < 64 { &KEYS } else { &KEYS[..1] };
        ask(text, &format!("base_lg-{base_lg}"), &block, &offsets, keys);
    }
}

fn ask(text: &mut Text, name: &str, block: &[u8], offsets: &[u64], keys: &[&[u8]]) {
    text.line(format!("block {} {name}", hex(block)));
    let queries = || offsets.iter().flat_map(|&offset| keys.iter().map(move |&key| (offset, key)));
    if block.len() >= 5 && block[block.len() - 1] >= 64 {
        for (offset, key) in queries() {
            text.line(format!("query {offset} {} undefined -", hex(key)));
        }
        return;
    }
    let mut script = QueryScript::new();
    script.block(block);
    queries().for_each(|(offset, key)| script.query(offset, key));
    for ((offset, key), answer) in queries().zip(script.answers()) {
        let by = if answer.policy_asked { "policy" } else { "layout" };
        text.line(format!("query {offset} {} {} {by}", hex(key), u8::from(answer.may_match)));
    }
}
