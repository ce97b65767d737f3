//! LevelDB's databases, damaged and repaired; LevelDB, goleveldb and plyvel read the results, and go on writing.

use std::path::Path;
use std::time::Duration;

use filterblock_interop::compare::judges::Judge;
use filterblock_interop::compare::{idb, repaired};
use filterblock_interop::leveldb::{Database, DatabaseOptions};

/// `compare repaired` does the same for longer.
#[test]
fn repair_invents_nothing_and_saves_no_less_than_leveldbs_own() {
    let judges = Judge::all(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    let report = repaired::run(6, 61, &judges, (4, Duration::ZERO)).unwrap();
    assert!(report.cases == 84 && report.exact > 48 && report.right > report.right_by_leveldb, "{report}");
    assert!(
        report.work.len() == judges.len() && report.work.iter().all(|work| work.sessions == 24),
        "{report}"
    );
}

/// LevelDB has Chromium's order by a comparator in C++.
#[test]
fn repaired_databases_of_indexeddb_are_in_chromiums_order() {
    for seed in 0..2 {
        let report = idb::run(seed).unwrap();
        assert!(report.cases == 14 && report.exact >= 8, "{report:?}");
        assert!(report.against_bytewise > 200, "{report:?}");
    }
}

/// `verify` and `tune` warn of this. LevelDB creates what is missing, as most programs have it do.
#[test]
fn without_current_leveldb_starts_a_new_database_and_deletes_the_tables() {
    let folder = tempfile::tempdir().unwrap();
    let levels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/databases/levels");
    for file in
        std::fs::read_dir(levels).unwrap().map(Result::unwrap).filter(|file| file.file_name() != "CURRENT")
    {
        std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    let table = folder.path().join("000005.ldb");
    assert!(table.exists());
    drop(Database::open(folder.path(), &DatabaseOptions::default()).unwrap());
    assert!(!table.exists());
}
