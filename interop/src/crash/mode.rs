//! The commands with which the program is called.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;

/// The database's folder in the recorded folder.
pub const DATABASE: &str = "db";
/// The folder beside the database's by which a rebuild is undone.
pub const UNDO_FOLDER: &str = "db.filterblock-undo";
/// The second database, which `--to` makes by `rebuild` or `repair`.
pub const TARGET: &str = "new";
/// The beginning of the names of folders that `--to` has not finished.
pub const UNFINISHED: &str = ".filterblock-";

/// A command with which the program is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// `rebuild --in-place`, which leaves a folder for `--undo`.
    InPlace,
    /// `rebuild --in-place --no-undo`.
    NoUndo,
    /// `rebuild --in-place --no-undo --batch 8K`.
    Batches,
    /// `rebuild --undo` after `rebuild --in-place`.
    Undo,
    /// `rebuild --discard` after `rebuild --in-place`.
    Discard,
    /// `rebuild --in-place --drop`.
    Drop,
    /// `rebuild --in-place --keep-undecodable` of a database with a damaged table.
    KeepUndecodable,
    /// `rebuild --to`.
    To,
    /// `repair --to` of a database without damage.
    Repair,
}

impl Mode {
    /// All commands.
    pub const ALL: [Self; 9] = [
        Self::InPlace,
        Self::NoUndo,
        Self::Batches,
        Self::Undo,
        Self::Discard,
        Self::Drop,
        Self::KeepUndecodable,
        Self::To,
        Self::Repair,
    ];

    /// The commands that are disturbed by errors, signals and full file systems.
    pub const DISTURBED: [Self; 7] =
        [Self::InPlace, Self::NoUndo, Self::Batches, Self::Undo, Self::Discard, Self::To, Self::Repair];

    /// Returns true if the program leaves a folder for `--undo`.
    pub const fn keeps_undo(self) -> bool {
        matches!(self, Self::InPlace | Self::Drop | Self::KeepUndecodable)
    }

    /// Returns true if the program makes a second database and leaves the first one as it is.
    pub const fn makes_target(self) -> bool {
        matches!(self, Self::To | Self::Repair)
    }

    /// Returns the command to run on a database after this one was cut off.
    pub const fn again(self) -> Self {
        match self {
            Self::Undo | Self::Discard => Self::InPlace,
            other => other,
        }
    }

    /// The program's arguments for the database below `root`. `filters`: the options for the new filters.
    pub fn arguments(self, root: &Path, filters: &[&str]) -> Vec<OsString> {
        let command = if self == Self::Repair { "repair" } else { "rebuild" };
        let mut arguments = vec![OsString::from(command), root.join(DATABASE).into()];
        let mut add = |options: &[&str]| arguments.extend(options.iter().map(OsString::from));
        match self {
            Self::InPlace | Self::Drop | Self::KeepUndecodable => add(&["--in-place"]),
            Self::NoUndo => add(&["--in-place", "--no-undo"]),
            Self::Batches => add(&["--in-place", "--no-undo", "--batch", "8K"]),
            Self::Undo => add(&["--undo"]),
            Self::Discard => add(&["--discard"]),
            Self::To | Self::Repair => add(&["--to"]),
        }
        match self {
            Self::Undo | Self::Discard => {}
            Self::Drop => add(&["--drop"]),
            Self::KeepUndecodable => {
                add(filters);
                add(&["--keep-undecodable"]);
            }
            Self::To => {
                arguments.push(root.join(TARGET).into());
                arguments.extend(filters.iter().map(OsString::from));
            }
            // `repair` has other options for filters than `rebuild`. Without them it takes over the tables' own.
            Self::Repair => arguments.push(root.join(TARGET).into()),
            Self::InPlace | Self::NoUndo | Self::Batches => add(filters),
        }
        arguments
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InPlace => "rebuild --in-place",
            Self::NoUndo => "rebuild --in-place --no-undo",
            Self::Batches => "rebuild --in-place --no-undo --batch 8K",
            Self::Undo => "rebuild --undo",
            Self::Discard => "rebuild --discard",
            Self::Drop => "rebuild --in-place --drop",
            Self::KeepUndecodable => "rebuild --in-place --keep-undecodable",
            Self::To => "rebuild --to",
            Self::Repair => "repair --to",
        })
    }
}
