//! The filters along some tables.

use std::path::{Path, PathBuf};

use filterblock::table::{ReadOptions, Table};

use filterblock_engine::audit::overview::database::{Kind, Overview};
use filterblock_engine::audit::stats::filters::FilterStats;
use filterblock_engine::page::Strip;
use filterblock_engine::walk::input;

/// The most tables whose filters are shown.
const MOST: usize = 8;

/// The filters along the tables of `overview` that tell most. Those that cannot be read any longer
/// are left out.
pub(super) fn of(overview: &Overview, path: &Path, options: &ReadOptions) -> Vec<Strip> {
    let tables = overview.telling(MOST).into_iter().filter_map(|at| overview.tables.get(at));
    tables
        .filter_map(|table| {
            let file = match overview.kind {
                Kind::Table => path.to_owned(),
                Kind::Database | Kind::Folder => path.join(file_name(&table.name)?),
            };
            let table_file = Table::open(input::open_file(&file, true).ok()?, options).ok()?;
            let filters = FilterStats::new(table_file.filter()?.clone());
            Some(Strip::new(table, &filters))
        })
        .collect()
}

/// The name of a file from the bytes that are kept of it.
fn file_name(name: &[u8]) -> Option<PathBuf> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        Some(std::ffi::OsStr::from_bytes(name).into())
    }
    #[cfg(not(unix))]
    {
        std::str::from_utf8(name).ok().map(PathBuf::from)
    }
}
