//! `filterblock scan`: the entries of databases, tables and logs.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use filterblock::database::FileKind;
use filterblock::table::ReadOptions;

use super::key_order::KeyOrder;
use super::limits::Limits;
use super::query::keys::decode_argument;
use crate::audit::scan::database::DatabaseRows;
use crate::audit::scan::log::LogRows;
use crate::audit::scan::range::KeyRange;
use crate::audit::scan::row::{Fault, Rows};
use crate::audit::scan::table::TableRows;
use crate::exit::EXIT_ERROR;
use crate::io::console::Console;
use crate::io::folder::{self, Folder, Source};
use crate::io::folder_cache::FolderCache;
use crate::io::input;
use crate::io::paths::Paths;
use crate::render::format::Format;
use crate::render::renderer::{ScanParts, ScanRenderer, ValuePart};

/// Something is damaged and was passed over.
const EXIT_DAMAGED: u8 = 1;

/// The most errors about one path that are told.
const MAX_ERRORS: u64 = 64;

/// Show the entries of databases, tables and logs
///
/// Of a database: the newest version of each key, in order, with its logs merged in. Keys that are
/// deleted are left out. Of a table given by itself: the same, as far as this table knows. Of a log
/// (.log): its writes in the order in which they were made. With --all, every version and every
/// deletion, also of obsolete files, with sequence number, type, state and place.
///
/// A line is a key, a tab and a value, both escaped as in all output. With --hex, `filterblock build
/// --hex` reads the lines.
///
/// A damaged block is passed over and told. Older versions of its keys may then show.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    paths: Paths,
    /// Show every version of each key and every deletion, with sequence number, type, state (live,
    /// obsolete, unlisted, unknown or log), and file and offset of its block or record
    #[arg(long)]
    all: bool,
    /// Show only keys
    #[arg(long, conflicts_with = "sizes")]
    keys: bool,
    /// Show the sizes of values instead of the values
    #[arg(long)]
    sizes: bool,
    /// Only keys that begin with this
    #[arg(long, value_name = "KEY")]
    prefix: Option<std::ffi::OsString>,
    /// Only keys from this one on, byte by byte
    #[arg(long, value_name = "KEY")]
    from: Option<std::ffi::OsString>,
    /// Only keys before this one, byte by byte
    #[arg(long, value_name = "KEY")]
    to: Option<std::ffi::OsString>,
    /// Show no more entries than this
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Keys and values are in hexadecimal, also those given
    #[arg(long)]
    hex: bool,
    #[command(flatten)]
    limits: Limits,
    /// The order of the keys of a database without a sound MANIFEST
    #[arg(long, value_name = "ORDER")]
    comparator: Option<KeyOrder>,
    /// The format of the keys of tables outside of databases; by default their filters or first keys
    /// tell
    #[arg(long, value_name = "FORMAT")]
    key_format: Option<StoredKeys>,
    /// Write one JSON object a line
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  filterblock scan ~/db                            all keys and values
  filterblock scan --keys --prefix user/ ~/db      only keys that begin with user/
  filterblock scan --all --from k1 --to k2 ~/db    every version of the keys from k1 on and before k2
  filterblock scan 000005.ldb | head               the first entries of a table
  filterblock scan --hex ~/db | filterblock build --hex --sorted - copy.ldb
  filterblock scan --json --sizes ~/db | jq -s 'map(.value_size) | add'

Exit status: 0 all was shown; 1 something is damaged and was passed over;
141 the reader of the output went away; 2 anything else.";

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum StoredKeys {
    /// User key, sequence number and type, as databases store them
    Internal,
    /// Keys as they are
    User,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> u8 {
    let range = match range(arguments) {
        Ok(range) => range,
        Err(message) => {
            console.message(message);
            return EXIT_ERROR;
        }
    };
    let parts = ScanParts {
        value: match () {
            () if arguments.keys => ValuePart::None,
            () if arguments.sizes => ValuePart::Size,
            () => ValuePart::Whole,
        },
        version: arguments.all,
        hex: arguments.hex,
    };
    let mut scan = Scan {
        arguments,
        range,
        options: arguments.limits.read_options().meter(console.meter()),
        renderer: Format::new(arguments.json).scan(parts),
        left: arguments.limit.unwrap_or(u64::MAX),
        status: 0,
    };
    let result = scan.paths(console);
    console.finish(result, scan.status)
}

fn range(arguments: &Arguments) -> Result<KeyRange, String> {
    let key = |option: &str, given: &Option<std::ffi::OsString>| {
        given.clone().map(|key| decode_argument(key, arguments.hex, &option)).transpose()
    };
    Ok(KeyRange {
        prefix: key("--prefix", &arguments.prefix)?,
        from: key("--from", &arguments.from)?,
        to: key("--to", &arguments.to)?,
    })
}

struct Scan<'a> {
    arguments: &'a Arguments,
    range: KeyRange,
    options: ReadOptions,
    renderer: Box<dyn ScanRenderer>,
    /// The number of entries that may still be shown.
    left: u64,
    status: u8,
}

impl Scan<'_> {
    fn paths(&mut self, console: &mut Console) -> io::Result<()> {
        let mut folders = FolderCache::default();
        let arguments = self.arguments;
        for given in arguments.paths.iter() {
            if self.left == 0 {
                return Ok(());
            }
            let path = match given.path {
                Ok(path) => path,
                Err(error) => {
                    self.failed(&given.input, &error.to_string(), console)?;
                    continue;
                }
            };
            match folder::resolve(&path) {
                Ok(Source::Folder(folder)) if arguments.paths.is_recursive() && folder.is_nothing() => {}
                Ok(Source::Folder(folder)) => self.folder(&folder, console)?,
                Ok(Source::File) => {
                    let folder = folders.around(&path, |_, _| {});
                    self.file(&path, folder.is_some(), false, console)?;
                }
                Err(error) => self.failed(&path, &error.to_string(), console)?,
            }
        }
        Ok(())
    }

    fn folder(&mut self, folder: &Folder, console: &mut Console) -> io::Result<()> {
        for (path, error) in folder.skipped() {
            self.failed(path, &error.to_string(), console)?;
        }
        if !folder.is_database() {
            let tables: Vec<PathBuf> = folder.tables().map(Path::to_owned).collect();
            if tables.is_empty() {
                return self.failed(folder.path(), "there are no tables (.ldb, .sst) to scan", console);
            }
            return tables.iter().try_for_each(|table| self.file(table, false, true, console));
        }
        if let Some((path, error)) = folder.manifest_error() {
            let message = format!("{error}; all tables and logs are scanned");
            self.failed(path, &message, console)?;
        }
        if !folder.has_records() && self.arguments.comparator.is_none() {
            let message = "the order of its keys is not known without a MANIFEST, and tables cannot be merged: \
                           give --comparator bytewise, or the tables one by one";
            return self.failed(folder.path(), message, console);
        }
        let range = self.range.clone();
        match DatabaseRows::new(folder.database(), &self.options, &range, self.arguments.all) {
            Ok(mut rows) => self.show(folder.path(), &mut rows, console),
            Err(error) => {
                let message = format!(
                    "{}: its tables cannot be merged in an order that is not known here; give them one by one",
                    error.without_path()
                );
                self.failed(folder.path(), &message, console)
            }
        }
    }

    /// `in_database`: its keys are internal keys.
    fn file(
        &mut self,
        path: &Path,
        in_database: bool,
        listed: bool,
        console: &mut Console,
    ) -> io::Result<()> {
        if self.left == 0 {
            return Ok(());
        }
        let file = match input::open_file(path, listed) {
            Ok(file) => file,
            Err(error) => return self.failed(path, &error.to_string(), console),
        };
        let range = self.range.clone();
        let all = self.arguments.all;
        if is_log(path) {
            return self.show(path, &mut LogRows::new(file, path, &range, all), console);
        }
        let internal = match self.arguments.key_format {
            Some(format) => Some(format == StoredKeys::Internal),
            None => in_database.then_some(true),
        };
        match TableRows::new(file, &self.options, path, &range, all, internal) {
            Ok(mut rows) => self.show(path, &mut rows, console),
            Err(error) => self.failed(path, &error.without_path().to_string(), console),
        }
    }

    /// Shows all entries up to the limit.
    fn show(&mut self, path: &Path, rows: &mut dyn Rows, console: &mut Console) -> io::Result<()> {
        let mut errors = 0;
        while self.left > 0 {
            match rows.advance() {
                Ok(true) => {
                    if let Some(row) = rows.row() {
                        self.renderer.entry(&row, console)?;
                    }
                    self.left -= 1;
                }
                Ok(false) => {
                    if let Some(note) = rows.note() {
                        console.message_about(path, note);
                    }
                    break;
                }
                Err(error) => {
                    errors += 1;
                    self.damaged(path, &error, errors, console)?;
                }
            }
        }
        if errors > MAX_ERRORS {
            console.message_about(path, format_args!("{} more errors", errors - MAX_ERRORS));
        }
        Ok(())
    }

    fn damaged(&mut self, path: &Path, fault: &Fault, number: u64, console: &mut Console) -> io::Result<()> {
        self.status = self.status.max(if fault.is_unreadable { EXIT_ERROR } else { EXIT_DAMAGED });
        if number > MAX_ERRORS {
            return Ok(());
        }
        let path = fault.path.as_deref().unwrap_or(path);
        console.message_about(path, &fault.message);
        self.renderer.damage(path, &fault.message, console)
    }

    /// A path could not be looked at.
    fn failed(&mut self, path: &Path, message: &str, console: &mut Console) -> io::Result<()> {
        self.status = EXIT_ERROR;
        console.message_about(path, message);
        self.renderer.damage(path, message, console)?;
        console.flush()
    }
}

fn is_log(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.and_then(FileKind::parse).is_some_and(|(kind, _)| kind == FileKind::Log)
        || path.extension().is_some_and(|extension| extension == "log")
}
