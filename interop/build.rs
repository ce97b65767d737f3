//! Compiles the shim and links LevelDB's static library after it. It must be static: the filter
//! block classes have no public header, and a shared library need not export them.
//!
//! Debian builds that library with assertions. For what is timed, the same source is built without
//! them, in a namespace of its own, so that both fit in one program.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The source that `install-debian.sh` puts into cargo's target folder.
const LEVELDB: &str = "leveldb-1.23";

const SOURCES: [&str; 6] = [
    "shim/filter.cc",
    "shim/order.cc",
    "shim/table.cc",
    "shim/database.cc",
    "shim/rebuild.cc",
    "shim/walk.cc",
];
/// What is linked with the library without assertions.
const TIMED: [&str; 2] = ["shim/speed.cc", "shim/speed_table.cc"];

fn main() {
    println!("cargo::rerun-if-changed=shim");
    println!("cargo::rerun-if-changed=preload");
    println!("cargo::rustc-env=RUSTC_VERSION={}", rustc_version());
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").flag("-Wall").flag("-Wextra").files(SOURCES);
    let compiler = build.get_compiler();
    let libraries = [("leveldb", "libleveldb-dev"), ("snappy", "libsnappy-dev")]
        .map(|(library, package)| (library, find(compiler.path(), library, package)));
    build.compile("filterblock_shim");
    build_timed();
    for (library, folder) in libraries {
        println!("cargo::rustc-link-search=native={}", folder.display());
        println!("cargo::rustc-link-lib=static={library}");
    }
    println!("cargo::rustc-link-lib=stdc++");
    build_preload();
}

/// Builds LevelDB without assertions, and the part of the shim that is timed with it.
fn build_timed() {
    let source = leveldb_source();
    println!("cargo::rerun-if-changed={}", source.display());
    let common = || {
        let mut build = cc::Build::new();
        build.cpp(true).include(&source).include(source.join("include"));
        build.define("NDEBUG", None).define("leveldb", "leveldb_timed").define("shim", "shim_timed");
        build
    };
    common().std("c++17").flag("-Wall").flag("-Wextra").files(TIMED).compile("filterblock_timed_shim");
    let files = ["db", "table", "util"].into_iter().flat_map(|folder| {
        let files = fs::read_dir(source.join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
        files.map(|file| file.expect("an entry of a folder").path())
    });
    let is_part = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // c.cc is an interface that has no namespace.
        let left_out = ["_test.cc", "_bench.cc", "leveldbutil", "windows", "testutil"];
        name.ends_with(".cc") && name != "c.cc" && !left_out.iter().any(|part| name.contains(part))
    };
    let mut files: Vec<_> = files.filter(is_part).collect();
    files.sort();
    let mut library = common();
    library.std("c++11").opt_level(2).warnings(false).files(files);
    for name in ["LEVELDB_PLATFORM_POSIX", "HAVE_SNAPPY", "HAVE_FDATASYNC", "HAVE_O_CLOEXEC"] {
        library.define(name, "1");
    }
    library.compile("leveldb_timed");
}

/// The source, in a folder above the one to which this program writes.
fn leveldb_source() -> PathBuf {
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let source = folder.ancestors().map(|folder| folder.join(LEVELDB)).find(|source| source.is_dir());
    source.unwrap_or_else(|| {
        panic!("no {LEVELDB} in cargo's target folder: interop/install-debian.sh puts LevelDB's source there")
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

/// The folder of a static library, by the search path of the compiler.
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
        _ => panic!("{file} not found: install Debian's {package} (interop/install-debian.sh does)"),
    }
}
