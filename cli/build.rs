//! Leaves out the unit tests that need the model of crashes where that is not there: in the published crate.

use std::path::Path;

fn main() {
    const MODEL: &str = "../tests/crash-states/Cargo.toml";
    println!("cargo::rustc-check-cfg=cfg(has_crash_states)");
    if Path::new(MODEL).exists() {
        println!("cargo::rerun-if-changed={MODEL}");
        println!("cargo::rustc-cfg=has_crash_states");
    } else {
        println!("cargo::rerun-if-changed=build.rs");
    }
}
