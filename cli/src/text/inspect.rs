//! Tables for people: one in detail, or lines of a listing.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use filterblock::{escape, escape_path};

use super::columns::width;
use super::list::{Listing, ListingKind};
use super::{detail, levels, list};
use crate::io::console::{Console, Tone};
use crate::renderer::InspectRenderer;
use filterblock_engine::audit::inspect::report::TableReport;
use filterblock_engine::audit::inspect::totals::FolderTotals;
use filterblock_engine::audit::stats::metaindex::short_name;
use filterblock_engine::report::folder::FolderHeader;
use filterblock_engine::report::subject::Subject;
use filterblock_engine::walk::input::PathError;
use filterblock_engine::words::numbers::counted;

pub(crate) struct TextInspect {
    list_filters: bool,
    /// Exactly one path was given.
    is_single: bool,
    /// Listings have all columns.
    is_wide: bool,
    /// The width of the longest path given.
    name_width: usize,
    /// The width of the names and the kind of the next listing.
    kind: (usize, ListingKind),
    /// The listing that is being written.
    listing: Option<Listing>,
    in_folder: bool,
    /// Something has been written, so that the next part begins with an empty line.
    written: bool,
}

impl TextInspect {
    pub(crate) fn new(list_filters: bool, is_single: bool, is_wide: bool, paths: &[PathBuf]) -> Self {
        let name_width = paths.iter().map(|path| width(&list::table_name(path, false))).max();
        let name_width = name_width.unwrap_or_default();
        Self {
            list_filters,
            is_single,
            is_wide,
            name_width,
            kind: (name_width, ListingKind { is_wide, ..ListingKind::default() }),
            listing: None,
            in_folder: false,
            written: false,
        }
    }

    /// A table is shown in detail if it has to hold a list of filters, or if it is the only one.
    fn shows_details(&self) -> bool {
        self.list_filters || (self.is_single && !self.in_folder)
    }

    fn line(&mut self, path: &Path, report: &TableReport<'_>, console: &mut Console) -> io::Result<()> {
        if self.listing.is_none() {
            if !self.in_folder {
                self.begin_part(console)?;
            }
            let (width, kind) = self.kind;
            self.listing = Some(Listing::begin(width, kind, console)?);
        }
        self.listing.as_mut().map_or(Ok(()), |listing| listing.write(path, report, console))
    }

    fn begin_part(&mut self, console: &mut Console) -> io::Result<()> {
        if std::mem::replace(&mut self.written, true) { writeln!(console) } else { Ok(()) }
    }
}

impl InspectRenderer for TextInspect {
    fn begin_folder(
        &mut self,
        subject: Subject<'_>,
        folder: &FolderHeader<'_>,
        console: &mut Console,
    ) -> io::Result<()> {
        self.end(console)?;
        if let Some((path, error)) = folder.manifest_error {
            console.message_about(path, format_args!("{error}; all tables are taken to be live"));
        }
        console.remarks(subject.remarks);
        self.in_folder = true;
        self.begin_part(console)?;
        let title = console.tone(Tone::Title, escape_path(subject.path));
        writeln!(console, "{title}")?;
        if let Some(name) = folder.comparator {
            writeln!(console, "keys by {}", escape(&short_name(name)))?;
        }
        if folder.tables.is_empty() {
            writeln!(console, "no tables (.ldb, .sst)")?;
        }
        if !folder.logs.is_empty() {
            let names: Vec<_> = folder.logs.iter().map(|log| list::table_name(log, true)).collect();
            let logs = counted(folder.logs.len() as u64, "log");
            writeln!(console, "{logs} with the newest writes, which no filter covers: {}", names.join(", "))?;
        }
        if !self.shows_details() && !folder.tables.is_empty() {
            let widths = folder.tables.iter().map(|table| width(&list::table_name(table, true)));
            let kind =
                ListingKind { in_folder: true, has_records: folder.has_records, is_wide: self.is_wide };
            self.kind = (widths.max().unwrap_or_default(), kind);
        }
        console.flush()
    }

    fn table(
        &mut self,
        subject: Subject<'_>,
        report: &TableReport<'_>,
        console: &mut Console,
    ) -> io::Result<()> {
        let path = subject.path;
        console.remarks(subject.remarks);
        if report.is_missing() || (report.unreadable && report.stats.is_none()) {
            report.findings().for_each(|(_, message)| console.message_about(path, message));
            return Ok(());
        }
        if self.shows_details() {
            self.begin_part(console)?;
            detail::write(path, report, self.list_filters, console)?;
        } else {
            self.line(path, report, console)?;
        }
        console.flush()
    }

    fn unreadable(
        &mut self,
        subject: Subject<'_>,
        error: &PathError,
        console: &mut Console,
    ) -> io::Result<()> {
        console.remarks(subject.remarks);
        console.message_about(subject.path, error);
        Ok(())
    }

    fn end_folder(&mut self, _: Subject<'_>, totals: &FolderTotals, console: &mut Console) -> io::Result<()> {
        if totals.tables > 0 {
            if self.listing.is_none() {
                self.begin_part(console)?;
            }
            list::write_totals(totals, self.listing.as_ref(), console)?;
        }
        self.end(console)?;
        levels::write(totals, console)
    }

    /// Ends the listing that is being written, if there is one.
    fn end(&mut self, console: &mut Console) -> io::Result<()> {
        self.in_folder = false;
        self.kind = (self.name_width, ListingKind { is_wide: self.is_wide, ..ListingKind::default() });
        self.listing.take().map_or(Ok(()), |listing| listing.end(console))
    }
}
