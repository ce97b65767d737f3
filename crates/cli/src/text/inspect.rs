//! The results of `inspect` as text: one table in detail, or a listing.

use std::{io, path::PathBuf};

use filterblock::escape_path;
use filterblock_engine::InspectLine;
use filterblock_engine::report::{About, Folder, Inspected, StateFault, Totals, Unreadable};
use filterblock_engine::words::{SAVE, counted, path_word, repair_command};

use super::columns::width;
use super::labelled::write_line;
use super::list::{self, Listing, ListingKind, table_name};
use super::{detail, labelled, levels, verify};
use crate::io::{Console, Tone};

/// The consequence of a MANIFEST that cannot be relied on.
pub(crate) const ALL_LIVE: &str = "all tables are taken to be live";

/// Writes the faults of a database as a whole, with what to do about them.
fn write_faults(folder: &Folder, console: &mut Console) -> io::Result<()> {
    if folder.faults.is_empty() {
        return Ok(());
    }
    for fault in &folder.faults {
        write_line(console, Tone::Bad, &format!("damaged: {}", fault.text()))?;
    }
    let warnings = folder.faults.iter().filter_map(StateFault::warning).map(|warning| warning + ".");
    warnings.chain([SAVE.to_owned()]).try_for_each(|text| write_line(console, Tone::Plain, &text))?;
    writeln!(console, "  {}", repair_command(&folder.path))
}

pub(crate) struct TextInspect {
    list_filters: bool,
    /// Set if one path was given, without --recursive and without a list of paths.
    is_single: bool,
    /// The layout of listings of tables outside folders.
    outside: ListingKind,
    /// The layout of the next listing.
    kind: ListingKind,
    /// The listing that is being written.
    listing: Option<Listing>,
    /// Set once output has been written, so that the next part begins with an empty line.
    written: bool,
}

impl TextInspect {
    /// Starts without output. `list_filters`: each filter of a table is shown. `is_single`: only one path was given.
    /// `is_wide`: listings have all columns. `paths`: those given as arguments.
    pub(crate) fn new(list_filters: bool, is_single: bool, is_wide: bool, paths: &[PathBuf]) -> Self {
        let name_width = paths.iter().map(|path| width(&table_name(path, false))).max().unwrap_or_default();
        let outside = ListingKind { name_width, is_wide, ..ListingKind::default() };
        Self { list_filters, is_single, outside, kind: outside, listing: None, written: false }
    }

    /// Writes a line of the results.
    pub(crate) fn line(&mut self, line: &InspectLine, console: &mut Console) -> io::Result<()> {
        match line {
            InspectLine::Folder(folder) => self.begin_folder(folder, console),
            InspectLine::Table(found) => self.table(found, console),
            InspectLine::Unreadable(Unreadable { path, other_format: Some(found), .. }) => {
                self.end(console)?;
                self.begin_part(console)?;
                labelled::write_other_format(path, found, console)
            }
            InspectLine::Other(other) => {
                let verified = &other.verified;
                self.begin_part(console)?;
                verify::write(verified, other.file_size, console)?;
                if verified.about == About::Log {
                    let path = path_word(&verified.path);
                    let text = format!("Logs have no filters. To see the writes: filterblock scan {path}");
                    write_line(console, Tone::Plain, &format!("  {text}"))?;
                }
                Ok(())
            }
            InspectLine::Unreadable(unreadable) => {
                console.message_about(&unreadable.path, &unreadable.error);
                Ok(())
            }
            InspectLine::Totals(totals) => self.end_folder(totals, console),
        }
    }

    /// Returns `true` if tables are shown in detail: to list their filters, or because the only path
    /// is not that of a folder.
    fn shows_details(&self) -> bool {
        self.list_filters || (self.is_single && !self.kind.in_folder)
    }

    fn begin_part(&mut self, console: &mut Console) -> io::Result<()> {
        if std::mem::replace(&mut self.written, true) { writeln!(console) } else { Ok(()) }
    }

    fn begin_folder(&mut self, folder: &Folder, console: &mut Console) -> io::Result<()> {
        self.end(console)?;
        console.fault_of(folder, ALL_LIVE);
        console.remarks(&folder.remarks);
        self.begin_part(console)?;
        console.line(Tone::Title, escape_path(&folder.path), "")?;
        write_faults(folder, console)?;
        if let Some(name) = &folder.comparator {
            writeln!(console, "keys by {name}")?;
        }
        if folder.tables == 0 {
            writeln!(console, "no tables (.ldb, .sst)")?;
        }
        if !folder.logs.is_empty() {
            let names: Vec<_> = folder.logs.iter().map(|log| table_name(log, true)).collect();
            let logs = counted(folder.logs.len() as u64, "log");
            writeln!(console, "{logs} with the newest writes, which no filter covers: {}", names.join(", "))?;
        }
        let widths = folder.listed.tables().map(|table| width(&table_name(table, true)));
        self.kind = ListingKind {
            name_width: widths.max().unwrap_or_default(),
            in_folder: true,
            has_records: folder.listed.has_records(),
            ..self.outside
        };
        Ok(())
    }

    fn table(&mut self, found: &Inspected, console: &mut Console) -> io::Result<()> {
        let table = &found.table;
        console.remarks(&table.remarks);
        if table.is_missing() || (table.unreadable && !table.is_opened()) {
            table.findings().for_each(|(_, message)| console.message_about(&table.path, message));
            return Ok(());
        }
        if self.shows_details() {
            self.begin_part(console)?;
            return detail::write(found, self.list_filters, console);
        }
        if self.listing.is_none() && !self.kind.in_folder {
            self.begin_part(console)?;
        }
        let listing = match &mut self.listing {
            Some(listing) => listing,
            none => none.insert(Listing::begin(self.kind, console)?),
        };
        listing.write(table, console)
    }

    fn end_folder(&mut self, totals: &Totals, console: &mut Console) -> io::Result<()> {
        if totals.tables > 0 {
            if self.listing.is_none() {
                self.begin_part(console)?;
            }
            self.listing.iter_mut().for_each(|listing| listing.see_totals(totals));
            list::write_totals(totals, self.listing.as_ref(), console)?;
        }
        self.end(console)?;
        levels::write(totals, console)
    }

    /// Ends the listing that is being written, if there is one.
    pub(crate) fn end(&mut self, console: &mut Console) -> io::Result<()> {
        self.kind = self.outside;
        self.listing.take().map_or(Ok(()), |listing| listing.end(console))
    }
}
