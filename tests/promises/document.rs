//! SECURITY.md itself.

use std::fs;
use std::path::Path;

/// Every test that is named there, as `folder/file.rs::name`, exists and is a test.
#[test]
fn every_promise_has_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = fs::read_to_string(root.join("SECURITY.md")).unwrap();
    let mut named = 0;
    for code in document.split('`').skip(1).step_by(2) {
        let Some((file, name)) = code.split_once(".rs::") else { continue };
        let source = fs::read_to_string(root.join(format!("{file}.rs")));
        let source = source.unwrap_or_else(|error| panic!("{code}: {error}"));
        assert!(source.contains(&format!("#[test]\nfn {name}()")), "{code} is no test");
        named += 1;
    }
    assert!(named >= 20, "only {named} tests are named");
}
