//! SECURITY.md, README.md and the crate's page themselves.

use std::fs;
use std::path::Path;

/// Every test that SECURITY.md names, as `folder/file.rs::name`, exists and is a test.
#[test]
fn every_promise_has_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
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

/// The Rust examples of a page.
fn examples(page: &str) -> Vec<String> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(page)).unwrap();
    let code = page.split("```rust").skip(1).map(|code| code.split("```").next().unwrap().to_owned());
    code.collect()
}

/// The crate's page begins with the examples of README.md. Its doctests compile them.
#[test]
fn both_pages_have_the_same_examples() {
    let (readme, page) = (examples("README.md"), examples("docs/crate.md"));
    assert_eq!(readme.len(), 2);
    assert!(page.starts_with(&readme), "{page:?}");
}
