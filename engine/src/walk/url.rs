//! URLs where paths are expected.

use std::path::Path;

/// The scheme of a URL. `None` for a path, and for a `file:` URL, which stands for a path.
pub(super) fn scheme(path: &Path) -> Option<&str> {
    let (scheme, _) = path.to_str()?.split_once("://")?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    // A single letter is considered a drive of Windows.
    let is_scheme = scheme.len() > 1 && scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    (is_scheme && scheme.chars().all(is_part) && scheme != "file").then_some(scheme)
}

/// The bytes of the path that a `file:` URL stands for: `file:/…`, as Spark writes it, `file:///…`,
/// as browsers do, or `file://localhost/…`. `None` for any other text.
pub(super) fn local_path(path: &Path) -> Option<Vec<u8>> {
    path.to_str().and_then(local_part).map(decoded)
}

fn local_part(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("file:")?;
    let rest = match rest.strip_prefix("//") {
        Some(with_host) => with_host.strip_prefix("localhost").unwrap_or(with_host),
        None => rest,
    };
    let is_drive = |rest: &&str| cfg!(windows) && rest.as_bytes().get(2) == Some(&b':');
    rest.starts_with('/').then(|| rest.strip_prefix('/').filter(is_drive).unwrap_or(rest))
}

/// Replaces `%20` and the like with the bytes that they stand for.
fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let digits = behind.split_first_chunk().filter(|_| first == b'%');
        let encoded = digits.and_then(|(&digits, behind)| Some((hex_byte(digits)?, behind)));
        let (byte, behind) = encoded.unwrap_or((first, behind));
        bytes.push(byte);
        rest = behind;
    }
    bytes
}

/// The byte that two hexadecimal digits stand for. `None` if either is not a hexadecimal digit.
pub fn hex_byte(digits: [u8; 2]) -> Option<u8> {
    let [high, low] = digits.map(|digit| char::from(digit).to_digit(16));
    u8::try_from(high? << 4 | low?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn urls_of_files_are_paths() {
        for (url, path) in [
            ("file:/db/1.ldb", "/db/1.ldb"),
            ("file:///db/a%20b%2525.ldb", "/db/a b%25.ldb"),
            ("file://localhost/db", "/db"),
            ("file:///100%/%zz", "/100%/%zz"),
            ("file:///%+1", "/%+1"),
            ("file:x", "file:x"),
            ("file://host/x", "file://host/x"),
            ("/file:/x", "/file:/x"),
        ] {
            let expected = Some(path.as_bytes()).filter(|_| path != url);
            assert_eq!(local_path(Path::new(url)).as_deref(), expected, "{url}");
        }
    }
}
