//! The work of iterators over a database that is kept, and over a table.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use filterblock::database::Scan;
use filterblock::table::{Cursor, ReadAt};
use filterblock::{Error, InternalKey, KeyFormat};
use filterblock_engine::report::{Fault, Version as KeyVersion};

use crate::bounds::Bounds;
use crate::kept::{Kept, KeptOpener, MAX_ROUNDS, Version};
use crate::producer::{NOWHERE, Place, Producer, Work, pause};

/// The number of keys that are passed over in one step.
const PASSED: u32 = 4096;

/// The request to an iterator over a database.
#[derive(Clone, Default)]
pub(crate) struct Wanted {
    pub(crate) bounds: Bounds,
    pub(crate) with_value: bool,
}

/// Walks through a database as it is at first. If a table vanishes, goes on after the last entry, in the database as it
/// is then.
pub(crate) fn database(kept: Arc<Kept>, first: Arc<Version>, wanted: Wanted, mut producer: Producer) -> Work {
    Box::pin(async move {
        let (mut wanted, mut version, mut rounds) = (wanted, first, 0);
        // The tables whose sizes have been reported to contradict the MANIFEST.
        let mut told = HashSet::new();
        for fault in version.state_faults() {
            if producer.fault(&kept.path, fault).is_err() {
                return Ok(());
            }
        }
        loop {
            for (number, fault) in &version.contradicted {
                if !told.insert(*number) {
                    continue;
                }
                if producer.fault(&kept.path, fault).is_err() {
                    return Ok(());
                }
            }
            let may_vanish = rounds < MAX_ROUNDS;
            // An error means that nobody wants more.
            let Ok(Stopped::Vanished { after_some }) =
                some(&version, &mut wanted, may_vanish, &mut producer).await
            else {
                return Ok(());
            };
            rounds = if after_some { 0 } else { rounds + 1 };
            kept.forget();
            version = match kept.now() {
                Ok(Some(version)) => version,
                Ok(None) => return Ok(()),
                Err(error) => {
                    let _ = producer.fault(&kept.path, &Fault::from(error));
                    return Ok(());
                }
            };
        }
    })
}

/// The reason why a walk stopped.
enum Stopped {
    AtEnd,
    /// A table has vanished. The bounds are now those of the keys that are left.
    Vanished {
        after_some: bool,
    },
}

/// Gives entries to the producer, up to the end or until a table vanishes.
async fn some(
    version: &Version,
    wanted: &mut Wanted,
    may_vanish: bool,
    producer: &mut Producer,
) -> std::io::Result<Stopped> {
    let path = version.database.dir();
    let database = &version.database;
    let scan = match &version.writes {
        Some(writes) => database.scan_over(&version.options, version.opener(), writes),
        None => database.scan_with(&version.options, version.opener()),
    };
    let mut scan = match scan {
        Ok(scan) => scan,
        Err(error) => return producer.fault(path, &Fault::from(error)).map(|()| Stopped::AtEnd),
    };
    begin(&mut scan, &wanted.bounds, version.is_bytewise);
    let (mut last, mut passed) = (None::<Vec<u8>>, 0);
    let Wanted { bounds, with_value } = wanted;
    loop {
        match if bounds.reverse { scan.prev() } else { scan.next() } {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) if may_vanish && version.is_bytewise && version.has_vanished(&error) => {
                last.iter().for_each(|last| bounds.go_on_after(last));
                return Ok(Stopped::Vanished { after_some: last.is_some() });
            }
            Err(error) => {
                producer.fault(path, &Fault::from(error))?;
                continue;
            }
        }
        let Some(entry) = scan.entry() else { break };
        let key = entry.key.user_key;
        if !bounds.contains(key) {
            let is_over = if bounds.reverse { bounds.is_below(key) } else { bounds.is_behind(key) };
            if version.is_bytewise && is_over {
                break;
            }
            passed += 1;
            if passed % PASSED == 0 {
                pause().await;
            }
            continue;
        }
        let value = if *with_value { entry.value } else { &[] };
        producer.pair(key, value, NOWHERE)?;
        let last = last.get_or_insert_default();
        last.clear();
        last.extend_from_slice(key);
        if producer.has_flushed() {
            pause().await;
        }
    }
    Ok(Stopped::AtEnd)
}

/// Moves to the beginning of the range, in its direction.
fn begin(scan: &mut Scan<'_, KeptOpener>, bounds: &Bounds, is_bytewise: bool) {
    match (bounds.reverse, &bounds.low, &bounds.high) {
        (true, _, Some(high)) if is_bytewise => scan.seek(high),
        (true, ..) => scan.seek_to_last(),
        (false, Some(low), _) if is_bytewise => scan.seek(low),
        (false, ..) => {}
    }
}

/// The request to an iterator over a table.
pub(crate) struct TableWanted {
    pub(crate) bounds: Bounds,
    /// `Some`: keys are taken apart, and come with their places. `None`: keys come as they are stored.
    pub(crate) format: Option<Option<KeyFormat>>,
    pub(crate) limit: Option<u64>,
    /// The reason why the form of the keys is not certain, which is reported first.
    pub(crate) doubt: Option<Fault>,
}

/// Walks through a table in the order of the file, or in the opposite order. Goes on after a damaged block.
pub(crate) fn table<R: ReadAt + Send + Sync + 'static>(
    cursor: Cursor<'static, R>,
    path: PathBuf,
    wanted: TableWanted,
    mut producer: Producer,
) -> Work {
    Box::pin(async move {
        // An error means that nobody wants more.
        let _ = through_table(cursor, &path, wanted, &mut producer).await;
        Ok(())
    })
}

async fn through_table<R: ReadAt>(
    mut cursor: Cursor<'static, R>,
    path: &Path,
    wanted: TableWanted,
    producer: &mut Producer,
) -> std::io::Result<()> {
    let TableWanted { bounds, format, mut limit, doubt } = wanted;
    doubt.iter().try_for_each(|doubt| producer.fault(path, doubt))?;
    let (mut passed, mut is_first) = (0_u32, bounds.reverse);
    while limit != Some(0) {
        let moved: Result<bool, Error> = match (bounds.reverse, std::mem::take(&mut is_first)) {
            (true, true) => cursor.seek_to_last(),
            (true, false) => cursor.prev(),
            (false, _) => cursor.next(),
        };
        match moved {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                producer.fault(path, &Fault::from(error))?;
                cursor.skip_block();
                continue;
            }
        }
        let stored = cursor.key();
        let parsed = format.flatten().and_then(|format| InternalKey::parse(stored, format));
        let key = parsed.as_ref().map_or(stored, |key| key.user_key);
        if !bounds.contains(key) {
            passed = passed.wrapping_add(1);
            if passed.is_multiple_of(PASSED) {
                pause().await;
            }
            continue;
        }
        let value = cursor.value();
        match format {
            None => producer.pair(key, value, NOWHERE)?,
            Some(_) => {
                let offset = cursor.block_handle().map_or(0, |handle| handle.offset);
                let version =
                    parsed.as_ref().map(|key| KeyVersion { sequence: key.sequence, kind: key.kind });
                let place =
                    Place { file: producer.number_of(path.as_os_str()), offset, version, state: None };
                producer.pair(key, value, place)?;
            }
        }
        if let Some(left) = &mut limit {
            *left -= 1;
        }
        if producer.has_flushed() {
            pause().await;
        }
    }
    Ok(())
}
