//! Compiles LevelDB, from the source of Debian's package, and the shim, and links both into every program here.
//! LevelDB must be linked statically: the filter block classes have no public header, and a shared library need not
//! export them. LevelDB is built without assertions because it is also timed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The name of the folder of LevelDB's source, which `install-debian.sh` puts into cargo's target folder.
const LEVELDB: &str = "leveldb-1.23";

fn main() {
    println!("cargo::rerun-if-changed=shim");
    println!("cargo::rerun-if-changed=preload");
    println!("cargo::rustc-env=RUSTC_VERSION={}", rustc_version());
    let source = leveldb_source();
    println!("cargo::rerun-if-changed={}", source.display());
    let common = || {
        let mut build = cc::Build::new();
        build.cpp(true).include(&source).include(source.join("include")).define("NDEBUG", None);
        build
    };
    // The shim comes before the library, whose functions it calls.
    let shim = sources(Path::new("shim"));
    common().std("c++17").flag("-Wall").flag("-Wextra").files(shim).compile("filterblock_shim");
    let is_part = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        !["_test.cc", "_bench.cc", "leveldbutil", "windows", "testutil"]
            .iter()
            .any(|part| name.contains(part))
    };
    let files = ["db", "table", "util"].into_iter().flat_map(|folder| sources(&source.join(folder)));
    let mut library = common();
    library.std("c++11").opt_level(2).warnings(false).files(files.filter(is_part));
    for name in ["LEVELDB_PLATFORM_POSIX", "HAVE_SNAPPY", "HAVE_FDATASYNC", "HAVE_O_CLOEXEC"] {
        library.define(name, "1");
    }
    let snappy = find(library.get_compiler().path(), "snappy", "libsnappy-dev");
    library.compile("leveldb");
    println!("cargo::rustc-link-search=native={}", snappy.display());
    println!("cargo::rustc-link-lib=static=snappy");
    println!("cargo::rustc-link-lib=stdc++");
    build_preload();
}

/// The C++ files of a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let files = files.map(|file| file.expect("an entry of a folder").path());
    let mut files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|suffix| suffix == "cc")).collect();
    files.sort();
    files
}

/// Finds LevelDB's source, in a folder above the one to which this program writes.
fn leveldb_source() -> PathBuf {
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let source = folder.ancestors().map(|folder| folder.join(LEVELDB)).find(|source| source.is_dir());
    source.unwrap_or_else(|| {
        panic!("no {LEVELDB} in cargo's target folder: crates/interop/install-debian.sh puts LevelDB's source there")
    })
}

/// Builds the library that `src/crash` loads into other programs.
fn build_preload() {
    let folder = env::var_os("OUT_DIR").expect("cargo sets it");
    let library = Path::new(&folder).join("libfilterblock_preload.so");
    let mut command = cc::Build::new().opt_level(1).get_compiler().to_command();
    command.args(["-shared", "-fPIC", "-Wall", "-Wextra", "-o"]).arg(&library).arg("preload/preload.c");
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
    println!("cargo::rustc-env=FILTERBLOCK_PRELOAD={}", library.display());
}

fn rustc_version() -> String {
    let output =
        Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("--version").output();
    output.map_or_else(
        |_| "rustc".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

/// Asks the compiler for the folder of a static library on its search path.
fn find(compiler: &Path, library: &str, package: &str) -> PathBuf {
    let file = format!("lib{library}.a");
    let output = Command::new(compiler)
        .arg(format!("-print-file-name={file}"))
        .output()
        .unwrap_or_else(|error| panic!("running {}: {error}", compiler.display()));
    // A compiler that does not know the file prints the bare name back.
    let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    match path.parent() {
        Some(folder) if path.is_absolute() => folder.to_owned(),
        _ => panic!("{file} not found: install Debian's {package} (crates/interop/install-debian.sh does)"),
    }
}
