//! The promises of SECURITY.md.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Adds the numbers that the sources below `folder` name as `Promise: A1.`
fn add_named(folder: &Path, named: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add_named(&path, named);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(path).unwrap();
            let lines = source.lines().filter_map(|line| line.trim_start().strip_prefix("/// Promise: "));
            named.extend(lines.map(|number| number.trim_end_matches('.').to_owned()));
        }
    }
}

/// Each promise has a test that names its number, and no test names another number.
#[test]
fn each_promise_has_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let document = fs::read_to_string(root.join("SECURITY.md")).unwrap();
    let promises = document.lines().filter_map(|line| line.strip_prefix("- **")?.split([' ', '*']).next());
    let is_number = |word: &&str| word.starts_with(['A', 'B']) && word[1..].parse::<u32>().is_ok();
    let promises: BTreeSet<String> = promises.filter(is_number).map(str::to_owned).collect();
    assert!(promises.len() > 10, "SECURITY.md has only these: {promises:?}");

    let mut named = BTreeSet::new();
    for tests in ["tests", "crates/cli/tests", "crates/engine/src"] {
        add_named(&root.join(tests), &mut named);
    }
    assert_eq!(named, promises);
}
