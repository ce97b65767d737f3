//! Verdicts and advice as text.

use std::io;
use std::path::Path;

use filterblock::escape_path;
use filterblock_engine::report::Verdict;
use filterblock_engine::text::AdviceText;

use super::labelled::{paragraph, write_verdict};
use crate::io::Console;

pub(crate) fn write_advice(path: &Path, advice: &AdviceText, console: &mut Console) -> io::Result<()> {
    let AdviceText { verdict, condition, clause, paragraphs, commands, after, .. } = advice;
    write_verdict(path, *verdict, &format!("{condition}{clause}"), console)?;
    paragraphs.iter().try_for_each(|text| paragraph(console, 2, text))?;
    commands.iter().try_for_each(|command| writeln!(console, "    {command}"))?;
    after.iter().try_for_each(|text| paragraph(console, 2, text))
}

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
