//! The facts about a database as a whole: what its MANIFEST does not list, what it lists and is missing, and its size.

mod faults;
mod huge_manifest;
mod own_entries;

pub(crate) use faults::{faults, faults_for, faults_of};
pub(crate) use huge_manifest::{huge, huge_manifest};
