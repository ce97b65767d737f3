//! `filterblock verify` of tables in object storage.

use std::io::{self, Write as _};
use std::sync::Arc;

use super::remote::fly;
use super::verify::Verifier;
use super::verify::jobs::{Done, manifest, missing, unreadable};
use crate::io::console::Console;
use filterblock_engine::audit::verify::finding::Finding;
use filterblock_engine::audit::verify::verdict::Verdict;
use filterblock_engine::audit::verify::{self, VerifyOptions};
use filterblock_engine::remote::fleet::{Event, FleetOptions, Target};
use filterblock_engine::remote::reader::Reader;
use filterblock_engine::report::folder::Verified;
use filterblock_engine::walk::input::PathError;
use filterblock_engine::walk::paths::Given;

impl Verifier {
    pub(super) fn objects(
        &mut self,
        urls: impl Iterator<Item = Given>,
        fleet: &FleetOptions,
        options: &Arc<VerifyOptions>,
        shows_progress: bool,
        console: &mut Console,
    ) -> io::Result<()> {
        let survey = |reader: Reader, target: Target| {
            let options = Arc::clone(options);
            async move {
                let verdict = reader.stream(move |source| {
                    let record = target.folder.as_ref().and_then(|folder| folder.record(&target.path));
                    verify::table(source, record.as_ref(), target.folder.is_some(), &options, &())
                });
                let verdict = verdict.await;
                (reader, verdict)
            }
        };
        fly(urls, fleet, shows_progress, survey, &mut |event| {
            self.event(event, console)?;
            console.flush()
        })
    }

    fn event(
        &mut self,
        event: Event<Result<Verdict, filterblock::Error>>,
        console: &mut Console,
    ) -> io::Result<()> {
        match event {
            Event::Failed { input, path, error } => {
                let verdict = not_read("a table or a database folder", error);
                self.verdict(&Done { input, path, of: Verified::Unreadable, verdict }, console)
            }
            Event::BeginFolder { input, folder } => {
                let about_folder = std::iter::once(manifest(&input, &folder.folder));
                let about_folder: Vec<Done> = about_folder.chain(missing(&input, &folder.folder)).collect();
                about_folder.iter().try_for_each(|done| self.verdict(done, console))
            }
            Event::Table { target, fetched, result } => {
                let verdict = match result {
                    Ok(verdict) => verdict.unwrap_or_else(|error| Verdict::of_finding(Finding::of(&error))),
                    Err(error) => not_read("a table that can be read", error),
                };
                let done = Done { input: target.input, path: target.path, of: Verified::Table, verdict };
                self.verdict_with(&done, fetched.as_ref(), console)
            }
            Event::EndFolder { .. } => Ok(()),
        }
    }
}

fn not_read(wanted: &str, error: PathError) -> Verdict {
    Verdict::of_finding(unreadable(wanted, error))
}
