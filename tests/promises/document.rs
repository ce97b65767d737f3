//! README.md and the crate's page themselves.

use std::fs;
use std::path::Path;

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
