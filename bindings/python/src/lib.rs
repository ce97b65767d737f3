//! The extension module behind the package `filterblock` for Python.

mod ahead;
mod bounds;
mod bytes_like;
mod columns;
mod database;
mod entry;
mod errors;
mod filter_block;
mod iterators;
mod kept;
mod keys;
mod policy;
mod producer;
mod reports;
mod rewrites;
mod scan;
mod stamp;
mod stream;
mod table;
mod walk;
mod with;
mod work;

/// Reads LevelDB's tables, databases and Bloom filters.
#[pyo3::pymodule]
mod _filterblock {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::columns::Columns;
    #[pymodule_export]
    use crate::database::{Database, LogFile, TableFile};
    #[pymodule_export]
    use crate::entry::Entry;
    #[pymodule_export]
    use crate::filter_block::FilterBlockReader;
    #[pymodule_export]
    use crate::iterators::{Pairs, Scan};
    #[pymodule_export]
    use crate::policy::BloomFilterPolicy;
    #[pymodule_export]
    use crate::reports::{inspect, report, tune, verify};
    #[pymodule_export]
    use crate::rewrites::{rebuild, repair};
    #[pymodule_export]
    use crate::scan::scan;
    #[pymodule_export]
    use crate::table::Table;

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// Adds the function that `pickle` finds by its name, and that `import *` leaves out.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.setattr("_entry", wrap_pyfunction!(crate::entry::_entry, module)?)
    }
}
