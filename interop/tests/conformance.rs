//! The cases of the conformance suite are what LevelDB answers today.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use filterblock_interop::conformance::generate;

#[test]
fn the_cases_are_those_that_leveldb_answers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("conformance").join("cases");
    let stored = fs::read_dir(folder).unwrap().map(|file| {
        let file = file.unwrap();
        (file.file_name().into_string().unwrap(), fs::read_to_string(file.path()).unwrap())
    });
    let stored: BTreeMap<String, String> = stored.collect();
    let made = generate::files(Path::new(env!("CARGO_BIN_EXE_conformance-runner"))).unwrap();
    let made: BTreeMap<String, String> = made.into_iter().collect();
    assert_eq!(stored.keys().collect::<Vec<_>>(), made.keys().collect::<Vec<_>>());
    for (name, lines) in &stored {
        for (stored, made) in lines.lines().zip(made[name].lines()) {
            assert_eq!(stored, made, "{name}");
        }
        assert_eq!(lines.lines().count(), made[name].lines().count(), "{name}");
    }
}
