//! Files of a database that are no tables: logs, MANIFESTs and others, recognized by their records or their names.

use std::io::Read;
use std::path::Path;

use filterblock::database::{FileKind, LogReader, LogWrites, VersionEdit};
use filterblock::table::{Footer, ReadAt};

use super::storage::{LocalStorage, Storage as _};
use super::windowed::Sequential;

/// The length in bytes of the magic number at the end of a table.
const MAGIC_LEN: u64 = 8;
/// The ends of tables: LevelDB's, RocksDB's and Pebble's.
const MAGICS: [[u8; MAGIC_LEN as usize]; 3] = [
    Footer::MAGIC.to_le_bytes(),
    0x88e2_41b7_85f4_cff7_u64.to_le_bytes(),
    *b"\xf0\x9f\xaa\xb3\xf0\x9f\xaa\xb3",
];
/// The longest record, in bytes, whose kind is found out.
const MAX_RECORD: usize = 64 << 20;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OtherFile {
    Log,
    Manifest,
    Current,
    /// LevelDB's messages, `LOG` or `LOG.old`.
    Messages,
    Lock,
}

impl OtherFile {
    /// `None`: the file ends as a table does, or has neither a sound record nor a known name. Reads up to a record.
    pub(crate) fn of(path: &Path, source: &dyn ReadAt) -> Option<Self> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let named = match FileKind::parse(name) {
            Some((FileKind::Current, _)) => return Some(Self::Current),
            Some((FileKind::Lock, _)) => return Some(Self::Lock),
            Some((FileKind::InfoLog, _)) => return Some(Self::Messages),
            Some((FileKind::Log, _)) => Some(Self::Log),
            Some((FileKind::Manifest, _)) => Some(Self::Manifest),
            _ => None,
        };
        let len = source.len().unwrap_or_default();
        if let Some(at) = len.checked_sub(MAGIC_LEN)
            && let Ok(end) = source.read_at(at, MAGIC_LEN as usize)
            && MAGICS.iter().any(|magic| end == magic[..])
        {
            return None;
        }
        Self::by_records(Sequential::new(source)).or(named).or_else(|| {
            // A log of another name in which nothing was written yet.
            let is_log = path.extension().is_some_and(|extension| extension == "log");
            (is_log && is_blank(source)).then_some(Self::Log)
        })
    }

    /// The kind by the first record with a right checksum that is a batch of writes or an edit of a MANIFEST.
    pub(crate) fn by_records(source: impl Read) -> Option<Self> {
        let mut log = LogReader::new(source).max_record_len(MAX_RECORD);
        loop {
            match log.read_record() {
                Ok(Some(record)) if is_batch(record.data) => return Some(Self::Log),
                Ok(Some(record)) if !record.data.is_empty() && VersionEdit::decode(record).is_ok() => {
                    return Some(Self::Manifest);
                }
                Ok(None) | Err(filterblock::Error::Io { .. }) => return None,
                Ok(Some(_)) | Err(_) => {}
            }
        }
    }

    /// Why a command that needs a table or a database cannot use the file.
    pub(crate) const fn refusal(self) -> &'static str {
        match self {
            Self::Log => "a log; give a database or a table",
            Self::Manifest => "a MANIFEST; give a database or a table",
            Self::Current => "names the MANIFEST of its database; give the folder instead",
            Self::Messages => "LevelDB's own messages, as text; give the folder instead",
            Self::Lock => "the file that programs lock; give the folder instead",
        }
    }
}

/// Returns true if the file at `path`, in the local file system, is a log.
pub fn is_log(path: &Path) -> bool {
    LocalStorage.open(path).is_ok_and(|file| OtherFile::of(path, &file) == Some(OtherFile::Log))
}

/// Returns true if the file's name is that of a log, or ends in `.log`.
pub(crate) fn is_named_log(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.and_then(FileKind::parse).is_some_and(|(kind, _)| kind == FileKind::Log)
        || path.extension().is_some_and(|extension| extension == "log")
}

/// Returns true if a record's data are a batch of writes, as long as its count says.
fn is_batch(data: &[u8]) -> bool {
    let mut log = filterblock::database::LogWriter::new(Vec::new());
    if data.len() < 12 || log.add_record(data).is_err() {
        return false;
    }
    let framed = log.into_writer();
    let mut writes = LogWrites::new(&framed[..]);
    loop {
        match writes.next() {
            Ok(true) => {}
            Ok(false) => return true,
            Err(_) => return false,
        }
    }
}

fn is_blank(source: &dyn ReadAt) -> bool {
    let mut contents = Sequential::new(source);
    let mut buffer = [0; 4096];
    loop {
        match contents.read(&mut buffer) {
            Ok(0) => return true,
            Ok(read) if buffer.iter().take(read).all(|&byte| byte == 0) => {}
            _ => return false,
        }
    }
}
