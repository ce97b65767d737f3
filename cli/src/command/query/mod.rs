//! `filterblock query`: which keys a table may hold, and in which data blocks.

mod keys;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use filterblock::database::LiveTable;
use filterblock::escape;
use filterblock::table::ReadOptions;

use crate::TROUBLE;
use crate::audit::query::candidates::{Keys, Routes};
use crate::audit::stats;
use crate::io::console::Console;
use crate::io::database::{Database, Surroundings};
use crate::io::input::{self, Source};
use crate::io::paths::More;
use crate::render::show::counted;
use crate::render::text::query::Answer;

const NONE_MAY: u8 = 1;

/// Ask the filters which keys a table may hold
///
/// A table without a filter, or whose filter cannot be read, may hold every key.
///
/// Tables do not record the order of their keys; the MANIFEST of a database does. Unless it names leveldb.BytewiseComparator, or
/// --comparator tells the order, the filters of all data blocks are asked, and the more filters there are the likelier it is
/// that one errs: the output says how likely.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A table, or a database folder: all its tables are asked. With --files-from there is none, and all arguments are keys
    #[arg(required_unless_present = "files_from")]
    path: Option<OsString>,
    /// The keys, as the filters know them: in a database's tables the user keys
    #[arg(value_name = "KEY", required_unless_present_any = ["keys_from", "files_from"])]
    keys: Vec<OsString>,
    #[command(flatten)]
    more: More,
    /// Take keys from the lines of this file too, after those given; - is standard input
    ///
    /// A line ends in LF or CR LF. An empty line is the empty key. Keys with line breaks in them need --hex.
    #[arg(long, value_name = "FILE")]
    keys_from: Option<PathBuf>,
    /// The keys are in hexadecimal
    #[arg(long)]
    hex: bool,
    /// The order of the keys, so that the index tells the one data block that may hold a key
    #[arg(long, value_name = "ORDER")]
    comparator: Option<Order>,
    /// Write one JSON object a line, for each table and key
    #[arg(long)]
    json: bool,
}

/// An order of keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Order {
    /// Byte by byte (leveldb.BytewiseComparator), LevelDB's default
    Bytewise,
}

const EXAMPLES: &str = "\
Examples:
  filterblock query 000005.ldb hello                        may this table hold \"hello\"?
  filterblock query --comparator bytewise ~/db hello world  which tables may hold these keys?
  filterblock query --hex ~/db 68656c6c6f                   a key in hexadecimal
  filterblock query --json ~/db --keys-from keys.txt        many keys, for a program
  filterblock query ~/db -- -x                              a key that begins with a dash
  find / -name '*.ldb' -print0 | filterblock query --files-from - -0 hello
  filterblock query --json ~/db hello | jq -s 'map(.lookup_blocks) | add'
                                                            how many data blocks a lookup reads at most

Exit status: 0 some key may be there; 1 none may, and every table was read soundly;
141 the reader of the output went away, whatever the answers; 2 anything else.";

pub(crate) fn run(arguments: Arguments, console: &mut Console) -> u8 {
    let Arguments { mut path, mut keys, more, keys_from, .. } = arguments;
    if more.files_from().is_some() {
        keys.splice(0..0, path.take());
    }
    let is_stdin = |path: Option<&Path>| path.is_some_and(|path| path.as_os_str() == "-");
    if is_stdin(more.files_from()) && is_stdin(keys_from.as_deref()) {
        console.say("expected paths or keys from standard input, found both");
        return TROUBLE;
    }
    let keys = match keys::read(keys, keys_from.as_deref(), arguments.hex) {
        Ok(keys) if keys.is_empty() => {
            console.say("expected keys, found none");
            return TROUBLE;
        }
        Ok(keys) => keys,
        Err(message) => {
            console.say(message);
            return TROUBLE;
        }
    };
    let mut query = Query {
        keys: Keys::new(keys),
        order: arguments.comparator,
        json: arguments.json,
        options: stats::read_options().meter(console.meter()),
        may_match: false,
        sound: true,
        reads: None,
        surroundings: Surroundings::default(),
    };
    let paths: Vec<PathBuf> = path.into_iter().map(PathBuf::from).collect();
    let result = more.behind(&paths).try_for_each(|given| match given {
        Ok(path) => query.path(&path, more.is_recursive(), console),
        Err((path, message)) => query.unread(&path, &message, console),
    });
    let status = match () {
        () if query.may_match => 0,
        () if query.sound => NONE_MAY,
        // Not every answer can be relied on.
        () => TROUBLE,
    };
    console.end(result, status)
}

struct Query {
    keys: Keys,
    order: Option<Order>,
    json: bool,
    options: ReadOptions,
    /// Whether a table that was read soundly may hold one of the keys.
    may_match: bool,
    /// Whether all tables were.
    sound: bool,
    /// For each key, the data blocks that a lookup in a whole database may read, if the order of its keys is known.
    reads: Option<Vec<u64>>,
    surroundings: Surroundings,
}

impl Query {
    /// `recursive`: folders that hold nothing of interest are passed over.
    fn path(&mut self, path: &Path, recursive: bool, console: &mut Console) -> io::Result<()> {
        self.reads = None;
        let folder = match input::resolve(path) {
            Ok(Source::Folder(folder)) if recursive && folder.is_empty() => return Ok(()),
            Ok(Source::Folder(folder)) => folder,
            Ok(Source::File) => {
                let database = self.surroundings.of(path, |folder, error| {
                    self.sound = false;
                    console.complain(folder, error);
                });
                return self.table(path, false, database.as_deref(), console);
            }
            Err(message) => return self.unread(path, &message, console),
        };
        for (path, message) in &folder.skipped {
            self.sound = false;
            console.complain(path, message);
        }
        let database = Database::find(path).unwrap_or_else(|error| {
            self.sound = false;
            console.complain(path, error);
            None
        });
        if let Some(Err(error)) = database.as_ref().map(|database| &database.manifest) {
            let path = error.path().unwrap_or(path);
            console.complain(path, format_args!("{}; all tables are asked", error.without_path()));
        }
        for table in
            database.iter().flat_map(|database| database.missing().map(|table| database.path_of(table)))
        {
            self.unread(&table, "expected a table, as the MANIFEST has it, found no file", console)?;
        }
        if database.is_none() && folder.tables.is_empty() {
            console.complain(path, "there are no tables (.ldb, .sst) to ask");
        }
        for log in folder.filled_logs(database.as_ref()) {
            self.sound = false;
            console.complain(log, "the newest writes may be in this log, which no filter covers");
        }
        self.reads =
            database.as_ref().is_some_and(Database::is_bytewise).then(|| vec![0; self.keys.given.len()]);
        for table in &folder.tables {
            self.table(table, true, database.as_ref(), console)?;
        }
        self.write_reads(console)
    }

    /// Says what a lookup costs, where the index was of use in all tables.
    fn write_reads(&self, console: &mut Console) -> io::Result<()> {
        let Some(reads) = self.reads.as_ref().filter(|_| !self.json) else { return Ok(()) };
        for (key, &blocks) in self.keys.given.iter().zip(reads) {
            let blocks = counted(blocks, "data block");
            writeln!(console, "\"{}\": a lookup reads at most {blocks}", escape(key))?;
        }
        Ok(())
    }

    fn table(
        &mut self,
        path: &Path,
        listed: bool,
        database: Option<&Database>,
        console: &mut Console,
    ) -> io::Result<()> {
        let live = database.and_then(|database| database.live(path));
        let is_bytewise = database.is_some_and(Database::is_bytewise);
        let is_obsolete = live.is_none() && database.is_some_and(|database| database.manifest.is_ok());
        let order = self.order.or(is_bytewise.then_some(Order::Bytewise));
        // A range that ends before it begins says nothing.
        let range = live.filter(|_| is_bytewise).and_then(LiveTable::user_keys);
        let range = range.filter(|(smallest, largest)| smallest <= largest);
        let table = match input::open(path, listed, &self.options) {
            Ok(table) => table,
            Err(unopened) => return self.unread(path, &unopened.message, console),
        };
        let routes = Routes::new(&table, &self.keys, order);
        let error = routes.error.as_deref();
        if let Some(error) = error {
            self.sound = false;
            console.complain(path, error);
        } else if let Some(reason) = routes.no_index {
            console.complain(path, format_args!("{reason}: the filters of all data blocks are asked"));
        }
        for (at, key) in self.keys.given.iter().enumerate() {
            let found = match range {
                Some((smallest, largest)) if error.is_none() && !(smallest..=largest).contains(&&**key) => {
                    routes.none()
                }
                _ => routes.find(&self.keys, at),
            };
            let lookup_blocks = match is_obsolete {
                true => Some(0),
                false => found.by_index.then_some(found.blocks.len() as u64),
            };
            if let Some(reads) = self.reads.as_mut().and_then(|reads| reads.get_mut(at)) {
                *reads += lookup_blocks.unwrap_or_default();
            }
            self.may_match |= error.is_none() && !found.blocks.is_empty();
            Answer { path, key, found: Some(&found), lookup_blocks, error }.write(self.json, console)?;
        }
        console.flush()
    }

    /// All keys may be in a table that cannot be read.
    fn unread(&mut self, path: &Path, message: &str, console: &mut Console) -> io::Result<()> {
        self.sound = false;
        console.complain(path, message);
        for key in &self.keys.given {
            Answer { path, key, found: None, lookup_blocks: None, error: Some(message) }
                .write(self.json, console)?;
        }
        console.flush()
    }
}
