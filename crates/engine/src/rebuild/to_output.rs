//! A second database, with new filters.

use filterblock::database::FileKind;

use super::request::RebuildOptions;
use super::{check_is_database, source::SourceDatabase, work::RebuildWork};
use crate::report::RebuildReport;
use crate::write::{Input, Output, Result, copy_file, release, write_file};

/// Writes the rebuilt database to `output`, complete or not at all. Tables and logs keep their names.
/// After an error, there is no second database, unless only the last sync of the parent failed.
pub(super) fn run(
    input: Input<'_>,
    options: &RebuildOptions,
    output: &mut dyn Output,
) -> Result<RebuildReport> {
    check_is_database(input)?;
    let source = SourceDatabase::read(input)?;
    let logs = source.log_records()?;
    let is_written = output.is_wanted();
    let work = RebuildWork::new(source, options, is_written)?;
    let (source, jobs) = (&work.source, work.jobs_with_old_numbers());
    let mut report = RebuildReport::default();
    report.data.policy = work.filters.name();
    if is_written {
        let (bytes, files) = work.size();
        output.begin(bytes, files)?;
    }
    let new: &dyn Output = output;
    let done = work.rewrite(&jobs, is_written.then_some(new), |job| job.table.name.clone())?;
    if !is_written {
        report.tables.extend(done.into_iter().map(|done| done.report));
        return Ok(report);
    }
    for log in &source.logs {
        input.check()?;
        copy_file(input, log, new, log)?;
        release(new, log)?;
    }
    let manifest_name = &source.manifest_file.name;
    let number = FileKind::parse(manifest_name).map_or(0, |(_, number)| number);
    let mut tables: Vec<_> = done.iter().map(|done| done.record.clone()).collect();
    tables.sort_by_key(|table| (table.level, table.number));
    let manifest = source.manifest_with(&tables, number, source.log_number_of_copy())?;
    write_file(new, manifest_name, &manifest)?;
    source.check_unchanged(&logs)?;
    write_file(new, "CURRENT", format!("{manifest_name}\n").as_bytes())?;
    input.check()?;
    report.tables.extend(done.into_iter().map(|done| done.report));
    report.data.manifest = Some(manifest_name.clone());
    report.notes.extend(output.commit()?);
    report.data.target = Some(output.path_of(""));
    Ok(report)
}
