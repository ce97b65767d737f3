//! Databases of other formats than LevelDB's, and encrypted ones, recognized before anything in them is judged.
//! Files copied from elsewhere may mislead, so LevelDB's own tables that a sound MANIFEST lists outweigh them.

use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, fmt};

use bytes::Bytes;
use filterblock::database::{Database, FileKind, Manifest};
use filterblock::table::ReadAt;
use filterblock::{Error, OtherFormat};

/// The maximum numbers of tables, MANIFESTs and logs that are opened.
const TABLES: usize = 16;
const MANIFESTS: usize = 4;
const LOGS: usize = 64;
/// The number of bytes at the start of a MANIFEST in which tags of another format are looked for.
const EDITS: usize = 64 << 10;
/// The number of bytes of OPTIONS that are searched for the name of the program.
const OPTIONS: usize = 512;
/// The beginning of the names of Pebble's own files.
const MARKER: &str = "marker.";

/// The last eight bytes of tables.
const LEVELDB: [u8; 8] = 0xdb47_7524_8b80_fb57_u64.to_le_bytes();
const ROCKSDB: [u8; 8] = 0x88e2_41b7_85f4_cff7_u64.to_le_bytes();
const PEBBLE: [u8; 8] = *b"\xf0\x9f\xaa\xb3\xf0\x9f\xaa\xb3";

/// The other format of a database or a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundFormat {
    format: OtherFormat,
    /// The logs of an encrypted database that are not encrypted. `None`: a single file was looked at.
    logs: Option<Vec<PathBuf>>,
}

/// Opens a file of a folder. `None`: it cannot be opened.
pub(crate) type Open<'a> = dyn Fn(&Path) -> Option<Box<dyn ReadAt>> + 'a;

/// A file, of the kind and number that its name gives.
pub(crate) type SeenFile<'a> = (FileKind, u64, &'a Path);

impl FoundFormat {
    /// The other format of a single file, if encrypted or a MANIFEST. The error of opening a table names its format.
    pub(crate) fn of_file(path: &Path, source: &dyn ReadAt) -> Option<Self> {
        let name = path.file_name().and_then(|name| FileKind::parse(name.to_str()?));
        let vote = match name {
            Some((FileKind::Manifest, _)) => Vote::of_manifest(source)?,
            _ => OtherFormat::of_start(&start_of(source)?)
                .map(|format| Vote::of_table(source).unwrap_or(Vote::Other(format)))?,
        };
        if let Vote::Other(format) = vote { Some(Self { format, logs: None }) } else { None }
    }

    pub(crate) fn of_database(database: &Database, open: &Open<'_>) -> Option<Self> {
        let manifest = database.manifest();
        let told = manifest.err().and_then(told_by);
        // With a sound MANIFEST, CURRENT has been read.
        let files = database.files().iter();
        let files = files.filter(|file| file.kind != FileKind::Current || manifest.is_err());
        let files: Vec<_> = files.map(|file| (file.kind, file.number, &*file.path)).collect();
        Self::of_files(manifest.ok(), told, &files, open)
    }

    /// The other format of these files. `told`: the format that an error of CURRENT or the MANIFEST tells.
    pub(crate) fn of_files(
        manifest: Option<&Manifest>,
        told: Option<OtherFormat>,
        files: &[SeenFile<'_>],
        open: &Open<'_>,
    ) -> Option<Self> {
        let evidence = Evidence { manifest, told, files, open };
        let format = evidence.format()?;
        let logs = evidence.of_kind(FileKind::Log).take(LOGS).filter(|_| format.is_encrypted());
        let is_plain = |path: &&Path| {
            let start = evidence.start(path).unwrap_or_default();
            // The type of the first record's first fragment.
            OtherFormat::of_start(&start).is_none() && matches!(start.get(6), Some(1 | 2))
        };
        Some(Self { format, logs: Some(logs.filter(is_plain).map(Path::to_owned).collect()) })
    }

    /// The format.
    pub const fn format(&self) -> OtherFormat {
        self.format
    }

    pub(crate) fn plain_logs(&self) -> Option<&[PathBuf]> {
        self.logs.as_deref()
    }
}

impl fmt::Display for FoundFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { format, .. } = self;
        write!(f, "{format}{}", if format.is_encrypted() { "" } else { "; filterblock reads LevelDB" })
    }
}

/// The format that an error of CURRENT or a MANIFEST tells.
pub(crate) fn told_by(error: &Error) -> Option<OtherFormat> {
    match error.without_path() {
        Error::OtherFormat { format, .. } => Some(*format),
        _ => None,
    }
}

struct Evidence<'a> {
    manifest: Option<&'a Manifest>,
    told: Option<OtherFormat>,
    files: &'a [SeenFile<'a>],
    open: &'a Open<'a>,
}

enum Vote {
    /// A table of LevelDB's.
    Own,
    Other(OtherFormat),
}

impl Evidence<'_> {
    fn format(&self) -> Option<OtherFormat> {
        let current = || OtherFormat::of_start(&self.start(self.of_kind(FileKind::Current).next()?)?);
        let found = self.told.or_else(current).or_else(|| {
            let (own, others) = self.votes();
            let most = others.into_iter().max_by_key(|(_, votes)| *votes);
            let voted = most.filter(|(format, votes)| *votes > own && (*votes > 1 || !format.is_encrypted()));
            let is_named = self.names() > usize::from(own > 0);
            voted.map(|(format, _)| format).or(is_named.then_some(OtherFormat::RocksDb))
        })?;
        Some(if found == OtherFormat::RocksDb && self.is_pebble() { OtherFormat::Pebble } else { found })
    }

    /// Counts LevelDB's tables, and the tables and MANIFESTs of other formats. With a sound MANIFEST, only its tables
    /// count, and the first one of LevelDB's is enough.
    fn votes(&self) -> (usize, BTreeMap<OtherFormat, usize>) {
        let (mut own, mut others) = (0, BTreeMap::new());
        let is_database = self.files.iter().any(|(kind, ..)| {
            matches!(kind, FileKind::Current | FileKind::Manifest | FileKind::Log | FileKind::Foreign)
        });
        let mut add = |vote| match vote {
            Vote::Own => own += 1,
            Vote::Other(format) if is_database || format.is_encrypted() => {
                *others.entry(format).or_default() += 1
            }
            Vote::Other(_) => {}
        };
        if self.manifest.is_none() {
            // The newest ones come last.
            let manifests: Vec<_> = self.of_kind(FileKind::Manifest).collect();
            let sources = manifests.iter().rev().take(MANIFESTS).filter_map(|path| (self.open)(path));
            sources.filter_map(|source| Vote::of_manifest(&*source)).for_each(&mut add);
        }
        let is_used = |number| self.manifest.is_none_or(|manifest| manifest.table(number).is_some());
        let tables =
            self.files.iter().filter(|(kind, number, _)| *kind == FileKind::Table && is_used(*number));
        for (.., path) in tables.take(TABLES) {
            let Some(vote) = (self.open)(path).and_then(|source| Vote::of_table(&*source)) else { continue };
            let is_enough = self.manifest.is_some() && matches!(vote, Vote::Own);
            add(vote);
            if is_enough {
                break;
            }
        }
        (own, others)
    }

    /// The number of kinds of files that LevelDB does not have.
    fn names(&self) -> usize {
        let has = |beginning: &&str| self.foreign(beginning).is_some();
        ["OPTIONS-", "IDENTITY", MARKER].into_iter().filter(has).count()
    }

    fn is_pebble(&self) -> bool {
        let options = || read(&*(self.open)(self.foreign("OPTIONS-")?)?, 0, OPTIONS);
        let is_pebbles = |options: Bytes| options.windows(6).any(|word| word == b"pebble");
        self.foreign(MARKER).is_some() || options().is_some_and(is_pebbles)
    }

    /// A file whose name begins so, and is not one of LevelDB's.
    fn foreign(&self, beginning: &str) -> Option<&Path> {
        let begins = |path: &&Path| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(beginning))
        };
        self.of_kind(FileKind::Foreign).find(begins)
    }

    fn of_kind(&self, kind: FileKind) -> impl Iterator<Item = &Path> {
        self.files.iter().filter(move |file| file.0 == kind).map(|file| file.2)
    }

    fn start(&self, path: &Path) -> Option<Bytes> {
        start_of(&*(self.open)(path)?)
    }
}

impl Vote {
    fn of_manifest(source: &dyn ReadAt) -> Option<Self> {
        let start = read(source, 0, EDITS)?;
        let tag = || told_by(&Manifest::scan(&*start, EDITS).damage?);
        OtherFormat::of_start(&start).or_else(tag).map(Self::Other)
    }

    fn of_table(source: &dyn ReadAt) -> Option<Self> {
        let end = read(source, source.len().ok()?.checked_sub(8)?, 8)?;
        Some(Self::Other(match <[u8; 8]>::try_from(&*end).ok()? {
            LEVELDB => return Some(Self::Own),
            ROCKSDB => OtherFormat::RocksDb,
            PEBBLE => OtherFormat::Pebble,
            _ => OtherFormat::of_start(&start_of(source)?)?,
        }))
    }
}

fn start_of(source: &dyn ReadAt) -> Option<Bytes> {
    read(source, 0, OtherFormat::START_LEN)
}

fn read(source: &dyn ReadAt, offset: u64, most: usize) -> Option<Bytes> {
    let left = source.len().ok()?.checked_sub(offset)?;
    source.read_at(offset, usize::try_from(left).map_or(most, |left| left.min(most))).ok()
}
