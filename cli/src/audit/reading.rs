//! Options for reading tables, and the meaning of errors.

use filterblock::Error;
use filterblock::policy::default_read_policies;
use filterblock::table::ReadOptions;

/// The options for all tables: the policies that are known, and the library's limits.
pub(crate) fn read_options() -> ReadOptions {
    ReadOptions::default().filter_policies(default_read_policies())
}

/// Returns true if the source has to be given more bytes before anything can be said.
pub(crate) fn needs_range(error: &Error) -> bool {
    matches!(error.without_path(), Error::NeedRange { .. })
}

/// Returns true if bytes could not be read, which says nothing about what they are.
pub(crate) fn is_unreadable(error: &Error) -> bool {
    matches!(error.without_path(), Error::Io { .. } | Error::OutOfMemory { .. })
}
