//! The new state, verified before it is the database's.

use std::path::Path;

use filterblock::database::{LiveTable, Manifest};
use rayon::prelude::*;

use super::failure::{Failure, Result};
use super::files::Folder;
use super::opening::open_file;
use super::watch::Watch;
use crate::audit::verify;
use crate::engine::Engine;
use crate::report::verify::Weight;
use crate::run::watch::Observer;
use crate::walk::read_ahead::ReadAhead;
use crate::walk::record::TableRecord;

/// A new table, and its name.
pub(super) struct NewTable {
    pub(super) record: LiveTable,
    pub(super) name: String,
    pub(super) old_name: String,
    /// It has the bytes of the old one, which could not be decoded.
    pub(super) is_kept: bool,
}

/// Verifies that the new tables in `dir` are what the new MANIFEST says, and all that `verify` checks. `old`: where the
/// old ones are.
pub(super) fn verify(
    (dir, old): (&Folder, &Folder),
    manifest: &[u8],
    tables: &[NewTable],
    watch: Watch<'_>,
) -> Result<()> {
    let parsed =
        Manifest::parse(manifest).map_err(|error| Failure::of(error, Path::new("the new MANIFEST")))?;
    tables.par_iter().try_for_each(|table| {
        watch.check()?;
        // Of other tables it is known that they are damaged.
        if table.is_kept { Ok(()) } else { verify_table((dir, old), &parsed, table, watch) }
    })
}

fn verify_table(
    (dir, old): (&Folder, &Folder),
    manifest: &Manifest,
    table: &NewTable,
    watch: Watch<'_>,
) -> Result<()> {
    let path = &dir.path_of(&table.name);
    let live = manifest.table(table.record.number);
    if live != Some(&table.record) {
        return Err(Failure::refused(path, "expected the table in the new MANIFEST, found none or another"));
    }
    let record = TableRecord {
        comparator: manifest.comparator(),
        is_bytewise: manifest.is_bytewise(),
        live,
        is_unlisted: false,
        overlapped: manifest.overlapped_by(&table.record),
    };
    let file = open_file(dir, &table.name)?;
    let source = ReadAhead::new(file).map_err(|error| Failure::system("reading it", path, &error))?;
    let verdict =
        verify::table(&source, Some(&record), false, &Engine::new(), &Progress { source: &source, watch })
            .map_err(|error| Failure::of(error, path))?;
    let findings = verdict.findings.to_list();
    let Some(finding) = findings.first() else { return Ok(()) };
    let failure = match finding.code {
        code if code.weight() == Weight::Filter => {
            Failure::refused(path, finding).and("this is a fault of this program")
        }
        // The new table is about to be removed.
        _ => Failure::refused(&old.path_of(&table.old_name), finding)
            .and("the table was so before; `filterblock verify` tells more"),
    };
    Err(match verdict.findings.kind() {
        Some(kind) => failure.of_kind(kind),
        None => failure,
    })
}

struct Progress<'a> {
    source: &'a ReadAhead,
    watch: Watch<'a>,
}

impl Observer for Progress<'_> {
    fn begin_walk(&self) {
        self.source.go_ahead();
    }

    fn progress(&self, bytes: u64) {
        self.watch.progress.add(bytes);
    }
}
