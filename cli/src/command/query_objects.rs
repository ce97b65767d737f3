//! `filterblock query` of tables in object storage.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use filterblock::table::ReadOptions;

use super::query::{Query, is_asked};
use super::remote::fly;
use super::remote::{RemoteArguments, Stretch, next_stretch};
use super::walk::walk;
use crate::io::console::Console;
use filterblock_engine::audit::foreign::explain;
use filterblock_engine::audit::query;
use filterblock_engine::audit::query::candidates::KeyBlocks;
use filterblock_engine::audit::query::keys::SoughtKeys;
use filterblock_engine::remote::fleet::{Event, FleetOptions, LogUse, RemoteFolder, Target};
use filterblock_engine::remote::reader::{Reader, Work};
use filterblock_engine::report::error_kind::ErrorKind;
use filterblock_engine::report::fetched::Depth;
use filterblock_engine::report::subject::Subject;
use filterblock_engine::walk::input::PathError;
use filterblock_engine::walk::paths::Given;

/// The answers of a table for each key.
struct Answers {
    /// The reason why every key may be there.
    error: Option<(String, ErrorKind)>,
    no_index: Option<&'static str>,
    blocks: Vec<KeyBlocks>,
}

/// What a table says: its answers, or the reason why it does not open.
type Asked = Result<Answers, (String, ErrorKind)>;

/// What all tables are asked.
#[derive(Clone)]
struct Question {
    keys: Arc<SoughtKeys>,
    options: ReadOptions,
    is_bytewise: bool,
    depth: Depth,
}

impl Query {
    /// Asks what all paths and URLs lead to.
    pub(super) fn stretches(
        &mut self,
        paths: impl Iterator<Item = Given>,
        recursive: bool,
        remote: &RemoteArguments,
        json: bool,
        console: &mut Console,
    ) -> io::Result<()> {
        let mut given = paths.peekable();
        while let Some(stretch) = next_stretch(&mut given) {
            match stretch {
                Stretch::Files(paths) => walk(paths, recursive, self, console)?,
                Stretch::Objects(urls) => {
                    let fleet = remote.options(Depth::Sample, LogUse::Contents, recursive);
                    self.objects(urls, &fleet, !json, console)?;
                }
            }
        }
        Ok(())
    }

    fn objects(
        &mut self,
        urls: impl Iterator<Item = Given>,
        fleet: &FleetOptions,
        shows_progress: bool,
        console: &mut Console,
    ) -> io::Result<()> {
        let question = Question {
            keys: Arc::clone(&self.keys),
            options: self.options.clone(),
            is_bytewise: self.is_bytewise,
            depth: fleet.depth,
        };
        let survey = |reader: Reader, target: Target| {
            let question = question.clone();
            async move {
                let asked = ask(&reader, target, question).await;
                (reader, asked)
            }
        };
        fly(urls, fleet, shows_progress, survey, &mut |event| {
            self.event(event, console)?;
            console.flush()
        })
    }

    fn event(&mut self, event: Event<Option<Asked>>, console: &mut Console) -> io::Result<()> {
        match event {
            Event::Failed { input, path, error } => {
                let subject = Subject { path: &path, ..Subject::of(&input) };
                self.unknown(subject, &error.to_string(), error.kind(), console)
            }
            Event::BeginFolder { input, folder } => self.begin(&input, &folder, console),
            // The database does not use it, which was said at the beginning of the folder.
            Event::Table { result: Ok(None), .. } => Ok(()),
            Event::Table { target, fetched, result } => {
                let subject =
                    Subject { path: &target.path, fetched: fetched.as_ref(), ..Subject::of(&target.input) };
                match result {
                    Ok(None) => Ok(()),
                    Ok(Some(Ok(Answers { error, no_index, blocks }))) => {
                        self.answers(subject, error.as_ref(), no_index, blocks.into_iter(), console)
                    }
                    Ok(Some(Err((error, kind)))) => self.unknown(subject, &error, kind, console),
                    Err(error) => self.unknown(subject, &error.to_string(), error.kind(), console),
                }
            }
            Event::EndFolder { .. } => self.end_tables(console),
        }
    }

    fn begin(&mut self, input: &Path, folder: &RemoteFolder, console: &mut Console) -> io::Result<()> {
        let subject = Subject { path: folder.folder.path(), ..Subject::of(input) };
        let logs: Vec<&Path> = folder.logs.iter().map(|log| &*log.path).collect();
        self.begin_tables(subject, &folder.folder, &logs, console)?;
        for log in &folder.logs {
            let subject = Subject { path: &log.path, ..Subject::of(input) };
            match &log.contents {
                Ok(contents) => self.log_contents(subject, &contents[..], console)?,
                Err(error) => self.unknown(subject, &error.to_string(), error.kind(), console)?,
            }
        }
        Ok(())
    }
}

/// Asks a table. `None` if its database does not use it.
async fn ask(reader: &Reader, target: Target, question: Question) -> Result<Option<Asked>, PathError> {
    let folder = target.folder.clone();
    if folder.is_some_and(|folder| !is_asked(&folder, &target.path)) {
        return Ok(None);
    }
    reader.tail().await?;
    let record = target.folder.as_ref().and_then(|folder| folder.record(&target.path));
    if question.is_bytewise || record.is_some_and(|record| record.is_bytewise) {
        reader.sample(&question.options).await?;
    }
    let asked = reader.ask(Work::Apart, move |source| {
        let Question { keys, options, is_bytewise, depth } = &question;
        let record = target.folder.as_ref().and_then(|folder| folder.record(&target.path));
        match query::table(source, options, keys, *is_bytewise, record, *depth) {
            Ok(mut table) => {
                let keys = keys.given().iter().enumerate();
                let blocks = keys.map(|(at, key)| table.of(key, at)).collect();
                Ok(Ok(Answers { error: table.error.take(), no_index: table.no_index, blocks }))
            }
            Err(error) if error.needs_range() => Err(error),
            Err(error) => {
                let text = explain(source, &error, error.to_string())?;
                Ok(Err((text, ErrorKind::of(&error))))
            }
        }
    });
    Ok(Some(asked.await?.unwrap_or_else(|error| Err((error.to_string(), ErrorKind::of(&error))))))
}
