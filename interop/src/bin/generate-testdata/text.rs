//! The text files next to tables, and those of golden values.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Lines below a header that names their origin.
pub(crate) struct Text(String);

impl Text {
    /// Begins a file. `about` says what a line holds, and may have several lines.
    pub(crate) fn new(about: &str) -> Self {
        let mut text = Self(String::new());
        text.line("# By LevelDB 1.23, written by `generate-testdata` in interop/. See testdata/README.md.");
        about.lines().for_each(|line| text.line(format!("# {line}")));
        text
    }

    pub(crate) fn line(&mut self, line: impl AsRef<str>) {
        self.0.push_str(line.as_ref());
        self.0.push('\n');
    }

    pub(crate) fn write(self, path: &Path) -> Result<()> {
        fs::write(path, self.0).with_context(|| path.display().to_string())
    }
}

/// Lowercase hexadecimal, and `-` for no bytes, so that no field of a line is empty.
pub(crate) fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() { "-".to_owned() } else { filterblock_interop::hex(bytes) }
}

/// The value of a (user) key: its hexadecimal digits and a semicolon, repeated and cut to `len`
/// bytes.
pub(crate) fn value_of(key: &[u8], len: usize) -> Vec<u8> {
    let unit = format!("{};", filterblock_interop::hex(key));
    unit.bytes().cycle().take(len).collect()
}
