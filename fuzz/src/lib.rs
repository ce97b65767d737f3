//! The fuzz targets. Each is a plain function `run(data: &[u8])`, which libFuzzer calls on nightly,
//! and the runner `stable` on any toolchain.

pub mod bloom;
pub mod builder;
mod cut;
#[path = "../../tests/common/encode.rs"]
mod encode;
pub mod filter_block;
pub mod hostile;
pub mod manifest;
pub mod model;
pub mod mutate;
mod program;
pub mod round_trip;
pub mod table;
pub mod tool;
pub mod verify;

/// A target: its name, and the function that runs an input.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 8] = [
    ("filter_block", filter_block::run),
    ("bloom", bloom::run),
    ("builder", builder::run),
    ("table", table::run),
    ("round_trip", round_trip::run),
    ("tool", tool::run),
    ("verify", verify::run),
    ("manifest", manifest::run),
];
