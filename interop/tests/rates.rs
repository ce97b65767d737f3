//! Rates of false positives compared with LevelDB's; `compare rates` takes any number of tables.

use std::path::Path;

use filterblock_interop::compare::rates;

#[test]
fn the_program_shows_the_rates_that_leveldb_has() {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
    let report = rates::run(&testdata, 200, 1_000_000, 1).unwrap();
    assert!(report.tables > 230 && report.held > 100, "{report}");
    // Of intervals of 95 %, most hold the rate. LevelDB's own rate is measured, too, so that a few
    // more than 5 % of the intervals do not hold it.
    assert!(report.within * 10 > report.tables * 8, "{report}");
    // Estimates by the bits set would not do.
    assert!(report.misjudged > 20 && report.worst_estimate > 3.0, "{report}");
}
