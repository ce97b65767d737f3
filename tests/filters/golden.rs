//! The results that LevelDB 1.23 itself computed (`testdata/golden/`, described in `testdata/README.md`).

use std::fs;
use std::path::Path;

use filterblock::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterPolicy, KeyBuf, hash};

/// The lines of a golden file without its comments, each split into its fields.
fn lines(name: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/golden").join(name);
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = if hex == "-" { "" } else { hex };
    assert!(digits.len().is_multiple_of(2), "{hex}");
    (0..digits.len() / 2).map(|i| u8::from_str_radix(&digits[i * 2..i * 2 + 2], 16).unwrap()).collect()
}

fn fields(line: &[String]) -> Vec<&str> {
    line.iter().map(String::as_str).collect()
}

#[test]
fn hashes() {
    let lines = lines("hash.txt");
    assert!(lines.len() > 500);
    for line in &lines {
        let [key, seed, expected] = fields(line)[..] else { panic!("{line:?}") };
        let number = |hex| u32::from_str_radix(hex, 16).unwrap();
        assert_eq!(hash::leveldb(&bytes(key), number(seed)), number(expected), "{line:?}");
    }
}

#[test]
fn bloom_filters() {
    let (mut policy, mut keys, mut filter) = (BloomFilterPolicy::new(0), KeyBuf::new(), Vec::new());
    let (mut filters, mut probes) = (0, 0);
    for line in &lines("bloom.txt") {
        match fields(line)[..] {
            ["bits", bits] => {
                policy = BloomFilterPolicy::new(bits.parse().unwrap());
                keys.clear();
            }
            ["key", key] => keys.push(&bytes(key)),
            ["filter", expected] => {
                filter.clear();
                policy.create_filter(keys.as_keys(), &mut filter).unwrap();
                assert_eq!(filter, bytes(expected), "{} keys, {policy:?}", keys.len());
                assert!(keys.as_keys().iter().all(|key| policy.key_may_match(key, &filter)));
                filters += 1;
            }
            ["probe", key, answer] => {
                let key = bytes(key);
                assert_eq!(policy.key_may_match(&key, &filter), answer == "1", "{line:?}");
                let hash = policy.hash_key(&key).unwrap();
                assert_eq!(policy.hash_may_match(hash, &filter), answer == "1", "{line:?} by hash");
                probes += 1;
            }
            _ => panic!("{line:?}"),
        }
    }
    assert!(filters > 100 && probes > 400, "{filters} filters, {probes} probes");
}

#[test]
fn blocks_written() {
    let mut builder = FilterBlockBuilder::new(BloomFilterPolicy::new(0));
    let mut blocks = 0;
    for line in &lines("filter_block_build.txt") {
        match fields(line)[..] {
            ["bits", bits] => {
                builder = FilterBlockBuilder::new(BloomFilterPolicy::new(bits.parse().unwrap()));
            }
            ["start", offset] => builder.start_block(offset.parse().unwrap()).unwrap(),
            ["key", key] => builder.add_key(&bytes(key)),
            ["block", expected] => {
                assert_eq!(builder.finish().unwrap(), bytes(expected), "block {blocks}");
                blocks += 1;
            }
            _ => panic!("{line:?}"),
        }
    }
    assert!(blocks > 50, "{blocks} blocks");
}

#[test]
fn answers_read() {
    let policy = BloomFilterPolicy::new(10);
    let mut reader = FilterBlockReader::new(policy, Vec::new());
    let mut what = String::new();
    let (mut asked, mut by_layout) = (0, 0);
    let mut queries: Vec<(u64, Vec<u8>, bool)> = Vec::new();
    for line in &lines("filter_block_query.txt") {
        match fields(line)[..] {
            ["block", block, name] => {
                reader = FilterBlockReader::new(policy, bytes(block));
                what = name.to_owned();
                queries.clear();
            }
            ["query", offset, key, answer, by] => {
                let (offset, key) = (offset.parse().unwrap(), bytes(key));
                // If LevelDB's answer is undefined, every key matches.
                let expected = matches!(answer, "1" | "undefined");
                let context = format!("{what}: {line:?}");
                assert_eq!(reader.key_may_match(offset, &key), expected, "{context}");
                let hash = policy.hash_key(&key).unwrap();
                assert_eq!(reader.hash_may_match(offset, hash), expected, "{context}");
                queries.push((offset, key, expected));
                let all: Vec<(u64, &[u8])> =
                    queries.iter().map(|(offset, key, _)| (*offset, &key[..])).collect();
                let mut answers = Vec::new();
                reader.keys_may_match(&all, &mut answers);
                assert!(answers.iter().eq(queries.iter().map(|(_, _, expected)| expected)), "{context}");
                *(if by == "policy" { &mut asked } else { &mut by_layout }) += 1;
            }
            _ => panic!("{line:?}"),
        }
    }
    assert!(asked > 100 && by_layout > 100, "{asked} by the policy, {by_layout} by the layout");
}
