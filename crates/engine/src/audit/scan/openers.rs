//! The files of a scan: telling logs from tables, and noticing that a file has vanished.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use filterblock::database::FileKind;

use crate::report::{ErrorKind, Fault};
use crate::walk::Folder;

/// Returns true if `fault` is that a listed file is gone. `missing`: tables missing even then, set by the first call.
pub(super) fn has_vanished(fault: &Fault, folder: &Folder, missing: &OnceLock<BTreeSet<PathBuf>>) -> bool {
    let Some(path) = fault.path.as_ref().filter(|_| fault.kind == ErrorKind::Missing) else { return false };
    let missing = missing.get_or_init(|| BTreeSet::from_iter(folder.missing().map(|(path, ..)| path)));
    !missing.contains(&**path)
}

/// Returns true if the file's name is that of a log, or ends in `.log`.
pub(super) fn is_log(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.and_then(FileKind::parse).is_some_and(|(kind, _)| kind == FileKind::Log)
        || path.extension().is_some_and(|extension| extension == "log")
}
