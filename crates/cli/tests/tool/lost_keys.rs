//! The keys that are lost by damage: what `verify` and `inspect` report about them.

use std::fs;

use serde_json::{Value, json};

use super::tables::{Crafted, samples};
use super::*;

/// Returns true if `key` is in the range of lost keys. Keys are printable.
fn is_lost(lost: &Value, key: &str) -> bool {
    let bound = |name: &str| lost[name].as_str();
    bound("from").is_none_or(|from| key >= from)
        && bound("after").is_none_or(|after| key > after)
        && bound("up_to").is_none_or(|up_to| key <= up_to)
}

/// Damages some blocks of LevelDB's tables of words, one at a time. The keys that are reported lost are those of the
/// block, and no others.
#[test]
fn a_damaged_block_names_its_keys_and_no_others() {
    let mut blocks_tried = 0;
    for sample in samples().into_iter().filter(|sample| sample.name.starts_with("words-")) {
        let table = sample.open();
        let text = |key: &[u8]| std::str::from_utf8(key).unwrap().to_owned();
        let keys: Vec<_> = sample.entries.iter().map(|(key, _)| text(key)).collect();
        if keys.iter().any(|key| key.bytes().any(|byte| !(b' '..=b'~').contains(&byte) || byte == b'\\')) {
            continue;
        }
        let handles: Vec<_> = table.data_blocks().map(Result::unwrap).collect();
        let step = handles.len().div_ceil(5);
        for handle in handles.iter().step_by(step).chain(handles.last()) {
            let mut of_block = Vec::new();
            let mut entries = table.block_cursor(*handle).unwrap();
            while entries.next().unwrap() {
                of_block.push(text(entries.key()));
            }
            let mut damaged = sample.file.to_vec();
            damaged[handle.offset as usize + 3] ^= 0x41;
            let folder = folder();
            let path = file(&folder, "damaged.ldb", &damaged);
            let report = run(&args!["verify", "--json", path]).expect(1).one();
            let problem = &report["problems"][0];
            assert_eq!((&problem["code"], &problem["lost"]["from"]), (&json!("checksum"), &Value::Null));
            let found: Vec<_> = keys.iter().filter(|key| is_lost(&problem["lost"], key)).collect();
            assert_eq!(found, of_block.iter().collect::<Vec<_>>(), "{} {problem}", sample.name);
            let text = run(&args!["verify", path]).expect(1).out;
            let words = text.replace("\n  Entries", " entries");
            assert!(words.contains(" entries after ") || words.contains(" entries up to "), "{text}");
            assert!(words.contains(" are lost"), "{text}");
            // `inspect` decodes some blocks only. What it finds, it names in the same way.
            let shown = run(&args!["inspect", "--json", path]).one();
            if let Some(error) = shown["error"].as_str() {
                assert_eq!(shown["lost"], problem["lost"], "{error}");
                assert!(error.contains("; lost: keys "), "{error}");
            } else {
                assert_eq!(shown["lost"], Value::Null);
            }
            blocks_tried += 1;
        }
    }
    assert!(blocks_tried > 20, "{blocks_tried}");
}

/// A table of three blocks. The first has the key `b` and the third `f`. `spoil` appends the second.
fn spoilt(spoil: impl FnOnce(&mut Crafted) -> tables::Place) -> bytes::Bytes {
    let mut crafted = Crafted::default();
    let first = crafted.entries(&[("b", "1")]);
    let second = spoil(&mut crafted);
    let third = crafted.entries(&[("f", "3")]);
    crafted.finish(&[(b"c", first), (b"e", second), (b"g", third)], &[])
}

#[test]
fn every_kind_of_damage_to_a_block_names_the_keys() {
    let lost = json!({"from": null, "after": "c", "up_to": "e"});
    for (code, contents) in [
        ("bad-handle", spoilt(|_| (1 << 40, 9))),
        ("bad-compression", spoilt(|crafted| crafted.block_of_type(b"whatever", 1))),
        ("bad-block", spoilt(|crafted| crafted.block(b"no block"))),
        ("unsupported", spoilt(|crafted| crafted.block_of_type(b"whatever", 9))),
    ] {
        let folder = folder();
        let path = file(&folder, "table.ldb", contents);
        let report = run(&args!["verify", "--json", path]).one();
        assert_eq!((&report["problems"][0]["code"], &report["problems"][0]["lost"]), (&json!(code), &lost));
        let text = run(&args!["verify", path]).out;
        let is_said = text.to_lowercase().contains("entries after \"c\", up to \"e\", are lost");
        assert_eq!(is_said, code != "unsupported", "{text}");
        let shown = run(&args!["inspect", "--json", path]).one();
        let expected = if code == "unsupported" { &Value::Null } else { &lost };
        assert_eq!(&shown["lost"], expected, "{shown}");
    }
    // The keys left out because of a limit have no upper bound.
    let folder = folder();
    let path = file(&folder, "table.ldb", spoilt(|crafted| crafted.entries(&[("d", "2")])));
    let report = run(&args!["verify", "--json", "--max-output", "30", path]).expect(2).one();
    let problem = report["problems"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&problem["code"], &problem["lost"]["up_to"]), (&json!("limit"), &Value::Null), "{problem}");
    assert!(problem["lost"]["after"].is_string(), "{problem}");
}

/// In a database, problems name user keys. If a whole table is lost, its range comes from the MANIFEST.
#[test]
fn tables_that_are_gone_or_do_not_open_name_the_keys_that_the_manifest_has() {
    let copy = folder();
    for entry in fs::read_dir(database("levels")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    let keys_of = |name: &str| {
        let listed = tables::listing("databases/levels.entries");
        let keys = listed.into_iter().filter(|fields| fields[0].contains(name));
        let keys = keys.map(|fields| String::from_utf8(tables::unhex(&fields[1])).unwrap());
        keys.collect::<std::collections::BTreeSet<_>>()
    };
    let missing = keys_of("000005");
    fs::remove_file(copy.path().join("000005.ldb")).unwrap();
    let unopened = keys_of("000007");
    fs::write(copy.path().join("000007.ldb"), "no table at all").unwrap();
    let path = copy.path().join("000009.ldb");
    let mut damaged = fs::read(&path).unwrap();
    damaged[10..14].fill(0);
    fs::write(&path, damaged).unwrap();
    let reports = run(&args!["verify", "--json", copy.path()]).json();
    let problem = |name: &str| {
        let report = reports.iter().find(|report| report["path"].as_str().unwrap().ends_with(name)).unwrap();
        report["problems"][0].clone()
    };
    for (name, code, keys) in
        [("000005.ldb", "table-missing", missing), ("000007.ldb", "not-a-table", unopened)]
    {
        let problem = problem(name);
        assert_eq!(problem["code"], code);
        let expected = json!({"from": keys.first(), "after": null, "up_to": keys.last()});
        assert_eq!(problem["lost"], expected);
        if name == "000007.ldb" {
            let shown = run(&args!["inspect", "--json", copy.path().join(name)]).expect(1).one();
            assert_eq!(shown["lost"], expected);
        }
    }
    let lost = &problem("000009.ldb")["lost"];
    let keys = keys_of("000009");
    assert!(is_lost(lost, keys.first().unwrap()) && !is_lost(lost, keys.last().unwrap()), "{lost}");
    assert_eq!((&lost["from"], &lost["after"]), (&Value::Null, &Value::Null));
    let up_to = lost["up_to"].as_str().unwrap();
    assert!(up_to.starts_with("item/") && !up_to.contains('\\'), "without sequence number: {up_to}");
}

/// However long a key is, the report on it stays short.
#[test]
fn long_keys_are_cut_and_their_length_follows() {
    let key = vec![b'k'; 5000];
    let mut crafted = Crafted::default();
    let bad = crafted.block(b"no block");
    let folder = folder();
    let path = file(&folder, "table.ldb", crafted.finish(&[(&key, bad)], &[]));
    let report = run(&args!["verify", "--json", path]).expect(1).one();
    let expected = format!("{}... (5000 bytes)", "k".repeat(256));
    assert_eq!(report["problems"][0]["lost"]["up_to"], expected);
    let text = run(&args!["verify", path]).expect(1).out;
    assert!(
        text.contains(&format!("entries up to \"{}\"... (5000 bytes), are lost", "k".repeat(48))),
        "{text}"
    );
}
