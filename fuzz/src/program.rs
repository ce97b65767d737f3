//! The program `filterblock`, run in-process on a file of given bytes.

use std::cell::RefCell;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use filterblock::table::Meter;
use serde_json::Value;

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: u8,
    /// The file's line of JSON.
    pub(crate) report: Value,
}

/// Keeps what is written to it.
#[derive(Clone, Default)]
struct Output(Rc<RefCell<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The most that a run may take, besides fixed amounts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Most {
    /// Bytes printed for each byte of the file.
    pub(crate) printed_a_byte: usize,
    /// Bytes read for each byte of the file.
    pub(crate) read_a_byte: u64,
    /// Bytes decoded.
    pub(crate) decoded: u64,
}

/// Limit on the size of a block.
pub(crate) const BLOCK: u64 = 256 << 20;
/// Smallest size of a block in a file: its trailer.
const TRAILER: u64 = 5;

impl Most {
    fn hold(&self, meter: &Meter, file_len: u64) {
        let (reads, read, decoded) = (meter.reads(), meter.bytes_read(), meter.bytes_decoded());
        assert!(read <= (64 << 10) + self.read_a_byte * file_len, "{read} bytes read of {file_len}");
        assert!(reads <= 16 + read / TRAILER, "{reads} reads of {read} bytes");
        assert!(decoded <= self.decoded, "{decoded} bytes decoded of {file_len}");
    }
}

/// Runs `filterblock` with these arguments, `--json` and the path of a file of these bytes.
///
/// Whatever the bytes are, there is one line for the file, and no more output than 32 KiB and what `most` allows for
/// each byte of the file.
pub(crate) fn run(arguments: &[&str], file: &[u8], most: &Most) -> Run {
    let mut table = tempfile::NamedTempFile::new().expect("a place for temporary files");
    table.write_all(file).expect("room for a small file");
    let (status, mut lines) = run_on(arguments, table.path(), &[], file.len(), most);
    assert_eq!(lines.len(), 1, "{lines:?}");
    Run { status, report: lines.remove(0) }
}

/// Asks a file of these bytes for a key. The program prints one line about the key, or none if nothing can be
/// asked.
pub(crate) fn query(file: &[u8], most: &Most) {
    let mut table = tempfile::NamedTempFile::new().expect("a place for temporary files");
    table.write_all(file).expect("room for a small file");
    let (_, lines) = run_on(&["query"], table.path(), &["k00001"], file.len(), most);
    assert!(lines.len() <= 1, "{lines:?}");
}

/// Shows the entries of a file of these bytes. The last line marks their end, or, alone, says why there are no
/// entries.
pub(crate) fn scan(arguments: &[&str], file: &[u8], most: &Most) {
    let mut table = tempfile::NamedTempFile::new().expect("a place for temporary files");
    table.write_all(file).expect("room for a small file");
    let (_, lines) = run_on(arguments, table.path(), &[], file.len(), most);
    let last = lines.last().expect("a line");
    assert!(last["object"] == "end" || lines.len() == 1 && last["object"] == "fault", "{last}");
}

/// Runs `filterblock` on the folder of a database with this MANIFEST and no tables. Returns the exit status and the
/// lines.
pub(crate) fn run_on_manifest(arguments: &[&str], manifest: &[u8], most: &Most) -> (u8, Vec<Value>) {
    let folder = tempfile::tempdir().expect("a place for temporary files");
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("room for it");
    write("CURRENT", b"MANIFEST-000002\n");
    write("MANIFEST-000002", manifest);
    run_on(arguments, folder.path(), &[], manifest.len(), most)
}

/// Runs `filterblock` on the path, followed by more arguments. Returns the exit status and the lines of JSON.
pub(crate) fn run_on(
    arguments: &[&str],
    path: &Path,
    behind: &[&str],
    file_len: usize,
    most: &Most,
) -> (u8, Vec<Value>) {
    let (out, err) = (Output::default(), Output::default());
    let arguments = ["filterblock"].iter().chain(arguments).chain(&["--json"]).map(OsString::from);
    let arguments = arguments.chain([path.into()]).chain(behind.iter().map(OsString::from));
    let meter = Arc::new(Meter::default());
    let status = filterblock_cli::run_metered(arguments, out.clone(), err.clone(), Arc::clone(&meter));
    assert!(status <= 2, "{status}");
    most.hold(&meter, file_len as u64);
    let (out, err) = (out.0.borrow(), err.0.borrow());
    let printed = out.len() + err.len();
    assert!(printed <= (32 << 10) + most.printed_a_byte * file_len, "{printed} bytes for {file_len}");
    let lines = out.split_inclusive(|&byte| byte == b'\n');
    (status, lines.map(|line| serde_json::from_slice(line).expect("a line of JSON")).collect())
}
