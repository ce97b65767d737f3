//! The verdict on a database or a table.

use serde::Serialize;

use super::frame::ErrorKind;

/// How a database is, in one of five words. They are ordered: of several verdicts, the greatest counts.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing to do.
    #[default]
    Fine,
    /// It is correct, but wastes reads, space or start-up.
    CouldBeBetter,
    /// It was not read: encrypted, of another format, or forbidden.
    #[serde(rename = "unknown")]
    CannotTell,
    /// Filters hide stored keys.
    FalseNegatives,
    /// Data is wrong, lost, or at risk.
    Damaged,
}

/// The colour of a verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// Green.
    Good,
    /// Amber.
    Notice,
    /// Red.
    Bad,
    /// Grey.
    Unknown,
}

/// The number of each verdict.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct VerdictCounts([u64; Verdict::ALL.len()]);

impl VerdictCounts {
    /// Counts a verdict.
    pub fn add(&mut self, verdict: Verdict) {
        self.0
            .iter_mut()
            .zip(Verdict::ALL)
            .filter(|(_, of)| *of == verdict)
            .for_each(|(count, _)| *count += 1);
    }

    /// The number of this verdict.
    pub fn of(&self, verdict: Verdict) -> u64 {
        self.0.iter().zip(Verdict::ALL).find(|(_, of)| *of == verdict).map_or(0, |(count, _)| *count)
    }

    /// The number of all verdicts.
    pub fn all(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl Verdict {
    /// All verdicts, from the best to the worst.
    pub const ALL: [Self; 5] =
        [Self::Fine, Self::CouldBeBetter, Self::CannotTell, Self::FalseNegatives, Self::Damaged];

    /// The verdict in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::CouldBeBetter => "could be better",
            Self::CannotTell => "cannot tell",
            Self::FalseNegatives => "false negatives",
            Self::Damaged => "damaged",
        }
    }

    /// The colour of the verdict.
    pub const fn severity(self) -> Severity {
        match self {
            Self::Fine => Severity::Good,
            Self::CouldBeBetter => Severity::Notice,
            Self::CannotTell => Severity::Unknown,
            Self::FalseNegatives | Self::Damaged => Severity::Bad,
        }
    }
}

/// What a run came to.
#[derive(Clone, Default, Debug)]
pub struct Outcome {
    /// The verdicts on databases, and on files and paths outside of them.
    pub verdicts: VerdictCounts,
    /// A list of paths could not be read to its end.
    pub list_failed: bool,
}

impl Outcome {
    /// Counts a fault that is no verdict: damage, or anything else because of which something could not be read.
    pub(crate) fn count(&mut self, kind: ErrorKind) {
        self.verdicts.add(if kind == ErrorKind::Damaged { Verdict::Damaged } else { Verdict::CannotTell });
    }
}
