//! A folder as a JSON object.

use std::borrow::Cow;
use std::io;

use serde::Serialize;

use crate::io::console::Console;
use filterblock_engine::report::error_kind::ErrorKind;
use filterblock_engine::report::folder::FolderHeader;
use filterblock_engine::report::frame::Frame;
use filterblock_engine::report::line::write_line;
use filterblock_engine::report::strings::{json_name, json_path};
use filterblock_engine::report::subject::Subject;

#[derive(Serialize)]
struct JsonFolder<'a> {
    #[serde(flatten)]
    frame: Frame<'a>,
    database: bool,
    comparator: Option<Cow<'a, str>>,
    error: Option<String>,
    tables: usize,
    logs: Vec<Cow<'a, str>>,
}

/// `meaning`: what the fault of the MANIFEST means for what follows.
pub(crate) fn write(
    subject: Subject<'_>,
    folder: &FolderHeader<'_>,
    meaning: &str,
    console: &mut Console,
) -> io::Result<()> {
    console.remarks(subject.remarks);
    let fault = folder.manifest_error;
    if let Some((path, error)) = fault {
        console.message_about(path, format_args!("{error}; {meaning}"));
    }
    let json = JsonFolder {
        frame: Frame::new("folder", &subject, fault.map(|(_, error)| ErrorKind::of(error))),
        database: folder.is_database,
        comparator: folder.comparator.map(json_name),
        error: fault.map(|(path, error)| format!("{}: {error}", filterblock::escape_path(path))),
        tables: folder.tables.len(),
        logs: folder.logs.iter().map(|log| json_path(log)).collect(),
    };
    write_line(&mut *console, &json)
}
