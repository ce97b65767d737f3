//! The program `filterblock`, run in-process.

use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use anyhow::{Context as _, Result};
use serde_json::Value;

/// The result of a run of the program.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) status: u8,
    pub(super) out: String,
    pub(super) messages: String,
}

impl Outcome {
    /// The lines of the output as JSON.
    pub(super) fn json(&self) -> Result<Vec<Value>> {
        self.out.lines().map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
    }
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn take(&self) -> String {
        let bytes = std::mem::take(&mut *self.0.lock().expect("nobody panics while writing"));
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panics while writing").write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs the program with these arguments.
pub(super) fn run(arguments: &[OsString]) -> Outcome {
    let (out, messages) = (Shared::default(), Shared::default());
    let arguments = [OsString::from("filterblock")].into_iter().chain(arguments.iter().cloned());
    let status = filterblock_cli::run(arguments, out.clone(), messages.clone());
    Outcome { status, out: out.take(), messages: messages.take() }
}
