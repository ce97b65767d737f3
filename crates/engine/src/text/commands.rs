//! Commands to copy.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::shell_word::{path_word, shell_word};
use crate::report::{Action, Advice, COPIES_ONLY, Obstacle};

/// The command of `advice`, or the two from which to choose.
pub(super) fn commands(advice: &Advice, database: &Path) -> Vec<String> {
    if advice.obstacles.contains(&Obstacle::UndoExists) {
        let undo = |option| format!("filterblock rebuild --{option} {}", path_word(database));
        return ["discard", "undo"].map(undo).to_vec();
    }
    match advice.action {
        Action::None => Vec::new(),
        Action::Rebuild(_) => {
            let rebuild = advice.rebuild().map(|rebuild| rebuild_command(database, &rebuild.arguments()));
            rebuild.into_iter().collect()
        }
        Action::Repair => vec![repair_command(database)],
        Action::Carve => vec![format!("filterblock scan --carve {}", path_word(database))],
    }
}

/// Rebuilds in place, or to a copy next to the database where `rebuild` makes [copies only](COPIES_ONLY).
pub fn rebuild_command(database: &Path, arguments: &[String]) -> String {
    let mut command = format!("filterblock rebuild {} ", path_word(database));
    if COPIES_ONLY {
        command += &format!("--to {}", path_word(&copy_beside(database, "-rebuilt")));
    } else {
        command += "--in-place";
    }
    command + &words(arguments)
}

/// Makes a new database next to this one.
pub fn repair_command(database: &Path) -> String {
    repair_command_with(database, None, &[])
}

/// Makes a new database at `target`. `None`: next to this one.
pub(super) fn repair_command_with(database: &Path, target: Option<&Path>, arguments: &[String]) -> String {
    let target = target.map_or_else(|| copy_beside(database, "-repaired"), Path::to_owned);
    let [database, target] = [database, &target].map(path_word);
    format!("filterblock repair {database} --to {target}{}", words(arguments))
}

/// What comes before the command of a repair, and the command.
pub(crate) fn save_remedy(database: &Path) -> String {
    format!("to save what can be saved: {}", repair_command(database))
}

fn words(arguments: &[String]) -> String {
    arguments.iter().map(|argument| format!(" {}", shell_word(argument))).collect()
}

/// `path`, or that with a number if the file system has this name already.
pub(super) fn free(path: PathBuf) -> PathBuf {
    let numbered = (2..).map(|number| [path.as_os_str(), format!("-{number}").as_ref()].join(OsStr::new("")));
    let is_free = |path: &PathBuf| !cfg!(feature = "fs") || path.symlink_metadata().is_err();
    std::iter::once(path.clone()).chain(numbered.map(PathBuf::from)).find(is_free).unwrap_or_default()
}

/// `ending` follows the name of the database. `NEW` if its path has no name, as `.`; that word alone for a root.
fn copy_beside(database: &Path, ending: &str) -> PathBuf {
    match database.file_name() {
        Some(name) => free(database.with_file_name([name, ending.as_ref()].join(OsStr::new("")))),
        // A folder that is chosen in a browser has a name.
        None if cfg!(target_family = "wasm") || database.parent().is_none() => "NEW".into(),
        None => database.strip_prefix(".").unwrap_or(database).join("../NEW"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_made_of_words_for_a_shell() {
        let arguments =
            ["--bits-per-key".to_owned(), "9".to_owned(), "--policy".to_owned(), "a b".to_owned()];
        let [command, of_dash] = if cfg!(windows) {
            [
                r#"filterblock rebuild "my db" --to "my db-rebuilt" --bits-per-key 9 --policy "a b""#,
                "filterblock rebuild ./- --to ./--rebuilt",
            ]
        } else {
            [
                "filterblock rebuild 'my db' --in-place --bits-per-key 9 --policy 'a b'",
                "filterblock rebuild ./- --in-place",
            ]
        };
        assert_eq!(rebuild_command(Path::new("my db"), &arguments), command);
        assert_eq!(rebuild_command(Path::new("-"), &[]), of_dash);
    }

    #[test]
    fn a_copy_lies_beside_its_database() {
        for (database, copy) in [
            ("x/my db", "x/my db-rebuilt"),
            ("db/", "db-rebuilt"),
            ("./db", "./db-rebuilt"),
            (".", "../NEW"),
            ("./.", "../NEW"),
            ("..", "../../NEW"),
            ("x/..", "x/../../NEW"),
            ("/", "NEW"),
        ] {
            assert_eq!(copy_beside(Path::new(database), "-rebuilt"), Path::new(copy));
        }
    }
}
