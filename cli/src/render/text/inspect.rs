//! How tables are shown: as JSON, each on a card of its own, or as lines of a listing.

use std::io::{self, Write as _};
use std::path::Path;

use super::list::{Rows, Shape};
use super::{database, detail as card, list as rows};
use crate::audit::inspect::report::Facts;
use crate::audit::inspect::totals::Totals;
use crate::command::inspect::Arguments;
use crate::io::console::{Console, Tone};
use crate::io::database::Database;
use crate::io::input::Folder;
use crate::render::json::inspect::Report;
use crate::render::json::line::write_line;
use crate::render::show::{counted, path_text, width};

pub(crate) struct Presenter<'a> {
    arguments: &'a Arguments,
    /// The listing that is being written.
    rows: Option<Rows>,
    in_folder: bool,
    /// Whether something has been written, so that the next part begins with an empty line.
    written: bool,
}

impl<'a> Presenter<'a> {
    pub(crate) fn new(arguments: &'a Arguments) -> Self {
        Self { arguments, rows: None, in_folder: false, written: false }
    }

    pub(crate) fn show(&mut self, facts: &Facts<'_>, console: &mut Console) -> io::Result<()> {
        let nothing_to_show = facts.unreadable && facts.survey.is_none();
        if nothing_to_show || (facts.unreadable && self.arguments.json) {
            facts.findings().for_each(|(_, message)| console.complain(facts.path, message));
        }
        if self.arguments.json {
            write_line(&mut *console, &Report::new(facts, self.arguments.filters))?;
        } else if nothing_to_show {
            return Ok(());
        } else if self.shows_cards() {
            self.begin_part(console)?;
            card::write(facts, self.arguments.filters, console)?;
        } else {
            self.row(facts, console)?;
        }
        console.flush()
    }

    pub(crate) fn begin_folder(
        &mut self,
        path: &Path,
        folder: &Folder,
        logs: &[&Path],
        manifest: Option<&Database>,
        console: &mut Console,
    ) -> io::Result<()> {
        self.end(console)?;
        self.in_folder = true;
        if self.arguments.json {
            return Ok(());
        }
        self.begin_part(console)?;
        let title = console.tone(Tone::Title, path_text(path));
        writeln!(console, "{title}")?;
        if let Some(manifest) = manifest {
            database::write(manifest, console)?;
        }
        if folder.tables.is_empty() {
            writeln!(console, "no tables (.ldb, .sst)")?;
        }
        if !logs.is_empty() {
            let names: Vec<_> = logs.iter().map(|log| rows::name(log, true)).collect();
            let logs = counted(logs.len() as u64, "log");
            writeln!(console, "{logs} with the newest writes, which no filter covers: {}", names.join(", "))?;
        }
        if !self.shows_cards() && !folder.tables.is_empty() {
            let name_width = folder.tables.iter().map(|table| width(&rows::name(table, true))).max();
            let placed = manifest.is_some_and(|database| database.manifest.is_ok());
            let shape = Shape { in_folder: true, placed };
            self.rows = Some(Rows::begin(name_width.unwrap_or_default(), shape, console)?);
        }
        console.flush()
    }

    pub(crate) fn end_folder(&mut self, totals: &Totals, console: &mut Console) -> io::Result<()> {
        if !self.arguments.json && totals.tables > 0 {
            if self.rows.is_none() {
                self.begin_part(console)?;
            }
            rows::write_totals(totals, self.rows.as_ref(), console)?;
        }
        self.end(console)?;
        if self.arguments.json { Ok(()) } else { totals.levels.write(console) }
    }

    /// Ends the listing that is being written, if there is one.
    pub(crate) fn end(&mut self, console: &mut Console) -> io::Result<()> {
        self.in_folder = false;
        self.rows.take().map_or(Ok(()), |rows| rows.end(console))
    }

    /// Each table gets a card where it has to hold a list of filters, or there is one table only.
    fn shows_cards(&self) -> bool {
        self.arguments.filters || (self.arguments.paths.single().is_some() && !self.in_folder)
    }

    fn row(&mut self, facts: &Facts<'_>, console: &mut Console) -> io::Result<()> {
        if self.rows.is_none() {
            self.begin_part(console)?;
            let name_width =
                self.arguments.paths.arguments().iter().map(|path| width(&rows::name(path, false))).max();
            self.rows = Some(Rows::begin(name_width.unwrap_or_default(), Shape::default(), console)?);
        }
        self.rows.as_mut().map_or(Ok(()), |rows| rows.write(facts, console))
    }

    fn begin_part(&mut self, console: &mut Console) -> io::Result<()> {
        if std::mem::replace(&mut self.written, true) { writeln!(console) } else { Ok(()) }
    }
}
