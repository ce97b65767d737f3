//! Twenty random databases; `compare databases` takes any number of them.

use std::path::Path;

use filterblock_interop::compare::at_random;
use filterblock_interop::goleveldb;

#[test]
fn no_stored_key_is_denied_and_every_damage_that_denies_one_is_found() {
    let goleveldb = goleveldb::build("databases", Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    let report = at_random::run(20, 1, goleveldb.as_deref()).unwrap();
    assert_eq!(report.denying(), report.found(), "{report}");
    // The cases reach everything that is counted.
    assert!(report.denying() > 50 && report.kinds() == 7, "{report}");
    assert!(report.stored > 1000 && report.absent_denied > 0, "{report}");
    assert!(report.with_log > 0 && report.several_levels > 0 && report.custom > 0, "{report}");
}
