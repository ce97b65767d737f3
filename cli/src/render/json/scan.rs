//! Entries as JSON objects. Fields are only ever added.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use serde::Serialize;

use super::line::write_line;
use super::strings::{Hex, json_path};
use crate::audit::scan::row::Row;
use crate::io::console::Console;
use crate::render::renderer::{ScanRenderer, ValuePart};

pub(crate) struct JsonScan {
    pub(crate) value: ValuePart,
}

#[derive(Default, Serialize)]
struct JsonEntry<'a> {
    path: Cow<'a, str>,
    key: Option<&'a str>,
    key_hex: Option<String>,
    value: Option<&'a str>,
    /// Only if the value is not UTF-8.
    value_hex: Option<String>,
    value_size: Option<usize>,
    sequence: Option<u64>,
    #[serde(rename = "type")]
    kind: Option<Cow<'a, str>>,
    state: Option<&'static str>,
    offset: Option<u64>,
    error: Option<&'a str>,
}

impl ScanRenderer for JsonScan {
    fn entry(&mut self, row: &Row<'_>, console: &mut Console) -> io::Result<()> {
        let is_deletion = row.version.is_some_and(|version| version.is_deletion());
        let value = (self.value == ValuePart::Whole && !is_deletion).then_some(row.value);
        let text = value.and_then(|value| std::str::from_utf8(value).ok());
        let kind = row.version.map(|version| match version.kind {
            0 => "deletion".into(),
            1 => "value".into(),
            other => format!("type {other}").into(),
        });
        let json = JsonEntry {
            path: json_path(row.path),
            key: std::str::from_utf8(row.key).ok(),
            key_hex: Some(Hex(row.key).to_string()),
            value: text,
            value_hex: value.filter(|_| text.is_none()).map(|value| Hex(value).to_string()),
            value_size: (!is_deletion).then_some(row.value.len()),
            sequence: row.version.map(|version| version.sequence),
            kind,
            state: row.state.name(),
            offset: Some(row.offset),
            error: None,
        };
        write_line(console, &json)
    }

    fn damage(&mut self, path: &Path, error: &str, console: &mut Console) -> io::Result<()> {
        let json = JsonEntry { path: json_path(path), error: Some(error), ..JsonEntry::default() };
        write_line(console, &json)
    }
}
