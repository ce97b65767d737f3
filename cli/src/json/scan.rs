//! Entries as JSON objects. Fields are only ever added.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use serde::Serialize;

use crate::io::console::Console;
use crate::renderer::{ScanRenderer, ValuePart};
use filterblock_engine::audit::scan::row::{Fault, Row, Version};
use filterblock_engine::report::frame::Frame;
use filterblock_engine::report::line::write_line;
use filterblock_engine::report::strings::Hex;
use filterblock_engine::report::subject::Subject;

pub(crate) struct JsonScan {
    pub(crate) value: ValuePart,
}

#[derive(Serialize)]
struct JsonEntry<'a> {
    #[serde(flatten)]
    frame: Frame<'a>,
    key: Option<&'a str>,
    key_hex: String,
    value: Option<&'a str>,
    /// Only if the value is not UTF-8.
    value_hex: Option<String>,
    value_size: Option<usize>,
    sequence: Option<u64>,
    #[serde(rename = "type")]
    kind: Option<Cow<'a, str>>,
    state: Option<&'static str>,
    offset: u64,
}

/// Something that was passed over.
#[derive(Serialize)]
struct JsonFault<'a> {
    #[serde(flatten)]
    frame: Frame<'a>,
    error: &'a str,
}

/// The end of a file or database.
#[derive(Serialize)]
struct JsonEnd<'a> {
    #[serde(flatten)]
    frame: Frame<'a>,
    entries: u64,
}

impl ScanRenderer for JsonScan {
    fn entry(&mut self, input: &Path, row: &Row<'_>, console: &mut Console) -> io::Result<()> {
        let is_deletion = row.version.is_some_and(|version| version.is_deletion());
        let value = (self.value == ValuePart::Whole && !is_deletion).then_some(row.value);
        let text = value.and_then(|value| std::str::from_utf8(value).ok());
        let json = JsonEntry {
            frame: Frame::new("entry", &Subject { path: row.path, ..Subject::of(input) }, None),
            key: std::str::from_utf8(row.key).ok(),
            key_hex: Hex(row.key).to_string(),
            value: text,
            value_hex: value.filter(|_| text.is_none()).map(|value| Hex(value).to_string()),
            value_size: (!is_deletion).then_some(row.value.len()),
            sequence: row.version.map(|version| version.sequence),
            kind: row.version.map(Version::type_name),
            state: row.state.name(),
            offset: row.offset,
        };
        write_line(console, &json)
    }

    fn fault(&mut self, subject: Subject<'_>, fault: &Fault, console: &mut Console) -> io::Result<()> {
        let Fault { message, kind, .. } = fault;
        console.message_about(subject.path, message);
        let frame = Frame::new("fault", &subject, Some(*kind));
        write_line(console, &JsonFault { frame, error: message })
    }

    fn end(&mut self, subject: Subject<'_>, entries: u64, console: &mut Console) -> io::Result<()> {
        console.remarks(subject.remarks);
        write_line(console, &JsonEnd { frame: Frame::new("end", &subject, None), entries })
    }
}
