//! The filters that tables get: policy, bits a key, range.

use filterblock::{CassandraBloomPolicy, FilterPolicy, Keys, LegacyBloomPolicy, Murmur3BloomPolicy};

use super::*;

/// A policy that this program does not know.
struct Named(&'static str);

impl FilterPolicy for Named {
    fn name(&self) -> &str {
        self.0
    }
    fn create_filter(&self, _: Keys<'_>, dst: &mut Vec<u8>) -> filterblock::Result<()> {
        dst.extend(b"theirs");
        Ok(())
    }
    fn key_may_match(&self, _: &[u8], _: &[u8]) -> bool {
        true
    }
}

#[test]
fn without_a_number_there_are_ten_bits_a_key() {
    let [usual, ten] = [&[][..], &["--bits-per-key", "10"]].map(|options| {
        let db = plan([spec(1, 10, 0..400).policy(BloomFilterPolicy::new(3))]).make();
        db.done(&[&["--in-place"], options].concat());
        db.read("000042.ldb")
    });
    assert!(usual == ten);
}

/// The tables of one database have different ranges, and each keeps its own.
#[test]
fn ranges_stay_those_of_each_table() {
    let tables = [9, 15, 63, 15].into_iter().zip(0..);
    let with = tables
        .map(|(base_lg, at)| Spec { base_lg, ..spec(1, 10 + at, at as u32 * 300..at as u32 * 300 + 300) });
    // A table without filters gets the range that most tables have.
    let without = Spec { policy: None, ..spec(2, 20, 0..300) };
    let db = plan(with.chain([without.clone()]).collect::<Vec<_>>()).make();
    db.done(&["--in-place", "--no-undo"]);
    let ranges = |db: &Db| -> Vec<u8> {
        db.live().iter().map(|(_, name)| filters_of(&db.file(name)).unwrap().1).collect()
    };
    assert_eq!(ranges(&db), [9, 15, 63, 15, 15]);
    db.is_sound();
    db.done(&["--in-place", "--base-lg", "13"]);
    assert_eq!(ranges(&db), [13; 5]);
    // If no table has filters, the range is LevelDB's.
    let db = plan([without]).make();
    db.done(&["--in-place", "--policy", NEW]);
    assert_eq!(ranges(&db), [11]);
}

#[test]
fn the_policy_is_that_of_the_tables_or_the_one_asked_for() {
    let cassandra = "filterblock.CassandraBloomFilter1";
    let murmur = "filterblock.Murmur3BloomFilter1";
    let tables = [
        (NEW, spec(1, 10, 0..300)),
        (cassandra, spec(1, 10, 0..300).policy(CassandraBloomPolicy::new(10))),
        (murmur, spec(1, 10, 0..300).policy(Murmur3BloomPolicy::new(10))),
    ];
    for (name, table) in tables {
        let db = plan([table]).make();
        db.done(&["--in-place", "--bits-per-key", "15", "--no-undo"]);
        assert_eq!(filters_of(&db.file("000042.ldb")).unwrap().0, name);
        db.is_sound();
        for other in [NEW, OLD, cassandra, murmur] {
            db.done(&["--in-place", "--policy", other, "--hash", "unsigned", "--no-undo"]);
            let (_, table) = &db.live()[0];
            assert_eq!(filters_of(&db.file(table)).unwrap().0, other);
            db.is_sound();
        }
    }
}

#[test]
fn of_two_policies_one_has_to_be_chosen() {
    let db = plan([spec(1, 10, 0..300), spec(2, 11, 0..300).policy(LegacyBloomPolicy::new(10))]).make();
    db.refused(
        1,
        &["--in-place"],
        "{db}: tables have filters of two policies, \"leveldb.BuiltinBloomFilter\" and \
         \"leveldb.BuiltinBloomFilter2\"\nchoose with --policy",
    );
    db.done(&["--in-place", "--policy", NEW]);
    assert!(db.live().iter().all(|(_, name)| filters_of(&db.file(name)).unwrap().0 == NEW));
}

#[test]
fn a_database_without_filters_needs_a_policy() {
    let db = plan([Spec { policy: None, ..spec(1, 10, 0..300) }]).make();
    let message = "{db}: no table has filters, so the policy has to be named\n\
                   use the policy of the program, which ignores all others:\n\
                   --policy leveldb.BuiltinBloomFilter2  LevelDB (C++): Bitcoin Core, Minecraft, Chromium's IndexedDB, \
                   Foundry VTT\n\
                   --policy leveldb.BuiltinBloomFilter   goleveldb: go-ethereum";
    db.refused(1, &["--in-place"], message);
    db.refused(1, &["--in-place", "--dry-run"], message);
    let target = db.path.join("new");
    db.refused(1, &["--to", target.to_str().unwrap()], message);
    db.done(&["--in-place", "--policy", NEW]);
    assert_eq!(filters_of(&db.file("000042.ldb")).unwrap().0, NEW);
    db.is_sound();
    // Filters may be dropped from tables that have none.
    plan([Spec { policy: None, ..spec(1, 10, 0..300) }]).make().done(&["--in-place", "--drop"]);
}

#[test]
fn a_policy_that_is_not_known_here_is_not_followed() {
    let table = || spec(1, 10, 0..300).policy(Named("ours \u{1b}[31m"));
    let message = "{db}: tables have filters of the policy \"ours \\x1b[31m\", which is not known here\n\
                   --policy chooses another, and --drop removes the filters";
    let db = plan([table()]).make();
    db.refused(1, &["--in-place"], message);
    db.done(&["--in-place", "--policy", NEW]);
    assert_eq!(filters_of(&db.file("000042.ldb")).unwrap().0, NEW);
    let db = plan([table()]).make();
    db.done(&["--in-place", "--drop"]);
    assert_eq!(open(&db.file("000042.ldb")).filter_name(), None);
}

/// The old filters are read only to find out their kind. If they are damaged, a rebuild replaces them.
#[test]
fn damaged_filters_are_replaced() {
    let db = usual();
    let path = db.file("000012.ldb");
    let handle = open(&path).filter_handle().unwrap();
    let mut bytes = db.read("000012.ldb");
    bytes[handle.offset as usize + 3] ^= 1;
    db.write("000012.ldb", &bytes);
    run(&args!["verify", db.dir()]).expect(1);
    db.done(&["--in-place"]);
    assert_eq!(filters_of(&db.file("000042.ldb")), Some((NEW.to_owned(), 11)));
    db.is_sound();
}

/// The filters have the name of Google's policy, but other contents.
#[test]
fn tables_of_riak_are_refused() {
    let riak = tables::testdata().join("basho").join("versions-bloom.ldb");
    let bytes = fs::read(riak).unwrap();
    let db = plan([]).make();
    let entries: Vec<_> =
        Table::open(bytes.clone(), &ReadOptions::default()).unwrap().iter().map(Result::unwrap).collect();
    let (first, last) = (&entries[0].0, &entries.last().unwrap().0);
    db.write("000012.ldb", &bytes);
    let edit = manifest::Edit::sound().add(1, 12, bytes.len() as u64, first, last).number(2, 41).number(9, 0);
    db.write("MANIFEST-000040", manifest::log(&[edit.0]).0);
    let found = "is Riak's: its tables are only read";
    for options in [
        &["--in-place"][..],
        &["--in-place", "--drop"],
        &["--in-place", "--dry-run"],
        &["--in-place", "--policy", NEW],
        // These would leave all tables as they are.
        &["--in-place", "--keep-undecodable"],
        &["--in-place", "--drop", "--keep-undecodable"],
    ] {
        db.refused(1, options, &format!("{{db}}/000012.ldb: {found}"));
    }
}
