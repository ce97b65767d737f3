//! A storage whose tables and logs are read with wrong bits corrected.

use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use filterblock::database::{Database, FileKind};
use filterblock::table::{ReadAt as _, ReadOptions, known_comparator};

use super::key_orders::CandidateOrders;
use super::log::{self, CorrectedLog};
use super::table::Correcting;
use crate::audit::reading::decode_limit;
use crate::engine::Engine;
use crate::report::ErrorKind;
use crate::walk::{Folder, Source, Storage, Windowed, is_named_log};

/// The maximum number of corrections of one path that are named.
const MAX_NAMED: usize = 64;

/// Another storage, with one wrong bit corrected in each block of a table, in its footer, and in each record of a log.
pub(crate) struct CorrectedStorage {
    inner: Arc<dyn Storage>,
    options: ReadOptions,
    max_output: Option<u64>,
    /// Of the tables that are opened from now on.
    orders: Mutex<CandidateOrders>,
    found: Arc<Mutex<Found>>,
}

/// The offsets of corrected bytes, by file and by the offset of the block or record that they are in.
#[derive(Default)]
struct Found {
    bits: BTreeMap<PathBuf, BTreeMap<u64, u64>>,
    count: usize,
    /// The files and offsets of corrected bytes that have not been reported yet.
    untold: Vec<(PathBuf, u64)>,
}

impl CorrectedStorage {
    /// That of the engine, with its limits.
    pub(crate) fn of(engine: &Engine) -> Self {
        let (inner, options) = (Arc::clone(engine.files.storage()), engine.read.clone());
        let orders = Mutex::new(CandidateOrders::known());
        Self { inner, options, max_output: engine.max_output, orders, found: Arc::default() }
    }

    /// Takes the order of the database's keys, if its MANIFEST names one, for its tables.
    pub(crate) fn begin(&self, database: &Database) {
        let order = database.comparator().and_then(known_comparator);
        *lock(&self.orders) = order.map_or_else(CandidateOrders::known, |order| CandidateOrders::of(&order));
    }

    /// The folder with wrong bits of its MANIFEST corrected, if the MANIFEST can be used then.
    pub(crate) fn folder(&self, folder: &Folder) -> Option<Folder> {
        let (path, error) = folder.manifest_error()?;
        let (kind, _) = FileKind::parse(path.file_name()?.to_str()?)?;
        let is_damaged = ErrorKind::of(error) == ErrorKind::Damaged && kind == FileKind::Manifest;
        let (manifest, bits) = log::manifest(&self.inner.open(path).ok().filter(|_| is_damaged)?)?;
        let tell = self.teller(path);
        bits.into_iter().for_each(|bit| tell(bit, bit));
        Some(folder.with_manifest(manifest))
    }

    /// Notes corrections, each by the offset of the block or record and that of the corrected byte in it.
    fn teller(&self, path: &Path) -> Box<dyn Fn(u64, u64) + Send + Sync> {
        let (found, path) = (Arc::clone(&self.found), path.to_owned());
        Box::new(move |offset, bit| {
            let Found { bits, count, untold } = &mut *lock(&found);
            if bits.entry(path.clone()).or_default().insert(offset, bit).is_none() {
                *count = count.saturating_add(1);
                if untold.len() < MAX_NAMED {
                    untold.push((path.clone(), bit));
                }
            }
        })
    }

    /// The offset of the corrected byte in the block or record at `offset`; `None`: none was corrected.
    pub(crate) fn bit(&self, path: &Path, offset: u64) -> Option<u64> {
        lock(&self.found).bits.get(path)?.get(&offset).copied()
    }

    /// The corrections since the last call, in words, by file. After [`MAX_NAMED`], they are counted, under `path`.
    pub(crate) fn tell(&self, path: &Path) -> Vec<(PathBuf, String)> {
        let Found { count, untold, .. } = std::mem::take(&mut *lock(&self.found));
        let more = count.saturating_sub(untold.len());
        let named =
            untold.into_iter().map(|(path, bit)| (path, format!("one bit corrected at offset {bit}")));
        let more = (more > 0).then(|| (path.to_owned(), format!("{more} more bits corrected")));
        named.chain(more).collect()
    }
}

impl Storage for CorrectedStorage {
    fn list(&self, path: &Path) -> io::Result<Option<Vec<(String, u64)>>> {
        self.inner.list(path)
    }

    /// Tables are read block by block, as they are corrected so: files are read ahead below.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Source>> {
        let file = Windowed::new(self.inner.open(path)?, self.inner.read_ahead());
        if is_named_log(path) {
            return Ok(Box::new(CorrectedLog::new(file, self.teller(path))));
        }
        let limit = decode_limit(self.max_output, file.len()?);
        let orders = lock(&self.orders).clone();
        Ok(Box::new(Correcting::new(file, &orders, &self.options, limit, self.teller(path))?))
    }
}

impl Source for Correcting<Windowed<Box<dyn Source>>> {
    fn version(&self) -> io::Result<Vec<u8>> {
        self.source().source().version()
    }
}

impl Source for CorrectedLog<Windowed<Box<dyn Source>>> {
    fn version(&self) -> io::Result<Vec<u8>> {
        self.source().source().version()
    }
}

impl Debug for CorrectedStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CorrectedStorage").field("inner", &self.inner).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
