//! The engine and its settings: limits, threads, and the progress.

use std::fmt::{self, Debug};
use std::sync::Arc;

use filterblock::table::{Meter, ReadOptions};

use crate::audit::order::KeyOrder;
use crate::audit::read_options;
use crate::report::Depth;
use crate::run::Progress;
use crate::walk::{Files, Inputs, Targets};

/// The settings for work on databases and tables. One engine serves any number of calls, also concurrent ones.
#[derive(Clone)]
pub struct Engine {
    pub(crate) read: ReadOptions,
    pub(crate) meter: Arc<Meter>,
    pub(crate) max_output: Option<u64>,
    pub(crate) jobs: Option<u16>,
    pub(crate) order: Option<KeyOrder>,
    pub(crate) depth: Depth,
    pub(crate) few_reads: bool,
    pub(crate) progress: Arc<dyn Progress>,
    pub(crate) files: Files,
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { max_output, jobs, order, depth, .. } = self;
        f.debug_struct("Engine")
            .field("max_output", max_output)
            .field("jobs", jobs)
            .field("order", order)
            .field("depth", depth)
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// An engine with the default limits, as many threads as there are processors, and progress that nobody sees.
    pub fn new() -> Self {
        let meter = Arc::<Meter>::default();
        Self {
            read: read_options().meter(Arc::clone(&meter)),
            meter,
            max_output: None,
            jobs: None,
            order: None,
            depth: Depth::Sample,
            few_reads: false,
            progress: Arc::new(()),
            files: Files::default(),
        }
    }

    /// Limits the bytes of blocks and keys decoded from each file, and the size of each block. By default, 100 times
    /// the size of the file, but at least 256 MiB, and 256 MiB for a block.
    #[must_use]
    pub fn max_output(mut self, bytes: u64) -> Self {
        let block = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.read = self.read.max_output(bytes).max_block_size(block);
        self.max_output = Some(bytes);
        self
    }

    /// Sets how many tables are worked on at the same time. By default, or if `jobs` is 0: one per processor.
    #[must_use]
    pub const fn jobs(mut self, jobs: u16) -> Self {
        self.jobs = Some(jobs);
        self
    }

    /// Sets the order that keys are assumed to be in where no sound MANIFEST names one.
    #[must_use]
    pub const fn order(mut self, order: Option<KeyOrder>) -> Self {
        self.order = order;
        self
    }

    pub(crate) fn is_bytewise(&self) -> bool {
        self.order == Some(KeyOrder::Bytewise)
    }

    /// Sets how deep `inspect`, and a page without a verification, read files. By default, it is [`Depth::Sample`].
    #[must_use]
    pub const fn depth(mut self, depth: Depth) -> Self {
        self.depth = depth;
        self
    }

    /// If true, [`Depth::Sample`] reads at most 16 data blocks of a file, in up to three places, announced to the
    /// source by [`ReadAt::will_need`](filterblock::table::ReadAt::will_need). This helps if each read takes a long
    /// time.
    #[must_use]
    pub const fn few_reads(mut self, few_reads: bool) -> Self {
        self.few_reads = few_reads;
        self
    }

    /// Sets what shows the progress of the work, and may end it.
    #[must_use]
    pub fn progress(mut self, progress: Arc<dyn Progress>) -> Self {
        self.progress = progress;
        self
    }

    /// Sets where all files are. By default, they are in the local file system. The files that an engine's scans read from
    /// share the handles; engines with clones of the same [`Files`] do, too.
    #[must_use]
    pub fn files(mut self, files: Files) -> Self {
        self.files = files;
        self
    }

    /// Makes `meter` count the work of reading tables.
    #[must_use]
    pub fn meter(mut self, meter: Arc<Meter>) -> Self {
        self.read = self.read.meter(Arc::clone(&meter));
        self.meter = meter;
        self
    }

    /// What `inputs` lead to, one after another.
    pub(crate) fn targets(&self, inputs: Inputs) -> Targets {
        let storage = self.files.storage();
        Targets::new(inputs.recursive, Box::new(inputs.into_iter(storage)), Arc::clone(storage))
    }
}
