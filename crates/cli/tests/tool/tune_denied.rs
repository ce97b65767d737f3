//! `filterblock tune` where filters hide stored keys, or stand for two hashes: what it advises is carried out.

use std::path::Path;

use filterblock::table::{Compression, ReadOptions, Table, TableBuilder, WriteOptions};
use filterblock::{BloomFilterPolicy, LegacyBloomPolicy, LegacyHash, SharedPolicy};
use serde_json::json;

use super::manifest::{BYTEWISE, Edit, internal_key, log};
use super::*;

/// A policy, and the number of filters of its table that are to have no bit set.
type Filters = (SharedPolicy, usize);

const NEW: &str = "leveldb.BuiltinBloomFilter2";
const OLD: &str = "leveldb.BuiltinBloomFilter";

fn new(bits: u32) -> SharedPolicy {
    BloomFilterPolicy::new(bits).into()
}

fn old(bits: u32, hash: LegacyHash) -> SharedPolicy {
    LegacyBloomPolicy::new(bits).with_hash(hash).into()
}

/// Both hashes of this key are the same.
fn of_digits(number: u32) -> Vec<u8> {
    format!("{number:08}").into_bytes()
}

/// The hashes of this key differ, as its last bytes are high.
fn of_high_bytes(number: u32) -> Vec<u8> {
    [&b"a key"[..], &number.to_be_bytes(), &[0xff]].concat()
}

/// Makes a database with a table for each of `tables`.
fn made(tables: &[Filters], key: impl Fn(u32) -> Vec<u8>) -> tempfile::TempDir {
    made_in(BYTEWISE, tables, key)
}

/// Makes a database of which the MANIFEST names this comparator.
fn made_in(comparator: &[u8], tables: &[Filters], key: impl Fn(u32) -> Vec<u8>) -> tempfile::TempDir {
    let dir = folder();
    let mut edit = Edit::default().comparator(comparator).number(2, 0).number(3, 90).number(4, 100);
    for (at, (policy, cleared)) in (0..).zip(tables) {
        let options = WriteOptions::default().internal_keys(true).filter_policy(policy.clone());
        let options = options.compression(Compression::None);
        let mut builder = TableBuilder::new(Vec::new(), options);
        let keys: Vec<_> = (0..1000).map(|number| internal_key(&key(1000 * at + number), 7, 1)).collect();
        keys.iter().for_each(|key| builder.add(key, &[7; 60]).unwrap());
        let path = dir.path().join(format!("{:06}.ldb", 10 + at));
        std::fs::write(&path, builder.finish().unwrap().0).unwrap();
        clear(&path, policy, *cleared);
        let size = std::fs::metadata(&path).unwrap().len();
        edit = edit.add(1, u64::from(10 + at), size, &keys[0], &keys[999]);
    }
    std::fs::write(dir.path().join("MANIFEST-000004"), log(&[edit.0]).0).unwrap();
    std::fs::write(dir.path().join("CURRENT"), "MANIFEST-000004\n").unwrap();
    dir
}

/// Clears all bits of the first filters of a table. The last byte of each, its number of probes, stays.
fn clear(path: &Path, policy: &SharedPolicy, filters: usize) {
    let mut file = std::fs::read(path).unwrap();
    let options = ReadOptions::default().filter_policy(policy.clone());
    let handle = Table::open_path(path, &options).unwrap().filter_handle().unwrap();
    let (start, end) = (handle.offset as usize, (handle.offset + handle.size) as usize);
    let at = |place: usize| u32::from_le_bytes(file[place..place + 4].try_into().unwrap()) as usize;
    let array = start + at(end - 5);
    let starts: Vec<_> = (array..end - 1).step_by(4).map(|place| start + at(place)).collect();
    for pair in starts.windows(2).filter(|pair| pair[0] < pair[1]).take(filters) {
        file[pair[0]..pair[1] - 1].fill(0);
    }
    let crc = crc32c::crc32c(&file[start..=end]).rotate_right(15).wrapping_add(0xa282_ead8);
    file[end + 1..end + 5].copy_from_slice(&crc.to_le_bytes());
    std::fs::write(path, file).unwrap();
}

/// The object that `tune` prints with these arguments.
#[track_caller]
fn advice(database: &Path, arguments: &[&str]) -> Value {
    let arguments: Vec<_> = arguments.iter().map(Into::into).collect();
    let run = run_long(&[&args!["tune", "--json", database][..], &arguments].concat()).expect(1);
    let tuning = run.one();
    assert_eq!([&tuning["verdict"], &tuning["action"]], ["false-negatives", "rebuild"]);
    tuning
}

/// Carries out `rebuild` with these arguments, and verifies the new database.
#[track_caller]
fn carry_out(database: &Path, arguments: &[&str]) {
    let parent = folder();
    let new = parent.path().join("new");
    let arguments: Vec<_> = arguments.iter().map(Into::into).collect();
    run(&[&args!["rebuild", database, "--to", new][..], &arguments].concat()).expect(0);
    run(&args!["verify", new]).expect(0);
}

/// Compares the arguments that are advised, and carries the advice out. Returns the object.
#[track_caller]
fn is_carried_out(database: &Path, of_tune: &[&str], expected: &[&str]) -> Value {
    let advice = advice(database, of_tune);
    assert_eq!(advice["arguments"], json!(expected));
    carry_out(database, expected);
    advice
}

#[track_caller]
fn is_refused(database: &Path, reason: &str) {
    let parent = folder();
    let run = run(&args!["rebuild", database, "--to", parent.path().join("new")]).expect(1);
    assert!(run.err.contains(reason), "{run:?}");
}

#[test]
fn new_filters_have_the_bits_of_those_in_use() {
    let made = made(&[(new(16), 0), (new(16), 3)], of_digits);
    let found = is_carried_out(made.path(), &[], &["--bits-per-key", "16"]);
    assert_eq!((&found["conditions"], &found["obstacles"]), (&json!([]), &json!([])));
    // No filters are of the policy that is given, so that the bits in use are not known.
    is_carried_out(made.path(), &["--policy", OLD], &["--bits-per-key", "10", "--policy", OLD]);
}

#[test]
fn of_several_policies_one_is_named() {
    let made = made(&[(new(16), 3), (new(16), 0), (old(12, LegacyHash::Signed), 0)], of_high_bytes);
    is_refused(made.path(), "choose with --policy");
    let expected = ["--bits-per-key", "16", "--policy", NEW];
    let found = is_carried_out(made.path(), &[], &expected);
    assert_eq!(found["conditions"], json!(["several-policies"]));
    let beside = folder();
    let page = beside.path().join("page.html");
    run_long(&args!["report", made.path(), "-o", page]).expect(1);
    let page = super::report::markup::check(&std::fs::read_to_string(page).unwrap()).words();
    assert!(page.contains("Tables have filters of several policies.") && page.contains(&expected.join(" ")));

    // The user knows which one it is.
    let expected = ["--bits-per-key", "12", "--policy", OLD, "--hash", "signed"];
    let found = is_carried_out(made.path(), &["--policy", OLD], &expected);
    assert_eq!(found["conditions"], json!([]));
}

/// Filters that hide keys with both hashes tell `rebuild` nothing.
#[test]
fn the_hash_that_sound_filters_reveal_is_named() {
    for (hash, name) in [(LegacyHash::Signed, "signed"), (LegacyHash::Unsigned, "unsigned")] {
        let made = made(&[(old(10, hash), 3)], of_high_bytes);
        is_refused(made.path(), "stands for two hashes");
        is_carried_out(made.path(), &[], &["--bits-per-key", "10", "--hash", name]);
    }
}

#[test]
fn a_hash_that_nothing_reveals_is_asked_for() {
    let made = made(&[(old(12, LegacyHash::Signed), usize::MAX)], of_high_bytes);
    is_refused(made.path(), "stands for two hashes");
    let advice = advice(made.path(), &[]);
    assert_eq!((&advice["arguments"], &advice["obstacles"]), (&Value::Null, &json!(["hash-unknown"])));
    let shown = run_long(&args!["tune", made.path()]).expect(1).out;
    let remark = "\n  Rebuild has to be given the hash, with --bits-per-key 12: --hash unsigned for goleveldb, --hash signed ";
    assert!(shown.contains(remark) && !shown.contains("filterblock rebuild"), "{shown}");
    carry_out(made.path(), &["--hash", "signed", "--bits-per-key", "12"]);
}

#[test]
fn keys_with_one_hash_need_none_named() {
    let made = made(&[(old(12, LegacyHash::Signed), usize::MAX)], of_digits);
    is_carried_out(made.path(), &[], &["--bits-per-key", "12"]);
}

/// The order may take keys of different bytes for equal, so that filters hide some of them.
#[test]
fn an_order_that_is_not_known_has_no_command() {
    let made = made_in(b"another", &[(new(12), 3)], of_digits);
    is_refused(made.path(), "--assume-bytewise-equality");
    let advice = advice(made.path(), &[]);
    assert_eq!((&advice["arguments"], &advice["obstacles"]), (&Value::Null, &json!(["key-order-unknown"])));
    let remark = "Rebuild has to be given --assume-bytewise-equality, with --bits-per-key 12,";
    assert!(advice["text"].as_str().unwrap().contains(remark), "{advice}");
    carry_out(made.path(), &["--bits-per-key", "12", "--assume-bytewise-equality"]);
}

/// Only the last table has keys whose two hashes differ. Tables that are looked at for the hash beforehand have none.
#[test]
fn the_hash_of_other_filters_is_not_guessed() {
    let filters: Vec<_> = (0..18).map(|_| (old(1, LegacyHash::Signed), 0)).collect();
    let made =
        made(&filters, |number| if number < 17_000 { of_digits(number) } else { of_high_bytes(number) });
    let found = other_filters(made.path(), &[]);
    let expected = ["--bits-per-key", "10", "--hash", "signed"];
    assert_eq!(found["arguments"], json!(expected));
    carry_out(made.path(), &expected);
}

/// The object that `tune` prints about filters that could be better.
#[track_caller]
fn other_filters(database: &Path, arguments: &[&str]) -> Value {
    let arguments: Vec<_> = arguments.iter().map(Into::into).collect();
    let run = run_long(&[&args!["tune", "--json", database][..], &arguments].concat()).expect(0);
    let tuning = run.one();
    assert_eq!([&tuning["verdict"], &tuning["action"]], ["could-be-better", "rebuild"], "{tuning}");
    tuning
}

/// Without the trial of other filters, the bits in use are not known to the page.
#[test]
fn a_page_without_trials_advises_10_bits() {
    let made = made(&[(new(16), 0), (new(16), 3)], of_digits);
    let beside = folder();
    let page = beside.path().join("page.html");
    run_long(&args!["report", "--no-tune", made.path(), "-o", page]).expect(1);
    let page = super::report::markup::check(&std::fs::read_to_string(page).unwrap());
    assert!(page.words().contains(" --bits-per-key 10"));
}
