//! goleveldb, through the program in `go/tables`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use filterblock::table::Compression;
use filterblock_interop::hex;

/// The options by which both sides write a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// 0 for a table without filters.
    pub(crate) bits_per_key: u32,
    pub(crate) base_lg: u8,
    pub(crate) block_size: usize,
    pub(crate) restart_interval: u32,
    pub(crate) compression: Compression,
}

/// goleveldb's answers about a key.
#[derive(Debug)]
pub(crate) struct Lookup {
    pub(crate) key: Vec<u8>,
    /// The filter's answer, if it was asked.
    pub(crate) answer: Option<bool>,
    /// The value found if the filter is asked first.
    pub(crate) filtered: Option<Vec<u8>>,
    /// The value found without the filter.
    pub(crate) plain: Option<Vec<u8>>,
}

/// Everything that goleveldb reads in a table.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) entries: Vec<(Vec<u8>, Vec<u8>)>,
    /// One answer for each key that was asked for, in order.
    pub(crate) lookups: Vec<Lookup>,
}

/// The program, ready to run.
#[derive(Debug)]
pub(crate) struct Goleveldb {
    program: PathBuf,
}

impl Goleveldb {
    /// Builds the program, or returns the program built before. `None`, with a message, if Go is not
    /// installed.
    pub(crate) fn get() -> Option<&'static Self> {
        static BUILT: LazyLock<Option<Goleveldb>> = LazyLock::new(Goleveldb::build);
        BUILT.as_ref()
    }

    fn build() -> Option<Self> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let program = filterblock_interop::goleveldb::build("tables", folder).unwrap()?;
        Some(Self { program })
    }

    /// Lets goleveldb write a table of `entries`.
    pub(crate) fn write(&self, options: &Options, entries: &BTreeMap<Vec<u8>, Vec<u8>>) -> Vec<u8> {
        let mut listing = String::new();
        for (key, value) in entries {
            writeln!(listing, "{}\t{}", hex(key), hex(value)).unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("table");
        let mut command = Command::new(&self.program);
        command
            .arg("write")
            .args(["-bits", &options.bits_per_key.to_string()])
            .args(["-base-lg", &options.base_lg.to_string()])
            .args(["-block-size", &options.block_size.to_string()])
            .args(["-restart-interval", &options.restart_interval.to_string()])
            .arg(format!("-snappy={}", options.compression == Compression::Snappy))
            .arg(&table);
        run(&mut command, &listing, folder.path());
        fs::read(table).unwrap()
    }

    /// Lets goleveldb read a table and look up `keys`.
    pub(crate) fn read<'a>(&self, table: &[u8], keys: impl Iterator<Item = &'a [u8]>) -> Reading {
        let keys: String = keys.map(|key| hex(key) + "\n").collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table");
        fs::write(&path, table).unwrap();
        let output = run(Command::new(&self.program).arg("read").arg(path), &keys, folder.path());

        let mut reading = Reading { entries: Vec::new(), lookups: Vec::new() };
        for line in output.lines() {
            match *line.split('\t').collect::<Vec<_>>() {
                ["entry", key, value] => reading.entries.push((unhex(key), unhex(value))),
                ["key", key, answer, filtered, plain] => reading.lookups.push(Lookup {
                    key: unhex(key),
                    answer: match answer {
                        "yes" => Some(true),
                        "no" => Some(false),
                        "unasked" => None,
                        _ => panic!("{line}"),
                    },
                    filtered: value(filtered),
                    plain: value(plain),
                }),
                _ => panic!("{line}"),
            }
        }
        reading
    }
}

/// Returns the output of `command`. Its input is a file, so that neither side waits for the other
/// to read.
fn run(command: &mut Command, input: &str, folder: &Path) -> String {
    let path = folder.join("input");
    fs::write(&path, input).unwrap();
    let output = command.stdin(File::open(path).unwrap()).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

fn value(text: &str) -> Option<Vec<u8>> {
    match text.strip_prefix('=') {
        Some(value) => Some(unhex(value)),
        None => {
            assert_eq!(text, "absent");
            None
        }
    }
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().as_chunks::<2>();
    assert!(digits.1.is_empty(), "{text}");
    let byte = |digits: &[u8; 2]| {
        let digits = str::from_utf8(digits).unwrap();
        u8::from_str_radix(digits, 16).unwrap()
    };
    digits.0.iter().map(byte).collect()
}
