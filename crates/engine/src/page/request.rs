//! The request for a page, and the page made for it.

use std::path::{Path, PathBuf};

use filterblock::escape_path;

use super::document::document;
use super::names::text;
use super::report::body;
use super::shown::Shown;
use super::verdict::facts;
use crate::audit::overview::Kind;
use crate::audit::tune::{TuneRequest, advise};
use crate::engine::Engine;
use crate::repair::RepairRequest;
use crate::report::{Basis, Fault};
use crate::text::{AdviceText, advice_text};
use crate::walk::Inputs;
use crate::write::NoOutput;

/// The work to do for a page.
#[derive(Debug)]
pub struct PageRequest {
    /// If true, every block and every entry is read and verified.
    pub verify: bool,
    /// The request to try other filters, if they are to be tried. They never are for a folder of tables that is no
    /// database.
    pub tune: Option<TuneRequest>,
    /// If true, a repair of what is damaged is tried, which reads the whole database.
    pub repair: bool,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { verify: true, tune: Some(TuneRequest::default()), repair: true }
    }
}

/// A page about a database, folder or table.
#[derive(Clone, Debug)]
pub struct Page {
    /// The name and the verdict.
    pub title: String,
    /// The part of the page from the name on, for a document that has [`STYLE`](super::STYLE) and
    /// [`ICONS`](super::ICONS).
    pub body: String,
    /// The verdict and the advice with which it begins.
    pub advice: AdviceText,
}

impl Engine {
    /// Makes a page about the database, folder or table at `path`.
    ///
    /// # Errors
    ///
    /// The reason why there is nothing to report.
    pub fn page(&self, path: &Path, request: &PageRequest) -> Result<Page, Fault> {
        let inputs = Inputs { paths: vec![PathBuf::from(path)], ..Inputs::default() };
        let overview = self.overview(inputs.clone(), request.verify)?;
        // Other filters are tried only on the tables that a database uses, or on a single table.
        let has_database = overview.in_use().next().is_some() && overview.kind != Kind::Folder;
        let tuning = request.tune.as_ref().filter(|_| has_database);
        let tuning = tuning.map(|request| self.tune_one(inputs, request));
        let tuned = tuning.as_ref();
        let measured = tuned.and_then(|tuned| tuned.as_ref().ok());
        let advice = advise(&facts(path, &overview, tuned), measured);
        let words = advice_text(&advice, measured, overview.around.as_deref().unwrap_or(path));
        let is_mendable =
            request.repair && matches!(advice.reason, Basis::Damage(_)) && overview.kind != Kind::Table;
        let repair = is_mendable.then(|| self.repair(path, &RepairRequest::default(), &mut NoOutput));
        let repair = repair.map(|result| result.map_err(|failure| failure.text));
        let shown = Shown { path, overview: &overview, tuned, advice: &advice, repair: repair.as_ref() };
        let body = body(&shown, &words).into_string();
        Ok(Page { title: title(path, &words), body, advice: words })
    }
}

impl Page {
    /// The page, complete in itself.
    pub fn html(&self) -> String {
        document(&self.title, &self.body)
    }
}

/// The name and the verdict.
pub(super) fn title(path: &Path, advice: &AdviceText) -> String {
    format!("{}: {}", text(escape_path(path).to_string().as_bytes()), advice.verdict.words())
}
