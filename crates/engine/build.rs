//! Leaves out the unit tests that need more of the repository, such as the model of crashes, in the published crate.

use std::path::Path;

fn main() {
    // The first that they need.
    const MODEL: &str = "../crash-states/Cargo.toml";
    println!("cargo::rustc-check-cfg=cfg(in_repository)");
    if Path::new(MODEL).exists() {
        println!("cargo::rerun-if-changed={MODEL}");
        println!("cargo::rustc-cfg=in_repository");
    } else {
        println!("cargo::rerun-if-changed=build.rs");
    }
}
