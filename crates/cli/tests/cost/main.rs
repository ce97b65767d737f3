//! What runs of the program cost, counted and not timed: reads, and the bytes read, decoded, held at the peak and printed.

#[path = "../../../../tests/common/encode.rs"]
mod encode;
mod folders;
mod growth;
mod hostile;
#[allow(dead_code, reason = "not all of it is used here")]
#[path = "../../../../tests/common/databases.rs"]
mod manifest;
mod memory;
mod meter;
mod steps;
#[path = "../../../../tests/common/tables.rs"]
mod tables;
