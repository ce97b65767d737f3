//! Golden values of what LevelDB reads from filter blocks, sound and damaged.

use std::path::Path;

use anyhow::Result;
use filterblock_interop::leveldb::{BlockScript, QueryScript};

use crate::text::{Text, hex};

/// Two keys, each in a filter that the other is not in.
const KEYS: [&[u8]; 2] = [b"apple", b"pear"];

pub(crate) fn write(folder: &Path) -> Result<()> {
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
