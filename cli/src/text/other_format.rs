//! What cannot be read because it is of another format, or encrypted.

use std::{io, path::Path};

use filterblock::escape_path;
use filterblock_engine::{FoundFormat, words::format_details};

use super::labelled::{terminal_lines, write_line};
use crate::io::{Console, Tone};

/// Writes the verdict on a path, and what else is known of its format.
pub(crate) fn write(path: &Path, found: &FoundFormat, console: &mut Console) -> io::Result<()> {
    write_verdict(path, found, console)?;
    for detail in format_details(found) {
        terminal_lines(console, 2, &detail).iter().try_for_each(|line| writeln!(console, "  {line}"))?;
    }
    Ok(())
}

/// Writes the verdict on a path.
pub(crate) fn write_verdict(path: &Path, found: &FoundFormat, console: &mut Console) -> io::Result<()> {
    write_line(console, Tone::Plain, &format!("{}: cannot tell: {}", escape_path(path), found.format()))
}
