//! Tables compared with LevelDB's; `compare table` takes any number of them.

use filterblock_interop::compare::{large, table};

#[test]
fn both_write_the_same_tables_and_read_each_others() {
    let report = table::run(400, 31).unwrap();
    assert_eq!((report.tables, report.compressed), (400, 400));
    // The cases reach everything that is counted.
    assert!(report.internal > 0 && report.unfiltered > 0 && report.empty > 0);
    assert!(report.denied > 1000 && report.asked - report.denied > 1000);
}

#[test]
fn both_write_the_same_blocks_of_more_entries_than_16_bits_count() {
    let report = table::run_long_blocks().unwrap();
    assert_eq!((report.tables, report.data_blocks), (14, 14));
    assert_eq!(report.entries, 7 * (65_537 + 131_075));
}

#[test]
fn a_table_of_many_entries_goes_both_ways() {
    let report = large::run(100_000, 100).unwrap();
    assert!(report.denied > 900, "{report}");
}

#[test]
fn a_table_of_large_values_goes_both_ways() {
    let report = large::run(300, 1 << 18).unwrap();
    assert!(report.last_block > 64 << 20, "{report}");
}

/// LevelDB sets no limit on the length of a value, which lies whole in its block.
#[test]
fn values_of_9_and_40_mib_go_both_ways_compressed_or_not() {
    for size in [9 << 20, 40 << 20] {
        let report = large::run_compressed(3, size).unwrap();
        assert!(report.file_size < 3 * size as u64 / 20, "{report}");
        let report = large::run(3, size).unwrap();
        assert!(report.file_size > 3 * size as u64, "{report}");
    }
}
