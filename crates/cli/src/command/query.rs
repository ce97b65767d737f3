//! `filterblock query`: which of the given keys tables may hold, and in which data blocks.

use std::path::{Path, PathBuf};
use std::{ffi::OsString, io, sync::Arc};

use clap::Args;
use filterblock::escape_path;
use filterblock_engine::report::{QueryLine, write_line};
use filterblock_engine::{LookupKeys, QueryOutcome, QueryOutput, QueryRequest, is_input};

use super::arguments::{KeyOrder, Limits, PathSources};
use super::help::{self, ADVANCED, order};
use super::keys;
use crate::io::{Console, EXIT_ERROR, ProgressBar};
use crate::text;

/// Certainly none of the keys is there: all tables and logs were read, and are fine.
const EXIT_NOT_FOUND: u8 = 1;

/// Find which tables may hold a key, by their filters
///
/// For each table and key: not there, or may be there, and how likely the filter is wrong. A table without filters may
/// hold any key. The logs of a database are searched. How many data blocks a lookup reads at most comes last.
#[derive(Args)]
#[command(after_help = help::short(EXAMPLES, &STATUSES), after_long_help = help::long(EXAMPLES_LONG, "", &STATUSES))]
#[command(override_usage = "filterblock query [OPTIONS] <TABLE> <KEY>...")]
pub(crate) struct Arguments {
    /// A table or a database; several need -- before the keys
    #[arg(required_unless_present = "files_from")]
    table: Option<OsString>,
    /// Keys; one that begins with a dash needs -- before it
    #[arg(value_name = "KEY", required_unless_present_any = ["keys_from", "files_from", "behind"])]
    words: Vec<OsString>,
    #[arg(last = true, value_name = "KEY", hide = true)]
    behind: Vec<OsString>,
    #[command(flatten)]
    sources: PathSources,
    /// The keys are in hexadecimal, or escaped as results show them
    #[arg(long)]
    hex: bool,
    /// Also read keys from the lines of FILE; - is standard input
    #[arg(long, value_name = "FILE")]
    keys_from: Option<PathBuf>,
    /// Only keys that may be there
    #[arg(long, conflicts_with = "count")]
    only_matches: bool,
    /// Only how many may be there, for each table and log
    #[arg(long)]
    count: bool,
    /// Print JSON, one object per line (docs/json.md)
    #[arg(long, display_order = order::JSON)]
    json: bool,
    /// The order of keys if no MANIFEST names one: bytewise
    #[arg(long, value_name = "ORDER", hide_possible_values = true, help_heading = ADVANCED, hide_short_help = true)]
    comparator: Option<KeyOrder>,
}

const EXAMPLES: &str = "  filterblock query 000005.ldb hello
  filterblock query ~/db hello world
  filterblock query --count ~/db --keys-from keys.txt";
const EXAMPLES_LONG: &str = "  filterblock query 000005.ldb hello
  filterblock query ~/db hello world
  filterblock query --count ~/db --keys-from keys.txt
  filterblock query *.ldb -- hello";
const STATUSES: [(u8, &str); 3] = [
    (0, "some key may be there"),
    (1, "none may, and everything was read"),
    (2, "something could not be read, or wrong usage"),
];

pub(crate) fn run(mut arguments: Arguments, console: &mut Console) -> Result<u8, String> {
    let (tables, question) = arguments.question()?;
    let progress = Arc::new(ProgressBar::new(!arguments.json));
    let engine = Limits::default()
        .engine(None, console)
        .order(arguments.comparator.map(KeyOrder::known))
        .progress(progress.clone());
    let mut show =
        |line: QueryLine<'_>| progress.show(console, |console| show(line, arguments.json, console));
    let outcome = engine.query(arguments.sources.after(&tables), &question, &mut show);
    progress.end();
    let status = outcome.and_then(|outcome| {
        if arguments.count && !arguments.json {
            text::query::write_totals(&outcome, console)?;
        }
        Ok(arguments.status(&outcome))
    });
    Ok(console.finish(status))
}

impl Arguments {
    fn question(&mut self) -> Result<(Vec<PathBuf>, QueryRequest), String> {
        let (paths_from, keys_from) = (&self.sources.files_from, self.keys_from.as_deref());
        if paths_from.as_deref().is_some_and(keys::is_standard) && keys_from.is_some_and(keys::is_standard) {
            return Err("paths and keys cannot both come from standard input".to_owned());
        }
        let before = self.table.take().into_iter().chain(std::mem::take(&mut self.words)).collect();
        let behind = std::mem::take(&mut self.behind);
        let (tables, keys) = split(before, behind, paths_from.is_some(), keys_from.is_some())?;
        let keys = keys::read(keys, keys_from, self.hex)?;
        if keys.is_empty() {
            return Err("no keys were given".to_owned());
        }
        let wanted = match () {
            () if self.count => QueryOutput::Counts,
            () if self.only_matches => QueryOutput::Matches,
            () => QueryOutput::Answers,
        };
        Ok((tables, QueryRequest { keys: LookupKeys::new(keys).into(), wanted }))
    }

    fn status(&self, outcome: &QueryOutcome) -> u8 {
        match () {
            () if outcome.list_failed => EXIT_ERROR,
            () if self.sources.keep_going => 0,
            () if outcome.may_match => 0,
            () if !outcome.is_unsound => EXIT_NOT_FOUND,
            // Not every answer can be relied on.
            () => EXIT_ERROR,
        }
    }
}

fn show(line: QueryLine<'_>, json: bool, console: &mut Console) -> io::Result<()> {
    match line {
        QueryLine::Folder(folder) if json => {
            console.remarks(&folder.remarks);
            console.fault_of(&folder, "every table is checked");
            console.state_faults(&folder);
            write_line(console, &folder.data())
        }
        QueryLine::Folder(folder) => {
            console.fault_of(&folder, "every table is checked");
            console.state_faults(&folder);
            console.remarks(&folder.remarks);
            Ok(())
        }
        QueryLine::Table { subject, error, data_blocks, has_filters, answers } => {
            console.remarks(subject.remarks);
            if let Some(error) = error {
                console.message_about(subject.path, error);
            }
            for answer in answers {
                match json {
                    true => write_line(&mut *console, &answer)?,
                    false => text::query::write(&answer, data_blocks, has_filters, console)?,
                }
            }
            Ok(())
        }
        QueryLine::Count(count) if json => write_line(console, &count),
        QueryLine::Count(count) => text::query::write_count(&count, console),
        // In JSON, each answer has its own part of these sums, `lookup_blocks`.
        QueryLine::Lookups { .. } if json => Ok(()),
        QueryLine::Lookups { keys, tables_left_out } => {
            for (key, blocks) in keys {
                text::query::write_lookup(key, blocks, tables_left_out, console)?;
            }
            Ok(())
        }
    }
}

/// Separates the tables and folders from the keys, among the words `before` and `behind` `--`. If there are keys after
/// `--`, all words before it are tables. Otherwise, the first word is the table, and the other words are keys.
/// With a file of keys, all words are tables if each is the path of a file or database, or a URL; else, with a list of
/// paths, all words are keys. Fails if a key before `--` is also such a path, which is more likely to be meant.
fn split(
    mut before: Vec<OsString>,
    behind: Vec<OsString>,
    has_path_list: bool,
    has_key_file: bool,
) -> Result<(Vec<PathBuf>, Vec<OsString>), String> {
    let paths = |words: Vec<OsString>| words.into_iter().map(PathBuf::from).collect();
    if !behind.is_empty() {
        return Ok((paths(before), behind));
    }
    let is_table = |word: &OsString| is_input(Path::new(word));
    if has_key_file && !before.is_empty() && before.iter().all(is_table) {
        return Ok((paths(before), Vec::new()));
    }
    let keys = before.split_off(if has_path_list { 0 } else { before.len().min(1) });
    if let Some(path) = keys.iter().map(Path::new).find(|path| is_input(path)) {
        return Err(format!(
            "{}: is a file or database, not a key: with several tables, or for such \
             a key, put -- before the keys: filterblock query TABLE... -- KEY...",
            escape_path(path)
        ));
    }
    Ok((paths(before), keys))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn tables_and_keys_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).into_os_string();
        for folder in ["db", "plain"] {
            fs::create_dir(path(folder)).unwrap();
        }
        for file in ["a.ldb", "b.ldb", "db/CURRENT"] {
            fs::write(path(file), "").unwrap();
        }
        let split = |before: &[&str], behind: &[&str], has_path_list, has_key_file| {
            let all = |words: &[&str]| words.iter().map(|word| path(word)).collect();
            let short = |word: OsString| {
                PathBuf::from(word).strip_prefix(dir.path()).unwrap().to_str().unwrap().to_owned()
            };
            super::split(all(before), all(behind), has_path_list, has_key_file).map(|(tables, keys)| {
                let tables: Vec<_> = tables.into_iter().map(|table| short(table.into())).collect();
                (tables.join(" "), keys.into_iter().map(short).collect::<Vec<_>>().join(" "))
            })
        };
        let both = |tables: &str, keys: &str| Ok((tables.to_owned(), keys.to_owned()));
        // The first word is a table, whether it exists or not.
        assert_eq!(split(&["a.ldb", "x", "y"], &[], false, false), both("a.ldb", "x y"));
        assert_eq!(split(&["x", "x"], &[], false, false), both("x", "x"));
        // A word that is also the path of an empty folder is a key.
        assert_eq!(split(&["a.ldb", "plain"], &[], false, false), both("a.ldb", "plain"));
        for words in [&["a.ldb", "b.ldb", "x"][..], &["a.ldb", "a.ldb"], &["a.ldb", "x", "db"]] {
            assert!(split(words, &[], false, false).unwrap_err().contains("TABLE... -- KEY..."), "{words:?}");
        }
        // After -- there are only keys, and before it only tables.
        assert_eq!(split(&["a.ldb", "x"], &["b.ldb"], false, false), both("a.ldb x", "b.ldb"));
        assert_eq!(split(&["a.ldb"], &["x"], true, false), both("a.ldb", "x"));
        assert_eq!(split(&[], &["x"], true, false), both("", "x"));
        // With a list of paths there are only keys.
        assert_eq!(split(&["x", "y"], &[], true, false), both("", "x y"));
        assert!(split(&["x", "a.ldb"], &[], true, false).is_err());
        // With a file of keys there may be only tables.
        assert_eq!(split(&["a.ldb", "db"], &[], false, true), both("a.ldb db", ""));
        assert_eq!(split(&["a.ldb", "db"], &[], true, true), both("a.ldb db", ""));
        assert_eq!(split(&["a.ldb", "x"], &[], false, true), both("a.ldb", "x"));
        assert_eq!(split(&["x"], &[], false, true), both("x", ""));
        assert!(split(&["a.ldb", "b.ldb", "x"], &[], false, true).is_err());
    }
}
