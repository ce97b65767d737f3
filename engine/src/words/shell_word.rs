//! Words of a command, for people to copy into a shell.

use std::fmt::Write as _;
use std::path::Path;

use filterblock::escape_path;

/// `text` as one word of a command, for the system's shells.
pub(super) fn shell_word(text: &str) -> String {
    if cfg!(windows) { windows_word(text) } else { posix_word(text) }
}

fn posix_word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-~+,:@%=".contains(c);
    // A shell replaces a `~` at the start with a home folder.
    if !text.is_empty() && !text.starts_with('~') && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// A word for both cmd.exe and PowerShell, or for PowerShell alone if `text` has a character that it would take for more
/// between double quotes.
fn windows_word(text: &str) -> String {
    // PowerShell makes two arguments of `a,b`.
    let is_plain = |c: char| c.is_alphanumeric() || r"\/._-+:=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else if text.contains(['$', '`', '"']) {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        // A program takes a single backslash before the closing quote for one that makes the quote part of the word.
        let end = if text.ends_with('\\') { "\\" } else { "" };
        format!("\"{text}{end}\"")
    }
}

/// A path as one word of a command, and not as an option. A path that cannot be shown as it is stands in `$'…'`, which bash,
/// zsh and ksh take for its bytes.
pub fn path_word(path: &Path) -> String {
    let text = escape_path(path).to_string();
    let prefix = if text.starts_with('-') { "./" } else { "" };
    if path.to_str() == Some(&text) {
        shell_word(&format!("{prefix}{text}"))
    } else {
        byte_word(prefix, path)
    }
}

fn byte_word(prefix: &str, path: &Path) -> String {
    let mut word = format!("$'{prefix}");
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'\'' | b'\\' => word.extend(['\\', byte.into()]),
            b' '..=b'~' => word.push(byte.into()),
            // Three digits always, so that what follows is not taken for one.
            _ => _ = write!(word, "\\{byte:03o}"),
        }
    }
    word + "'"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_spaces_or_quotes_is_one_word() {
        for (path, word) in [
            ("/home/x/db-1", "/home/x/db-1"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$x", "'$x'"),
            ("a;b", "'a;b'"),
            ("", "''"),
        ] {
            assert_eq!(posix_word(path), word);
            if cfg!(unix) {
                assert_eq!(path_word(Path::new(path)), word);
            }
        }
    }

    #[test]
    fn a_path_of_windows_is_one_word_of_its_shells() {
        for (path, word) in [
            (r"C:\Users\x\db-1", r"C:\Users\x\db-1"),
            (r"C:\", r"C:\"),
            (r"C:\a b", r#""C:\a b""#),
            (r"C:\a b\", r#""C:\a b\\""#),
            ("0=20,1=17", "\"0=20,1=17\""),
            ("it's", "\"it's\""),
            ("~x", "\"~x\""),
            ("it's $x", "'it''s $x'"),
            ("", "\"\""),
        ] {
            assert_eq!(windows_word(path), word);
            if cfg!(windows) {
                assert_eq!(path_word(Path::new(path)), word);
            }
        }
    }

    /// In `\\x` some shells take more than two digits.
    #[cfg(unix)]
    #[test]
    fn a_path_that_cannot_be_shown_is_its_bytes() {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _, process::Command};

        let is_bash_there = Command::new("bash").args(["-c", "true"]).output().is_ok();
        for (path, word) in [
            (&b"t\tb"[..], r"$'t\011b'"),
            (b"a\n1", r"$'a\0121'"),
            (b"-\x1b[2J", r"$'./-\033[2J'"),
            (b"\xff\xfe'\\", r"$'\377\376\'\\'"),
            ("\u{202e}ä ~$x".as_bytes(), r"$'\342\200\256\303\244 ~$x'"),
            (br"a\b", r"'a\b'"),
        ] {
            assert_eq!(path_word(Path::new(OsStr::from_bytes(path))), word);
            if is_bash_there {
                let shown =
                    Command::new("bash").args(["-c", &format!("printf %s {word}")]).output().unwrap().stdout;
                assert!(shown == path || shown == [b"./", path].concat(), "{word}");
            }
        }
    }

    #[test]
    fn a_path_is_neither_an_option_nor_a_home_folder() {
        assert_eq!(path_word(Path::new("-db")), "./-db");
        assert_eq!(path_word(Path::new("--a b")), shell_word("./--a b"));
        assert_eq!([posix_word("~"), posix_word("a~")], ["'~'", "a~"]);
        assert_eq!(posix_word("--bits-per-key=0=20,1=17"), "--bits-per-key=0=20,1=17");
    }
}
