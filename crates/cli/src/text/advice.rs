//! Verdicts and advice as text.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use filterblock::escape_path;
use filterblock_engine::report::Verdict;
use filterblock_engine::words::{AdviceText, count, counted};

use super::columns::width;
use super::labelled::terminal_lines;
use crate::io::{Console, Tone};

/// Writes advice about `path`: the verdict, what follows from it, and the command.
pub(crate) fn write_advice(path: &Path, advice: &AdviceText, console: &mut Console) -> io::Result<()> {
    let AdviceText { verdict, condition, clause, paragraphs, commands, after, .. } = advice;
    write_verdict(path, *verdict, &format!("{condition}{clause}"), console)?;
    paragraphs.iter().try_for_each(|text| write_below(text, console))?;
    commands.iter().try_for_each(|command| writeln!(console, "    {command}"))?;
    after.iter().try_for_each(|text| write_below(text, console))
}

/// Writes the verdict on `path`, and what follows it in the same sentence.
pub(crate) fn write_verdict(
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

/// Writes that the page about `path` is at `page`, with its verdict, and the command that it advises.
pub(crate) fn write_page(
    path: &Path,
    advice: &AdviceText,
    page: &Path,
    console: &mut Console,
) -> io::Result<()> {
    let AdviceText { verdict, condition, clause, commands, .. } = advice;
    let clause = if matches!(verdict, Verdict::Damaged | Verdict::CannotTell) { clause } else { "" };
    let rest = format!("{condition}{clause}; the page is {}", escape_path(page));
    write_verdict(path, *verdict, &rest, console)?;
    let commands = commands.iter().filter(|_| condition.is_empty());
    commands.take(1).try_for_each(|command| writeln!(console, "    {command}"))
}

/// Writes a paragraph below a verdict.
pub(crate) fn write_below(text: &str, console: &mut Console) -> io::Result<()> {
    terminal_lines(console, 2, text).iter().try_for_each(|line| writeln!(console, "  {line}"))
}

/// Writes the number of databases with each verdict.
pub(crate) fn write_sum(verdicts: &BTreeMap<Verdict, u64>, console: &mut Console) -> io::Result<()> {
    let order = [
        (Verdict::Fine, "fine"),
        (Verdict::CouldBeBetter, "could be better"),
        (Verdict::Damaged, "damaged"),
        (Verdict::FalseNegatives, "with false negatives"),
        (Verdict::CannotTell, "cannot tell"),
    ];
    let parts = order
        .into_iter()
        .filter_map(|(verdict, words)| Some(format!("{} {words}", count(*verdicts.get(&verdict)?))));
    // Lines are broken between verdicts.
    let limit = console.width().unwrap_or(usize::MAX);
    let mut lines = vec![format!("{}:", counted(verdicts.values().sum(), "database"))];
    for part in parts {
        let is_first = lines.last().is_some_and(|line| line.ends_with(':'));
        let comma = if is_first { "" } else { "," };
        match lines.last_mut() {
            Some(line) if width(line) + width(&part) + 3 <= limit => *line += &format!("{comma} {part}"),
            last => {
                last.into_iter().for_each(|line| *line += comma);
                lines.push(part);
            }
        }
    }
    lines.iter().try_for_each(|line| writeln!(console, "{line}"))
}
