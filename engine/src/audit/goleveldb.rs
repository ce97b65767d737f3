//! Databases of goleveldb.

use crate::walk::{Folder, open_listed};

/// The first bytes of goleveldb's LOG file (`file_storage.go`). LevelDB's LOG file begins with a date.
const GOLEVELDB_LOG: &[u8] = b"=============== ";

/// Returns true if goleveldb opened the database last, judging by the first bytes of the LOG file. Without
/// that file, the database is considered LevelDB's.
pub(crate) fn is_goleveldb(folder: &Folder) -> bool {
    let log = open_listed(folder.storage(), &folder.path().join("LOG"));
    let start = log.ok().and_then(|log| log.read_at(0, GOLEVELDB_LOG.len()).ok());
    start.is_some_and(|start| start == GOLEVELDB_LOG)
}
