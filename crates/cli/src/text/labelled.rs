//! Text in lines of limited width, and what cannot be read because it is of another
//! format, or encrypted.

use std::io;
use std::path::Path;

use filterblock::escape_path;
use filterblock_engine::FoundFormat;

use super::columns::width;
use crate::io::{Console, Tone};

/// The least width of lines, even on a terminal that is narrower.
const MIN_LINE_WIDTH: usize = 40;

/// The lines of a text after `indent` columns: broken between words to fit a terminal of known width, one line
/// elsewhere.
pub(super) fn terminal_lines(console: &Console, indent: usize, text: &str) -> Vec<String> {
    match console.width() {
        Some(width) => wrapped(text, width.max(MIN_LINE_WIDTH).saturating_sub(indent)),
        None => vec![text.to_owned()],
    }
}

/// Writes a text after `indent` spaces: broken between words to fit a terminal of known width, and as one line elsewhere.
pub(super) fn paragraph(console: &mut Console, indent: usize, text: &str) -> io::Result<()> {
    let space = " ".repeat(indent);
    terminal_lines(console, indent, text).into_iter().try_for_each(|line| writeln!(console, "{space}{line}"))
}

/// Writes a text: broken between words to fit a terminal of known width, and as one line elsewhere.
pub(crate) fn write_line(console: &mut Console, tone: Tone, text: &str) -> io::Result<()> {
    terminal_lines(console, 0, text).into_iter().try_for_each(|line| console.line(tone, line, ""))
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
