//! The sections of a page.

pub(super) mod facts;
pub(super) mod grid;
pub(super) mod levels;
pub(super) mod problems;
pub(super) mod reads;
pub(super) mod settings;
pub(super) mod tables;
pub(super) mod tree;
