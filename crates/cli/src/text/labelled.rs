//! Text in lines of limited width, with a label before the first line, and what cannot be read because it is of another
//! format, or encrypted.

use std::path::Path;
use std::{fmt::Display, io};

use filterblock::escape_path;
use filterblock_engine::FoundFormat;
use filterblock_engine::words::format_details;

use super::columns::width;
use crate::io::{Console, Tone};

/// The greatest result of [`line_width`], which is also its result if there is no terminal of known width.
pub(super) const LINE_WIDTH: usize = 100;
/// The least width of lines, even on a terminal that is narrower.
const MIN_LINE_WIDTH: usize = 40;
const LABEL_WIDTH: usize = 15;
/// The columns before the text: the label, with two spaces on each side.
const INDENT: usize = LABEL_WIDTH + 4;

/// Writes a label and its text, wrapped between words, with every line of text in the same column.
pub(super) fn write(console: &mut Console, label: &str, text: impl Display) -> io::Result<()> {
    let lines = wrapped(&text.to_string(), line_width(console).saturating_sub(INDENT));
    for (number, line) in lines.iter().enumerate() {
        let label = if number == 0 { label } else { "" };
        let label = console.tone(Tone::Dim, format!("{label:LABEL_WIDTH$}"));
        writeln!(console, "  {label}  {line}")?;
    }
    Ok(())
}

/// Writes a text, wrapped between words, starting at the left edge.
pub(super) fn write_text(console: &mut Console, tone: Tone, text: &str) -> io::Result<()> {
    for line in wrapped(text, line_width(console)) {
        console.line(tone, line, "")?;
    }
    Ok(())
}

/// The lines of a text after `indent` columns: broken between words to fit a terminal of known width, one line
/// elsewhere.
pub(super) fn terminal_lines(console: &Console, indent: usize, text: &str) -> Vec<String> {
    match console.width() {
        Some(width) => wrapped(text, width.max(MIN_LINE_WIDTH).saturating_sub(indent)),
        None => vec![text.to_owned()],
    }
}

/// Writes a text: broken between words to fit a terminal of known width, and as one line elsewhere.
pub(crate) fn write_line(console: &mut Console, tone: Tone, text: &str) -> io::Result<()> {
    terminal_lines(console, 0, text).into_iter().try_for_each(|line| console.line(tone, line, ""))
}

/// The width that wrapped text and listings are to fit into.
pub(super) fn line_width(console: &Console) -> usize {
    console.width().unwrap_or(LINE_WIDTH).clamp(MIN_LINE_WIDTH, LINE_WIDTH)
}

/// The lines of `text`, broken between words. A word that is too long has a line to itself.
fn wrapped(text: &str, limit: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= limit => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Writes the verdict on a path, and what else is known of its format.
pub(crate) fn write_other_format(path: &Path, found: &FoundFormat, console: &mut Console) -> io::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("one two three", 6), ["one", "two", "three"]);
        assert_eq!(wrapped("a much-too-long-word b", 5), ["a", "much-too-long-word", "b"]);
        assert_eq!(wrapped("世界 世界", 9), ["世界 世界"]);
        assert_eq!(wrapped("世界 世界", 8), ["世界", "世界"]);
        assert_eq!(wrapped("", 8), [""]);
    }
}
