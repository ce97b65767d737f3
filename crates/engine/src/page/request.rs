//! The request for a page, its contents, and the page made for it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::verdict::facts;
use super::{document::document, pictures::FillStrip, words::text};
use crate::audit::overview::Overview;
use crate::audit::{overview::Kind, stats::FilterStats, tune::Request, tune::advise};
use crate::report::{Advice, Candidate, Filters, Table, TuneFailure, Tuning};
use crate::walk::{Inputs, PathError, Storage, open_listed};
use crate::words::{AdviceText, advice_text};
use crate::{engine::Engine, words::FillBins, words::ratio};

/// The greatest number of tables whose filters are shown as a strip.
const MOST: usize = 8;

/// The work to do for a page.
#[derive(Debug)]
pub struct PageRequest {
    /// If true, every block and every entry is read and verified.
    pub verify: bool,
    /// The request to try other filters; `None` if no other filters are to be tried. They are never tried for a
    /// folder of tables that is not a database.
    pub tune: Option<Request>,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { verify: true, tune: Some(Request::default()) }
    }
}

/// A page about a database, folder or table.
#[derive(Clone, Debug)]
pub struct Page {
    /// The page, without scripts and complete in itself.
    pub html: String,
    /// The verdict and the advice with which it begins.
    pub advice: AdviceText,
}

impl Engine {
    /// Makes a page about the database, folder or table at `path`. `storage`: the storage of the files;
    /// `None`: the local file system.
    ///
    /// # Errors
    ///
    /// The reason why there is nothing to report.
    pub fn page(
        &self,
        path: &Path,
        storage: Option<&Arc<dyn Storage>>,
        request: &PageRequest,
    ) -> Result<Page, PathError> {
        let paths = vec![PathBuf::from(path)];
        let inputs = Inputs { paths, storage: storage.cloned(), ..Inputs::default() };
        let overview = self.overview(inputs.clone(), request.verify)?;
        let strips = overview.telling(MOST).into_iter().filter_map(|table| self.strip(table, storage));
        let strips: Vec<_> = strips.collect();
        // Other filters are tried only on the tables that a database uses, or on a single table.
        let has_database = overview.in_use().next().is_some() && overview.kind != Kind::Folder;
        let tuning = request.tune.as_ref().filter(|_| has_database);
        let tuning = tuning.map(|request| self.tune_one(inputs, request));
        let tuned = tuning.as_ref();
        let measured = tuned.and_then(|tuned| tuned.as_ref().ok());
        let advice = advise(&facts(path, &overview, tuned), measured);
        let text = advice_text(&advice, measured, path);
        let shown = Shown { path, overview: &overview, strips: &strips, tuned, advice: &advice };
        Ok(Page { html: document(&shown, &text), advice: text })
    }

    /// The filters along a table; `None` if the table has no filters that can be read, or if the table can no longer
    /// be read.
    fn strip(&self, table: &Table, storage: Option<&Arc<dyn Storage>>) -> Option<Strip> {
        let source = open_listed(storage, &table.path).ok()?;
        let opened = filterblock::table::Table::open(source, &self.read).ok()?;
        let filters = Filters { stats: FilterStats::new(opened.filter()?.clone()), blocks: None };
        let bins = FillBins::of_block(&filters, FillBins::OF_PICTURE);
        let set = table.filter.as_ref().filter(|filter| filter.bits > 0);
        let set = set.map(|filter| ratio(filter.bits_set, filter.bits));
        Some(Strip { picture: FillStrip { name: text(table.name()), set, bins }, table: table.clone() })
    }
}

/// All that a page shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown<'a> {
    /// The path as the user gave it.
    pub(super) path: &'a Path,
    /// The results for the database, folder or table.
    pub(super) overview: &'a Overview,
    /// The tables that are shown filter by filter.
    pub(super) strips: &'a [Strip],
    /// The effects that other filters would have, or the reason why they could not be found out. `None`: no
    /// other filters were tried.
    pub(super) tuned: Option<&'a Result<Tuning, TuneFailure>>,
    /// The advice.
    pub(super) advice: &'a Advice,
}

impl<'a> Shown<'a> {
    /// The effects that other filters would have, if they are known.
    pub(super) fn tuned(&self) -> Option<&'a Tuning> {
        self.tuned?.as_ref().ok()
    }

    /// The filters that are advised; `None` if no other filters are advised.
    pub(super) fn advised(&self) -> Option<&'a Candidate> {
        self.tuned()?.advised(Some(self.advice))
    }
}

/// The filters along a table.
#[derive(Debug)]
pub(super) struct Strip {
    pub(super) picture: FillStrip,
    pub(super) table: Table,
}
