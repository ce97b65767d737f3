//! What `filterblock scan` finds, as it is instead of as lines.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use clap::{Args as _, Command, FromArgMatches as _};

use super::scan_arguments::Arguments;
use crate::io::console::Console;
use crate::renderer::ScanRenderer;
pub use filterblock_engine::audit::reading::decode_limit;
pub use filterblock_engine::audit::scan::row::{Fault, Row, State, Version};
pub use filterblock_engine::audit::scan::table::has_internal_keys;
pub use filterblock_engine::report::error_kind::ErrorKind;
use filterblock_engine::report::subject::Subject;

/// Takes what is found, in the order in which `filterblock scan` shows it. An error ends the scan.
pub trait Sink {
    /// Takes an entry.
    ///
    /// # Errors
    ///
    /// If no more is wanted.
    fn entry(&mut self, row: &Row<'_>) -> io::Result<()>;

    /// Takes the reason why something cannot be shown, and the file. The scan goes on behind it.
    ///
    /// # Errors
    ///
    /// If no more is wanted.
    fn fault(&mut self, path: &Path, fault: &Fault) -> io::Result<()>;

    /// Takes a fact about a file that is no fault and good to know.
    ///
    /// # Errors
    ///
    /// If no more is wanted.
    fn note(&mut self, path: &Path, text: &str) -> io::Result<()>;
}

/// Runs `filterblock scan` with `arguments`, which follow the command's name. Those that choose the
/// looks of the output do nothing.
///
/// # Errors
///
/// The message about wrong arguments, or about what the scan cannot begin or end with.
pub fn scan(arguments: impl IntoIterator<Item = OsString>, sink: impl Sink + 'static) -> Result<(), String> {
    let messages = Messages::default();
    let mut console = Console::new(Box::new(io::sink()), Box::new(messages.clone()));
    let command = Arguments::augment_args(Command::new("filterblock scan").no_binary_name(true));
    let matches = command.try_get_matches_from(arguments);
    let arguments = matches.and_then(|matches| Arguments::from_arg_matches(&matches));
    let arguments = arguments.map_err(|error| error.to_string())?;
    super::scan::show(&arguments, Box::new(Renderer(sink)), &mut console);
    messages.into_result()
}

struct Renderer<S>(S);

impl<S: Sink> ScanRenderer for Renderer<S> {
    fn entry(&mut self, _: &Path, row: &Row<'_>, _: &mut Console) -> io::Result<()> {
        self.0.entry(row)
    }

    fn fault(&mut self, subject: Subject<'_>, fault: &Fault, _: &mut Console) -> io::Result<()> {
        self.0.fault(subject.path, fault)
    }

    fn end(&mut self, subject: Subject<'_>, _: u64, _: &mut Console) -> io::Result<()> {
        subject.remarks.iter().try_for_each(|remark| self.0.note(&remark.about, &remark.text))
    }
}

/// The messages that no renderer takes.
#[derive(Clone, Default)]
struct Messages(Arc<Mutex<Vec<u8>>>);

impl Messages {
    fn into_result(self) -> Result<(), String> {
        let text = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if text.is_empty() { Ok(()) } else { Err(String::from_utf8_lossy(&text).trim_end().to_owned()) }
    }
}

impl Write for Messages {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
