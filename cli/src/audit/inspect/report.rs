//! What is shown of a table, in whatever form.

use std::path::Path;

use filterblock::FilterPolicy as _;
use filterblock::database::LiveTable;
use filterblock::table::{Origin, ReadAt, Table};

use crate::audit::stats::{KeyCount, Larger, Summary, Survey, TableCensus, larger_ranges};
use crate::io::database::Database;
use crate::io::input::Unopened;

/// A table, or a bare filter block.
pub(crate) struct Facts<'a> {
    pub(crate) path: &'a Path,
    /// What is wrong with the table besides its filters.
    pub(crate) error: Option<String>,
    /// Whether something could not be read, rather than being damaged.
    pub(crate) unreadable: bool,
    pub(crate) file_size: Option<u64>,
    /// None if the table could not be opened, and for a bare filter block.
    pub(crate) survey: Option<&'a Survey>,
    pub(crate) filter: Option<FilterFacts<'a>>,
    /// What the database around it says; none outside of one.
    pub(crate) place: Option<Place<'a>>,
    /// How that contradicts the file.
    pub(crate) misplaced: Option<String>,
}

/// What a sound MANIFEST says of a table.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) comparator: Option<&'a [u8]>,
    /// None: the database does not use the table any longer.
    pub(crate) live: Option<&'a LiveTable>,
}

impl<'a> Place<'a> {
    /// `None` if the MANIFEST cannot be relied on.
    pub(crate) fn of(path: &Path, database: &'a Database) -> Option<Self> {
        let manifest = database.manifest.as_ref().ok()?;
        Some(Self { comparator: manifest.comparator(), live: database.live(path) })
    }
}

/// The filter block.
pub(crate) struct FilterFacts<'a> {
    pub(crate) policy: &'a str,
    /// Whether nothing and nobody has named the policy.
    pub(crate) policy_assumed: bool,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) summary: Summary,
    /// What share of absent keys is expected to pass, in the mean over the data blocks.
    pub(crate) rate: Option<f64>,
    pub(crate) malformed: Option<String>,
    /// Why the filters cannot be trusted, though they may be well formed.
    pub(crate) unsound: Option<String>,
    pub(crate) census: &'a TableCensus<'a>,
}

impl<'a> Facts<'a> {
    /// Of what is missing or cannot be read.
    pub(crate) fn unreadable(path: &'a Path, message: String) -> Self {
        Self {
            path,
            error: Some(message),
            unreadable: true,
            file_size: None,
            survey: None,
            filter: None,
            place: None,
            misplaced: None,
        }
    }

    pub(crate) fn unopened(path: &'a Path, unopened: Unopened) -> Self {
        let file_size = unopened.file_size;
        Self { unreadable: !unopened.damaged, file_size, ..Self::unreadable(path, unopened.message) }
    }

    pub(crate) fn of_table<R: ReadAt>(
        path: &'a Path,
        table: &Table<R>,
        survey: &'a Survey,
        census: Option<&'a TableCensus<'a>>,
    ) -> Self {
        let handle = table.filter_handle().unwrap_or_default();
        let filter = census.map(|census| FilterFacts {
            policy: census.reader().policy().name(),
            policy_assumed: false,
            offset: handle.offset,
            size: handle.size,
            summary: census.summary(),
            // What is not read has no rate.
            rate: census.mean_rate(&survey.blocks.offsets).filter(|_| !survey.filter_unsupported),
            malformed: malformed(census),
            unsound: survey.sample.unsound(),
            census,
        });
        Self {
            path,
            error: survey.blocks.damage.text(),
            unreadable: survey.blocks.damage.unreadable || survey.filter_unreadable,
            file_size: Some(survey.file_size),
            survey: Some(survey),
            filter,
            place: None,
            misplaced: None,
        }
    }

    pub(crate) fn of_block(path: &'a Path, census: &'a TableCensus<'a>, policy_assumed: bool) -> Self {
        let size = census.reader().contents().len() as u64;
        let filter = FilterFacts {
            policy: census.reader().policy().name(),
            policy_assumed,
            offset: 0,
            size,
            summary: census.summary(),
            rate: census.mean_rate_of_filters(),
            malformed: malformed(census),
            unsound: None,
            census,
        };
        Self {
            path,
            error: None,
            unreadable: false,
            file_size: Some(size),
            survey: None,
            filter: Some(filter),
            place: None,
            misplaced: None,
        }
    }

    /// With what the database says of the table.
    pub(crate) fn placed(self, place: Option<Place<'a>>) -> Self {
        let recorded = place.and_then(|place| Some(place.live?.size));
        let misplaced = match (recorded, self.file_size) {
            (Some(recorded), Some(found)) if recorded != found => {
                Some(format!("expected {recorded} bytes, as the MANIFEST has it, found {found}"))
            }
            _ => None,
        };
        Self { place, misplaced, ..self }
    }

    pub(crate) fn filter_error(&self) -> Option<&str> {
        self.survey.and_then(|survey| survey.filter_error.as_deref())
    }

    pub(crate) fn is_damaged(&self) -> bool {
        let filter = self.filter.as_ref();
        self.error.is_some()
            || self.misplaced.is_some()
            || self.survey.is_some_and(|survey| survey.filter_error.is_some() && !survey.filter_unsupported)
            || filter.is_some_and(|filter| filter.malformed.is_some() || filter.unsound.is_some())
    }

    /// How many keys the table has; `None` if none of its data blocks could be read.
    pub(crate) fn keys(&self) -> Option<KeyCount> {
        self.survey.and_then(Survey::keys)
    }

    /// Which reading of a name that has several the filters need: by their hash, or a relative's own.
    pub(crate) fn dialect(&self) -> Option<&'static str> {
        let survey = self.survey?;
        survey.sample.dialect().or_else(|| origin_name(survey.origin?))
    }

    /// What larger ranges would save.
    pub(crate) fn larger_ranges(&self) -> Option<Larger> {
        let filter = self.filter.as_ref().filter(|filter| filter.malformed.is_none())?;
        let summary = &filter.summary;
        let blocks = &self.survey?.blocks.offsets;
        larger_ranges(filter.census.reader().base_lg(), summary.filters, summary.empty, blocks)
    }

    /// All that is wrong, each with what it is about.
    pub(crate) fn findings(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let filter = self.filter.as_ref();
        let findings = [
            ("error", self.error.as_deref()),
            ("size", self.misplaced.as_deref()),
            ("filter error", self.filter_error()),
            ("malformed", filter.and_then(|filter| filter.malformed.as_deref())),
            ("unsound", filter.and_then(|filter| filter.unsound.as_deref())),
        ];
        findings.into_iter().filter_map(|(what, finding)| Some((what, finding?)))
    }
}

fn malformed(census: &TableCensus<'_>) -> Option<String> {
    census.reader().check().err().map(|error| error.to_string())
}

/// A relative of LevelDB's, in one word.
pub(crate) fn origin_name(origin: Origin) -> Option<&'static str> {
    match origin {
        Origin::Basho => Some("basho"),
        Origin::RocksDb => Some("rocksdb"),
        _ => None,
    }
}
