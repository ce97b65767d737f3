//! The conformance suite for anybody's implementation: asking a runner, and judging its answers. Needs no LevelDB.

pub mod answers;
#[path = "../judge.rs"]
pub mod judge;
pub mod read_back;

use std::path::{Path, PathBuf};

/// The folder with the cases.
pub fn cases_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")
}
