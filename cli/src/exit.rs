//! Exit statuses that several commands share.

/// Wrong usage, or an input that is missing or cannot be read.
pub(crate) const EXIT_ERROR: u8 = 2;

/// The reader of the results went away before their end. Shells show the same for a program that
/// SIGPIPE ends.
pub(crate) const EXIT_OUTPUT_CLOSED: u8 = 141;
