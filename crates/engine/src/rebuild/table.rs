//! One table, rewritten with other filters.

use std::io::{self, Write};
use std::{cell::Cell, mem, path::Path, rc::Rc};

use filterblock::table::{IdbComparator, ReadAt as _, Rewriter, WriteOptions};
use filterblock::{Error, KeyFormat, escape_path, quote};

use super::filters::{OldTable, TableFilters, open};
use crate::walk::Source;
use crate::write::{Failure, Input, Output, OutputFile, Result, copy_file};

/// The minimum number of bytes that a report of progress covers, except for the last report.
const PROGRESS_STEP: u64 = 256 << 10;

/// A new file: never a hard link to the old table, for a program that opens the database before the commit may write to it.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) output: &'a dyn Output,
    pub(super) name: &'a str,
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

/// Rewrites the table. After an error, no new file is left, unless removing it or copying the old table failed. `target`:
/// `None` if only the size of the table is of interest.
pub(super) fn rewrite(
    input: Input<'_>,
    name: &str,
    target: Option<Target<'_>>,
    filters: Option<&TableFilters>,
    keep_undecodable: bool,
) -> Result<Rewritten> {
    let may_be_filtered = match filters {
        Some(filters) if filters.idb_keys => refuse_equal_keys(input, name),
        _ => Ok(()),
    };
    let result = may_be_filtered.and_then(|()| try_rewrite(input, name, target, filters));
    let Err(failure) = result else { return result };
    target.map_or(Ok(()), |target| target.output.remove(target.name))?;
    match failure.is_refusal() {
        true if keep_undecodable => keep(input, name, target, failure),
        true => match failure.while_reading(input.dir) {
            failure if failure.remedies.is_empty() => {
                Err(failure.remedy("--keep-undecodable leaves it as it is"))
            }
            failure => Err(failure),
        },
        false => Err(failure),
    }
}

/// Refuses keys that equal keys with other bytes in the order of Chromium's IndexedDB: a filter would rule these out.
fn refuse_equal_keys(input: Input<'_>, name: &str) -> Result<()> {
    let table = open(input, name)?;
    let failure = |error: Error| Failure::of(error, &input.path_of(name));
    let mut block = table.index();
    for handle in table.data_blocks() {
        block.enter(&table, handle.map_err(failure)?).map_err(failure)?;
        while block.next().map_err(failure)? {
            let key = KeyFormat::LevelDb.user_key(block.key()).unwrap_or(block.key());
            if !IdbComparator::is_exact(key) {
                let why = format!("has keys that {} takes for equal, as {}", IdbComparator::NAME, quote(key));
                return Err(Failure::refused(&input.path_of(name), why));
            }
        }
        input.check()?;
    }
    Ok(())
}

fn try_rewrite(
    input: Input<'_>,
    name: &str,
    target: Option<Target<'_>>,
    filters: Option<&TableFilters>,
) -> Result<Rewritten> {
    let path = &input.path_of(name);
    let table = &open(input, name)?;
    let looked = |error: io::Error| Failure::system("looking at it", path, &error);
    let before = table.source().version().map_err(looked)?;
    let mut options = WriteOptions::default().internal_keys(true);
    if let Some(filters) = filters {
        options = options.filter_policies(vec![filters.policy.clone()]).base_lg(filters.base_lg);
    }
    let new = target.map_or_else(|| path.clone(), |target| target.output.path_of(target.name));
    let system = |error: io::Error| Failure::system("writing it", &new, &error);
    let file = target.map(|target| target.output.create(target.name, Some(&**table.source())));
    let file = file.transpose().map_err(system)?;
    let (written, done) =
        write(table, NewTableFile::new(file, &**table.source()), &options, (path, &new), input)?;
    written.file.map_or(Ok(()), OutputFile::finish).map_err(system)?;
    // A file of another length, too, was written to.
    if input.source(name).and_then(|now| now.version()).map_err(looked)? != before {
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
    table: &OldTable,
    output: NewTableFile<'f>,
    options: &WriteOptions,
    (path, new): (&Path, &Path),
    input: Input<'_>,
) -> Result<(NewTableFile<'f>, Rewritten)> {
    // Errors of the table have its path already.
    let at = |error: Error| Failure::of(error, new);
    let is_data = Rc::clone(&output.is_data);
    let mut rewriter = Rewriter::new(table, output, options).map_err(|error| Failure::of(error, path))?;
    let mut reported = 0;
    while rewriter.copy_block().map_err(at)? {
        let unreported = rewriter.file_size() - reported;
        if unreported >= PROGRESS_STEP {
            reported += unreported;
            input.engine.progress.add(unreported);
            input.check()?;
        }
    }
    is_data.set(false);
    let (output, summary) = rewriter.finish().map_err(|failed| at(failed.into_error()))?;
    input.engine.progress.add(table.file_size().saturating_sub(reported));
    let rewritten = Rewritten {
        size: summary.file_size,
        filter_size: summary.filters.first().map(|filters| filters.size),
        entries: summary.num_entries,
        kept: None,
    };
    Ok((output, rewritten))
}

/// A new table. Its data blocks are copied from file to file, at the same offsets, so that file systems can share them.
struct NewTableFile<'f> {
    /// `None`: nothing is written.
    file: Option<Box<dyn OutputFile>>,
    source: &'f dyn Source,
    /// The number of bytes that have yet to be copied from `source`.
    uncopied: u64,
    /// Data blocks are being written.
    is_data: Rc<Cell<bool>>,
}

impl<'f> NewTableFile<'f> {
    fn new(file: Option<Box<dyn OutputFile>>, source: &'f dyn Source) -> Self {
        Self { file, source, uncopied: 0, is_data: Rc::new(Cell::new(true)) }
    }

    fn copy_data(&mut self) -> io::Result<()> {
        let (len, source) = (mem::take(&mut self.uncopied), self.source);
        self.file.as_mut().map_or(Ok(()), |file| file.copy_from(source, len))
    }
}

impl Write for NewTableFile<'_> {
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
fn keep(input: Input<'_>, name: &str, target: Option<Target<'_>>, why: Failure) -> Result<Rewritten> {
    let size = match target {
        Some(target) => copy_file(input, name, target.output, target.name)?,
        None => input.source(name).and_then(|file| file.len()).map_err(|error| input.failed(name, &error))?,
    };
    Ok(Rewritten { size, filter_size: None, entries: None, kept: Some(why) })
}
