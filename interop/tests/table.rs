//! Tables against LevelDB's, at the smaller count; `compare-table` takes larger ones.

use filterblock_interop::compare::table;

#[test]
fn both_write_the_same_tables_and_read_each_others() {
    let report = table::run(400, 31).unwrap();
    assert_eq!((report.tables, report.compressed), (400, 400));
    // The cases reach what they are meant to.
    assert!(report.internal > 0 && report.unfiltered > 0 && report.empty > 0);
    assert!(report.denied > 1000 && report.asked - report.denied > 1000);
}
