//! Words of a command, for people to copy into a shell.

use std::path::Path;

use filterblock::escape_path;

/// `text` as one word of a command, for POSIX shells.
pub(super) fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-~+,:@%=".contains(c);
    // A shell replaces a `~` at the start with a home folder.
    if !text.is_empty() && !text.starts_with('~') && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// A path as one word of a command, and not as an option.
pub fn path_word(path: &Path) -> String {
    let text = escape_path(path).to_string();
    shell_word(&if text.starts_with('-') { format!("./{text}") } else { text })
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
            assert_eq!(path_word(Path::new(path)), word);
            assert_eq!(shell_word(path), word);
        }
    }

    #[test]
    fn a_path_is_neither_an_option_nor_a_home_folder() {
        assert_eq!(path_word(Path::new("-db")), "./-db");
        assert_eq!(path_word(Path::new("--a b")), "'./--a b'");
        assert_eq!(path_word(Path::new("~")), "'~'");
        assert_eq!(path_word(Path::new("a~")), "a~");
        assert_eq!(shell_word("--bits-per-key=0=20,1=17"), "--bits-per-key=0=20,1=17");
    }
}
