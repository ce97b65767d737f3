//! Files and paths that are none to look at.

use std::fs::FileType;
use std::path::Path;

use crate::report::Fault;

/// The name of a file type other than that of regular files.
pub(super) fn kind(file_type: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        match file_type {
            _ if file_type.is_fifo() => return "a named pipe",
            _ if file_type.is_socket() => return "a socket",
            _ if file_type.is_block_device() || file_type.is_char_device() => return "a device",
            _ => {}
        }
    }
    match file_type {
        _ if file_type.is_dir() => "a folder",
        _ if file_type.is_symlink() => Fault::LINK,
        _ => "something else",
    }
}

/// Fails for the URL of an object: a path was expected.
pub(super) fn refuse_url(path: &Path) -> Result<(), Fault> {
    let Some(scheme) = scheme(path) else { return Ok(()) };
    let found = format!("a URL ({scheme}:); copy the database to a folder, or mount it");
    Err(Fault::unexpected("a path", found))
}

/// The scheme of a URL. `None` for a path, and for a `file:` URL, which stands for a path.
fn scheme(path: &Path) -> Option<&str> {
    let (scheme, _) = path.to_str()?.split_once("://")?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    // A single letter is considered a drive of Windows.
    let is_scheme = scheme.len() > 1 && scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    (is_scheme && scheme.chars().all(is_part) && scheme != "file").then_some(scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_refused_where_paths_are_expected() {
        let refused = refuse_url(Path::new("s3://bucket/db")).unwrap_err().to_string();
        assert_eq!(refused, "expected a path, found a URL (s3:); copy the database to a folder, or mount it");
        assert!(refuse_url(Path::new("file:///db")).is_ok());
    }

    #[test]
    fn urls_are_told_from_paths() {
        for (path, expected) in [
            ("s3://bucket/db/", Some("s3")),
            ("hdfs://name/db", Some("hdfs")),
            ("abfss://c@a.dfs.core.windows.net/x.ldb", Some("abfss")),
            ("file:///tmp/x.ldb", None),
            ("file:/tmp/x.ldb", None),
            ("C://x.ldb", None),
            ("./s3://bucket", None),
            ("s3:/bucket", None),
            ("://x", None),
            ("3s://x", None),
            ("db/000005.ldb", None),
        ] {
            assert_eq!(scheme(Path::new(path)), expected, "{path}");
        }
    }
}
