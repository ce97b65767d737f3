//! Keys of objects, which can be any bytes, and the client's type for keys.

use object_store::path::Path;

use crate::walk::PathError;

/// The maximum size of a key in bytes: Azure allows 1,024 characters, other stores 1,024 bytes.
pub(super) const MAX_KEY: usize = 4096;

/// Converts a key to the client's type.
///
/// # Errors
///
/// If the client cannot request an object with this key.
pub(super) fn parsed(key: &[u8]) -> Result<Path, PathError> {
    let refused = |found: String| {
        let expected = "a key that can be asked for, without control characters and empty, . and .. parts";
        Err(PathError::unexpected(expected, found))
    };
    if key.len() > MAX_KEY {
        return refused(format!("one of {} bytes", key.len()));
    }
    let Ok(text) = str::from_utf8(key) else { return refused("one that is not UTF-8".to_owned()) };
    match Path::parse(text) {
        // `parse` silently drops a slash at either end, but without it the key would name another
        // object.
        Ok(path) if path.as_ref() == text => Ok(path),
        _ => refused(reason(text)),
    }
}

fn reason(key: &str) -> String {
    let found = match key.split('/').find(|part| part.is_empty() || matches!(*part, "." | "..")) {
        Some("") if key.starts_with('/') => "a slash at its beginning",
        Some("") if key.ends_with('/') => "a slash at its end",
        Some("") => "an empty part",
        Some(".") => "the part .",
        Some(_) => "the part ..",
        None => "a control character",
    };
    format!("one with {found}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_as_it_is_or_refused() {
        for key in ["a", "a/b.ldb", " a ", "a%2Fb", "..a/b..", "a\\b", "~#?*", "\u{1f600}", "\u{85}"] {
            assert_eq!(parsed(key.as_bytes()).unwrap().as_ref(), key);
        }
        for (key, found) in [
            (&b"/a"[..], "a slash at its beginning"),
            (b"a/", "a slash at its end"),
            (b"a//b", "an empty part"),
            (b"a/./b", "the part ."),
            (b"../b", "the part .."),
            (b"a\tb", "a control character"),
            (b"a\x7f", "a control character"),
            (b"a\xff", "not UTF-8"),
            (&[b'a'; 4097], "one of 4097 bytes"),
        ] {
            let error = parsed(key).unwrap_err().to_string();
            assert!(error.contains(found), "{error}");
        }
    }
}
