//! The sections of a report.

pub(super) mod about;
pub(super) mod candidates;
pub(super) mod checked;
pub(super) mod grid;
pub(super) mod hidden;
pub(super) mod lookups;
pub(super) mod map;
pub(super) mod problems;
pub(super) mod program;
pub(super) mod rates;
pub(super) mod repaired;
pub(super) mod sizes;
pub(super) mod tables;
