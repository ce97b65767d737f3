//! The command that reads the files of a database one by one.

use std::path::Path;

use super::shell_word::path_word;

/// The endings of tables and logs.
const ENDINGS: [&str; 3] = ["ldb", "sst", "log"];

/// The command that shows the entries of tables and logs in `folder`, each by itself. `files` has their names or paths.
/// On Windows, where neither the shells nor the program replace a `*`, the command names one file as an example.
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
