//! Faults of a database as a whole: files that its MANIFEST ought to list, or that are missing.

use super::{Code, Problem};

/// A fault of a database, for which the next program that opens it may delete entries or miss them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StateFault {
    /// A table that the MANIFEST does not list has entries that no file in use has.
    Unlisted(UnlistedTables),
    /// The log of this name is missing, though the MANIFEST names it.
    LogMissing(String),
    /// The MANIFEST cannot be used, for this reason. Only scans have this fault.
    NoManifest(String),
}

/// Tables that the MANIFEST may have missed, one of which has entries that no file in use has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnlistedTables {
    /// The name of the MANIFEST.
    pub manifest: String,
    /// The part of the MANIFEST that is lost; `None`: the MANIFEST is whole, and older than the tables.
    pub lost: Option<LostRecords>,
    /// The names of the first of these tables.
    pub tables: Vec<String>,
    /// There may be more of these tables.
    pub has_more: bool,
    /// One of them is known to have such entries. Otherwise, their key order is unknown, or they cannot be read here.
    pub is_certain: bool,
}

/// A part of a MANIFEST that is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LostRecords {
    /// Everything from this offset on.
    End(u64),
    /// The records of a block from this offset on. There are records after it.
    Within(u64),
}

impl LostRecords {
    const fn offset(self) -> u64 {
        let (Self::End(offset) | Self::Within(offset)) = self;
        offset
    }
}

impl UnlistedTables {
    /// Describes the MANIFEST; `None`: it is whole.
    fn loss(&self) -> Option<String> {
        Some(match self.lost? {
            LostRecords::End(_) => format!("the end of {} is missing", self.manifest),
            LostRecords::Within(_) => format!("a part of {} is missing", self.manifest),
        })
    }

    /// The last follows `conjunction`.
    fn names(&self, conjunction: &str) -> String {
        let mut names = self.tables.clone();
        names.extend(self.has_more.then(|| "others".to_owned()));
        match names.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, before)) => format!("{} {conjunction} {last}", before.join(", ")),
            None => String::new(),
        }
    }

    const fn is_one(&self) -> bool {
        self.tables.len() == 1 && !self.has_more
    }
}

impl StateFault {
    /// The code of the problem.
    pub const fn code(&self) -> Code {
        match self {
            Self::Unlisted(_) => Code::ManifestCut,
            Self::LogMissing(_) => Code::LogMissing,
            Self::NoManifest(_) => Code::ManifestDamaged,
        }
    }

    /// The fault in a few words.
    pub fn title(&self) -> String {
        match self {
            Self::Unlisted(of) => {
                of.loss().unwrap_or_else(|| format!("{} is older than {}", of.manifest, of.names("and")))
            }
            Self::LogMissing(log) => format!("log {log} is missing"),
            Self::NoManifest(why) => why.clone(),
        }
    }

    /// The fault, and its meaning.
    pub fn text(&self) -> String {
        match self {
            Self::Unlisted(of) => {
                let (tables, is) = (of.names("and"), if of.is_one() { "is" } else { "are" });
                let known = if of.is_certain {
                    ""
                } else {
                    "; whether entries of their own are in them is not known"
                };
                match of.loss() {
                    Some(loss) => format!("{loss}: it does not list {tables}, which {is} newer{known}"),
                    None => format!("{} does not list {tables}, which {is} newer{known}", of.manifest),
                }
            }
            Self::LogMissing(log) => {
                format!(
                    "log {log} is missing: the newest writes may have been in it, and LevelDB opens the database without it"
                )
            }
            Self::NoManifest(why) => why.clone(),
        }
    }

    /// The same below the name of the MANIFEST.
    pub fn in_manifest(&self) -> String {
        let text = self.text();
        match self {
            Self::Unlisted(UnlistedTables { lost: Some(lost), .. }) => {
                let (part, on) = match lost {
                    LostRecords::End(_) => ("its end is missing", " on"),
                    LostRecords::Within(_) => ("a part is missing", ""),
                };
                let (_, meaning) = text.split_once(": ").unwrap_or_default();
                format!("{part}, from offset {}{on}: {meaning}", lost.offset())
            }
            _ => text,
        }
    }

    /// The harm that the program of the database would do, as a sentence. `None`: none that is known.
    pub fn warning(&self) -> Option<String> {
        let Self::Unlisted(of) = self else { return None };
        let tables = of.names("and");
        Some(format!("Do not open the database with its program: LevelDB would overwrite or delete {tables}"))
    }

    /// The fault, and the entries that a scan does not show because of it.
    pub fn in_scan(&self) -> String {
        match self {
            Self::Unlisted(of) => {
                let have = match (of.is_certain, of.is_one()) {
                    (false, _) => "may have",
                    (true, true) => "has",
                    (true, false) => "have",
                };
                format!("{}; entries that only {} {have} are not shown", self.title(), of.names("and"))
            }
            Self::LogMissing(_) => format!("{}; its writes are not shown", self.title()),
            Self::NoManifest(why) => {
                format!("{why}, so each table and log is shown by itself, with old values and deleted keys")
            }
        }
    }

    /// The fault, and what it means for a lookup. `found`: the lookup has found a value.
    pub fn in_lookup(&self, found: bool) -> String {
        match (self, found) {
            (Self::Unlisted(of), true) => {
                format!("{}; a newer value may be in {}", self.title(), of.names("or"))
            }
            (Self::Unlisted(of), false) => {
                let (tables, them) = (of.names("or"), if of.is_one() { "it" } else { "them" });
                match of.loss() {
                    Some(loss) => {
                        format!("not found, but it may be in {tables}: {loss}, and it does not list {them}")
                    }
                    None => {
                        format!("not found, but it may be in {tables}: {} does not list {them}", of.manifest)
                    }
                }
            }
            (Self::LogMissing(_), true) => format!("{}; it may have had a newer value", self.title()),
            (Self::LogMissing(log), false) => {
                format!("not found, but it may have been in log {log}, which is missing")
            }
            (Self::NoManifest(why), true) => format!("{why}; there may be a newer value"),
            (Self::NoManifest(why), false) => {
                format!("not found, but {why}, so it may be in a file that is missing, too")
            }
        }
    }

    /// The problem of `verify`.
    pub fn problem(&self) -> Problem {
        let (offset, expected) = match self {
            Self::Unlisted(of) => {
                (of.lost.map(LostRecords::offset), format!("a MANIFEST that lists {}", of.names("and")))
            }
            Self::LogMissing(log) => (None, format!("the log {log}, which the MANIFEST names")),
            Self::NoManifest(_) => (None, "a MANIFEST that can be used".to_owned()),
        };
        let problem = Problem::new(self.code(), offset, expected, self.text());
        Problem { plain: Some(self.text()), title: Some(self.title()), ..problem }
    }
}
