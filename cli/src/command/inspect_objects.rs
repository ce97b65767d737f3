//! `filterblock inspect` of tables in object storage.

use std::io::{self, Write as _};
use std::path::Path;

use filterblock::table::ReadOptions;

use super::inspect::Inspection;
use super::remote::fly;
use crate::io::console::Console;
use filterblock_engine::audit::inspect;
use filterblock_engine::audit::inspect::report::TableReport;
use filterblock_engine::audit::rates::effort::Effort;
use filterblock_engine::remote::fleet::{Event, FleetOptions, Target};
use filterblock_engine::remote::reader::{Reader, Work};
use filterblock_engine::report::error_kind::ErrorKind;
use filterblock_engine::report::fetched::Depth;
use filterblock_engine::report::subject::Subject;
use filterblock_engine::walk::input::PathError;
use filterblock_engine::walk::paths::Given;

/// More tables than these do not change the effort for each.
const ENOUGH_TABLES: usize = 2500;

impl Inspection {
    pub(super) fn objects(
        &mut self,
        urls: impl Iterator<Item = Given>,
        options: &FleetOptions,
        shows_progress: bool,
        console: &mut Console,
    ) -> io::Result<()> {
        let (read_options, depth) = (self.options.clone(), options.depth);
        let survey = |reader: Reader, target: Target| {
            let read_options = read_options.clone();
            async move {
                let result = survey(&reader, &target, depth, &read_options).await;
                (reader, result)
            }
        };
        fly(urls, options, shows_progress, survey, &mut |event| {
            self.event(event, console)?;
            console.flush()
        })
    }

    fn event(&mut self, event: Event<Box<TableReport<'static>>>, console: &mut Console) -> io::Result<()> {
        match event {
            Event::Failed { input, path, error } => {
                self.unreadable(Subject { path: &path, ..Subject::of(&input) }, &error, console)
            }
            Event::BeginFolder { input, folder } => {
                let logs: Vec<&Path> = folder.logs.iter().map(|log| &*log.path).collect();
                let subject = Subject { path: folder.folder.path(), ..Subject::of(&input) };
                self.begin_folder_with(subject, &folder.folder, &logs, console)
            }
            Event::Table { target, fetched, result } => {
                let report = result.unwrap_or_else(|error| {
                    let kind = error.kind();
                    Box::new(TableReport::unreadable(error.to_string(), kind))
                });
                let record = target.folder.as_ref().and_then(|folder| folder.record(&target.path));
                let mut report = report.with_record(record);
                if target.folder.is_some() {
                    report.allow_unfinished();
                }
                let subject =
                    Subject { path: &target.path, fetched: fetched.as_ref(), ..Subject::of(&target.input) };
                self.show(subject, &report, console)
            }
            Event::EndFolder { input, folder } => {
                let subject = Subject { path: folder.folder.path(), ..Subject::of(&input) };
                self.renderer.end_folder(subject, &self.totals, console)
            }
        }
    }
}

async fn survey(
    reader: &Reader,
    target: &Target,
    depth: Depth,
    options: &ReadOptions,
) -> Result<Box<TableReport<'static>>, PathError> {
    let options = options.clone();
    let report = match depth {
        Depth::All => {
            let tables = target.folder.iter().flat_map(|folder| folder.tables());
            let effort = Effort::for_each_of(tables.take(ENOUGH_TABLES).count());
            reader.stream(move |source| inspect::table(source, &options, effort)).await?
        }
        Depth::Tail | Depth::Sample => {
            reader.tail().await?;
            let work = match depth {
                Depth::Sample => {
                    reader.sample(&options).await?;
                    Work::Apart
                }
                _ => Work::Here,
            };
            let effort = Effort::for_each_of(ENOUGH_TABLES);
            reader.ask(work, move |source| inspect::table_to_depth(source, &options, effort, depth)).await?
        }
    };
    Ok(Box::new(
        report.unwrap_or_else(|error| TableReport::unreadable(error.to_string(), ErrorKind::of(&error))),
    ))
}
