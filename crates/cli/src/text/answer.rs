//! The answer for one database or file: its verdict, its problems, and what to do.

use std::{io, path::Path};

use filterblock_engine::report::{Code, Verdict};
use filterblock_engine::text::{
    BRING_BACK, DO_NOT_OPEN, FIND_LOG, NEW_DATABASE, SAVE, SHORT_MANIFEST, count, counted, rebuild_command,
    repair_command,
};

use super::columns::width;
use super::labelled::{paragraph, terminal_lines, write_headline};
use crate::io::Console;

const MAX_OF_A_CODE: usize = 5;
const MAX_NAMES: usize = 3;

pub(super) struct ShownProblem {
    /// Empty: it concerns the database as a whole, or the only file.
    pub(super) file: String,
    pub(super) code: Code,
    /// What it means.
    pub(super) text: String,
    pub(super) title: String,
    /// What was expected and found.
    pub(super) details: Vec<String>,
    /// One wrong bit is all the damage.
    pub(super) is_one_bit: bool,
}

impl ShownProblem {
    /// `text`: what the problem means.
    pub(super) fn new(code: Code, file: String, text: String) -> Self {
        let title = [": ", " (", ", at offset ", ", the first at "]
            .iter()
            .fold(&*text, |title, end| title.split(end).next().unwrap_or_default());
        let title = match title {
            title if file.is_empty() => title.to_owned(),
            _ if code == Code::FalseNegative => text.replacen("filters", &format!("filters of {file}"), 1),
            title => format!("{file}: {title}"),
        };
        Self { file, code, text, title, details: Vec::new(), is_one_bit: false }
    }

    /// What it means, without what `story` says of it already.
    fn after(&self, story: Option<&str>) -> String {
        let rest = match story {
            None => return self.text.clone(),
            Some(_) if self.code == Code::FalseNegative => return String::new(),
            Some(story) => {
                self.text.strip_prefix(story).unwrap_or(&self.text).trim_start_matches([':', ',', ' '])
            }
        };
        let mut letters = rest.chars();
        let first = letters.next().map(|first| first.to_uppercase().to_string());
        first.map(|first| format!("{first}{}.", letters.as_str())).unwrap_or_default()
    }
}

/// The answer for a database, or for a file or path by itself.
#[derive(Default)]
pub(super) struct Answer {
    pub(super) verdict: Verdict,
    /// The whole story in a clause. `None`: the problems tell it.
    pub(super) clause: Option<String>,
    pub(super) problems: Vec<ShownProblem>,
    /// What would make the problems worse.
    pub(super) warnings: Vec<String>,
    pub(super) facts: Vec<String>,
    /// The number of problems that were not kept.
    pub(super) more: u64,
}

impl Answer {
    /// Adds a problem, which is only counted if there are many of its code. `all`: all are kept.
    pub(super) fn add(&mut self, problem: ShownProblem, all: bool) {
        let alike = self.problems.iter().filter(|known| known.code == problem.code).count();
        match all || alike < MAX_OF_A_CODE {
            true => self.problems.push(problem),
            false => self.more += 1,
        }
    }

    /// The clause after the verdict, if one tells the whole story.
    fn whole_story(&self) -> Option<String> {
        match &*self.problems {
            [only] if self.more == 0 && only.code == Code::FalseNegative => Some(only.title.clone()),
            [only] if self.more == 0 && only.file.is_empty() => {
                Some(if only.text.contains(": ") { only.title.clone() } else { only.text.clone() })
            }
            _ => None,
        }
    }

    fn brief(&self) -> Option<String> {
        let worst = self.problems.iter().max_by_key(|problem| problem.code.verdict())?;
        let title = match worst.code {
            // How many keys there are can wait.
            Code::FalseNegative => worst.title.rsplit_once(" of ").filter(|(_, all)| all.ends_with(" keys")),
            _ => None,
        };
        let title = title.map_or_else(|| worst.title.clone(), |(hidden, _)| format!("{hidden} keys"));
        let warning = if self.warnings.is_empty() { "" } else { DO_NOT_OPEN };
        Some(match self.problems.len() as u64 + self.more {
            1 => format!("{title}{warning}"),
            more => format!("{title}, and {} more{warning}", counted(more - 1, "problem")),
        })
    }

    fn advice(&self, database: Option<&Path>) -> Option<(Vec<&'static str>, String)> {
        let database = database?;
        let has = |is_meant: fn(&ShownProblem) -> bool| self.problems.iter().any(is_meant);
        if has(|problem| problem.code.is_damage()) {
            let all = |is_meant: fn(&ShownProblem) -> bool| {
                self.problems.iter().filter(|problem| problem.code.is_damage()).all(is_meant)
            };
            let text = match () {
                () if all(|problem| problem.is_one_bit) => {
                    "Nothing is lost yet. Correct it in a new database; this one is not changed:"
                }
                () if all(|problem| problem.code == Code::CurrentMissing) => NEW_DATABASE,
                () if all(|problem| problem.code == Code::LogMissing) => FIND_LOG,
                () if !self.warnings.is_empty() => "Save what can be saved; this database is not changed:",
                () => SAVE,
            };
            return Some((vec![text], repair_command(database)));
        }
        let rebuild = || rebuild_command(database, &["--bits-per-key".to_owned(), "10".to_owned()]);
        if has(|problem| problem.code == Code::FalseNegative) {
            return Some((BRING_BACK.to_vec(), rebuild()));
        }
        if has(|problem| problem.code.is_of_filters()) {
            return Some((vec!["No entry is lost. New filters:"], rebuild()));
        }
        has(|problem| problem.code == Code::ManifestHuge)
            .then(|| (vec![SHORT_MANIFEST], repair_command(database)))
    }

    /// `database`: the folder that commands are for.
    pub(super) fn write(
        &self,
        path: &Path,
        database: Option<&Path>,
        console: &mut Console,
    ) -> io::Result<()> {
        let story = self.clause.clone().or_else(|| self.whole_story());
        write_headline(path, self.verdict, story.as_deref(), console)?;
        if self.verdict == Verdict::Fine {
            self.facts.iter().try_for_each(|fact| paragraph(console, 2, fact))?;
        }
        self.write_problems(story.as_deref(), console)?;
        let warnings: Vec<_> = self.warnings.iter().map(|warning| format!("{warning}.")).collect();
        let (lines, command) = self.advice(database).unzip();
        let mut lines = lines.unwrap_or_default().into_iter();
        let first = warnings.iter().map(String::as_str).chain(lines.next()).collect::<Vec<_>>().join(" ");
        for line in Some(&*first).into_iter().filter(|first| !first.is_empty()).chain(lines) {
            paragraph(console, 2, line)?;
        }
        command.into_iter().try_for_each(|command| writeln!(console, "    {command}"))?;
        if self.verdict != Verdict::Fine {
            self.facts.iter().try_for_each(|fact| paragraph(console, 2, fact))?;
        }
        Ok(())
    }

    /// Writes the problems below each other: first those of the database, then those of files. Skips what `story` says.
    fn write_problems(&self, story: Option<&str>, console: &mut Console) -> io::Result<()> {
        let files = self.problems.iter().map(|problem| width(&problem.file)).max().unwrap_or_default();
        let (of_database, of_files): (Vec<_>, Vec<_>) =
            self.problems.iter().partition(|problem| problem.file.is_empty());
        for problem in of_database.into_iter().chain(of_files) {
            let text = problem.after(story);
            let indent = if problem.file.is_empty() || text.is_empty() { 2 } else { files + 4 };
            for (number, line) in terminal_lines(console, indent, &text).iter().enumerate() {
                let file = if number == 0 { &*problem.file } else { "" };
                let space = " ".repeat((indent - 2).saturating_sub(width(file)));
                if !line.is_empty() {
                    writeln!(console, "  {file}{space}{line}")?;
                }
            }
            problem.details.iter().try_for_each(|text| paragraph(console, indent + 2, text))?;
        }
        match self.more {
            0 => Ok(()),
            more => writeln!(console, "  … and {} more: --verbose", count(more)),
        }
    }

    /// Writes the answer as one line, with a command below if there is one.
    pub(super) fn write_brief(
        &self,
        path: &Path,
        database: Option<&Path>,
        console: &mut Console,
    ) -> io::Result<()> {
        let clause = self.clause.clone().or_else(|| self.brief());
        write_headline(path, self.verdict, clause.as_deref(), console)?;
        match self.advice(database) {
            Some((_, command)) => writeln!(console, "    {command}"),
            None => Ok(()),
        }
    }
}

pub(super) fn names_text(names: &[String]) -> String {
    let more = names.len().saturating_sub(MAX_NAMES) as u64;
    let first = names.iter().take(MAX_NAMES).cloned().collect::<Vec<_>>().join(", ");
    if more == 0 { first } else { format!("{first} and {} more", count(more)) }
}
