//! Filter blocks compared with LevelDB's; `compare filter-block` takes any number of blocks and
//! queries.

use filterblock_interop::compare::{builder, reader};

#[test]
fn both_builders_write_the_same_bytes() {
    let report = builder::run(20_000, 11).unwrap();
    assert_eq!(report.blocks, 20_000);
    // The cases reach all conditions.
    assert!(report.backward_starts > 0 && report.hashed_keys > 0 && report.early_keys > 0);
    assert!(report.long_keys > 0);
    assert!(report.largest > 100_000, "no gap of many empty filters");
}

#[test]
fn both_readers_give_the_same_answers() {
    let report = reader::run(200_000, 12).unwrap();
    assert_eq!(report.queries, 200_000);
    report.ensure_covered().unwrap();
}
