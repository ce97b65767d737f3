//! Tests of repairs in this process: for each kind of damage, and with every file operation
//! watched.
//!
//! `crates/interop/tests/repair.rs` has LevelDB judge the results.

#[cfg(in_repository)]
mod crashes;
mod damage;
mod index_order;
mod killed;
mod limits;
mod unnoticed;

use std::path::Path;

use super::{Prefer, RepairRequest};
use crate::engine::Engine;
use crate::report::RepairReport;
use crate::write::Result;

const DATABASE: &str = "db";
const TARGET: &str = "new";

/// Repairs the database below `root`.
fn run(root: &Path) -> Result<RepairReport> {
    repair(root, &RepairRequest::default())
}

fn repair(root: &Path, request: &RepairRequest) -> Result<RepairReport> {
    Engine::new().repair_folder(&root.join(DATABASE), Some(&root.join(TARGET)), false, request)
}
