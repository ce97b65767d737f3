//! The policy name `leveldb.BuiltinBloomFilter` leaves the hash open: signed or unsigned.

use filterblock::{FilterPolicy as _, InternalFilterPolicy, LegacyBloomPolicy, LegacyHash};

use super::*;

/// A table with filters of this hash. If `high`, the last bytes of its keys are above 0x7f, and the two hashes differ.
fn old(number: u64, hash: LegacyHash, high: bool) -> Spec {
    let end = if high { 0xfe } else { b'x' };
    let keys = (0..200).map(|key| [format!("{number}-{key:06}").as_bytes(), &[end]].concat());
    let policy = LegacyBloomPolicy::new(10).with_hash(hash);
    Spec { keys: keys.collect(), ..spec(1, number, 0..1).policy(policy) }
}

/// Asserts that the filters of a table are of this hash: with it they deny no stored key, and with the other hash they
/// deny some.
#[track_caller]
fn assert_hash(path: &Path, hash: LegacyHash) {
    let denied = |hash| {
        let policy = InternalFilterPolicy::new(LegacyBloomPolicy::new(10).with_hash(hash));
        let table = open(path);
        let contents = table.filter().unwrap().contents();
        let reader = filterblock::FilterBlockReader::new(policy, contents);
        let mut denied = 0;
        for handle in table.data_blocks() {
            let handle = handle.unwrap();
            let mut block = table.block_cursor(handle).unwrap();
            while block.next().unwrap() {
                denied += u32::from(!reader.key_may_match(handle.offset, block.key()));
            }
        }
        denied
    };
    let other = if hash == LegacyHash::Signed { LegacyHash::Unsigned } else { LegacyHash::Signed };
    assert_eq!(denied(hash), 0);
    assert!(denied(other) > 100);
    assert_eq!(LegacyBloomPolicy::new(10).name(), OLD);
}

#[test]
fn keys_tell_the_hash() {
    for hash in [LegacyHash::Signed, LegacyHash::Unsigned] {
        // The first table does not reveal the hash.
        let db = plan([old(5, hash, false), old(7, hash, true)]).make();
        db.done(&["--in-place", "--bits-per-key", "17"]);
        assert_hash(&db.file("000043.ldb"), hash);
        db.is_sound();
    }
}

#[test]
fn a_hash_that_is_given_counts_more_than_the_keys() {
    for (hash, name) in [(LegacyHash::Signed, "signed"), (LegacyHash::Unsigned, "unsigned")] {
        for before in [LegacyHash::Signed, LegacyHash::Unsigned] {
            let db = plan([old(7, before, true)]).make();
            db.done(&["--in-place", "--hash", name]);
            assert_hash(&db.file("000042.ldb"), hash);
            db.is_sound();
        }
    }
}

fn needs_hash(why: &str) -> String {
    format!(
        "{{db}}: leveldb.BuiltinBloomFilter stands for two hashes, and {why}\n\
         --hash unsigned  goleveldb, and LevelDB before 1.18 on ARM\n\
         --hash signed    LevelDB before 1.18 on x86"
    )
}

#[test]
fn where_nothing_tells_the_hash_it_has_to_be_given() {
    let neither = needs_hash("no key tells which");
    // No filters at all.
    let db = plan([Spec { policy: None, ..old(5, LegacyHash::Signed, true) }]).make();
    db.refused(1, &["--in-place", "--policy", OLD], &neither);
    // Filters of another name.
    let keys = old(5, LegacyHash::Signed, true).keys;
    let db = plan([Spec { keys, ..spec(1, 5, 0..1) }]).make();
    db.refused(1, &["--in-place", "--policy", OLD], &neither);
    // Filters of both hashes.
    let db = plan([old(5, LegacyHash::Signed, true), old(7, LegacyHash::Unsigned, true)]).make();
    let both = "the filters of 000005.ldb and 000007.ldb are by different ones";
    db.refused(1, &["--in-place"], &needs_hash(both));
    db.done(&["--in-place", "--hash", "unsigned"]);
    for name in ["000042.ldb", "000043.ldb"] {
        assert_hash(&db.file(name), LegacyHash::Unsigned);
    }
}

/// If the last bytes of all keys are below 0x80, new filters are the same by both hashes, whatever filters the tables
/// have now.
#[test]
fn keys_with_one_hash_by_both_need_none() {
    let without = Spec { policy: None, ..old(6, LegacyHash::Signed, false) };
    let of_another_name = spec(1, 7, 0..20);
    let db = plan([old(5, LegacyHash::Signed, false), without, of_another_name]).make();
    db.done(&["--in-place", "--policy", OLD]);
    assert_eq!(filters_of(&db.file("000043.ldb")).unwrap().0, OLD);
    db.is_sound();
    // For a single key whose two hashes differ, the hash has to be given, even if the key's table has no filters.
    let without = Spec { policy: None, ..old(6, LegacyHash::Signed, true) };
    let db = plan([old(5, LegacyHash::Signed, false), without]).make();
    db.refused(1, &["--in-place"], &needs_hash("no key tells which"));
}

/// For filters of another policy, the hash of the old ones does not matter.
#[test]
fn other_policies_do_not_ask_for_a_hash() {
    let db = plan([old(5, LegacyHash::Signed, false)]).make();
    db.done(&["--in-place", "--policy", NEW, "--hash", "signed"]);
    assert_eq!(filters_of(&db.file("000042.ldb")).unwrap().0, NEW);
}

/// A damaged table that is kept as it is need not reveal the hash; the others do.
#[test]
fn a_damaged_table_that_is_kept_does_not_hide_the_hash() {
    let db = plan([old(5, LegacyHash::Signed, true), old(7, LegacyHash::Signed, true)]).make();
    damage(&db.file("000005.ldb"));
    let bytes = db.read("000005.ldb");
    let run = db.run(&["--in-place"]).expect(1);
    assert!(run.err.contains("000005.ldb: "), "{run:?}");
    assert!(!run.err.contains("--hash"), "{run:?}");
    db.done(&["--in-place", "--keep-undecodable"]);
    assert!(db.read("000042.ldb") == bytes);
    assert_hash(&db.file("000043.ldb"), LegacyHash::Signed);
}
