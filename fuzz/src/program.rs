//! The program `filterblock`, run within the process on a file of given bytes.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, Write};
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
    let (out, err) = (Output::default(), Output::default());
    let arguments = ["filterblock"].iter().chain(arguments).chain(&["--json"]).map(OsString::from);
    let status = filterblock_cli::run(arguments.chain([table.path().into()]), out.clone(), err.clone());
    assert!(status <= 2, "{status}");
    let (out, err) = (out.0.borrow(), err.0.borrow());
    assert!(out.len() + err.len() <= (32 << 10) + most_a_byte * file.len(), "{} + {}", out.len(), err.len());
    assert_eq!(out.iter().filter(|&&byte| byte == b'\n').count(), 1, "{out:?} {err:?}");
    Run { status, report: serde_json::from_slice(&out).expect("a line of JSON") }
}
