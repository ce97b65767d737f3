//! What is known of a folder before its tables.

use std::path::Path;

use filterblock::Error;

/// A folder, before its tables are shown.
pub struct FolderHeader<'a> {
    pub tables: &'a [&'a Path],
    /// The logs with writes that are in no table yet.
    pub logs: &'a [&'a Path],
    /// There is a MANIFEST, or a file that says there should be one: CURRENT, or a log.
    pub is_database: bool,
    /// The reason why the MANIFEST cannot be relied on, and the file at fault.
    pub manifest_error: Option<(&'a Path, &'a Error)>,
    /// The name of the order of user keys, if a MANIFEST says so.
    pub comparator: Option<&'a [u8]>,
    /// There is a MANIFEST that can be relied on.
    pub has_records: bool,
}
