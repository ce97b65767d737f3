//! The filters that the tables have now.

use filterblock::policy::Origin;
use filterblock::table::Table;

use super::failure::{Failure, Result};
use super::files::Folder;
use super::opening::open;
use super::report::FiltersReport;
use crate::report::error_kind::ErrorKind;

/// Looks at the filters of a table. `None`: it has none that are known by name, or cannot be opened
/// and is to be kept then.
pub(super) fn survey(dir: &Folder, name: &str, keep_undecodable: bool) -> Result<Option<FiltersReport>> {
    let table = match open(dir, name) {
        Err(Failure::Refused(_)) if keep_undecodable => return Ok(None),
        opened => opened?.1,
    };
    if table.origin() == Some(Origin::Basho) {
        let why = "expected a table of LevelDB's, found one of Riak's, which this does not write";
        return Err(Failure::refused(&dir.path_of(name), why).of_kind(ErrorKind::Unsupported));
    }
    Ok(filters(&table))
}

/// The filters of an open table.
pub(super) fn filters<R>(table: &Table<R>) -> Option<FiltersReport> {
    let (policy, handle) = (table.filter_name()?.to_owned(), table.filter_handle()?);
    let sound = table.filter().filter(|filter| filter.check().is_ok());
    Some(FiltersReport {
        policy,
        size: handle.size,
        base_lg: sound.map(filterblock::FilterBlockReader::base_lg),
        bits_per_key: None,
    })
}
