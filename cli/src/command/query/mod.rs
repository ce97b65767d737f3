//! `filterblock query`: asks which keys tables may hold, and in which data blocks.

mod words;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::{ffi::OsString, sync::Arc};

use clap::Args;
use filterblock_engine::report::{QueryLine, write_line};
use filterblock_engine::{QueryOutcome, Question, SoughtKeys, Wanted};
use words::{TablesAndKeys, Words};

use super::arguments::{KeyOrder, Limits, PathSources};
use super::keys;
use crate::io::{Console, Progress};
use crate::{exit::EXIT_ERROR, text};

#[cfg(feature = "remote")]
use filterblock_engine::report::Depth;

/// No key may be there, and every table was read soundly.
const EXIT_NOT_FOUND: u8 = 1;

/// Ask the filters which keys a table may hold
///
/// A table without a filter, or whose filter cannot be read, may hold every key. The logs of a
/// database are read to their ends for the keys.
///
/// Tables do not record the order of their keys; the MANIFEST of a database does. Unless it names
/// leveldb.BytewiseComparator, or --comparator tells the order, the filters of all data blocks are
/// asked, and the more filters there are the likelier it is that one errs: the output says how
/// likely.
#[derive(Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Arguments {
    /// A table, or a database folder: all tables that the database uses are asked
    ///
    /// Several tables need -- before the keys, or --keys-from and no key. With --files-from there
    /// is none unless -- follows it.
    #[arg(required_unless_present = "files_from")]
    table: Option<OsString>,
    /// The keys, as the filters know them: in a database's tables the user keys
    ///
    /// A key that begins with a dash or has the name of a file needs -- before it.
    #[arg(value_name = "KEY", required_unless_present_any = ["keys_from", "files_from", "behind"])]
    words: Vec<OsString>,
    #[arg(last = true, value_name = "KEY", hide = true)]
    behind: Vec<OsString>,
    #[command(flatten)]
    sources: PathSources,
    /// Take keys from the lines of this file too, after those given; - is standard input
    ///
    /// A line ends in LF or CR LF. An empty line is the empty key. Keys with line breaks in them
    /// need --hex.
    #[arg(long, value_name = "FILE")]
    keys_from: Option<PathBuf>,
    /// The keys are in hexadecimal, or escaped as results show them
    ///
    /// Digits may begin with 0x and be parted by spaces: 0x6b6579, "6b 65 79". A key with a
    /// backslash in it is text with escapes: user\x00\xff.
    #[arg(long)]
    hex: bool,
    /// Show only the keys that may be there
    #[arg(long, conflicts_with = "count")]
    only_matches: bool,
    /// Show only, for each table, how many of the keys may be there
    #[arg(long)]
    count: bool,
    /// The order of the keys, so that the index tells the one data block that may hold a key
    #[arg(long, value_name = "ORDER")]
    comparator: Option<KeyOrder>,
    #[command(flatten)]
    limits: Limits,
    /// Write JSON, one object a line: for each table and key, and for each folder
    #[arg(long)]
    json: bool,
    #[cfg(feature = "remote")]
    #[command(flatten)]
    remote: super::arguments::RemoteArguments,
}

const USAGE: &str = "\
filterblock query [OPTIONS] <TABLE> <KEY>...
       filterblock query [OPTIONS] <TABLE>... -- <KEY>...";

const EXAMPLES: &str = "\
Examples:
  filterblock query 000005.ldb hello                        may this table hold \"hello\"?
  filterblock query --comparator bytewise ~/db hello world  which tables may hold these keys?
  filterblock query --hex ~/db 68656c6c6f                   a key in hexadecimal
  filterblock query --hex ~/db 'user\\x00\\x01'              a key as results show it
  filterblock query *.ldb -- hello                          several tables
  filterblock query --json ~/db --keys-from keys.txt        many keys, for a program
  filterblock query --count ~/db --keys-from keys.txt       a line for each table
  filterblock query ~/db -- -x                              a key that begins with a dash
  find / -name '*.ldb' -print0 | filterblock query --files-from - -0 hello
  filterblock query --json ~/db hello | jq -s 'map(.lookup_blocks) | add'
                                                            how many data blocks a lookup reads at most

Exit status: 0 some key may be there; 1 none may, and all was read soundly;
141 the reader of the output went away, whatever the answers; 2 anything else.";

pub(crate) fn run(mut arguments: Arguments, console: &mut Console) -> u8 {
    let (tables, question) = match arguments.question() {
        Ok(question) => question,
        Err(message) => {
            console.message(message);
            return EXIT_ERROR;
        }
    };
    let progress = Arc::new(Progress::new(!arguments.json));
    let is_bytewise = arguments.comparator == Some(KeyOrder::Bytewise);
    let engine = arguments.limits.engine(console).bytewise(is_bytewise).watch(progress.clone());
    #[cfg(feature = "remote")]
    let engine = engine.fleet(arguments.remote.fleet(Depth::Sample));
    let mut show = |line: QueryLine<'_>| {
        progress.suspend(|| {
            show(line, arguments.json, console)?;
            console.flush()
        })
    };
    let outcome = engine.query(arguments.sources.after(&tables), &question, &mut show);
    progress.end();
    let status = outcome.as_ref().map_or(0, |outcome| arguments.status(outcome));
    let result = outcome.and_then(|outcome| {
        if let Some(reason) = &outcome.not_started {
            console.message(reason);
        }
        let has_totals = arguments.count && !arguments.json;
        if has_totals { text::query::write_totals(&outcome, console) } else { Ok(()) }
    });
    console.finish(result, status)
}

impl Arguments {
    /// The tables, and what they are asked.
    fn question(&mut self) -> Result<(Vec<PathBuf>, Question), String> {
        let is_stdin = |path: Option<&Path>| path.is_some_and(|path| path.as_os_str() == "-");
        if is_stdin(self.sources.files_from()) && is_stdin(self.keys_from.as_deref()) {
            return Err("expected paths or keys from standard input, found both".to_owned());
        }
        let words = Words {
            before: self.table.take().into_iter().chain(std::mem::take(&mut self.words)).collect(),
            behind: std::mem::take(&mut self.behind),
            has_path_list: self.sources.files_from().is_some(),
            has_key_file: self.keys_from.is_some(),
        };
        let TablesAndKeys { tables, keys } = words.split()?;
        let keys = keys::read(keys, self.keys_from.as_deref(), self.hex)?;
        if keys.is_empty() {
            return Err("expected keys, found none".to_owned());
        }
        let wanted = match () {
            () if self.count => Wanted::Counts,
            () if self.only_matches => Wanted::Matches,
            () => Wanted::Answers,
        };
        Ok((tables, Question { keys: SoughtKeys::new(keys).into(), wanted }))
    }

    fn status(&self, outcome: &QueryOutcome) -> u8 {
        match () {
            () if outcome.list_failed || outcome.not_started.is_some() => EXIT_ERROR,
            () if self.sources.keeps_going() => 0,
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
            console.fault_of(&folder, "all tables are asked");
            write_line(console, &folder)
        }
        QueryLine::Folder(folder) => {
            console.fault_of(&folder, "all tables are asked");
            console.remarks(&folder.remarks);
            Ok(())
        }
        QueryLine::Table { subject, error, answers } => {
            console.remarks(subject.remarks);
            if let Some((error, _)) = error {
                console.message_about(subject.path, error);
            }
            for answer in answers {
                match json {
                    true => write_line(&mut *console, &answer)?,
                    false => text::query::write(&answer, console)?,
                }
            }
            Ok(())
        }
        QueryLine::Count(count) if json => write_line(console, &count),
        QueryLine::Count(count) => text::query::write_count(&count, console),
        // The answers for the tables have it.
        QueryLine::Lookups(_) if json => Ok(()),
        QueryLine::Lookups(keys) => {
            for (key, blocks) in keys {
                text::query::write_lookup(key, blocks, console)?;
            }
            Ok(())
        }
    }
}
