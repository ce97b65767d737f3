//! Tests that the folders `tables`, `databases` and `golden` of `testdata/` hold what
//! `generate-testdata` writes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use filterblock_interop::leveldb::{Table, TableOptions};

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fn collect(folder: &Path, root: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, root, files);
            } else {
                let name = path.strip_prefix(root).unwrap().to_owned();
                files.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    let mut all = BTreeMap::new();
    for part in ["tables", "databases", "golden"] {
        collect(&folder.join(part), folder, &mut all);
    }
    all
}

#[test]
fn a_new_run_gives_the_same_files() {
    let folder = tempfile::tempdir().unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_generate-testdata")).arg(folder.path()).status().unwrap();
    assert!(status.success());

    let committed = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata"));
    let generated = files(folder.path());
    assert_eq!(committed.keys().collect::<Vec<_>>(), generated.keys().collect::<Vec<_>>());
    for (name, bytes) in &committed {
        if *bytes == generated[name] {
            continue;
        }
        // Versions of Snappy compress differently, so compressed tables may differ in their bytes.
        let name = name.to_str().unwrap();
        let compressed = name.ends_with("-snappy.ldb") || name.starts_with("databases/");
        assert!(compressed && name.ends_with(".ldb") || name.contains("MANIFEST"), "{name} differs");
        if name.ends_with(".ldb") {
            assert_eq!(entries(bytes), entries(&generated[Path::new(name)]), "{name}");
        }
    }
}

fn entries(table: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    Table::open(&TableOptions::default(), table).unwrap().entries().unwrap()
}
