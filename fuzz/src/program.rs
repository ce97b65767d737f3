//! The program `filterblock`, run within the process on a file of given bytes.

use std::cell::RefCell;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;

use serde_json::Value;

/// What a run came to.
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

/// Runs `filterblock` with these arguments, `--json` and the path of a file of these bytes.
///
/// Whatever they are, there is one line for the file, and no more is written than a few kilobytes and `most_a_byte` for each byte of it.
pub(crate) fn run(arguments: &[&str], file: &[u8], most_a_byte: usize) -> Run {
    let mut table = tempfile::NamedTempFile::new().expect("a place for temporary files");
    table.write_all(file).expect("room for a small file");
    let (status, mut lines) = run_on(arguments, table.path(), &[], file.len(), most_a_byte);
    assert_eq!(lines.len(), 1, "{lines:?}");
    Run { status, report: lines.remove(0) }
}

/// Asks a file of these bytes for a key. There is one line for it, or none where nothing can be asked.
pub(crate) fn query(file: &[u8], most_a_byte: usize) {
    let mut table = tempfile::NamedTempFile::new().expect("a place for temporary files");
    table.write_all(file).expect("room for a small file");
    let (_, lines) = run_on(&["query"], table.path(), &["k00001"], file.len(), most_a_byte);
    assert!(lines.len() <= 1, "{lines:?}");
}

/// Runs it with the folder of a database, whose MANIFEST this is and which has no tables. Returns the exit status and the lines.
pub(crate) fn run_on_manifest(arguments: &[&str], manifest: &[u8], most_a_byte: usize) -> (u8, Vec<Value>) {
    let folder = tempfile::tempdir().expect("a place for temporary files");
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("room for it");
    write("CURRENT", b"MANIFEST-000002\n");
    write("MANIFEST-000002", manifest);
    run_on(arguments, folder.path(), &[], manifest.len(), most_a_byte)
}

/// Runs it on the path, with more arguments behind it. Returns the exit status and the lines of JSON.
pub(crate) fn run_on(
    arguments: &[&str],
    path: &Path,
    behind: &[&str],
    file_len: usize,
    most_a_byte: usize,
) -> (u8, Vec<Value>) {
    let (out, err) = (Output::default(), Output::default());
    let arguments = ["filterblock"].iter().chain(arguments).chain(&["--json"]).map(OsString::from);
    let arguments = arguments.chain([path.into()]).chain(behind.iter().map(OsString::from));
    let status = filterblock_cli::run(arguments, out.clone(), err.clone());
    assert!(status <= 2, "{status}");
    let (out, err) = (out.0.borrow(), err.0.borrow());
    let printed = out.len() + err.len();
    assert!(printed <= (32 << 10) + most_a_byte * file_len, "{printed} bytes for {file_len}");
    let lines = out.split_inclusive(|&byte| byte == b'\n');
    (status, lines.map(|line| serde_json::from_slice(line).expect("a line of JSON")).collect())
}
