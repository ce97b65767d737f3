//! Text in lines of limited width, and verdicts.

use std::io;
use std::path::Path;

use filterblock::escape_path;
use filterblock_engine::report::{Verdict, VerdictCounts};
use filterblock_engine::text::{count, counted};

use super::columns::width;
use crate::io::{Console, Tone};

/// The least width of lines, even on a terminal that is narrower.
const MIN_LINE_WIDTH: usize = 40;

/// The lines of a text after `indent` columns: broken between words to fit a known terminal width, else one line.
pub(super) fn terminal_lines(console: &Console, indent: usize, text: &str) -> Vec<String> {
    match console.width() {
        Some(width) => wrapped(text, width.max(MIN_LINE_WIDTH).saturating_sub(indent)),
        None => vec![text.to_owned()],
    }
}

pub(super) fn paragraph(console: &mut Console, indent: usize, text: &str) -> io::Result<()> {
    let space = " ".repeat(indent);
    terminal_lines(console, indent, text).into_iter().try_for_each(|line| writeln!(console, "{space}{line}"))
}

/// Writes `text` after a label of `width` columns, with its further lines below the first.
pub(super) fn labelled(
    console: &mut Console,
    width: usize,
    (label_tone, label): (Tone, &str),
    (tone, text): (Tone, &str),
) -> io::Result<()> {
    let mut label = label;
    for line in terminal_lines(console, width + 4, text) {
        let (first, line) = (console.tone(label_tone, format!("{label:width$}")), console.tone(tone, line));
        writeln!(console, "  {first}  {line}")?;
        label = "";
    }
    Ok(())
}

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

pub(crate) fn write_headline(
    path: &Path,
    verdict: Verdict,
    clause: Option<&str>,
    console: &mut Console,
) -> io::Result<()> {
    let rest = clause.map(|clause| format!(": {clause}")).unwrap_or_default();
    write_verdict(path, verdict, &rest, console)
}

/// Writes the verdict on `path`, and what follows in the same sentence.
pub(super) fn write_verdict(
    path: &Path,
    verdict: Verdict,
    rest: &str,
    console: &mut Console,
) -> io::Result<()> {
    let path = escape_path(path).to_string();
    let words = verdict.words();
    write!(console, "{path}: {}", console.tone(Tone::from(verdict.severity()), words))?;
    let limit = console.width().unwrap_or(usize::MAX);
    let mut at = width(&path) + 2 + width(words);
    for (number, word) in rest.split(' ').enumerate() {
        let fits = at + 1 + width(word) <= limit;
        let before = if number == 0 {
            ""
        } else if fits {
            " "
        } else {
            "\n  "
        };
        at = if fits { at } else { 0 } + before.len() + width(word);
        write!(console, "{before}{word}")?;
    }
    writeln!(console)
}

/// Writes the number of each verdict. `what`: what the verdicts are on.
pub(super) fn write_counts(counts: &VerdictCounts, what: &str, console: &mut Console) -> io::Result<()> {
    let parts = [
        (Verdict::Fine, "fine"),
        (Verdict::CouldBeBetter, "could be better"),
        (Verdict::Damaged, "damaged"),
        (Verdict::FalseNegatives, "with false negatives"),
        (Verdict::CannotTell, "cannot tell"),
    ];
    let parts = parts.into_iter().map(|(verdict, words)| (counts.of(verdict), words));
    let parts: Vec<_> = parts
        .filter(|(number, _)| *number > 0)
        .map(|(number, words)| format!("{} {words}", count(number)))
        .collect();
    paragraph(console, 0, &format!("{}: {}", counted(counts.all(), what), parts.join(", ")))
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
