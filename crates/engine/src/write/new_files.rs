//! The files that rebuilds and repairs write alike.

use std::path::Path;

use filterblock::database::{LogWriter, Manifest, VersionEdit};

use super::Input;
use super::failure::{Failure, Result};
use super::output::Output;
use crate::audit::verify;
use crate::engine::Engine;
use crate::report::Checked;
use crate::walk::{READ_AHEAD, TableRecord, Windowed};

/// Writes a whole file, and lets it leave.
pub(crate) fn write_file(output: &dyn Output, name: &str, contents: &[u8]) -> Result<()> {
    let write = || {
        let mut file = output.create(name, None)?;
        file.write_all(contents)?;
        file.finish()
    };
    write().map_err(|error| Failure::system("writing it", &output.path_of(name), &error))?;
    release(output, name)
}

/// Copies a whole file as `new`, with its rights and times. Returns its length in bytes.
pub(crate) fn copy_file(input: Input<'_>, name: &str, output: &dyn Output, new: &str) -> Result<u64> {
    let copy = || {
        let source = input.source(name)?;
        let len = source.len()?;
        let mut file = output.create(new, Some(&*source))?;
        file.copy_from(&*source, len)?;
        file.finish()?;
        Ok(len)
    };
    copy().map_err(|error| Failure::system("copying it", &input.path_of(name), &error))
}

/// Lets a file leave that was found right.
pub(crate) fn release(output: &dyn Output, name: &str) -> Result<()> {
    output.release(name).map_err(|error| Failure::system("writing it", &output.path_of(name), &error))
}

/// Returns a MANIFEST of one record, both as bytes and read back from these. `path`: for messages.
pub(crate) fn encode_manifest(edit: &VersionEdit, path: &Path) -> Result<(Vec<u8>, Manifest)> {
    let failed = |error| Failure::of(error, path);
    let (mut record, mut log) = (Vec::new(), LogWriter::new(Vec::new()));
    edit.encode(&mut record).and_then(|()| log.add_record(&record)).map_err(failed)?;
    let written = log.into_writer();
    let read = Manifest::scan(&*written, Manifest::DEFAULT_MEMORY_LIMIT).into_result().map_err(failed)?;
    match edit.new_tables.iter().find(|table| read.table(table.number) != Some(table)) {
        None => Ok((written, read)),
        Some(table) => {
            let why = format!("table {} would not be in the new MANIFEST", table.number);
            Err(Failure::refused(path, why).and("this is a fault of this program"))
        }
    }
}

/// Reads and checks every block, entry and filter of a new table.
pub(crate) fn read_back(
    output: &dyn Output,
    name: &str,
    record: &TableRecord<'_>,
    engine: &Engine,
) -> Result<Checked> {
    let file =
        output.open(name).map_err(|error| Failure::system("opening it", &output.path_of(name), &error))?;
    let (source, progress) = (Windowed::new(file, READ_AHEAD), |bytes| engine.progress.add(bytes));
    Ok(verify::table(source, Some(record), false, &Engine::new(), false, &progress))
}
