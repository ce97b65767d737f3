//! The problems of `verify`, under codes that stay the same from version to version.

use std::fmt::{self, Display};

use filterblock::{Error, OtherFormat, Structure};
use serde::Serialize;

use super::frame::ErrorKind;
use super::strings::words;
use super::verdict::Verdict;
use crate::audit::LostKeys;
use crate::report::Fault;
use crate::walk::FoundFormat;

/// Problems of one code to keep. Further ones are only counted.
const MAX_OF_A_CODE: u64 = 16;

/// Each code has a word, the verdict that it leads to, and the kind of fault unless an error has another.
/// `docs/problems.md` has meanings and remedies.
macro_rules! codes {
    ($($code:ident = $word:literal, $verdict:ident, $kind:ident;)*) => {
        words! {
            /// The kind of a problem. `docs/problems.md` explains each kind.
            Code { $(#[doc = concat!("`", $word, "`")] $code = $word,)* }
        }

        impl Code {
            /// The verdict on a file with a problem of this code.
            pub const fn verdict(self) -> Verdict {
                match self {
                    $(Self::$code => Verdict::$verdict,)*
                }
            }

            const fn kind(self) -> ErrorKind {
                match self {
                    $(Self::$code => ErrorKind::$kind,)*
                }
            }
        }
    };
}

/// A rebuild in place is not advised: on Windows it is refused, and in a browser the system is unknown.
pub const COPIES_ONLY: bool = cfg!(any(windows, target_family = "wasm"));

codes! {
    Unreadable = "unreadable", CannotTell, Unreadable;
    Unsupported = "unsupported", CannotTell, Unsupported;
    Encrypted = "encrypted", CannotTell, Unsupported;
    OtherFormat = "other-format", CannotTell, Unsupported;
    Limit = "limit", CannotTell, Unsupported;
    NotATable = "not-a-table", Damaged, Damaged;
    BadHandle = "bad-handle", Damaged, Damaged;
    Checksum = "checksum", Damaged, Damaged;
    BadCompression = "bad-compression", Damaged, Damaged;
    BadBlock = "bad-block", Damaged, Damaged;
    RepeatedBlock = "repeated-block", Damaged, Damaged;
    OverlappingBlocks = "overlapping-blocks", Damaged, Damaged;
    IndexOrder = "index-order", Damaged, Damaged;
    KeyOrder = "key-order", Damaged, Damaged;
    ShortKey = "short-key", Damaged, Damaged;
    FilterUnreadable = "filter-unreadable", Damaged, Damaged;
    FilterMalformed = "filter-malformed", CouldBeBetter, Damaged;
    FalseNegative = "false-negative", FalseNegatives, Damaged;
    CurrentMissing = "current-missing", Damaged, Missing;
    CurrentDamaged = "current-damaged", Damaged, Damaged;
    ManifestMissing = "manifest-missing", Damaged, Missing;
    ManifestDamaged = "manifest-damaged", Damaged, Damaged;
    ManifestCut = "manifest-cut", Damaged, Damaged;
    ManifestHuge = "manifest-huge", CouldBeBetter, Damaged;
    LogMissing = "log-missing", Damaged, Missing;
    TableMissing = "table-missing", Damaged, Missing;
    TableSize = "table-size", Damaged, Damaged;
    TableRange = "table-range", Damaged, Damaged;
    TableOverlap = "table-overlap", Damaged, Damaged;
    LogDamaged = "log-damaged", Damaged, Damaged;
    NewerBelow = "newer-below", Damaged, Damaged;
    More = "more", Damaged, Damaged;
}

impl Code {
    /// Returns true if a part was not read, so that its state is not known.
    pub const fn hides(self) -> bool {
        matches!(self.verdict(), Verdict::CannotTell)
    }

    /// Returns true if only filters are concerned, and no entry is lost.
    pub const fn is_of_filters(self) -> bool {
        matches!(self, Self::FilterUnreadable | Self::FilterMalformed | Self::FalseNegative)
    }

    /// Returns true if data is wrong, lost, or at risk.
    pub const fn is_damage(self) -> bool {
        matches!(self.verdict(), Verdict::Damaged) && !self.is_of_filters()
    }

    const fn of_format(format: OtherFormat) -> Self {
        if format.is_encrypted() { Self::Encrypted } else { Self::OtherFormat }
    }
}

/// A fault, or a part that could not be looked at, with what texts about it need.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The code.
    pub code: Code,
    /// The kind of fault.
    pub kind: ErrorKind,
    /// Offset in the file, in bytes. `None`: the problem concerns the file as a whole.
    pub offset: Option<u64>,
    /// What was expected.
    pub expected: String,
    /// What was found instead.
    pub found: String,
    /// The keys that cannot be read because of the problem, if they are known.
    pub lost: Option<Box<LostKeys>>,
    /// Text for people in place of what was expected and found, if the system gave the reason, or if the meaning comes
    /// first.
    pub plain: Option<String>,
    /// A few words in place of `plain`, where there is room for no more.
    pub title: Option<String>,
    /// The offset of the byte with the wrong bit, if that one bit is all the damage. `repair` corrects it.
    pub wrong_bit: Option<u64>,
    /// The other format, if that is what was found.
    pub other_format: Option<Box<FoundFormat>>,
}

/// A fault, or a part that could not be looked at.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Problem"))]
pub struct ProblemData {
    /// Kind of problem. [problems.md](problems.md) gives the meaning, the risk and the remedy of each kind.
    pub code: Code,
    /// Offset in the file, in bytes. `None`: the problem concerns the file as a whole.
    pub offset: Option<u64>,
    /// Description of what was expected.
    pub expected: String,
    /// Description of what was found instead.
    pub found: String,
    /// The keys that cannot be read because of the problem. `None`: there are no such keys, or they are not
    /// known.
    pub lost: Option<Box<LostKeys>>,
}

impl From<Problem> for ProblemData {
    fn from(problem: Problem) -> Self {
        let Problem { code, offset, expected, found, lost, .. } = problem;
        Self { code, offset, expected, found, lost }
    }
}

impl Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code.name())?;
        // An error of opening a file has offset 0, which says nothing.
        if let Some(offset) = self.offset.filter(|offset| *offset > 0 || self.plain.is_none()) {
            write!(f, " at offset {offset}")?;
        }
        match &self.plain {
            Some(plain) => write!(f, ": {plain}")?,
            None => write!(f, ": expected {}, found {}", self.expected, self.found)?,
        }
        match &self.lost {
            Some(lost) if self.code.hides() => write!(f, "; not looked at: {lost}"),
            Some(lost) => write!(f, "; lost: {lost}"),
            None => Ok(()),
        }
    }
}

impl Problem {
    /// A problem at an offset in the file, or about the file as a whole.
    pub fn new(
        code: Code,
        offset: impl Into<Option<u64>>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self {
            code,
            kind: code.kind(),
            offset: offset.into(),
            expected: expected.into(),
            found: found.into(),
            lost: None,
            plain: None,
            title: None,
            wrong_bit: None,
            other_format: None,
        }
    }

    /// The problem for people, without its code.
    pub fn text(&self) -> String {
        let text = self.to_string();
        text.split_once(": ").map_or(text.clone(), |(_, text)| text.to_owned())
    }

    /// Sets the kind of fault, for a problem about which more is known than its code says.
    pub fn of_kind(self, kind: ErrorKind) -> Self {
        Self { kind, ..self }
    }

    /// The meaning comes before what was expected and found.
    pub(crate) fn meaning(self, meaning: &str) -> Self {
        let plain = Some(format!("{meaning} (expected {}, found {})", self.expected, self.found));
        Self { plain, found: format!("{}; {meaning}", self.found), ..self }
    }

    /// Adds the keys that cannot be read because of the problem.
    pub fn with_lost(self, lost: Option<LostKeys>) -> Self {
        Self { lost: lost.map(Box::new), ..self }
    }

    /// Adds the offset of the byte with the wrong bit, if that one bit is all the damage.
    pub fn with_wrong_bit(mut self, offset: Option<u64>) -> Self {
        self.wrong_bit = offset;
        if let Some(offset) = offset {
            self.found.push_str(&format!("; one bit at offset {offset} is wrong, which `repair` corrects"));
        }
        self
    }

    /// A path that could not be read. `wanted`: the expectation, unless the error has one of its own.
    pub fn unreadable(wanted: &str, error: Fault) -> Self {
        let other_format = error.other_format().cloned();
        let code = other_format.as_ref().map_or(Code::Unreadable, |found| Code::of_format(found.format()));
        let (expected, found) = match (error.expected.as_deref(), error.found.as_deref(), &other_format) {
            (Some(expected), Some(found), _) => (expected, found.to_owned()),
            (.., Some(other)) => (wanted, other.format().to_string()),
            _ if error.text == Fault::MISSING => (wanted, "nothing".to_owned()),
            _ => (wanted, error.text.clone()),
        };
        let problem = Self::new(code, None, expected, found).of_kind(error.kind);
        Self { plain: error.in_words(), other_format: other_format.map(Box::new), ..problem }
    }

    /// The problem that corresponds to an error of the library.
    pub fn of(error: &Error) -> Self {
        match error.without_path() {
            Error::Io { action, offset, source, .. } => {
                let (expected, found) = (format!("{action} to succeed"), source.to_string());
                let problem = Self::new(Code::Unreadable, *offset, expected, found);
                let plain = Fault::of(error, false).in_words();
                Self { plain, ..problem.of_kind(ErrorKind::of_io(source)) }
            }
            Error::Corrupt { what, offset, expected, found, .. } => {
                let plain = (*what == Structure::Current).then(|| format!("{what} has {found}"));
                Self { plain, ..Self::new(code_of(*what), *offset, expected.as_ref(), found.as_ref()) }
            }
            Error::Unsupported { offset, expected, found, .. } => {
                Self::new(Code::Unsupported, *offset, expected.as_ref(), found.as_ref())
            }
            Error::OtherFormat { format, .. } => {
                Self::new(Code::of_format(*format), None, "a file of LevelDB's", format.to_string())
            }
            Error::Limit { what, offset, limit, found, .. } => {
                // The option `--max-output` limits blocks, not the tables of a MANIFEST.
                let option = if *what == "live tables" { "" } else { " (--max-output)" };
                let expected = format!("a {what} of at most {limit} bytes{option}");
                Self::new(Code::Limit, *offset, expected, format!("{found} bytes"))
            }
            other => Self::new(Code::Unreadable, None, "a block that can be read", other.to_string()),
        }
    }
}

fn code_of(structure: Structure) -> Code {
    match structure {
        Structure::FilterBlock | Structure::FilterOffset | Structure::Filter => Code::FilterMalformed,
        Structure::Table | Structure::Footer => Code::NotATable,
        Structure::BlockHandle => Code::BadHandle,
        Structure::Checksum => Code::Checksum,
        Structure::CompressionType | Structure::Compressed => Code::BadCompression,
        Structure::InternalKey => Code::ShortKey,
        Structure::Current => Code::CurrentDamaged,
        Structure::LogRecord | Structure::VersionEdit | Structure::Manifest => Code::ManifestDamaged,
        _ => Code::BadBlock,
    }
}

/// The first problems about a table or a folder of each code, and the number of all of each code.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Problems {
    list: Vec<Problem>,
    /// By code.
    counts: Vec<(Code, u64)>,
}

impl Problems {
    /// The number of problems of this code so far.
    fn count(&mut self, code: Code) -> &mut u64 {
        let known = self.counts.iter().position(|(counted, _)| *counted == code);
        let at = known.unwrap_or_else(|| {
            self.counts.push((code, 0));
            self.counts.len() - 1
        });
        &mut self.counts[at].1
    }

    /// Adds a problem, which is built only if it is kept.
    pub fn add(&mut self, code: Code, problem: impl FnOnce() -> Problem) {
        let count = self.count(code);
        *count += 1;
        if *count <= MAX_OF_A_CODE {
            self.list.push(problem());
        }
    }

    /// Adds a problem.
    pub fn push(&mut self, problem: Problem) {
        self.add(problem.code, || problem);
    }

    /// Adds the problems of another list.
    pub fn append(&mut self, mut other: Self) {
        for problem in std::mem::take(&mut other.list) {
            *other.count(problem.code) -= 1;
            self.push(problem);
        }
        // Those that are not listed.
        other.counts.into_iter().for_each(|(code, more)| *self.count(code) += more);
    }

    /// Returns true if there are no problems.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The first of all problems. `None`: there are no problems.
    pub fn first(&self) -> Option<&Problem> {
        self.list.first()
    }

    /// The number of problems of each code that occurs, in the order in which the codes first occurred.
    pub fn counts(&self) -> impl Iterator<Item = (Code, u64)> {
        self.counts.iter().copied()
    }

    /// The number of all problems.
    pub fn total(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    /// The worst verdict that a problem leads to.
    pub fn verdict(&self) -> Verdict {
        self.counts().map(|(code, _)| code.verdict()).max().unwrap_or_default()
    }

    /// The first problem of each code, with the number of all of that code.
    pub fn first_of_each(&self) -> impl Iterator<Item = (&Problem, u64)> {
        let first = |code| self.list.iter().find(move |problem| problem.code == code);
        self.counts().filter_map(move |(code, count)| Some((first(code)?, count)))
    }

    /// The first problem with the worst verdict. `None`: there are no problems.
    pub fn worst(&self) -> Option<&Problem> {
        let verdict = self.verdict();
        self.list.iter().find(|problem| problem.code.verdict() == verdict)
    }

    /// The kind of the worst problem.
    pub fn kind(&self) -> Option<ErrorKind> {
        self.worst().map(|problem| problem.kind)
    }

    /// Returns the problems kept. If some were not kept, a last problem gives their number for each code.
    pub fn to_list(&self) -> Vec<Problem> {
        let mut list = self.list.clone();
        let more: Vec<String> = self
            .counts
            .iter()
            .filter(|(_, count)| *count > MAX_OF_A_CODE)
            .map(|(code, count)| format!("{} more of {}", count - MAX_OF_A_CODE, code.name()))
            .collect();
        if !more.is_empty() {
            let expected = format!("at most {MAX_OF_A_CODE} problems of one code to list");
            list.push(Problem::new(Code::More, None, expected, more.join(", ")));
        }
        list
    }
}

#[cfg(test)]
mod tests;
