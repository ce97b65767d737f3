//! `filterblock query`: asks which keys tables may hold, and in which data blocks.

mod results;
mod words;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use filterblock::escape_path;
use filterblock::table::ReadOptions;

use super::key_order::KeyOrder;
use super::keys;
use super::limits::Limits;
use super::walk::{Visitor, folder_header};
use crate::exit::EXIT_ERROR;
use crate::format::Format;
use crate::io::console::Console;
use crate::io::paths::PathSources;
use filterblock_engine::audit::foreign::explain;
use filterblock_engine::audit::query;
use filterblock_engine::audit::query::candidates::{Answer, KeyBlocks};
use filterblock_engine::audit::query::keys::SoughtKeys;
use filterblock_engine::audit::query::logs::{LogAnswer, LogAnswers};
use filterblock_engine::audit::query::totals::TableMatches;
use filterblock_engine::report::error_kind::ErrorKind;
use filterblock_engine::report::fetched::Depth;
use filterblock_engine::report::subject::{Remark, Subject};
use filterblock_engine::run::in_use;
use filterblock_engine::walk::folder::Folder;
use filterblock_engine::walk::input::{self, PathError};
use filterblock_engine::words::numbers::counted_as;
use results::{Results, Shown};
use words::{TablesAndKeys, Words};

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
    remote: super::remote::RemoteArguments,
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

pub(crate) fn run(arguments: Arguments, console: &mut Console) -> u8 {
    let Arguments { table, words, behind, sources, keys_from, limits, .. } = arguments;
    let is_stdin = |path: Option<&Path>| path.is_some_and(|path| path.as_os_str() == "-");
    if is_stdin(sources.files_from()) && is_stdin(keys_from.as_deref()) {
        console.message("expected paths or keys from standard input, found both");
        return EXIT_ERROR;
    }
    let words = Words {
        before: table.into_iter().chain(words).collect(),
        behind,
        has_path_list: sources.files_from().is_some(),
        has_key_file: keys_from.is_some(),
    };
    let TablesAndKeys { tables, keys } = match words.split() {
        Ok(split) => split,
        Err(message) => {
            console.message(message);
            return EXIT_ERROR;
        }
    };
    let keys = match keys::read(keys, keys_from.as_deref(), arguments.hex) {
        Ok(keys) if keys.is_empty() => {
            console.message("expected keys, found none");
            return EXIT_ERROR;
        }
        Ok(keys) => keys,
        Err(message) => {
            console.message(message);
            return EXIT_ERROR;
        }
    };
    let shown = match () {
        () if arguments.count => Shown::Counts,
        () if arguments.only_matches => Shown::Matches,
        () => Shown::Answers,
    };
    let mut query = Query {
        keys: Arc::new(SoughtKeys::new(keys)),
        is_bytewise: arguments.comparator == Some(KeyOrder::Bytewise),
        results: Results::new(Format::new(arguments.json).query(), shown),
        options: limits.read_options().meter(console.meter()),
        may_match: false,
        sound: true,
        list_failed: false,
        vanished: Vec::new(),
        lookup_blocks: None,
    };
    #[cfg(not(feature = "remote"))]
    let result =
        super::walk::walk(sources.after(&tables).into_iter(), sources.is_recursive(), &mut query, console);
    #[cfg(feature = "remote")]
    let result = query.stretches(
        sources.after(&tables).into_iter(),
        sources.is_recursive(),
        &arguments.remote,
        arguments.json,
        console,
    );
    let result = result.and_then(|()| query.results.end(console));
    let status = match () {
        () if query.list_failed => EXIT_ERROR,
        () if sources.keeps_going() => 0,
        () if query.may_match => 0,
        () if query.sound => EXIT_NOT_FOUND,
        // Not every answer can be relied on.
        () => EXIT_ERROR,
    };
    console.finish(result, status)
}

pub(super) struct Query {
    pub(super) keys: Arc<SoughtKeys>,
    /// The user has said that keys are in bytewise order.
    pub(super) is_bytewise: bool,
    results: Results,
    pub(super) options: ReadOptions,
    /// A table that was read soundly may hold one of the keys.
    may_match: bool,
    /// All tables were read soundly.
    sound: bool,
    list_failed: bool,
    /// The files of the current folder that vanished.
    vanished: Vec<PathBuf>,
    /// For each key, the number of data blocks that a lookup in the whole database reads at most;
    /// `None` if the order of its keys is not known.
    lookup_blocks: Option<Vec<u64>>,
}

impl Query {
    /// Answers for a log, whose writes are in no table.
    fn log(&mut self, subject: Subject<'_>, console: &mut Console) -> io::Result<()> {
        let file = match input::open_file(subject.path, true) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::Vanished => {
                self.vanished.push(subject.path.to_owned());
                return Ok(());
            }
            Err(error) => return self.unreadable(subject, error, console),
        };
        self.log_contents(subject, file, console)
    }

    pub(super) fn log_contents(
        &mut self,
        subject: Subject<'_>,
        contents: impl io::Read,
        console: &mut Console,
    ) -> io::Result<()> {
        let LogAnswers { answers, error } = query::logs::read(contents, &self.keys);
        let error = error.as_ref().map(|(error, kind)| (error.as_str(), *kind));
        self.sound &= error.is_none();
        self.results.begin_table(subject, error, console);
        let mut matches = TableMatches::default();
        for (at, (key, log)) in self.keys.given().iter().zip(answers).enumerate() {
            self.may_match |= log == LogAnswer::Value;
            let answer = Answer { key, blocks: None, log: Some(log), error };
            self.results.answer(subject, at, &answer, &mut matches, console)?;
        }
        self.results.end_table(subject, &matches, error, console)
    }

    /// Answers for a table that cannot be read: all keys may be in it.
    pub(super) fn unknown(
        &mut self,
        subject: Subject<'_>,
        error: &str,
        kind: ErrorKind,
        console: &mut Console,
    ) -> io::Result<()> {
        self.sound = false;
        let error = Some((error, kind));
        self.results.begin_table(subject, error, console);
        let mut matches = TableMatches::default();
        for (at, key) in self.keys.given().iter().enumerate() {
            let answer = Answer { key, blocks: None, log: None, error };
            self.results.answer(subject, at, &answer, &mut matches, console)?;
        }
        self.results.end_table(subject, &matches, error, console)
    }

    /// Shows the answers of a table. `error`: the reason why every key may be there. `no_index`: the
    /// reason why the index was of no use. `blocks`: the answer for each key.
    pub(super) fn answers(
        &mut self,
        subject: Subject<'_>,
        error: Option<&(String, ErrorKind)>,
        no_index: Option<&'static str>,
        blocks: impl Iterator<Item = KeyBlocks>,
        console: &mut Console,
    ) -> io::Result<()> {
        let error = error.map(|(error, kind)| (error.as_str(), *kind));
        self.sound &= error.is_none();
        let mut remarks = subject.remarks.to_vec();
        if let Some(reason) = no_index.filter(|_| error.is_none()) {
            let text = format_args!("{reason}: the filters of all data blocks are asked");
            remarks.push(Remark::new(subject.path, text));
        }
        let subject = Subject { remarks: &remarks, ..subject };
        self.results.begin_table(subject, error, console);
        let mut matches = TableMatches::default();
        let keys = Arc::clone(&self.keys);
        for ((at, key), blocks) in keys.given().iter().enumerate().zip(blocks) {
            if let Some(sum) = self.lookup_blocks.as_mut().and_then(|sums| sums.get_mut(at)) {
                *sum += blocks.lookup_blocks.unwrap_or_default();
            }
            self.may_match |= error.is_none() && !blocks.offsets.is_empty();
            let answer = Answer { key, blocks: Some(&blocks), log: None, error };
            self.results.answer(subject, at, &answer, &mut matches, console)?;
        }
        self.results.end_table(subject, &matches, error, console)
    }

    /// Begins a folder: says which tables are not asked, and which are missing.
    pub(super) fn begin_tables(
        &mut self,
        subject: Subject<'_>,
        folder: &Folder,
        logs: &[&Path],
        console: &mut Console,
    ) -> io::Result<()> {
        let mut remarks = subject.remarks.to_vec();
        let obsolete: Vec<_> = folder.tables().filter(|path| !is_asked(folder, path)).collect();
        if !obsolete.is_empty() {
            remarks.push(Remark::new(subject.path, not_asked(&obsolete)));
        }
        let tables: Vec<&Path> = folder.tables().collect();
        let header = folder_header(folder, &tables, logs);
        self.results.begin_folder(Subject { remarks: &remarks, ..subject }, &header, console)?;
        let input = Subject::of(subject.input);
        for (path, ..) in folder.missing() {
            let message = "expected a table, as the MANIFEST has it, found no file";
            self.unknown(Subject { path: &path, ..input }, message, ErrorKind::Missing, console)?;
        }
        self.lookup_blocks = folder.is_bytewise().then(|| vec![0; self.keys.given().len()]);
        Ok(())
    }

    /// Shows how many data blocks a lookup in the whole folder reads at most.
    pub(super) fn end_tables(&mut self, console: &mut Console) -> io::Result<()> {
        let sums = self.lookup_blocks.take();
        for (key, blocks) in self.keys.given().iter().zip(sums.into_iter().flatten()) {
            self.results.lookup_blocks(key, blocks, console)?;
        }
        Ok(())
    }
}

impl Visitor for Query {
    fn skipped(&mut self, _: &mut Console) -> io::Result<()> {
        self.sound = false;
        Ok(())
    }

    fn list_failed(&mut self, _: &mut Console) -> io::Result<()> {
        self.list_failed = true;
        Ok(())
    }

    fn unreadable(
        &mut self,
        subject: Subject<'_>,
        error: PathError,
        console: &mut Console,
    ) -> io::Result<()> {
        self.unknown(subject, &error.to_string(), error.kind(), console)
    }

    fn table(
        &mut self,
        subject: Subject<'_>,
        listed: bool,
        folder: Option<&Arc<Folder>>,
        console: &mut Console,
    ) -> io::Result<()> {
        let record = folder.and_then(|folder| folder.record(subject.path));
        if listed && record.is_some_and(|record| record.live.is_none()) {
            // Said at the beginning of the folder.
            return Ok(());
        }
        let file = match input::open_file(subject.path, listed) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::Vanished && record.is_some() => {
                self.vanished.push(subject.path.to_owned());
                return Ok(());
            }
            Err(error) => return self.unreadable(subject, error, console),
        };
        let (keys, is_bytewise) = (Arc::clone(&self.keys), self.is_bytewise);
        let table = match query::table(&file, &self.options, &keys, is_bytewise, record, Depth::All) {
            Ok(table) => table,
            Err(error) => {
                let text = error.to_string();
                let text = explain(&file, &error, text.clone()).unwrap_or(text);
                return self.unknown(subject, &text, ErrorKind::of(&error), console);
            }
        };
        let blocks = keys.given().iter().enumerate().map(|(at, key)| table.of(key, at));
        self.answers(subject, table.error.as_ref(), table.no_index, blocks, console)
    }

    fn begin_folder(
        &mut self,
        subject: Subject<'_>,
        folder: &Arc<Folder>,
        console: &mut Console,
    ) -> io::Result<()> {
        let logs: Vec<&Path> = folder.filled_logs().collect();
        self.begin_tables(subject, folder, &logs, console)?;
        let input = Subject::of(subject.input);
        logs.into_iter().try_for_each(|log| self.log(Subject { path: log, ..input }, console))
    }

    fn end_folder(
        &mut self,
        subject: Subject<'_>,
        folder: &Arc<Folder>,
        console: &mut Console,
    ) -> io::Result<()> {
        let vanished = std::mem::take(&mut self.vanished);
        // A table that was not asked may have become live.
        let files = |folder: &Arc<Folder>| {
            let tables = folder.tables().filter(|path| is_asked(folder, path));
            folder.filled_logs().chain(tables).map(Path::to_owned).collect()
        };
        let lost = in_use::go_on(folder, files, vanished, |path, folder| {
            let subject = Subject { path: &path, ..subject };
            match folder.filled_logs().any(|log| log == path) {
                true => self.log(subject, console)?,
                false => self.table(subject, true, Some(folder), console)?,
            }
            Ok(std::mem::take(&mut self.vanished).is_empty())
        })?;
        for path in lost {
            self.unreadable(Subject { path: &path, ..subject }, PathError::vanished(), console)?;
        }
        self.end_tables(console)
    }
}

/// Returns true unless the database around the table does not use it.
pub(super) fn is_asked(folder: &Folder, path: &Path) -> bool {
    folder.record(path).is_none_or(|record| record.live.is_some())
}

/// The message about tables in a folder that its database does not use.
fn not_asked(obsolete: &[&Path]) -> String {
    /// The most names to list.
    const NAMED: usize = 4;
    let names: Vec<_> = obsolete.iter().take(NAMED).filter_map(|path| path.file_name()).collect();
    let mut names: Vec<String> = names.into_iter().map(|name| escape_path(name).to_string()).collect();
    if obsolete.len() > NAMED {
        names.push("...".to_owned());
    }
    let tables = counted_as(obsolete.len() as u64, "table that", "tables that");
    format!("{tables} the database does not use, not asked unless named: {}", names.join(", "))
}
