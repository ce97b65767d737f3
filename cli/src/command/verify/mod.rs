//! `filterblock verify`: checks that tables are sound and no filter denies a stored key.

pub(super) mod jobs;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use super::key_order::KeyOrder;
use super::limits::Limits;
use crate::exit::EXIT_ERROR;
use crate::format::Format;
use crate::io::console::Console;
use crate::io::paths::Paths;
use crate::io::progress::TablesProgress;
use crate::renderer::VerifyRenderer;
use filterblock_engine::audit::verify::finding::Finding;
use filterblock_engine::audit::verify::verdict::{Status, Verdict, VerdictCounts};
use filterblock_engine::audit::verify::{self, VerifyOptions};
use filterblock_engine::report::error_kind::ErrorKind;
use filterblock_engine::report::fetched::Fetched;
use filterblock_engine::report::folder::Verified;
use filterblock_engine::report::subject::Subject;
use filterblock_engine::run::in_order::{InOrder, MAX_JOBS};
use filterblock_engine::run::in_use;
use filterblock_engine::run::watch::{Observer, Watch as _};
use filterblock_engine::walk::folder::Folder;
use filterblock_engine::walk::input::{self, PathError};
use filterblock_engine::walk::paths::Given;
use filterblock_engine::walk::read_ahead::ReadAhead;
use jobs::{Done, Job, Jobs, TableJob, unreadable};

/// There are findings, and everything could be looked at.
const EXIT_FINDINGS: u8 = 1;

/// The number of results for each thread that may wait to be written.
const TABLES_A_THREAD: usize = 16;

/// Check tables and their filters throughout
///
/// Reads every block with its checksum and every entry in it, and asks the filter for every key, as
/// LevelDB would. Looks at the order of keys and index, at blocks that overlap, and at what the
/// MANIFEST says of the tables in a database. Measures how often the filters let absent keys pass.
///
/// Nothing is written and nothing locked. A database may be in use meanwhile: tables that vanish are
/// replaced by those that the MANIFEST lists then.
#[derive(Args)]
#[command(after_help = NOTES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    paths: Paths,
    /// Write JSON, one object a line: tables and folders
    #[arg(long)]
    json: bool,
    /// The order of user keys, where no MANIFEST names it; otherwise it is checked only if it is
    /// bytewise
    #[arg(long, value_name = "ORDER")]
    comparator: Option<KeyOrder>,
    #[command(flatten)]
    limits: Limits,
    /// Another number makes other absent keys to measure the false positives with
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Number of tables to check at once; as many as there are processors if not given
    #[arg(short, long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=MAX_JOBS))]
    jobs: Option<u16>,
    #[cfg(feature = "remote")]
    #[command(flatten)]
    remote: super::remote::RemoteArguments,
}

const NOTES: &str = "\
Examples:
  filterblock verify ~/db                     all tables of a database, and its MANIFEST
  filterblock verify --json ~/db | jq -r 'select(.denied > 0) | .path'
                                              the tables whose filters deny keys
  find / -name '*.ldb' -print0 | filterblock verify --files-from - -0
  filterblock verify --recursive ~/databases  every database below a folder

What each finding means, and what to do about it: docs/findings.md, in the source of this program

Exit status: 0 sound; 1 findings; 2 something could not be looked at, or wrong usage;
141 the reader of the output went away, whatever was found.";

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> u8 {
    let format = Format::new(arguments.json);
    let options = Arc::new(VerifyOptions {
        read: arguments.limits.read_options(),
        meter: console.meter(),
        bytewise: arguments.comparator == Some(KeyOrder::Bytewise),
        max_output: arguments.limits.max_output(),
        seed: arguments.seed,
    });
    let mut verifier = Verifier {
        renderer: format.verify(),
        counts: VerdictCounts::default(),
        vanished: Vec::new(),
        list_failed: false,
    };
    let result = verifier.paths(arguments, format, &options, console);
    let Verifier { mut renderer, counts, list_failed, .. } = verifier;
    let result = result.and_then(|()| renderer.end(&counts, console));
    let status = match () {
        () if list_failed => EXIT_ERROR,
        () if arguments.paths.keeps_going() => 0,
        () if counts.unreadable > 0 => EXIT_ERROR,
        () if counts.findings > 0 => EXIT_FINDINGS,
        () => 0,
    };
    console.finish(result, status)
}

pub(super) struct Verifier {
    renderer: Box<dyn VerifyRenderer>,
    counts: VerdictCounts,
    /// The live tables of the current folder that vanished.
    vanished: Vec<PathBuf>,
    /// A list of paths could not be read to its end, or no thread be started.
    list_failed: bool,
}

impl Verifier {
    #[cfg(not(feature = "remote"))]
    fn paths(
        &mut self,
        arguments: &Arguments,
        format: Format,
        options: &VerifyOptions,
        console: &mut Console,
    ) -> io::Result<()> {
        self.files(arguments.paths.iter(), arguments, format, options, console)
    }

    #[cfg(feature = "remote")]
    fn paths(
        &mut self,
        arguments: &Arguments,
        format: Format,
        options: &Arc<VerifyOptions>,
        console: &mut Console,
    ) -> io::Result<()> {
        use super::remote::{Stretch, next_stretch};
        use filterblock_engine::remote::fleet::LogUse;
        use filterblock_engine::report::fetched::Depth;

        let recursive = arguments.paths.is_recursive();
        let fleet = arguments.remote.options(Depth::All, LogUse::None, recursive);
        let mut given = arguments.paths.iter().peekable();
        while let Some(stretch) = next_stretch(&mut given) {
            match stretch {
                Stretch::Files(paths) => self.files(paths, arguments, format, options, console)?,
                Stretch::Objects(urls) => {
                    self.objects(urls, &fleet, options, format == Format::Text, console)?
                }
            }
        }
        Ok(())
    }

    /// Verifies files and folders.
    fn files(
        &mut self,
        paths: impl Iterator<Item = Given>,
        arguments: &Arguments,
        format: Format,
        options: &VerifyOptions,
        console: &mut Console,
    ) -> io::Result<()> {
        let progress = TablesProgress::new(format == Format::Text);
        let mut jobs = Jobs::new(paths, arguments.paths.is_recursive());
        let mut show = |outcome| {
            progress.suspend(|| {
                self.show(outcome, options, console)?;
                console.flush()
            })
        };
        let result = InOrder::run(arguments.jobs, TABLES_A_THREAD, |in_order| {
            while let Some(job) = jobs.next() {
                progress.expect(jobs.take_bytes(), jobs.are_all_known());
                in_order.work(|| work(job, options, &progress), &mut show)?;
            }
            in_order.finish(&mut show)
        });
        drop(progress);
        self.list_failed |= jobs.list_failed() || result.is_err();
        result.unwrap_or_else(|error| {
            console.message(format_args!("starting threads: {error}"));
            Ok(())
        })
    }

    fn show(&mut self, outcome: Outcome, options: &VerifyOptions, console: &mut Console) -> io::Result<()> {
        match outcome {
            Outcome::Done(done) => self.verdict(&done, console),
            Outcome::Vanished { path, is_live } => {
                // Others were removed as they should be.
                self.vanished.extend(is_live.then_some(path));
                Ok(())
            }
            Outcome::EndFolder { input, folder } => self.end_folder(&input, &folder, options, console),
        }
    }

    pub(super) fn verdict(&mut self, done: &Done, console: &mut Console) -> io::Result<()> {
        self.verdict_with(done, None, console)
    }

    /// `fetched`: what reading a table in object storage took.
    pub(super) fn verdict_with(
        &mut self,
        done: &Done,
        fetched: Option<&Fetched>,
        console: &mut Console,
    ) -> io::Result<()> {
        let Done { input, path, of, verdict } = done;
        if *of != Verified::Folder || verdict.status() != Status::Sound {
            self.counts.add(verdict);
        }
        let subject = Subject { path, fetched, ..Subject::of(input) };
        self.renderer.verdict(subject, *of, verdict, console)
    }

    /// Checks the tables in the place of those that vanished.
    fn end_folder(
        &mut self,
        input: &Arc<Path>,
        folder: &Arc<Folder>,
        options: &VerifyOptions,
        console: &mut Console,
    ) -> io::Result<()> {
        // The bar is hidden while results are shown, and cannot be moved then.
        let progress = TablesProgress::new(false);
        let vanished = std::mem::take(&mut self.vanished);
        let files = |folder: &Arc<Folder>| folder.tables().map(Path::to_owned).collect();
        let lost = in_use::go_on(folder, files, vanished, |path, folder| {
            let (input, folder) = (Arc::clone(input), Some(Arc::clone(folder)));
            let job = Job::Table(TableJob { input, path, listed: true, folder });
            self.show(work(job, options, &progress), options, console)?;
            Ok(std::mem::take(&mut self.vanished).is_empty())
        })?;
        for path in lost {
            let finding = unreadable("a table that can be read", PathError::vanished());
            let (input, verdict) = (Arc::clone(input), Verdict::of_finding(finding));
            self.verdict(&Done { input, path, of: Verified::Table, verdict }, console)?;
        }
        Ok(())
    }
}

/// The outcome of a job.
enum Outcome {
    Done(Done),
    /// A table was listed, and gone when it was its turn.
    Vanished {
        path: PathBuf,
        is_live: bool,
    },
    EndFolder {
        input: Arc<Path>,
        folder: Arc<Folder>,
    },
}

fn work(job: Job, options: &VerifyOptions, progress: &TablesProgress) -> Outcome {
    match job {
        Job::Table(table) => {
            let verdict = verify(&table, options, progress);
            let record = table.folder.as_deref().and_then(|folder| folder.record(&table.path));
            let record = record.filter(|_| table.listed);
            match record.filter(|_| verdict.findings.kind() == Some(ErrorKind::Vanished)) {
                Some(record) => Outcome::Vanished { is_live: record.live.is_some(), path: table.path },
                None => {
                    Outcome::Done(Done { input: table.input, path: table.path, of: Verified::Table, verdict })
                }
            }
        }
        Job::Done(done) => Outcome::Done(done),
        Job::EndFolder { input, folder } => Outcome::EndFolder { input, folder },
    }
}

/// Verifies the table of a job.
pub(super) fn verify(job: &TableJob, options: &VerifyOptions, progress: &TablesProgress) -> Verdict {
    let path: &Path = &job.path;
    let opened = input::open_file(path, job.listed).and_then(|file| Ok(ReadAhead::new(file)?));
    let source = match opened {
        Ok(source) => source,
        Err(error) => {
            return Verdict::of_finding(unreadable("a table that can be read", error));
        }
    };
    let record = job.folder.as_deref().and_then(|folder| folder.record(path));
    verify::table(&source, record.as_ref(), job.listed, options, &Watch { source: &source, progress })
        .unwrap_or_else(|error| Verdict::of_finding(Finding::of(&error)))
}

/// Makes the source read ahead once that is of use, and moves the progress bar.
struct Watch<'a> {
    source: &'a ReadAhead,
    progress: &'a TablesProgress,
}

impl Observer for Watch<'_> {
    fn begin_walk(&self) {
        self.source.go_ahead();
    }

    fn progress(&self, bytes: u64) {
        self.progress.add(bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, SeekFrom, Write as _};

    use filterblock::table::ReadAt as _;

    use super::*;

    #[test]
    fn the_source_reads_ahead_from_the_walk_on() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[0; 4096]).unwrap();
        let source = ReadAhead::new(file.try_clone().unwrap()).unwrap();
        let watch = Watch { source: &source, progress: &TablesProgress::new(false) };
        // Reads the first byte, changes the second one in the file, and reads that.
        let mut second = |byte: u8| {
            source.read_at(0, 1).unwrap();
            file.seek(SeekFrom::Start(1)).unwrap();
            file.write_all(&[byte]).unwrap();
            source.read_at(1, 1).unwrap()[0]
        };
        assert_eq!(second(7), 7);
        watch.begin_walk();
        assert_eq!(second(9), 7);
    }
}
