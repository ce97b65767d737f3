//! The report of a repair: what is salvaged, corrected, lost or may be stale, and the limits of what is known.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use super::frame::{ErrorKind, Frame, Line, Subject};
use super::strings::{Hex, Name, json_path, write_line};

/// A reason why more may be missing than is reported.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Unknown {
    /// Tables or logs, and so entries of any key.
    Files(String),
    /// Writes of logs.
    Writes(String),
}

impl Unknown {
    /// The reason in words.
    pub fn text(&self) -> &str {
        let (Self::Files(text) | Self::Writes(text)) = self;
        text
    }
}

/// The outcome of a repair.
#[derive(Default, Debug)]
pub struct RepairReport {
    /// The database as a whole.
    pub data: RepairData,
    /// The files, in the order of their names.
    pub files: Vec<OfFile<RepairedFile>>,
    /// The losses.
    pub losses: Vec<OfFile<LossReport>>,
    /// The first 10,000 keys that may be stale, each with the file that its version is from.
    pub stale_keys: Vec<OfFile<StaleKey>>,
    /// Facts that are good to know.
    pub notes: Vec<String>,
    /// Folder for the new database that a dry run was given.
    pub wanted: Option<PathBuf>,
    /// The options of the run, as arguments of the command.
    pub arguments: Vec<String>,
    /// Why the run did not succeed. `None`: it succeeded.
    pub error: Option<String>,
    /// The kind of fault in the files that prevents the repair. `None`: no fault prevents it.
    pub error_kind: Option<ErrorKind>,
}

/// What a report says of a file of the database, or of a part of it.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct OfFile<T> {
    /// The file's name.
    pub name: String,
    /// What it says.
    pub data: T,
}

/// The line of JSON of a database.
#[derive(Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RepairData {
    /// `repaired` and `dry-run`: the run did just that. `refused`: the request or the state of the files does not allow
    /// it. `in-use`: another program has the database open. `interrupted`: a signal ended the run. `failed`: any other
    /// error. There is a new database only with `repaired`, or if the last sync failed.
    pub status: RepairStatus,
    /// True if it is certain that nothing is lost and no key may be stale.
    pub is_complete: bool,
    /// True if something is wrong with the old database: a file, the names of files, or what the MANIFEST says of them.
    pub is_damaged: bool,
    /// Reasons why more may be missing than is reported. Empty: it is certain that all losses are reported, or the run
    /// ended before the losses were known.
    pub unknown: Vec<Unknown>,
    /// Name of the trusted MANIFEST. `None`: no MANIFEST is trusted, so that the entries of files decide which files
    /// are live, or the run ended before this was known.
    pub manifest: Option<String>,
    /// Name of the comparator that orders the keys. `None`: the run ended before it was known.
    pub comparator: Option<Name>,
    /// True if neither `--comparator` nor a MANIFEST names the comparator, so that the order is inferred from the
    /// tables or, without entries in tables, taken to be LevelDB's.
    pub is_comparator_assumed: bool,
    /// All files and keys in numbers.
    #[serde(flatten)]
    pub sums: RepairSums,
    /// Name of the policy of the new filters. `None`: no filters were made.
    pub policy: Option<String>,
    /// Bits a key of the new filters. `None`: no filters were made.
    pub bits_per_key: Option<u32>,
    /// True if every block, entry and filter of the new tables was read back.
    pub verified: bool,
    /// Folder of the new database. `None`: no new database was made, or the run did not succeed.
    #[serde(serialize_with = "path")]
    pub target: Option<PathBuf>,
}

/// The outcome of a repair, in a word.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RepairStatus {
    /// There is a new database.
    #[default]
    Repaired,
    /// Nothing was written: the report shows what a repair would do.
    DryRun,
    /// The request or the state of the files does not allow the run.
    Refused,
    /// Another program has the database open.
    InUse,
    /// A signal asked the program to stop.
    Interrupted,
    /// An error of the system, or a file that cannot be read, prevented the run.
    Failed,
}

/// A repair in numbers. Sizes are in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RepairSums {
    /// Number of keys that the new database has or, in a dry run, would have.
    pub keys: u64,
    /// Number of wrong bits that are corrected.
    pub bits_corrected: u64,
    /// Number of lost ranges of live tables and live logs.
    pub losses: u64,
    /// Number of keys, deleted ones included, of which a newer version may be lost in a table, or whose version is not
    /// covered by a checksum.
    pub maybe_stale: u64,
    /// Number of keys that may be stale whose newest version is from an obsolete file.
    pub from_obsolete: u64,
    /// Number of keys that may be stale, deleted ones not counted, that are left out of the new database.
    pub left_out: u64,
    /// Number of operations that are lost from logs. `None`: it is not known.
    pub lost_writes: Option<u64>,
    /// Greatest valid sequence number found anywhere, which the new database takes over.
    pub last_sequence: u64,
    /// Number of new tables. 0 in a dry run.
    pub tables: u64,
    /// Bytes of all tables and logs before the repair.
    pub old_size: u64,
    /// Bytes of all new tables. 0 in a dry run.
    pub new_size: u64,
}

/// A file of the damaged database.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RepairedFile {
    /// `table`, `log` or `manifest`.
    pub kind: RepairedKind,
    /// `live`: the file's entries count. `obsolete`: they count only where entries of live files are lost.
    /// `partly-obsolete`: this is so only for those entries of the file from which other tables were made. `used`: the
    /// MANIFEST that decides. `not-used`: another MANIFEST. `missing`: a live table that does
    /// not exist, any table that cannot be read, or a table's or log's name without a file behind it, unless the
    /// MANIFEST that is used shows that the file was obsolete.
    pub role: RepairRole,
    /// Level that a MANIFEST has the table on. `None`: no MANIFEST has it, or the file is not a table.
    pub level: Option<u8>,
    /// Size of the file in bytes. `None`: there is no such file.
    pub size: Option<u64>,
    /// Number of entries read from a table, of writes read from a log, or of records of a MANIFEST.
    pub entries: u64,
    /// First user key of a table's sound blocks, in hexadecimal. `None`: the table has no sound blocks, or the file is
    /// not a table.
    #[serde(serialize_with = "key")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Hex<'static>>"))]
    pub first_key: Option<Vec<u8>>,
    /// Last user key of a table's sound blocks, in hexadecimal. `None`: the table has no sound blocks, or the
    /// file is not a table.
    #[serde(serialize_with = "key")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Hex<'static>>"))]
    pub last_key: Option<Vec<u8>>,
    /// Offsets of the bytes in each of which one wrong bit was corrected.
    pub corrected: Vec<u64>,
    /// Offsets of the places in a log that are damaged or torn; only the first 1,000 are listed. If sequence numbers
    /// are missing at such a place, writes are lost.
    pub damaged: Vec<u64>,
    /// Number of lost ranges of a table. For a log, number of damaged places, of which at most 1,000 are counted. For a
    /// MANIFEST, 1 if it is damaged or contradicts the other files, and otherwise 0.
    pub losses: u64,
    /// The file that a copy of another name is taken for; the reason why the blocks of a table were searched for without
    /// its footer, why a table may have had entries though the MANIFEST does not list it, why the file cannot be read, or
    /// why a MANIFEST is not used; that the keys of a table are out of order, or overlap those of another on its
    /// level. `None`: there is nothing of this kind to explain.
    pub note: Option<String>,
}

/// A kind of file that a repair reads.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RepairedKind {
    /// A table.
    #[default]
    Table,
    /// A log.
    Log,
    /// A MANIFEST.
    Manifest,
}

/// A kind of file that keys can be lost from.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LossKind {
    /// A table.
    #[default]
    Table,
    /// A log.
    Log,
}

/// The role of a file in the damaged database.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RepairRole {
    /// The file's entries count.
    #[default]
    Live,
    /// The file's entries count only where entries of live files are lost.
    Obsolete,
    /// The file's entries from which other tables were made count only where entries of live files are lost.
    PartlyObsolete,
    /// A live table that does not exist, any table that cannot be read, or the name of a table or log that may be live,
    /// without a file behind it.
    Missing,
    /// The MANIFEST that decides which files are live.
    Used,
    /// Another MANIFEST.
    NotUsed,
}

/// A loss from a table or a log.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LossReport {
    /// Kind of the file, `table` or `log`.
    pub kind: LossKind,
    /// First user key that may be affected, in hexadecimal. `None`: the range has no lower bound.
    #[serde(serialize_with = "key")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Hex<'static>>"))]
    pub first_key: Option<Vec<u8>>,
    /// Last user key that may be affected, in hexadecimal. `None`: the range has no upper bound.
    #[serde(serialize_with = "key")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Hex<'static>>"))]
    pub last_key: Option<Vec<u8>>,
    /// Offset in the file at which the loss begins. `None`: it is not known.
    pub offset: Option<u64>,
    /// Number of bytes that are lost. `None`: it is not known.
    pub bytes: Option<u64>,
    /// Number of writes of a log that are lost. `None`: it is not known, or the file is a table.
    pub writes: Option<u64>,
    /// Last sequence number known before the loss, if the loss is in a log. `None`: there is no such number, or the
    /// file is a table.
    pub last_sequence_before: Option<u64>,
    /// First sequence number that was read after the loss, if the loss is in a log. `None`: there is no such number, or
    /// the file is a table.
    pub first_sequence_after: Option<u64>,
    /// Number of keys of which a newer version may be lost in this range.
    pub maybe_stale: u64,
    /// Number of keys in `maybe_stale` whose newest version is from an obsolete file.
    pub from_obsolete: u64,
    /// Number of keys in this range for which sound filters rule out a lost version.
    pub ruled_out: u64,
    /// Reason for the loss.
    pub why: String,
}

/// A key of which a newer version may be lost, or whose version no checksum covers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StaleKey {
    /// The user key in hexadecimal.
    #[serde(serialize_with = "hex")]
    #[cfg_attr(feature = "schema", schemars(with = "Hex<'static>"))]
    pub key: Vec<u8>,
    /// Sequence number of the newest version that may be valid.
    pub sequence: u64,
    /// True if the newest version that may be valid is a deletion.
    pub is_deletion: bool,
    /// True if the newest version that may be valid is from an obsolete file.
    pub is_obsolete: bool,
    /// True with `--prefer newest`: if the version is a value, it goes into the new database, and a deleted key stays
    /// deleted.
    pub is_kept: bool,
}

fn path<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_deref().map(json_path).serialize(serializer)
}

fn key<S: Serializer>(key: &Option<Vec<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
    key.as_deref().map(Hex).serialize(serializer)
}

fn hex<S: Serializer>(key: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    Hex(key).serialize(serializer)
}

impl RepairReport {
    /// How the comparator was found, if neither an option nor a MANIFEST names it; follows its name.
    pub fn comparator_inferred(&self) -> Option<&'static str> {
        let has_order =
            |file: &OfFile<RepairedFile>| file.data.kind == RepairedKind::Table && file.data.entries > 0;
        self.data.is_comparator_assumed.then(|| match self.files.iter().any(has_order) {
            true => "by the order of the tables",
            false => "which is assumed, as no table has entries",
        })
    }

    /// Writes a line of JSON for each of `files`, `losses` and `stale_keys`, and then one for the database at `dir`.
    ///
    /// # Errors
    ///
    /// Those of `to`.
    pub fn write_json(&self, dir: &Path, mut to: impl Write) -> io::Result<()> {
        let subject = Subject::of(dir);
        fn line<T: Serialize>(
            object: &'static str,
            OfFile { name, data }: &OfFile<T>,
            subject: Subject<'_>,
            to: impl Write,
        ) -> io::Result<()> {
            let path = subject.path.join(name);
            let frame = Frame::new(object, &Subject { path: &path, ..subject }, None);
            write_line(to, &Line { frame, of: data })
        }
        self.files.iter().try_for_each(|of| line("file", of, subject, &mut to))?;
        self.losses.iter().try_for_each(|of| line("loss", of, subject, &mut to))?;
        self.stale_keys.iter().try_for_each(|of| line("key", of, subject, &mut to))?;
        let frame = Frame::new("database", &subject, self.error_kind).error(self.error.as_deref());
        let frame = frame.note(self.notes.iter().cloned());
        write_line(to, &Line { frame, of: &self.data })
    }
}
