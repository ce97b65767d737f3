//! The arguments for the paths to look at.

use std::path::{Path, PathBuf};

use clap::Args;
use filterblock_engine::walk::Inputs;

#[derive(Args)]
pub(crate) struct Paths {
    /// Tables, or database folders: their .ldb and .sst files by number
    ///
    /// Also URLs of tables and folders in object storage, if the program was built with the feature
    /// `remote`.
    #[arg(required_unless_present = "files_from", value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    sources: PathSources,
}

/// The sources of paths besides the arguments.
#[derive(Args)]
pub(crate) struct PathSources {
    /// Take paths from the lines of this file too, after those given; - is standard input
    #[arg(long, value_name = "FILE")]
    files_from: Option<PathBuf>,
    /// The paths of --files-from end in a zero byte instead of a line break, as `find -print0`
    /// writes them
    #[arg(short = '0', long = "null", requires = "files_from")]
    null: bool,
    /// Look into the folders below the folders given too; links to folders are not followed
    #[arg(short, long)]
    recursive: bool,
    /// Exit with 0 once every path has its results, whatever they are
    ///
    /// For programs that go by what each result says. Only wrong usage, a list of paths that cannot
    /// be read to its end and output that cannot be written have other exit statuses then.
    #[arg(long)]
    keep_going: bool,
}

impl Paths {
    /// The only path, if there is certainly only one.
    pub(crate) fn single(&self) -> Option<&Path> {
        match &*self.paths {
            [path] if self.sources.files_from.is_none() && !self.sources.recursive => Some(path),
            _ => None,
        }
    }

    /// Returns true if results do not change the exit status.
    pub(crate) const fn keeps_going(&self) -> bool {
        self.sources.keep_going
    }

    /// The paths given as arguments.
    pub(crate) fn arguments(&self) -> &[PathBuf] {
        &self.paths
    }

    /// What is to be looked at.
    pub(crate) fn inputs(&self) -> Inputs {
        self.sources.after(&self.paths)
    }
}

impl PathSources {
    /// The list of paths, if there is one.
    pub(crate) fn files_from(&self) -> Option<&Path> {
        self.files_from.as_deref()
    }

    /// Returns true if results do not change the exit status.
    pub(crate) const fn keeps_going(&self) -> bool {
        self.keep_going
    }

    /// `paths`, then those of the list.
    pub(crate) fn after(&self, paths: &[PathBuf]) -> Inputs {
        Inputs {
            paths: paths.to_vec(),
            list: self.files_from.clone(),
            null: self.null,
            recursive: self.recursive,
            storage: None,
        }
    }
}
