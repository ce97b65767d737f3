//! The fuzz targets. Each is a plain function `run(data: &[u8])`, which libFuzzer, the runner
//! `stable` and the program `once` call. The tables, logs and databases that they damage are made
//! by the crate `filterblock-fuzz`.

pub mod bloom;
pub mod builder;
pub mod corpus;
pub mod filter_block;
pub mod manifest;
mod program;
pub mod repair;
pub mod rewriter;
pub mod round_trip;
pub mod table;
pub mod tool;
pub mod verify;

/// A target: its name, and the function that runs an input.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 10] = [
    ("filter_block", filter_block::run),
    ("bloom", bloom::run),
    ("builder", builder::run),
    ("table", table::run),
    ("round_trip", round_trip::run),
    ("tool", tool::run),
    ("verify", verify::run),
    ("manifest", manifest::run),
    ("rewriter", rewriter::run),
    ("repair", repair::run),
];
