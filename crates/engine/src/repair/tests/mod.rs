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

use super::{Prefer, RepairRequest, repair};
use crate::report::RepairReport;
use crate::write::Result;

const DATABASE: &str = "db";
const TARGET: &str = "new";

fn request(root: &Path) -> RepairRequest {
    RepairRequest {
        target: root.join(TARGET),
        prefer: Prefer::Newest,
        comparator: None,
        policy: None,
        hash: None,
        bits_per_key: None,
        dry_run: false,
        max_output: None,
        meter: Default::default(),
    }
}

/// Repairs the database below `root`.
fn run(root: &Path) -> Result<RepairReport> {
    repair(&root.join(DATABASE), &request(root), &())
}
