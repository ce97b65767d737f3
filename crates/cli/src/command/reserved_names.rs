//! Names that files of databases have. No output may take one, except that a table may be named like a table.

use std::{fs, path::Path};

use filterblock::database::FileKind;

use super::arguments::about;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    /// A table, which may be named like a table of a database.
    Table,
    Other,
}

/// Refuses to write to a file whose name a file of a database has, or might have.
pub(super) fn check_name(path: &Path, output: Output) -> Result<(), String> {
    // A link may have any name; its target is replaced.
    let is_taken = |path: &Path| is_of_database(path, output);
    if is_taken(path) || fs::canonicalize(path).is_ok_and(|target| is_taken(&target)) {
        return Err(about(path)("databases have files of this name; choose another one"));
    }
    Ok(())
}

fn is_of_database(path: &Path, output: Output) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    // Some file systems do not distinguish upper and lower case.
    [name.to_owned(), name.to_ascii_uppercase(), name.to_ascii_lowercase()].iter().any(|name| {
        let is_table = name.ends_with(".ldb") || name.ends_with(".sst");
        if is_table { output != Output::Table } else { FileKind::parse(name).is_some() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_databases_use_are_refused() {
        for name in [
            "CURRENT",
            "LOCK",
            "LOG",
            "LOG.old",
            "MANIFEST-000008",
            "000005.ldb",
            "000005.sst",
            "000009.log",
            "000007.dbtmp",
            "a/b/CURRENT",
            "x.ldb",
            "000005.LDB",
            "current",
            "manifest-000008",
        ] {
            assert!(is_of_database(Path::new(name), Output::Other), "{name}");
            let is_table = name.to_ascii_lowercase().ends_with(".ldb") || name.ends_with(".sst");
            assert_eq!(is_of_database(Path::new(name), Output::Table), !is_table, "{name}");
        }
        for name in ["report.html", "a.ldb/report.html", "000005.html", "log.html", "-"] {
            assert!(!is_of_database(Path::new(name), Output::Other), "{name}");
        }
    }
}
