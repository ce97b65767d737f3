//! The results of `query`, as far as they are to be shown.

use std::io::{self, Write as _};

use crate::io::console::Console;
use crate::renderer::QueryRenderer;
use filterblock_engine::audit::query::candidates::Answer;
use filterblock_engine::audit::query::totals::{QueryTotals, TableMatches};
use filterblock_engine::report::error_kind::ErrorKind;
use filterblock_engine::report::folder::FolderHeader;
use filterblock_engine::report::subject::Subject;

/// The results to show.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// All answers.
    Answers,
    /// The answers that a key may be there.
    Matches,
    /// The number of these for each table.
    Counts,
}

/// Shows results.
pub(super) struct Results {
    renderer: Box<dyn QueryRenderer>,
    shown: Shown,
    /// Counted if counts are shown.
    totals: QueryTotals,
}

impl Results {
    pub(super) fn new(renderer: Box<dyn QueryRenderer>, shown: Shown) -> Self {
        Self { renderer, shown, totals: QueryTotals::default() }
    }

    pub(super) fn begin_folder(
        &mut self,
        subject: Subject<'_>,
        folder: &FolderHeader<'_>,
        console: &mut Console,
    ) -> io::Result<()> {
        self.renderer.begin_folder(subject, folder, console)
    }

    /// Begins the answers of one table. `error`: the reason why every key may be there.
    pub(super) fn begin_table(
        &mut self,
        subject: Subject<'_>,
        error: Option<(&str, ErrorKind)>,
        console: &mut Console,
    ) {
        self.renderer.begin_table(subject, error, console);
    }

    /// Shows the answer for key number `at` of those sought, and counts it.
    pub(super) fn answer(
        &mut self,
        subject: Subject<'_>,
        at: usize,
        answer: &Answer<'_>,
        matches: &mut TableMatches,
        console: &mut Console,
    ) -> io::Result<()> {
        match self.shown {
            Shown::Answers => self.renderer.answer(subject, answer, console),
            Shown::Matches if answer.may_match() => self.renderer.answer(subject, answer, console),
            Shown::Matches => Ok(()),
            Shown::Counts => {
                matches.add(answer);
                self.totals.add(at, answer);
                Ok(())
            }
        }
    }

    /// Ends the answers of one table. `error`: the reason why every key may be there.
    pub(super) fn end_table(
        &mut self,
        subject: Subject<'_>,
        matches: &TableMatches,
        error: Option<(&str, ErrorKind)>,
        console: &mut Console,
    ) -> io::Result<()> {
        if self.shown == Shown::Counts {
            self.totals.files += 1;
            self.renderer.count(subject, matches, error, console)?;
        }
        console.flush()
    }

    /// Shows for a key how many data blocks a lookup in the whole database reads at most.
    pub(super) fn lookup_blocks(&mut self, key: &[u8], blocks: u64, console: &mut Console) -> io::Result<()> {
        match self.shown {
            Shown::Counts => Ok(()),
            Shown::Matches if blocks == 0 => Ok(()),
            Shown::Matches | Shown::Answers => self.renderer.lookup_blocks(key, blocks, console),
        }
    }

    pub(super) fn end(&mut self, console: &mut Console) -> io::Result<()> {
        if self.shown == Shown::Counts { self.renderer.totals(&self.totals, console) } else { Ok(()) }
    }
}
