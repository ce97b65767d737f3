//! Tables, logs and MANIFESTs of a scan, read with wrong bits corrected.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use filterblock::database::{Database, Manifest, Opener};
use filterblock::table::{ReadAt, ReadOptions, known_comparator};

use crate::audit::correct::key_orders::KeyOrders;
use crate::audit::correct::log::{self, CorrectingLog};
use crate::audit::correct::table::Correcting;
use crate::audit::reading::decode_limit;

/// The maximum number of corrections of one path that are named.
const MAX_NAMED: usize = 64;

#[derive(Clone)]
pub(super) struct Correction {
    orders: KeyOrders,
    options: ReadOptions,
    max_output: Option<u64>,
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

impl Correction {
    pub(super) fn new(options: &ReadOptions, max_output: Option<u64>) -> Self {
        Self { orders: KeyOrders::known(), options: options.clone(), max_output, found: Arc::default() }
    }

    /// The correction for a database, whose MANIFEST may name the key order. Shares the bits found with this one.
    pub(super) fn of(&self, database: &Database) -> Self {
        let order = database.comparator().and_then(known_comparator);
        Self { orders: order.map_or_else(KeyOrders::known, |order| KeyOrders::of(&order)), ..self.clone() }
    }

    /// The table in `source`, read with wrong bits corrected. Fails if the footer or the index cannot be read.
    pub(super) fn table<R: ReadAt>(&self, source: R, path: &Path) -> io::Result<Correcting<R>> {
        let limit = decode_limit(self.max_output, source.len()?);
        Correcting::new(source, &self.orders, &self.options, limit, self.teller(path))
    }

    pub(super) fn log<R: Read>(&self, source: R, path: &Path) -> CorrectingLog<R> {
        CorrectingLog::new(source, self.teller(path))
    }

    /// Reads a MANIFEST with wrong bits corrected. `None`, with no correction reported: it still cannot be used.
    pub(super) fn manifest(&self, source: impl ReadAt, path: &Path) -> Option<Manifest> {
        let (manifest, bits) = log::manifest(source)?;
        let tell = self.teller(path);
        bits.into_iter().for_each(|bit| tell(bit, bit));
        Some(manifest)
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
    pub(super) fn bit(&self, path: &Path, offset: u64) -> Option<u64> {
        lock(&self.found).bits.get(path)?.get(&offset).copied()
    }

    /// The corrections since the last call, in words, by file. After [`MAX_NAMED`], they are counted, under `path`.
    pub(super) fn tell(&self, path: &Path) -> Vec<(PathBuf, String)> {
        let Found { count, untold, .. } = std::mem::take(&mut *lock(&self.found));
        let more = count.saturating_sub(untold.len());
        let named =
            untold.into_iter().map(|(path, bit)| (path, format!("one bit corrected at offset {bit}")));
        let more = (more > 0).then(|| (path.to_owned(), format!("{more} more bits corrected")));
        named.chain(more).collect()
    }
}

fn lock(found: &Mutex<Found>) -> MutexGuard<'_, Found> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens files, with wrong bits corrected if there is a correction.
pub(super) struct CorrectingOpener<O> {
    pub(super) opener: O,
    pub(super) correction: Option<Correction>,
}

impl<O: Opener> Opener for CorrectingOpener<O> {
    type Table = Correcting<O::Table>;
    type Log = CorrectingLog<O::Log>;

    fn open_table(&mut self, path: &Path) -> io::Result<Self::Table> {
        let table = self.opener.open_table(path)?;
        match &self.correction {
            Some(correction) => correction.table(table, path),
            None => Ok(Correcting::plain(table)),
        }
    }

    fn open_log(&mut self, path: &Path) -> io::Result<Self::Log> {
        let log = self.opener.open_log(path)?;
        Ok(match &self.correction {
            Some(correction) => correction.log(log, path),
            None => CorrectingLog::plain(log),
        })
    }

    fn version(&mut self, table: &Self::Table) -> io::Result<Vec<u8>> {
        self.opener.version(table.source())
    }
}
