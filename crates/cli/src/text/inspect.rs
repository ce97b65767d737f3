//! The results of `inspect`: a screen for each database, a few lines for a table by itself, or a line for each of many.

use std::collections::BTreeSet;
use std::{io, path::Path};

use filterblock::{escape, escape_path};
use filterblock_engine::report::{
    Checked, CheckedFolder, Code, Depth, EntrySum, ErrorKind, Inspected, Name, Problem, Rate, TableFault,
    Totals, Unreadable, Verdict, VerdictCounts,
};
use filterblock_engine::text::{
    count, counted, entries_text, entry_sum, format_details, measured, or_dash, path_word, problem_text, size,
};
use filterblock_engine::{FoundFormat, InspectLine};

use super::answer::{Answer, ShownProblem, names_text};
use super::columns::{Align, Cell, Layout, width};
use super::labelled::{labelled, paragraph, write_counts, write_headline};
use super::list::{Listing, table_name};
use super::{detail, levels, verify};
use crate::io::{Console, Tone};

/// The consequence of a MANIFEST that cannot be used.
pub(crate) const ALL_LIVE: &str = "all tables are taken to be live";
/// The false-positive rate above which more bits per key may be worth a try.
const WEAK: f64 = 0.05;

#[derive(Clone, Copy)]
pub(crate) struct InspectStyle {
    pub(crate) list_filters: bool,
    pub(crate) is_wide: bool,
    /// Many paths may be answered, with a line for each.
    pub(crate) is_brief: bool,
    pub(crate) depth: Depth,
}

pub(crate) struct TextInspect {
    style: InspectStyle,
    folder: Option<Shown>,
    listing: Option<Listing>,
    /// The lines of many answers.
    rows: Vec<Vec<Cell>>,
    /// Set once output has been written, so that the next part begins with an empty line.
    written: bool,
    /// Answers are on databases, and on other paths.
    seen: [bool; 2],
}

struct Shown {
    folder: Box<CheckedFolder>,
    answer: Answer,
    policies: BTreeSet<String>,
    unused: Vec<String>,
    /// The bits of the filters in use.
    bits: u64,
    /// The entries of the tables with these filters.
    filtered_entries: EntrySum,
}

impl TextInspect {
    pub(crate) fn new(style: InspectStyle) -> Self {
        Self { style, folder: None, listing: None, rows: Vec::new(), written: false, seen: [false; 2] }
    }

    pub(crate) fn line(&mut self, line: InspectLine, console: &mut Console) -> io::Result<()> {
        match line {
            InspectLine::Folder(folder) => self.begin_folder(folder, console),
            InspectLine::Table(found) => self.table(&found, console),
            InspectLine::Unreadable(unreadable, format) => {
                self.unreadable(&unreadable, format.as_ref(), console)
            }
            InspectLine::Other(verified, file_size) => {
                self.begin_part(console)?;
                verify::write_other(&verified, file_size, console)
            }
            InspectLine::Totals(totals) => self.end_folder(&totals, console),
        }
    }

    fn is_listed(&self) -> bool {
        self.style.is_brief && !self.style.is_wide && !self.style.list_filters
    }

    fn begin_part(&mut self, console: &mut Console) -> io::Result<()> {
        if std::mem::replace(&mut self.written, true) { writeln!(console) } else { Ok(()) }
    }

    fn begin_folder(&mut self, folder: Box<CheckedFolder>, console: &mut Console) -> io::Result<()> {
        console.remarks(&folder.remarks);
        let mut answer = Answer::default();
        for (problem, number) in folder.checked.problems.first_of_each() {
            let text = problem_text(problem, number, &folder.checked);
            let mut shown = ShownProblem::new(problem.code, String::new(), text);
            shown.title = problem.title.clone().unwrap_or(shown.title);
            answer.add(shown, false);
        }
        answer.warnings.clone_from(&folder.checked.warnings);
        if self.style.is_wide && !self.style.list_filters {
            self.begin_part(console)?;
            console.line(Tone::Title, escape_path(&folder.path), "")?;
            let names = folder.listed.tables().map(|table| width(&table_name(table)));
            self.listing = Some(Listing::begin(names.max().unwrap_or_default(), console)?);
        }
        self.folder = Some(Shown {
            folder,
            answer,
            policies: BTreeSet::new(),
            unused: Vec::new(),
            bits: 0,
            filtered_entries: EntrySum::default(),
        });
        Ok(())
    }

    fn table(&mut self, found: &Inspected, console: &mut Console) -> io::Result<()> {
        let table = &found.table;
        if self.style.list_filters && found.filters.is_some() {
            self.begin_part(console)?;
            console.line(Tone::Title, escape_path(&table.frame.path), "")?;
            detail::write(found, true, console)?;
        }
        if let Some(shown) = &mut self.folder {
            shown.add(found);
            return self.listing.as_mut().map_or(Ok(()), |listing| listing.write(found, console));
        }
        let problem = problem_of(found, String::new());
        if self.is_listed() {
            let clause = problem.map(|problem| problem.text);
            let rate = table.filter.as_ref().and_then(|filter| filter.random_fpr);
            let filters = table.filter.as_ref().map_or(0, |filter| filter.size);
            self.row(&table.frame.path, None, table.size(), (filters, rate), table.verdict, clause);
            return Ok(());
        }
        self.begin_part(console)?;
        let mut answer = Answer { verdict: table.verdict, ..Answer::default() };
        problem.into_iter().for_each(|problem| answer.add(problem, true));
        answer.write(&table.frame.path, None, console)?;
        match (self.style.list_filters, self.style.is_wide) {
            (true, _) => Ok(()),
            (false, true) => detail::write(found, false, console),
            (false, false) => detail::short(table, console),
        }
    }

    fn unreadable(
        &mut self,
        Unreadable { frame, .. }: &Unreadable,
        other_format: Option<&FoundFormat>,
        console: &mut Console,
    ) -> io::Result<()> {
        let path = &frame.path;
        let is_answer = frame.error_kind == Some(ErrorKind::Denied);
        let clause = match other_format {
            Some(found) => found.format().to_string(),
            None if is_answer => frame.error.as_deref().unwrap_or_default().to_owned(),
            None => {
                console.message_about(path, frame.error.as_deref().unwrap_or_default());
                return Ok(());
            }
        };
        if self.is_listed() {
            self.row(path, None, 0, (0, None), Verdict::CannotTell, Some(clause));
            return Ok(());
        }
        self.begin_part(console)?;
        write_headline(path, Verdict::CannotTell, Some(&clause), console)?;
        let details = other_format.map(format_details).unwrap_or_default();
        details.iter().try_for_each(|text| paragraph(console, 2, text))
    }

    fn end_folder(&mut self, totals: &Totals, console: &mut Console) -> io::Result<()> {
        let Some(shown) = self.folder.take() else { return Ok(()) };
        let bits = shown.filtered_entries.number().and_then(|entries| entries.bits_per_entry(shown.bits));
        let Shown { folder, mut answer, policies, unused, .. } = shown;
        answer.verdict = totals.verdict;
        let sums = Sums::of(totals);
        if self.is_listed() {
            let clause = answer.problems.first().map(|problem| problem.title.clone());
            self.seen[0] = true;
            let filters = (sums.filter_size, totals.random_fpr.mean());
            self.row(&folder.path, Some(sums.tables), sums.size, filters, totals.verdict, clause);
            return Ok(());
        }
        if let Some(listing) = self.listing.take() {
            listing.end(console)?;
        }
        self.begin_part(console)?;
        let rate = totals.random_fpr.mean();
        let is_judged = sums.tables > 0 && self.style.depth != Depth::Tail;
        let is_without = sums.filter_size == 0 && sums.tables > 0 && policies.is_empty();
        let tune = format!("filterblock tune {}", path_word(&folder.path));
        let read = match self.style.depth {
            Depth::Tail => "only indexes and filters were read; verify reads everything",
            Depth::Sample => "a sample was read; verify reads everything",
            Depth::All => "",
        };
        let mut sum = sums.text();
        if totals.verdict == Verdict::Fine {
            let note = match read {
                _ if is_without => format!("; no table has filters (would they help? {tune})"),
                "" => String::new(),
                _ => format!(" ({read})"),
            };
            // A command is never broken.
            let words = console.tone(Tone::Good, Verdict::Fine.words());
            writeln!(console, "{}: {words}{note}", escape_path(&folder.path))?;
            if is_without && !read.is_empty() {
                sum += &format!("; {}", read.split(';').next().unwrap_or_default());
            }
        } else {
            answer.write(&folder.path, Some(&folder.path), console)?;
        }
        paragraph(console, 2, &sum)?;
        let policies = policies.into_iter().collect::<Vec<_>>().join(", ");
        if sums.filter_size > 0 {
            let bits = bits.map(|bits| format!("{:.1} bits per entry, ", bits.value)).unwrap_or_default();
            label(console, "filters", &format!("{bits}{}, {policies}", size(sums.filter_size)))?;
            if is_judged && rate.is_some_and(|rate| rate.low > WEAK) {
                label(console, "", &format!("(would more help? {tune})"))?;
            }
        } else if !policies.is_empty() {
            label(console, "filters", &format!("not read: {policies}"))?;
        }
        if !folder.logs.is_empty() {
            let names: Vec<_> = folder.logs.iter().map(|log| table_name(log)).collect();
            let number = count(names.len() as u64);
            label(console, "logs", &format!("{number} with newer writes: {}", names_text(&names)))?;
        }
        if !unused.is_empty() {
            label(console, "unused", &format!("{}: not in the MANIFEST", names_text(&unused)))?;
        }
        if let Some(order) = folder.listed.comparator().filter(|_| !folder.listed.is_bytewise()) {
            label(console, "keys", &format!("by {}", Name::cut(order)))?;
        }
        levels::write(totals, console)
    }

    fn row(
        &mut self,
        path: &Path,
        tables: Option<u64>,
        bytes: u64,
        (filters, rate): (u64, Option<Rate>),
        verdict: Verdict,
        clause: Option<String>,
    ) {
        let is_read = verdict != Verdict::CannotTell;
        self.seen[1] |= tables.is_none() && is_read;
        let filters = match filters {
            0 if is_read => "none".to_owned(),
            0 => "-".to_owned(),
            bytes => size(bytes),
        };
        let rate = rate.filter(|_| filters != "none");
        let mut words = verdict.words().to_owned();
        if let (Verdict::CannotTell, Some(clause)) = (verdict, clause) {
            // There is room for the first words.
            let first = clause.split(" by ").next().unwrap_or_default();
            let first = first.strip_suffix(" database").unwrap_or(first);
            words += &format!(": {}", first.strip_prefix("a ").unwrap_or(first));
        }
        self.rows.push(vec![
            escape_path(path).to_string().into(),
            or_dash(tables.map(count)).into(),
            if is_read { size(bytes).into() } else { "-".into() },
            filters.into(),
            or_dash(rate.map(measured)).into(),
            Cell::toned(words, verdict.severity().into()),
        ]);
    }

    /// Writes the lines of many answers, and their sum.
    pub(crate) fn end(&mut self, counts: &VerdictCounts, console: &mut Console) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let what = if self.seen == [true, false] { "database" } else { "path" };
        let titles = [
            (what, Align::Left),
            ("tables", Align::Right),
            ("size", Align::Right),
            ("filters", Align::Right),
            ("false pos.", Align::Right),
            ("verdict", Align::Left),
        ];
        Layout::write_all(&titles, std::mem::take(&mut self.rows), console)?;
        if counts.all() < 2 { Ok(()) } else { write_counts(counts, what, console) }
    }
}

impl Shown {
    fn add(&mut self, found: &Inspected) {
        let table = &found.table;
        let name = table_name(&table.frame.path);
        if table.live == Some(false) {
            self.unused.push(if found.is_incomplete { format!("{name} (incomplete)") } else { name.clone() });
        } else {
            self.policies.extend(table.policy().map(|policy| escape(policy).to_string()));
            let filter = if table.live.is_some() { found.judged() } else { table.filter.as_ref() };
            if let Some(filter) = filter {
                self.bits = self.bits.saturating_add(filter.bits);
                self.filtered_entries.add(table.entries);
            }
        }
        problem_of(found, name).into_iter().for_each(|problem| self.answer.add(problem, false));
    }
}

/// The worst problem of a table, as far as it was read.
fn problem_of(found: &Inspected, file: String) -> Option<ShownProblem> {
    let table = &found.table;
    let fault = found.faults.get(&TableFault::Blocks);
    let error = fault.map(|fault| fault.text.clone()).unwrap_or_default();
    let code = match table.verdict {
        Verdict::Fine => return None,
        Verdict::CannotTell => Code::Unreadable,
        _ if found.is_missing() => Code::TableMissing,
        _ if fault.is_some() && table.is_opened() => Code::Checksum,
        _ if fault.is_some() => Code::NotATable,
        _ if found.has(TableFault::Size) => Code::TableSize,
        Verdict::FalseNegatives => Code::FalseNegative,
        _ if table.filter.is_some() => Code::FilterMalformed,
        _ => Code::FilterUnreadable,
    };
    let text = match code {
        Code::Unreadable => error,
        Code::FalseNegative => "filters hide stored keys".to_owned(),
        Code::Checksum => {
            let lost =
                table.lost.as_ref().map_or_else(|| "its entries".to_owned(), |lost| entries_text(lost) + ",");
            format!("a block is damaged: {lost} are lost")
        }
        _ => {
            let [recorded, found] = [table.recorded_size, table.file_size]
                .map(|bytes| format!("{} bytes", bytes.unwrap_or_default()));
            let found = if code == Code::TableSize { found } else { error };
            let problem = Problem::new(code, None, recorded, found);
            let problem = Problem { lost: table.lost.clone().map(Box::new), ..problem };
            problem_text(&problem, 1, &Checked::default())
        }
    };
    Some(ShownProblem::new(code, file, text))
}

#[derive(Default)]
struct Sums {
    tables: u64,
    levels: u64,
    size: u64,
    entries: EntrySum,
    filter_size: u64,
}

impl Sums {
    /// The sums of all levels, or of all tables if there are no levels.
    fn of(totals: &Totals) -> Self {
        let levels: Vec<_> = totals.levels.values().filter(|level| level.level.is_some()).collect();
        let mut sums = Self { levels: levels.len() as u64, ..Self::default() };
        if totals.levels.is_empty() {
            (sums.tables, sums.size) = (totals.tables, totals.file_size);
            (sums.entries, sums.filter_size) = (totals.entries, totals.filter_size);
            return sums;
        }
        for level in levels {
            sums.tables += level.tables;
            sums.size = sums.size.saturating_add(level.file_size);
            sums.entries.add_sum(&level.entries);
            sums.filter_size = sums.filter_size.saturating_add(level.filter_size);
        }
        sums
    }

    fn text(&self) -> String {
        if self.tables == 0 {
            return "no tables".to_owned();
        }
        let levels =
            if self.levels > 0 { format!(" on {}", counted(self.levels, "level")) } else { String::new() };
        let number = entry_sum(&self.entries);
        let entries = match self.entries.value {
            None => String::new(),
            Some(1) => format!(", {number} entry"),
            Some(_) => format!(", {number} entries"),
        };
        format!("{}{levels}, {}{entries}", counted(self.tables, "table"), size(self.size))
    }
}

fn label(console: &mut Console, label: &str, text: &str) -> io::Result<()> {
    labelled(console, 7, (Tone::Plain, label), (Tone::Plain, text))
}
