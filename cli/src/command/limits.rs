//! The argument `--max-output`.

use clap::Args;
use filterblock::table::ReadOptions;

use crate::audit::reading::read_options;

#[derive(Args)]
pub(super) struct Limits {
    /// The most bytes of blocks and keys to decode of each file, and so of one block
    ///
    /// If not given, 100 times the file's size and at least 256 MiB, and 256 MiB of one block. A
    /// block never takes more memory than it really holds, or could hold by its stored size.
    #[arg(long, value_name = "BYTES")]
    max_output: Option<u64>,
}

impl Limits {
    /// The options for reading tables within these limits.
    pub(super) fn read_options(&self) -> ReadOptions {
        let options = read_options();
        match self.max_output {
            Some(bytes) => {
                options.max_output(bytes).max_block_size(usize::try_from(bytes).unwrap_or(usize::MAX))
            }
            None => options,
        }
    }

    /// The limit that was given.
    pub(super) const fn max_output(&self) -> Option<u64> {
        self.max_output
    }
}
