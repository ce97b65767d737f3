//! How everything is done: limits, threads, what watches.

use std::fmt::{self, Debug};
use std::{io, sync::Arc};

use filterblock::table::{Meter, ReadOptions};

use crate::run::{Event, FileOptions, Survey, Watch, files};
use crate::{audit::read_options, walk::Inputs};

#[cfg(feature = "remote")]
use crate::remote::fleet::{FleetOptions, objects};
#[cfg(feature = "remote")]
use crate::report::Depth;
#[cfg(feature = "remote")]
use crate::walk::Given;
#[cfg(feature = "remote")]
use crate::walk::url;

/// Takes what is found out, in order.
pub trait Sink<T> {
    /// Takes the next result.
    ///
    /// # Errors
    ///
    /// If no more is wanted, or it cannot be shown: that ends the run, which returns the error.
    fn line(&mut self, line: T) -> io::Result<()>;
}

impl<T, F: FnMut(T) -> io::Result<()>> Sink<T> for F {
    fn line(&mut self, line: T) -> io::Result<()> {
        self(line)
    }
}

/// How databases and tables are looked at. One serves any number of calls, also at once.
#[derive(Clone)]
pub struct Engine {
    pub(crate) read: ReadOptions,
    pub(crate) meter: Arc<Meter>,
    pub(crate) max_output: Option<u64>,
    pub(crate) jobs: Option<u16>,
    pub(crate) seed: u64,
    pub(crate) is_bytewise: bool,
    pub(crate) watch: Arc<dyn Watch>,
    #[cfg(feature = "remote")]
    pub(crate) fleet: FleetOptions,
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { max_output, jobs, seed, is_bytewise, .. } = self;
        f.debug_struct("Engine")
            .field("max_output", max_output)
            .field("jobs", jobs)
            .field("seed", seed)
            .field("is_bytewise", is_bytewise)
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// The usual limits, as many threads as there are processors, and nothing that watches.
    pub fn new() -> Self {
        let meter = Arc::<Meter>::default();
        Self {
            read: read_options().meter(Arc::clone(&meter)),
            meter,
            max_output: None,
            jobs: None,
            seed: 0,
            is_bytewise: false,
            watch: Arc::new(()),
            #[cfg(feature = "remote")]
            fleet: FleetOptions::default(),
        }
    }

    /// The most bytes of blocks and keys to decode of each file, and so of one block. If it is not set, 100 times the
    /// file's size and at least 256 MiB, and 256 MiB of one block.
    #[must_use]
    pub fn max_output(mut self, bytes: u64) -> Self {
        let block = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.read = self.read.max_output(bytes).max_block_size(block);
        self.max_output = Some(bytes);
        self
    }

    /// The most tables to look at at once.
    #[must_use]
    pub const fn jobs(mut self, jobs: u16) -> Self {
        self.jobs = Some(jobs);
        self
    }

    /// Another number makes other absent keys to measure false positives of `verify` with.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The user says that keys are in bytewise order where no MANIFEST names an order.
    #[must_use]
    pub const fn bytewise(mut self, is_bytewise: bool) -> Self {
        self.is_bytewise = is_bytewise;
        self
    }

    /// What shows how far the work is, and may end it.
    #[must_use]
    pub fn watch(mut self, watch: Arc<dyn Watch>) -> Self {
        self.watch = watch;
        self
    }

    /// Counts the work of reading tables in `meter`.
    #[must_use]
    pub fn meter(mut self, meter: Arc<Meter>) -> Self {
        self.read = self.read.meter(Arc::clone(&meter));
        self.meter = meter;
        self
    }

    /// How tables in object storage are read.
    #[cfg(feature = "remote")]
    #[must_use]
    pub const fn fleet(mut self, fleet: FleetOptions) -> Self {
        self.fleet = fleet;
        self
    }

    /// The same, with tables in object storage looked into so deep.
    #[cfg(feature = "remote")]
    pub(crate) fn to_depth(&self, depth: Depth) -> Self {
        let fleet = FleetOptions { depth, ..self.fleet };
        Self { fleet, ..self.clone() }
    }

    /// Looks at all tables that `inputs` lead to, and calls `show` with what is found out, in the order of the paths.
    ///
    /// # Errors
    ///
    /// Those of `show`, or that the system does not let requests begin.
    pub(crate) fn run<S: Survey>(
        &self,
        inputs: Inputs,
        survey: &Arc<S>,
        show: &mut dyn FnMut(Event<S::Found>) -> io::Result<()>,
    ) -> io::Result<()> {
        // A single table is no work for several threads.
        let is_one_file = matches!(&*inputs.paths, [path] if inputs.list.is_none() && path.is_file());
        let storage = inputs.storage.clone();
        let options = FileOptions {
            jobs: if is_one_file { Some(1) } else { self.jobs },
            recursive: inputs.recursive,
            given: inputs.paths.len(),
            watch: &*self.watch,
            storage: storage.as_ref(),
        };
        let given = &mut inputs.into_iter();
        #[cfg(not(feature = "remote"))]
        return files(given, &**survey, options, show);
        #[cfg(feature = "remote")]
        {
            let mut given = given.peekable();
            let is_remote = |given: &Given| {
                storage.is_none() && given.path.as_ref().is_ok_and(|path| url::is_remote(path))
            };
            while let Some(next) = given.peek() {
                let remote = is_remote(next);
                let mut stretch = std::iter::from_fn(|| given.next_if(|next| is_remote(next) == remote));
                match remote {
                    true => {
                        let recursive = options.recursive;
                        objects(&mut stretch, recursive, survey, self.fleet, options.watch, show)?;
                    }
                    false => files(&mut stretch, &**survey, options, show)?,
                }
            }
            Ok(())
        }
    }
}
