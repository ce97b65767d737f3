//! One table, rewritten with other filters.

use std::io::{self, Seek as _, Write};
use std::{cell::Cell, fs::File, mem, path::Path, rc::Rc};

use filterblock::table::{IdbComparator, Rewriter, Table, WriteOptions};
use filterblock::{Error, KeyFormat, escape_path, quote};

use super::filters::{TableFilters, open, open_file};
use super::request::{Options, check};
use crate::run::Watch;
use crate::write::failure::{Failure, Result};
use crate::write::{Dir, NewFile};

/// The unit, in bytes, in which file systems share space between files.
const SHARED_UNIT: u64 = 4096;
/// The minimum number of bytes that a report of progress covers, except for the last report.
const PROGRESS_STEP: u64 = 256 << 10;

#[derive(Clone, Copy)]
pub(super) enum OutputFile<'a> {
    /// Never a hard link to the old table: a program that opens the database before the commit may write to this file.
    File(&'a Dir, &'a str),
    /// Nowhere: only the size of the table is of interest.
    Nowhere,
}

/// A table in its new state: rewritten, or left as it was.
pub(super) struct Rewritten {
    pub(super) size: u64,
    /// The size of the filter block; `None`: there is no filter block, or the table was left as it was.
    pub(super) filter_size: Option<u64>,
    pub(super) entries: Option<u64>,
    /// The reason why the table was left as it was; `None`: it was rewritten.
    pub(super) kept: Option<Failure>,
}

/// Rewrites the table. After an error, no new file is left, unless removing it or copying the old table failed.
pub(super) fn rewrite(
    (dir, name): (&Dir, &str),
    target: OutputFile<'_>,
    filters: Option<&TableFilters>,
    request: &Options,
    watch: &dyn Watch,
) -> Result<Rewritten> {
    let may_be_filtered = match filters {
        Some(filters) if filters.idb_keys => refuse_equal_keys(dir, name, watch),
        _ => Ok(()),
    };
    let result = may_be_filtered.and_then(|()| try_rewrite((dir, name), target, filters, watch));
    let Err(failure) = result else { return result };
    if let OutputFile::File(folder, new) = target {
        folder.remove(new)?;
    }
    match failure.is_refusal() {
        true if request.keep_undecodable => keep((dir, name), target, failure),
        true => match failure.while_reading(dir.path()) {
            failure if failure.remedies.is_empty() => {
                Err(failure.remedy("--keep-undecodable leaves it as it is"))
            }
            failure => Err(failure),
        },
        false => Err(failure),
    }
}

/// Refuses keys that equal keys with other bytes in the order of Chromium's IndexedDB: a filter would rule these out.
fn refuse_equal_keys(dir: &Dir, name: &str, watch: &dyn Watch) -> Result<()> {
    let (_, table) = open(dir, name)?;
    let failure = |error: Error| Failure::of(error, &dir.path_of(name));
    let mut block = table.index();
    for handle in table.data_blocks() {
        block.enter(&table, handle.map_err(failure)?).map_err(failure)?;
        while block.next().map_err(failure)? {
            let key = KeyFormat::LevelDb.user_key(block.key()).unwrap_or(block.key());
            if !IdbComparator::is_exact(key) {
                let why = format!("has keys that {} takes for equal, as {}", IdbComparator::NAME, quote(key));
                return Err(Failure::refused(&dir.path_of(name), why));
            }
        }
        check(watch)?;
    }
    Ok(())
}

fn try_rewrite(
    (dir, name): (&Dir, &str),
    target: OutputFile<'_>,
    filters: Option<&TableFilters>,
    watch: &dyn Watch,
) -> Result<Rewritten> {
    let path = &dir.path_of(name);
    let (file, table) = open(dir, name)?;
    let looked = |error: io::Error| Failure::system("looking at it", path, &error);
    let before = Dir::status_of(&file).map_err(looked)?;
    let mut options = WriteOptions::default().internal_keys(true);
    if let Some(filters) = filters {
        options = options.filter_policies(vec![filters.policy.clone()]).base_lg(filters.base_lg);
    }
    let (output, new) = match target {
        OutputFile::File(folder, new) => (Some(folder.create(new)), folder.path_of(new)),
        OutputFile::Nowhere => (None, path.clone()),
    };
    let system = |error: io::Error| Failure::system("writing it", &new, &error);
    let output = output.transpose().map_err(system)?;
    let (output, done) = write(&table, Output::new(output, &file), &options, (path, &new), watch)?;
    if let Some(output) = output.file {
        output.copy_attributes(&file).map_err(|error| {
            Failure::system("giving it owner, mode, attributes and times of the old table", &new, &error)
        })?;
        output.sync().map_err(system)?;
    }
    let now = dir.look_behind(name).map_err(looked)?;
    if !now.is_some_and(|now| now.is_unchanged_since(&before)) {
        let text = format!(
            "{}: the file was changed while it was read; close the program that did it",
            escape_path(path)
        );
        return Err(Failure::in_use(text));
    }
    Ok(done)
}

/// Copies all blocks, and writes the new filters. `new`: the path for errors of the writer.
fn write<'f>(
    table: &Table<File>,
    output: Output<'f>,
    options: &WriteOptions,
    (path, new): (&Path, &Path),
    watch: &dyn Watch,
) -> Result<(Output<'f>, Rewritten)> {
    // Errors of the table have its path already.
    let at = |error: Error| Failure::of(error, new);
    let is_data = Rc::clone(&output.is_data);
    let mut rewriter = Rewriter::new(table, output, options).map_err(|error| Failure::of(error, path))?;
    let mut reported = 0;
    while rewriter.copy_block().map_err(at)? {
        let unreported = rewriter.file_size() - reported;
        if unreported >= PROGRESS_STEP {
            reported += unreported;
            watch.add(unreported);
            check(watch)?;
        }
    }
    is_data.set(false);
    let (output, summary) = rewriter.finish().map_err(|failed| at(failed.into_error()))?;
    watch.add(table.file_size().saturating_sub(reported));
    let rewritten = Rewritten {
        size: summary.file_size,
        filter_size: summary.filters.first().map(|filters| filters.size),
        entries: summary.num_entries,
        kept: None,
    };
    Ok((output, rewritten))
}

/// A new table. Its data blocks are copied from file to file, at the same offsets, so that file systems can share them.
struct Output<'f> {
    /// `None`: nothing is written.
    file: Option<NewFile>,
    source: &'f File,
    /// The number of bytes that have yet to be copied from `source`.
    uncopied: u64,
    /// Data blocks are being written.
    is_data: Rc<Cell<bool>>,
}

impl<'f> Output<'f> {
    fn new(file: Option<NewFile>, source: &'f File) -> Self {
        Self { file, source, uncopied: 0, is_data: Rc::new(Cell::new(true)) }
    }

    fn copy_data(&mut self) -> io::Result<()> {
        let (len, mut source) = (mem::take(&mut self.uncopied), self.source);
        let Some(file) = &mut self.file else { return Ok(()) };
        source.rewind()?;
        // Only whole units can be shared.
        let whole = len / SHARED_UNIT * SHARED_UNIT;
        let copied = file.copy_from(source, whole)?;
        let copied = copied + file.copy_from(source, len - whole)?;
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

/// Copies the old table as it is to the target, for the reason `why`.
fn keep((dir, name): (&Dir, &str), target: OutputFile<'_>, why: Failure) -> Result<Rewritten> {
    if let OutputFile::File(folder, new) = target {
        dir.copy(name, folder, new)?;
    }
    let found = open_file(dir, name).and_then(|file| {
        Dir::status_of(&file).map_err(|error| Failure::system("looking at it", &dir.path_of(name), &error))
    })?;
    Ok(Rewritten { size: found.len, filter_size: None, entries: None, kept: Some(why) })
}
