//! Compiles the shim and links LevelDB's static library after it. It must be static: the filter
//! block classes have no public header, and a shared library need not export them.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder with your own `libleveldb.a`, instead of Debian's.
const FOLDER: &str = "FILTERBLOCK_LEVELDB";

const SOURCES: [&str; 5] =
    ["shim/filter.cc", "shim/table.cc", "shim/database.cc", "shim/rebuild.cc", "shim/speed.cc"];

fn main() {
    println!("cargo::rerun-if-changed=shim");
    println!("cargo::rerun-if-changed=preload");
    println!("cargo::rerun-if-env-changed={FOLDER}");
    let own = env::var_os(FOLDER).map(PathBuf::from);
    if let Some(own) = &own {
        println!("cargo::rustc-link-search=native={}", own.display());
    }
    let build = match own {
        Some(_) => "found in FILTERBLOCK_LEVELDB",
        None => "Debian builds it, without NDEBUG: its TableBuilder checks by assertions",
    };
    println!("cargo::rustc-env=LEVELDB_BUILD={build}");
    println!("cargo::rustc-env=RUSTC_VERSION={}", rustc_version());
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").flag("-Wall").flag("-Wextra").files(SOURCES);
    let compiler = build.get_compiler();
    let libraries = [("leveldb", "libleveldb-dev"), ("snappy", "libsnappy-dev")]
        .map(|(library, package)| (library, find(compiler.path(), library, package)));
    build.compile("filterblock_shim");
    for (library, folder) in libraries {
        println!("cargo::rustc-link-search=native={}", folder.display());
        println!("cargo::rustc-link-lib=static={library}");
    }
    println!("cargo::rustc-link-lib=stdc++");
    build_preload();
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
