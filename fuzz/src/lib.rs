//! The fuzz targets, each a plain function `run(data: &[u8])`: libFuzzer calls it on nightly, the runner `stable` on any toolchain.

pub mod bloom;
pub mod builder;
mod cut;
pub mod filter_block;
pub mod manifest;
pub mod model;
pub mod mutate;
pub mod round_trip;
pub mod table;
pub mod tool;

// The program has no library, so what `filterblock inspect` finds out is compiled in from its own files.
#[path = "../../cli/src/input.rs"]
#[allow(dead_code, reason = "only a part of the program is here")]
mod input;
#[path = "../../cli/src/survey/mod.rs"]
#[allow(dead_code, unused_imports, reason = "only a part of the program is here")]
mod survey;

/// A target: what it is called, and what runs an input.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 7] = [
    ("filter_block", filter_block::run),
    ("bloom", bloom::run),
    ("builder", builder::run),
    ("table", table::run),
    ("round_trip", round_trip::run),
    ("tool", tool::run),
    ("manifest", manifest::run),
];
