//! Words of a command to copy into a shell, and the command that reads the files of a database one by one.

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

/// Quotes for both cmd.exe and PowerShell, unless the word is plain. Characters that one of them replaces, or no
/// terminal shows, are written for PowerShell alone: cmd.exe takes another text, but the word ends early in neither.
fn windows_word(text: &str) -> String {
    // PowerShell makes two arguments of `a,b`.
    let is_plain = |c: char| c.is_alphanumeric() || r"\/._-+:=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let (mut word, mut backslashes) = ("\"".to_owned(), 0);
    for c in text.chars() {
        match c {
            // PowerShell takes these for double quotes, and a console may turn two of them into such when they are
            // pasted. Two in a row stand for one, and end no word.
            '“' | '”' | '„' => word.extend([c, c]),
            // A program takes a single backslash before a quote for one that makes the quote part of the word.
            '"' => word.extend([&*"\\".repeat(backslashes), "\"\""]),
            // To cmd.exe, a backtick before the second `%` belongs to the name of a variable, which then does not exist.
            '$' | '`' | '%' => word.extend(['`', c]),
            _ if escape_path(c.encode_utf8(&mut [0; 4])).to_string().starts_with(c) => word.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    word += &format!("$([char]0x{unit:x})");
                }
            }
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
    }
    word + &"\\".repeat(backslashes) + "\""
}

/// One word, and no option. On Unix, `$'…'` has the bytes of a path that cannot be shown as it is, for bash, zsh and
/// ksh.
pub fn path_word(path: &Path) -> String {
    let text = escape_path(path).to_string();
    let prefix = if text.starts_with('-') { "./" } else { "" };
    if path.to_str() == Some(&text) {
        shell_word(&format!("{prefix}{text}"))
    } else if cfg!(windows) {
        windows_word(&format!("{prefix}{}", path.to_str().unwrap_or(&text)))
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

/// Of tables and logs.
const ENDINGS: [&str; 3] = ["ldb", "sst", "log"];

/// Shows the entries of tables and logs in `folder`, each by itself. On Windows, where nothing replaces a `*`, only of
/// one file.
pub(crate) fn scan_command<'a, I: Iterator<Item = &'a Path>>(folder: &Path, files: impl Fn() -> I) -> String {
    if cfg!(windows) { scan_first(folder, files) } else { scan_all(folder, files) }
}

fn scan_all<'a, I: Iterator<Item = &'a Path>>(folder: &Path, files: impl Fn() -> I) -> String {
    let mut command = "filterblock scan".to_owned();
    for ending in ENDINGS {
        if files().any(|file| has_ending(file, ending)) {
            command += &format!(" {}/*.{ending}", path_word(folder));
        }
    }
    command
}

fn scan_first<'a, I: Iterator<Item = &'a Path>>(folder: &Path, files: impl Fn() -> I) -> String {
    let first = ENDINGS.iter().find_map(|ending| files().find(|file| has_ending(file, ending)));
    let name = first.and_then(Path::file_name).unwrap_or_default();
    format!("filterblock scan {}", path_word(&folder.join(name)))
}

fn has_ending(file: &Path, ending: &str) -> bool {
    file.extension().is_some_and(|of| of == ending)
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
            (r"a b\\", r#""a b\\\\""#),
            ("~x", "\"~x\""),
            ("it's $x", "\"it's `$x\""),
            ("a%b%`", "\"a`%b`%``\""),
            ("x” ; calc ; “’", "\"x”” ; calc ; ““’\""),
            ("a\u{202e}b", "\"a$([char]0x202e)b\""),
            ("", "\"\""),
        ] {
            assert_eq!(windows_word(path), word);
            if cfg!(windows) {
                assert_eq!(path_word(Path::new(path)), word);
            }
        }
    }

    /// The string that PowerShell takes a word in double quotes for.
    fn of_powershell(word: &str) -> String {
        let is_quote = |c: &char| "\"“”„".contains(*c);
        let mut chars = word.chars().peekable();
        let mut text = String::new();
        assert_eq!(chars.next(), Some('"'));
        while let Some(c) = chars.next() {
            match c {
                '`' => text.extend(chars.next()),
                '$' => {
                    let code: String = chars.by_ref().take_while(|c| *c != ')').collect();
                    let code = code.strip_prefix("([char]0x").expect(word);
                    text.extend(char::from_u32(u32::from_str_radix(code, 16).unwrap()));
                }
                c if is_quote(&c) => match chars.next_if(is_quote) {
                    Some(second) => text.push(second),
                    None => break,
                },
                c => text.push(c),
            }
        }
        assert_eq!(chars.next(), None, "{word} {text}");
        text
    }

    /// The argument that a program on Windows takes a word for.
    fn of_program(word: &str) -> String {
        let (mut text, mut rest) = (String::new(), word.strip_prefix('"').expect(word));
        loop {
            let end = rest.find('"').expect(word);
            let (part, after) = (&rest[..end], &rest[end + 1..]);
            let start = part.trim_end_matches('\\');
            let backslashes = part.len() - start.len();
            text += &part[..start.len() + backslashes / 2];
            match after.strip_prefix('"').filter(|_| backslashes % 2 == 0) {
                _ if backslashes % 2 == 1 => rest = after,
                Some(after) => rest = after,
                None => {
                    assert_eq!(after, "", "{word}");
                    return text;
                }
            }
            text.push('"');
        }
    }

    /// cmd.exe ends a word at a character that is not within quotes, and replaces names between `%`.
    fn check_for_cmd(word: &str) {
        let mut is_inside = false;
        for c in word.chars() {
            match c {
                '"' => is_inside = !is_inside,
                _ => assert!(is_inside, "{word}"),
            }
        }
        assert!(!is_inside, "{word}");
        let mut names: Vec<_> = word.split('%').skip(1).collect();
        names.pop();
        assert!(names.iter().all(|name| name.ends_with('`')), "{word}");
    }

    #[test]
    fn no_text_ends_a_word_of_windows() {
        let all: Vec<_> = "a &\\\"“”„'’$`%(\u{202e}".chars().collect();
        let few = all.iter().flat_map(|a| all.iter().map(move |b| [*a, *b]));
        let few: Vec<_> = few.collect();
        for start in &few {
            for end in &few {
                let text: String = [' '].iter().chain(start).chain(end).collect();
                let word = windows_word(&text);
                check_for_cmd(&word);
                check_for_cmd(&word.replace(['“', '”'], "\""));
                if !text.contains(['“', '”', '„', '$', '`', '%', '\u{202e}']) {
                    assert_eq!(of_program(&word), text);
                }
                if !text.contains('"') {
                    let whole = |text: &str| text.trim_end_matches('\\').to_owned();
                    assert_eq!(whole(&of_powershell(&word)), whole(&text), "{word}");
                }
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

    #[test]
    fn files_of_each_ending_are_named_or_one_of_them() {
        let names =
            ["CURRENT", "MANIFEST-000004", "000010.log", "x/000007.sst", "x/000005.ldb", "000006.ldb"];
        let folder = Path::new("my-db");
        for (count, endings, example) in [
            (6, &["ldb", "sst", "log"][..], "000005.ldb"),
            (4, &["sst", "log"], "000007.sst"),
            (3, &["log"], "000010.log"),
        ] {
            let files = || names.iter().take(count).map(Path::new);
            let all: String = endings.iter().map(|ending| format!(" my-db/*.{ending}")).collect();
            let all = format!("filterblock scan{all}");
            let first = format!("filterblock scan {}", folder.join(example).display());
            assert_eq!([scan_all(folder, files), scan_first(folder, files)], [&*all, &*first]);
            assert_eq!(scan_command(folder, files), if cfg!(windows) { first } else { all });
        }
    }
}
