//! Newer versions of keys that lie below older ones, as public reports have them.

use std::fs;

use filterblock::table::{IdbComparator, TableBuilder, WriteOptions};

use super::databases::{BYTEWISE, internal_key};
use super::public_logs::database_of;
use super::reports::{self, Listed, batch};
use super::*;

/// A table of these keys and sequence numbers, in the order of the comparator of IndexedDB or bytewise.
fn many(level: u64, number: u64, mut entries: Vec<(Vec<u8>, u64)>, is_idb: bool) -> Listed {
    entries.sort_by(|(a, a_number), (b, b_number)| {
        let keys =
            if is_idb { filterblock::table::Comparator::compare(&IdbComparator, a, b) } else { a.cmp(b) };
        keys.then(b_number.cmp(a_number))
    });
    let keys: Vec<_> = entries.iter().map(|(key, number)| internal_key(key, *number, 1)).collect();
    let options = WriteOptions::default().internal_keys(true).block_size(256);
    let options = if is_idb { options.comparator(std::sync::Arc::new(IdbComparator)) } else { options };
    let mut builder = TableBuilder::new(Vec::new(), options);
    keys.iter().for_each(|key| builder.add(key, b"value").unwrap());
    let ends = [keys[0].clone(), keys[keys.len() - 1].clone()];
    Listed(level, number, builder.finish().unwrap().0, ends)
}

/// Keys of numbers, with the sequence number that `number` gives.
fn keys(of: impl Iterator<Item = u64>, number: impl Fn(u64) -> u64) -> Vec<(Vec<u8>, u64)> {
    of.map(|at| (format!("key{at:05}").into_bytes(), number(at))).collect()
}

fn newer_below(tables: &[Listed], logs: &[(u64, Vec<Vec<u8>>)], comparator: &[u8]) -> Option<String> {
    let empty = [(3, Vec::new())];
    let logs = if logs.is_empty() { &empty } else { logs };
    let (_place, db) =
        database_of(|folder| reports::database(folder, comparator, (3, 100_000), logs, tables));
    let run = run(&args!["verify", "--json", db]);
    let lines = run.all_json();
    let problems = || lines.iter().flat_map(|line| line["problems"].as_array().unwrap());
    assert!(problems().all(|problem| problem["code"] == "newer-below"), "{run:?}");
    assert_eq!(run.status, i32::from(problems().next().is_some()), "{run:?}");
    problems().next().map(|problem| problem["found"].as_str().unwrap().to_owned())
}

#[test]
fn a_newer_version_below_an_older_one_is_a_finding() {
    // Levels 1 and 2, and levels 1 and 6.
    for deep in [2, 6] {
        let tables = [
            many(1, 4, keys(0..1000, |at| 5000 + at), false),
            many(deep, 5, keys(0..2000, |at| if at == 777 { 9000 } else { 1 + at }), false),
        ];
        let found = newer_below(&tables, &[], BYTEWISE).unwrap();
        assert_eq!(
            found,
            format!(
                "it in 000005.ldb on level {deep}, below 000004.ldb on level 1; a newer version of 1 key lies below an \
                 older one: LevelDB's lookups return the older"
            )
        );
    }
    // Of level 0, the table of the higher number comes first.
    let level_0 = |older: u64, newer: u64| {
        [
            many(0, 7, keys(0..100, |at| newer + at), false),
            many(0, 6, keys((0..100).chain(500..600), |at| older + at), false),
        ]
    };
    assert_eq!(newer_below(&level_0(1000, 2000), &[], BYTEWISE), None);
    let found = newer_below(&level_0(2000, 1000), &[], BYTEWISE).unwrap();
    assert!(found.contains("a newer version of 100 keys"), "{found}");
    // One key is enough, among many that interleave.
    let interleaved = |odd: u64| {
        let above = keys((0..3000).step_by(3), |at| if at == 1500 { odd } else { 20_000 + at });
        [many(1, 4, above, false), many(2, 5, keys(0..3000, |at| 100 + at), false)]
    };
    assert_eq!(newer_below(&interleaved(20_000), &[], BYTEWISE), None);
    assert!(newer_below(&interleaved(50), &[], BYTEWISE).unwrap().contains("of 1 key "));
    // Keys that come between are no matter, however their numbers are.
    let between = [
        many(1, 4, keys((0..2000).step_by(2), |at| 10 + at), false),
        many(2, 5, keys((1..2000).step_by(2), |at| 50_000 - at), false),
    ];
    assert_eq!(newer_below(&between, &[], BYTEWISE), None);
}

#[test]
fn a_log_is_before_all_tables() {
    let tables = [many(0, 4, keys(0..100, |at| 1000 + at), false)];
    let log = |number: u64| [(3, vec![batch(number, &[(b"key00050", b"w"), (b"other", b"w")])])];
    assert_eq!(newer_below(&tables, &log(2000), BYTEWISE), None);
    let found = newer_below(&tables, &log(900), BYTEWISE).unwrap();
    assert!(found.starts_with("it in 000004.ldb on level 0, below 000003.log"), "{found}");
    // A log that the database does not use does not count.
    let (_place, db) = database_of(|folder| {
        reports::database(folder, BYTEWISE, (3, 100_000), &[(3, Vec::new()), log(900)[0].clone()], &tables);
        fs::rename(folder.join("000003.log"), folder.join("000001.log")).unwrap();
        fs::write(folder.join("000003.log"), "").unwrap();
    });
    run(&args!["verify", db]).expect(0);
}

#[test]
fn the_order_of_keys_has_to_be_known() {
    let key = |at: u8| [&[0, 1, 1, 1, 3][..], &[0; 7], &[at]].concat();
    let table = |level, number, first: u64| {
        many(level, number, (0..50).map(|at| (key(at), first + u64::from(at))).collect(), true)
    };
    assert_eq!(newer_below(&[table(1, 4, 500), table(2, 5, 100)], &[], b"idb_cmp1"), None);
    let found = newer_below(&[table(1, 4, 100), table(2, 5, 500)], &[], b"idb_cmp1").unwrap();
    assert!(found.contains("of 50 keys"), "{found}");
    let unknown =
        [many(1, 4, keys(0..9, |at| 100 + at), false), many(2, 5, keys(0..9, |at| 500 + at), false)];
    assert_eq!(newer_below(&unknown, &[], b"some.Comparator"), None);
}

/// goleveldb compares the tables of level 0, so that their order does not matter there.
#[test]
fn goleveldbs_level_0_has_no_order() {
    let tables =
        [many(0, 7, keys(0..100, |at| 1000 + at), false), many(0, 6, keys(0..100, |at| 2000 + at), false)];
    let (_place, db) =
        database_of(|folder| reports::database(folder, BYTEWISE, (3, 9000), &[(3, Vec::new())], &tables));
    run(&args!["verify", db]).expect(1);
    fs::write(db.join("LOG"), "=============== Jan 1, 2024 (UTC) ===============\n").unwrap();
    run(&args!["verify", db]).expect(0);
}

/// What a repair makes of such a database is in order.
#[test]
fn a_repair_puts_the_newer_version_first() {
    let (_place, db) = database_of(|folder| reports::make("deeper", folder));
    let text = run(&args!["verify", db]).expect(1).out.replace("\n  ", " ");
    assert!(text.contains(": damaged: a newer version of 1 key lies below an older one"), "{text}");
    let page = run(&args!["report", db, "-o", db.with_extension("html")]).expect(1);
    assert!(page.out.contains(": damaged; the page is "), "{page:?}");
    let new = db.with_extension("new");
    run(&args!["repair", db, "--to", new]).expect(0);
    run(&args!["verify", new]).expect(0);
    assert_eq!(run(&args!["get", new, "k"]).expect(0).out, "newer");
}
