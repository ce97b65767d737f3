//! One table, written again with other filters.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use filterblock::table::{Rewriter, Table, WriteOptions};
use filterblock::{Error, escape_path, quote};

use super::failure::{Failure, Fault, Result};
use super::files;
use super::filters::TableFilters;
use super::opening::{open, options, unopened};
use super::request::Request;
use super::watch::Watch;
use crate::io::input;

/// The unit of the space that file systems share between files.
const SHARED_UNIT: u64 = 4096;
/// Progress is reported in steps of so many bytes.
const PROGRESS_STEP: u64 = 256 << 10;

/// Where the new table goes.
pub(super) enum Target {
    /// A file that is not there yet. A table that keeps its bytes is a second name for the old file.
    Beside(PathBuf),
    /// A file that is not there yet, in another database: no file is shared.
    Apart(PathBuf),
    /// Nowhere: only its size is of interest.
    Nowhere,
}

impl Target {
    fn path(&self) -> Option<&Path> {
        match self {
            Self::Beside(path) | Self::Apart(path) => Some(path),
            Self::Nowhere => None,
        }
    }
}

/// A table that was written again.
pub(super) struct Rewritten {
    pub(super) size: u64,
    /// The size of the filter block; `None` if there is none.
    pub(super) filter_size: Option<u64>,
    pub(super) entries: Option<u64>,
    /// The reason why it was left as it is.
    pub(super) kept: Option<Fault>,
}

/// Writes the table at `path` again.
///
/// # Errors
///
/// There is no new file then.
pub(super) fn rewrite(
    path: &Path,
    target: &Target,
    filters: Option<&TableFilters>,
    request: &Request,
    watch: Watch<'_>,
) -> Result<Rewritten> {
    let result = try_rewrite(path, target, filters, watch).and_then(|done| {
        if let (Some(new), Some(filters)) = (target.path(), filters) {
            ask_for_every_key(new, filters, watch)?;
        }
        Ok(done)
    });
    let Err(failure) = result else { return result };
    if let Some(new) = target.path() {
        files::remove(new)?;
    }
    match failure {
        Failure::Refused(why) if request.keep_undecodable => keep(path, target, why),
        Failure::Refused(_) => Err(failure.and("--keep-undecodable leaves such a table as it is")),
        failure => Err(failure),
    }
}

fn try_rewrite(
    path: &Path,
    target: &Target,
    filters: Option<&TableFilters>,
    watch: Watch<'_>,
) -> Result<Rewritten> {
    let (file, table) = open(path)?;
    let before = file.metadata().map_err(|error| Failure::system("looking at it", path, &error))?;
    let mut options = WriteOptions::default().internal_keys(true);
    if let Some(filters) = filters {
        options = options.filter_policies(vec![filters.policy.clone()]).base_lg(filters.base_lg);
    }
    let new = target.path().unwrap_or(path);
    let system = |error: io::Error| Failure::system("writing it", new, &error);
    let output = target.path().map(files::create_new).transpose().map_err(system)?;
    let (output, done) = write(&table, Output::new(output, &file), &options, (path, new), watch)?;
    if let Some(output) = output.file {
        files::copy_attributes(&output, &before).map_err(|error| {
            Failure::system("giving it owner, mode and times of the old table", new, &error)
        })?;
        output.sync_all().map_err(system)?;
    }
    let now = fs::metadata(path).map_err(|error| Failure::system("looking at it", path, &error))?;
    if !files::is_unchanged(&before, &now) {
        let text = format!(
            "{}: the file was changed while it was read; close the program that did it",
            escape_path(path)
        );
        return Err(Failure::InUse(text));
    }
    Ok(done)
}

/// Copies all blocks. `new`: the file that errors of the writer are about.
fn write<'f>(
    table: &Table<File>,
    output: Output<'f>,
    options: &WriteOptions,
    (path, new): (&Path, &Path),
    watch: Watch<'_>,
) -> Result<(Output<'f>, Rewritten)> {
    // Errors of the table bear its path.
    let at = |error: Error| Failure::of(error, new);
    let is_data = Rc::clone(&output.is_data);
    let mut rewriter = Rewriter::new(table, output, options).map_err(|error| Failure::of(error, path))?;
    let mut reported = 0;
    while rewriter.copy_block().map_err(at)? {
        let unreported = rewriter.file_size() - reported;
        if unreported >= PROGRESS_STEP {
            reported += unreported;
            watch.progress.add(unreported);
            watch.check()?;
        }
    }
    is_data.set(false);
    let (output, summary) = rewriter.finish().map_err(|failed| at(failed.into_error()))?;
    watch.progress.add(table.file_size().saturating_sub(reported));
    let rewritten = Rewritten {
        size: summary.file_size,
        filter_size: summary.filters.first().map(|filters| filters.size),
        entries: summary.num_entries,
        kept: None,
    };
    Ok((output, rewritten))
}

/// A new table as it is written. The data blocks are those of the old table, at the same offsets, so
/// they are copied from file to file, which shares them where the file system can.
struct Output<'f> {
    /// `None`: what is written goes nowhere.
    file: Option<File>,
    source: &'f File,
    /// The number of bytes that are still to be copied.
    uncopied: u64,
    /// Data blocks are being written.
    is_data: Rc<Cell<bool>>,
}

impl<'f> Output<'f> {
    fn new(file: Option<File>, source: &'f File) -> Self {
        Self { file, source, uncopied: 0, is_data: Rc::new(Cell::new(true)) }
    }

    fn copy_data(&mut self) -> io::Result<()> {
        let (len, mut source) = (mem::take(&mut self.uncopied), self.source);
        let Some(file) = &mut self.file else { return Ok(()) };
        source.rewind()?;
        // Only whole units can be shared.
        let whole = len / SHARED_UNIT * SHARED_UNIT;
        let copied = io::copy(&mut source.take(whole), file)?;
        let copied = copied + io::copy(&mut source.take(len - whole), file)?;
        if copied < len {
            return Err(io::Error::other(format!("expected {len} bytes of data blocks, found {copied}")));
        }
        Ok(())
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_data.get() {
            self.uncopied += bytes.len() as u64;
            return Ok(bytes.len());
        }
        self.copy_data()?;
        self.file.as_mut().map_or(Ok(bytes.len()), |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Leaves the table at `path` as it is, for the reason `why`.
fn keep(path: &Path, target: &Target, why: Fault) -> Result<Rewritten> {
    match target {
        // A folder whose file system has no links gets a copy.
        Target::Beside(new) => fs::hard_link(path, new).or_else(|_| files::copy(path, new))?,
        Target::Apart(new) => files::copy(path, new)?,
        Target::Nowhere => {}
    }
    let size = fs::metadata(path).map_err(|error| Failure::system("looking at it", path, &error))?.len();
    Ok(Rewritten { size, filter_size: None, entries: None, kept: Some(why) })
}

/// Asks the filters of the new table at `path` for every key, as a reader of the database would. What
/// `verify` does is not the same: it finds out for itself of what part of the keys filters are.
fn ask_for_every_key(path: &Path, filters: &TableFilters, watch: Watch<'_>) -> Result<()> {
    let file = input::open_file(path, true).map_err(|error| unopened(path, &error))?;
    let options = options().filter_policies(vec![filters.policy.clone()]);
    // The table was decoded before, so nothing of this is a reason to leave it as it is.
    let fault = |what: &str| {
        let text = format!("{}: {what}, which is a fault of this program", escape_path(path));
        Failure::Failed(Fault { text, kind: None })
    };
    let failure = |error: Error| fault(&error.to_string());
    let table = Table::open(file, &options).map_err(failure)?;
    let unusable = || fault("the new filters cannot be asked");
    let reader = table.filter().filter(|reader| reader.check().is_ok()).ok_or_else(unusable)?;
    let mut block = table.index();
    for handle in table.data_blocks() {
        let handle = handle.map_err(failure)?;
        block.enter(&table, handle).map_err(failure)?;
        while block.next().map_err(failure)? {
            if !reader.key_may_match(handle.offset, block.key()) {
                return Err(fault(&format!("the new filter denies the key {}", quote(block.key()))));
            }
        }
        watch.check()?;
    }
    Ok(())
}
