//! The results of `verify`, as text.

use std::io;
use std::path::Path;

use filterblock::escape_path;
use filterblock_engine::report::{
    About, CheckNote, Code, ErrorKind, Problem, Verdict, VerdictCounts, Verified,
};
use filterblock_engine::text::{counted, counted_as, format_details, path_word, problem_text, size};

use super::answer::{Answer, ShownProblem, names_text};
use super::columns::width;
use super::labelled::{paragraph, write_counts, write_headline};
use crate::io::Console;

/// The answers of `verify`: one for each database, and for each path outside of one.
pub(crate) struct TextVerify {
    /// A line for each file, and the details of each problem.
    is_verbose: bool,
    /// Many paths may be answered: those that are fine are only counted.
    is_brief: bool,
    files: Files,
    /// All answers so far are on databases, or on files.
    is_of_databases: bool,
    is_of_files: bool,
}

#[derive(Default)]
struct Files {
    answer: Answer,
    tables: u64,
    logs: u64,
    filtered: u64,
    unused: Vec<String>,
    incomplete: Vec<String>,
    notes: Vec<String>,
    /// The name, and the number of records.
    manifest: Option<(String, u64)>,
    lines: Vec<[String; 4]>,
}

impl TextVerify {
    pub(crate) fn new(is_verbose: bool, is_brief: bool) -> Self {
        Self { is_verbose, is_brief, files: Files::default(), is_of_databases: true, is_of_files: true }
    }

    /// The verdict on a folder comes after those on its files.
    pub(crate) fn take(&mut self, verified: &Verified, console: &mut Console) -> io::Result<()> {
        let folder = verified.folder.as_ref().filter(|folder| verified.path.starts_with(folder.path()));
        match (verified.about, folder) {
            (About::Folder, Some(folder)) => {
                let mut files = std::mem::take(&mut self.files);
                files.add(verified, self.is_verbose, false);
                files.answer.verdict = verified.verdict;
                files.answer.warnings.clone_from(&verified.checked.warnings);
                files.answer.facts = files.facts(&verified.path, folder.comparator().is_some());
                files.manifest = folder.manifest_records().filter(|_| self.is_verbose);
                self.is_of_files = false;
                self.write(&verified.path, &files, Some(&verified.path), console)
            }
            // Of a file that the user named, the folder is only known.
            (_, Some(_)) if *verified.input != *verified.path => {
                self.files.add(verified, self.is_verbose, false);
                Ok(())
            }
            _ => self.alone(verified, console),
        }
    }

    fn write(
        &self,
        path: &Path,
        files: &Files,
        database: Option<&Path>,
        console: &mut Console,
    ) -> io::Result<()> {
        if !self.is_brief || self.is_verbose {
            files.answer.write(path, database, console)?;
            files.write_lines(console)
        } else if files.answer.verdict == Verdict::Fine {
            Ok(())
        } else {
            files.answer.write_brief(path, database, console)
        }
    }

    fn alone(&mut self, verified: &Verified, console: &mut Console) -> io::Result<()> {
        let path = &verified.path;
        self.is_of_databases &= verified.about == About::Unreadable;
        if let Some(error) = reason_for_nothing(verified) {
            console.message_about(path, error.text());
            return Ok(());
        }
        let mut files = Files::default();
        files.add(verified, self.is_verbose, true);
        let answer = &mut files.answer;
        answer.verdict = verified.verdict;
        answer.clause = clause(verified);
        answer.facts = std::mem::take(&mut files.notes);
        let found = verified.checked.problems.first().and_then(|problem| problem.other_format.as_ref());
        if let Some(found) = found {
            answer.problems.clear();
            answer.facts = if self.is_brief { Vec::new() } else { format_details(found) };
        }
        files.lines.clear();
        let folder = verified.folder.as_ref().map(|folder| folder.path().to_owned());
        self.write(path, &files, folder.as_deref(), console)
    }

    /// Writes the sum, if there may be many answers. That on one path alone is its answer, if it was not written.
    pub(crate) fn end(&self, counts: &VerdictCounts, console: &mut Console) -> io::Result<()> {
        let is_answered = counts.all() == 1 && counts.of(Verdict::Fine) == 0;
        if !self.is_brief || is_answered || counts.all() == 0 {
            return Ok(());
        }
        let what = match (self.is_of_databases, self.is_of_files) {
            (true, _) => "database",
            (_, true) => "file",
            _ => "path",
        };
        write_counts(counts, what, console)
    }
}

/// The message about a path with nothing to verify. `None`: there is something, or another format.
fn reason_for_nothing(verified: &Verified) -> Option<&Problem> {
    let problem = verified.checked.problems.first().filter(|_| verified.about == About::Unreadable)?;
    let is_answer = problem.other_format.is_some() || problem.kind == ErrorKind::Denied;
    (!is_answer).then_some(problem)
}

fn clause(verified: &Verified) -> Option<String> {
    let checked = &verified.checked;
    if let Some(found) = checked.problems.first().and_then(|problem| problem.other_format.as_ref()) {
        return Some(found.format().to_string());
    }
    if verified.verdict > Verdict::CouldBeBetter {
        return None;
    }
    Some(match (verified.about, checked.writes, checked.batches) {
        (_, Some(writes), Some(batches)) => {
            let batches = counted_as(batches, "batch", "batches");
            format!("a log, {} in {batches}", counted(writes, "write"))
        }
        (About::Manifest, ..) => "a MANIFEST; filterblock manifest shows it".to_owned(),
        _ => format!("a table of {}", counted_as(checked.entries, "entry", "entries")),
    })
}

impl Files {
    fn add(&mut self, verified: &Verified, is_verbose: bool, is_alone: bool) {
        let (checked, about) = (&verified.checked, verified.about);
        let name = verified.path.file_name().map_or(&*verified.path, Path::new);
        let name = escape_path(name).to_string();
        let is_unused = checked.is_unused();
        let is_incomplete = checked.notes.contains(&CheckNote::Incomplete);
        match about {
            About::Log => self.logs += u64::from(!is_unused),
            About::Table if is_incomplete => self.incomplete.push(name.clone()),
            About::Table if is_unused => self.unused.push(name.clone()),
            About::Table => {
                self.tables += 1;
                self.filtered += u64::from(!checked.notes.contains(&CheckNote::NoFilter));
            }
            _ => {}
        }
        let file = if about == About::Folder || is_alone { String::new() } else { name.clone() };
        for (problem, number) in checked.problems.first_of_each() {
            let text = match &problem.other_format {
                Some(found) => found.format().to_string(),
                None => problem_text(problem, number, checked),
            };
            let mut shown = ShownProblem::new(problem.code, file.clone(), text);
            shown.is_one_bit = problem.wrong_bit.is_some();
            shown.title = match &problem.title {
                Some(title) => title.clone(),
                None if problem.code == Code::Checksum && problem.wrong_bit.is_none() && !file.is_empty() => {
                    format!("{} of {file}", counted(number, "block"))
                }
                None => shown.title,
            };
            if is_verbose {
                let all = checked.problems.to_list();
                let alike = all.iter().filter(|other| other.code == problem.code);
                shown.details.extend(alike.map(detail));
            }
            self.answer.add(shown, is_verbose);
        }
        for note in checked.notes.iter().filter(|note| is_verbose || is_worth_saying(note)) {
            let text = match is_of_one_file(note) {
                true if !file.is_empty() => format!("{name}: {note}"),
                _ => note.to_string(),
            };
            if !(self.notes.contains(&text) || is_verbose && is_in_line(note)) {
                self.notes.push(text);
            }
        }
        if is_verbose && matches!(about, About::Table | About::Log | About::Manifest) {
            let place = match (about, checked.level) {
                (About::Table, Some(level)) => format!("level {level}"),
                _ if is_unused => "unused".to_owned(),
                _ => String::new(),
            };
            let number = match (about, checked.writes) {
                (About::Table, _) => counted_as(checked.entries, "entry", "entries"),
                (_, Some(writes)) => counted(writes, "write"),
                _ => String::new(),
            };
            let state = if is_incomplete { "incomplete" } else { verified.verdict.words() };
            self.lines.push([name, place, number, state.to_owned()]);
        }
    }

    /// What was read of the database at `path`, in at most a few lines.
    fn facts(&mut self, path: &Path, has_manifest: bool) -> Vec<String> {
        let mut parts = vec![counted(self.tables, "table")];
        parts.extend((self.logs > 0).then(|| counted(self.logs, "log")));
        parts.extend(has_manifest.then(|| "the MANIFEST".to_owned()));
        let were = if self.tables == 1 && parts.len() == 1 { "was" } else { "were" };
        let parts = match parts.split_last() {
            Some((last, before @ [_, ..])) => format!("{} and {last}", before.join(", ")),
            _ => parts.join(""),
        };
        let is_of_state = self.answer.problems.iter().all(|problem| problem.file.is_empty());
        let mut facts = Vec::new();
        let is_without = self.filtered == 0 && self.tables > 0;
        match self.answer.verdict {
            Verdict::Fine if is_without => {
                facts.push(format!("{parts} {were} read: every block and key"));
                facts.push(format!(
                    "No table has filters. Would they help? filterblock tune {}",
                    path_word(path)
                ));
            }
            Verdict::Fine => facts.push(format!("{parts} {were} read: every block, key and filter")),
            Verdict::CannotTell => {}
            Verdict::Damaged if !is_of_state => {}
            _ => facts.push(format!("{parts} {were} read; nothing else is wrong")),
        }
        let unused = [(&self.unused, "fine, too"), (&self.incomplete, "incomplete")].map(|(names, state)| {
            let are = if names.len() == 1 { "is" } else { "are" };
            let tables = counted(names.len() as u64, "unused table");
            (!names.is_empty()).then(|| format!("{tables} {are} {state}: {}", names_text(names)))
        });
        let unused: Vec<_> = unused.into_iter().flatten().collect();
        facts.extend((self.answer.verdict == Verdict::Fine && !unused.is_empty()).then(|| unused.join("; ")));
        facts.append(&mut self.notes);
        facts
    }

    fn write_lines(&self, console: &mut Console) -> io::Result<()> {
        if let Some((name, records)) = &self.manifest {
            writeln!(console, "  CURRENT, {name}  {}", counted(*records, "record"))?;
        }
        let most = |at: usize| self.lines.iter().map(|line| width(&line[at])).max().unwrap_or_default();
        let widths = [most(0), most(1), most(2)];
        for [cells @ .., verdict] in &self.lines {
            let cells = cells.iter().zip(widths).filter(|(_, most)| *most > 0);
            let cells = cells.map(|(cell, most)| format!("{cell}{}", " ".repeat(most + 2 - width(cell))));
            writeln!(console, "  {}{verdict}", cells.collect::<String>())?;
        }
        Ok(())
    }
}

/// Where a problem is, and what was expected and found.
fn detail(problem: &Problem) -> String {
    let offset = problem.offset.map(|offset| format!("at offset {offset}: ")).unwrap_or_default();
    match &problem.plain {
        Some(plain) if problem.code == Code::FalseNegative => format!("data block {offset}{plain}"),
        _ => format!("{offset}expected {}, found {}", problem.expected, problem.found),
    }
}

/// Returns true for a note that is shown without being asked for.
fn is_worth_saying(note: &CheckNote) -> bool {
    matches!(
        note,
        CheckNote::CutWrite
            | CheckNote::CustomOrder { .. }
            | CheckNote::NotBytewise(_)
            | CheckNote::UnknownPolicy(_)
            | CheckNote::DamagedObsoleteLog(_)
    )
}

/// Returns true for a note that a line for each file shows in its own way.
fn is_in_line(note: &CheckNote) -> bool {
    matches!(note, CheckNote::Obsolete | CheckNote::ObsoleteLog | CheckNote::NoFilter)
}

/// Returns true for a note on a file, rather than on all files of a database.
fn is_of_one_file(note: &CheckNote) -> bool {
    !matches!(note, CheckNote::CustomOrder { .. } | CheckNote::UnknownPolicy(_) | CheckNote::SignedHash)
}

/// Writes the answer on a log or a MANIFEST that `inspect` was given. `file_size`: its size.
pub(crate) fn write_other(verified: &Verified, file_size: u64, console: &mut Console) -> io::Result<()> {
    let mut text = TextVerify::new(false, false);
    let mut shown = verified.clone();
    shown.checked.notes.clear();
    match clause(verified) {
        Some(clause) if verified.verdict == Verdict::Fine => {
            write_headline(
                &verified.path,
                verified.verdict,
                Some(&format!("{clause}, {}", size(file_size))),
                console,
            )?;
        }
        _ => text.alone(&shown, console)?,
    }
    if verified.about == About::Log {
        let path = path_word(&verified.path);
        paragraph(console, 2, &format!("Logs have no filters. To see the writes: filterblock scan {path}"))?;
    }
    verified.checked.notes.iter().try_for_each(|note| paragraph(console, 2, &note.to_string()))
}
