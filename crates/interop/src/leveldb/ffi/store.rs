//! The functions of `shim/rebuild.cc`.

use std::ffi::{CString, c_char};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{self, NonNull};

use anyhow::Result;

use super::policy::{Policy, RawPolicy};
use super::{Bytes, EntryFn, EntrySink, Sink, check, collect, entry_sink, with_sink};
use crate::leveldb::Script;
use crate::leveldb::store::{Counts, StoreFilter, StoreOptions};

/// `fb_store_options`
#[repr(C)]
struct RawOptions {
    write_buffer_size: u64,
    max_file_size: u64,
    block_size: u64,
    policy: *const RawPolicy,
    filter: i32,
    bits_per_key: i32,
    compression: i32,
    order: i32,
    max_open_files: i32,
    paranoid_checks: u8,
    must_exist: u8,
    without_block_cache: u8,
    hold_background: u8,
}

impl RawOptions {
    /// Makes the options. They are valid as long as `policy` is.
    fn new(from: &StoreOptions, policy: Option<&Policy>) -> Self {
        let (filter, bits) = match from.filter {
            StoreFilter::None => (0, 0),
            StoreFilter::BuiltIn(bits) => (1, bits),
            StoreFilter::Legacy(bits) => (2, bits),
            StoreFilter::LegacySigned(bits) => (3, bits),
            StoreFilter::Policy(_) => (4, 0),
        };
        Self {
            write_buffer_size: from.write_buffer_size as u64,
            max_file_size: from.max_file_size as u64,
            block_size: from.block_size as u64,
            policy: policy.map_or(ptr::null(), Policy::as_ptr),
            filter,
            bits_per_key: i32::try_from(bits).expect("a small number of bits per key"),
            compression: from.compression as i32,
            order: from.order as i32,
            max_open_files: i32::try_from(from.max_open_files.unwrap_or(0)).expect("a moderate number"),
            paranoid_checks: from.paranoid_checks.into(),
            must_exist: from.must_exist.into(),
            without_block_cache: from.without_block_cache.into(),
            hold_background: from.hold_background.into(),
        }
    }
}

/// `fb_store_counts`
#[repr(C)]
#[derive(Default)]
struct RawCounts {
    created: u64,
    asked: u64,
    denied: u64,
    reads: u64,
    read_bytes: u64,
    opened: u64,
}

#[repr(C)]
struct RawStore {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    fn fb_store_open(path: *const c_char, options: *const RawOptions, error: Sink) -> *mut RawStore;
    fn fb_store_write(store: *mut RawStore, script: Bytes, error: Sink) -> u8;
    fn fb_store_get(store: *mut RawStore, key: Bytes, found: Sink, error: Sink) -> u8;
    fn fb_store_scan(store: *mut RawStore, entries: EntrySink, error: Sink) -> u8;
    fn fb_store_compact(store: *mut RawStore, start: *const Bytes, limit: *const Bytes);
    fn fb_store_compact_level(store: *mut RawStore, level: i32, start: *const Bytes, limit: *const Bytes);
    fn fb_store_property(store: *mut RawStore, name: *const c_char, value: Sink) -> u8;
    fn fb_store_hold_snapshot(store: *mut RawStore);
    fn fb_store_counts_of(store: *const RawStore, counts: *mut RawCounts);
    fn fb_store_table_reads(store: *const RawStore, numbers: Sink);
    fn fb_store_close(store: *mut RawStore);
    fn fb_store_repair(path: *const c_char, options: *const RawOptions, error: Sink) -> u8;
}

pub(in crate::leveldb) struct Store {
    raw: NonNull<RawStore>,
    /// The other side uses the policy until the database is closed.
    _policy: Option<Policy>,
}

fn policy_of(options: &StoreOptions) -> Result<Option<Policy>> {
    match &options.filter {
        StoreFilter::Policy(policy) => Policy::new(policy).map(Some),
        _ => Ok(None),
    }
}

impl Store {
    pub(in crate::leveldb) fn open(folder: &Path, options: &StoreOptions) -> Result<Self> {
        let path = CString::new(folder.as_os_str().as_bytes())?;
        let policy = policy_of(options)?;
        let options = RawOptions::new(options, policy.as_ref());
        let mut raw = ptr::null_mut();
        check(|error| {
            // SAFETY: path and options are copied; the policy they point to is dropped after the
            // database.
            raw = unsafe { fb_store_open(path.as_ptr(), &options, error) };
            u8::from(!raw.is_null())
        })?;
        Ok(Self { raw: NonNull::new(raw).expect("checked above"), _policy: policy })
    }

    pub(in crate::leveldb) fn write(&self, script: &Script) -> Result<()> {
        // SAFETY: the database is ours; `WriteBatch` produces only complete operations.
        check(|error| unsafe { fb_store_write(self.raw.as_ptr(), Bytes::new(script.as_slice()), error) })
    }

    pub(in crate::leveldb) fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut value = None;
        with_sink(&mut |bytes| value = Some(bytes.to_vec()), |found| {
            // SAFETY: the database is ours; key and sinks are used only during the call.
            check(|error| unsafe { fb_store_get(self.raw.as_ptr(), Bytes::new(key), found, error) })
        })?;
        Ok(value)
    }

    pub(in crate::leveldb) fn scan(&self, mut entry: &mut EntryFn<'_>) -> Result<()> {
        let entries = entry_sink(&raw mut entry);
        // SAFETY: the database is ours; the sinks are used only during the call.
        check(|error| unsafe { fb_store_scan(self.raw.as_ptr(), entries, error) })
    }

    pub(in crate::leveldb) fn compact(&self, range: Option<(&[u8], &[u8])>) {
        let range = range.map(|(start, limit)| (Bytes::new(start), Bytes::new(limit)));
        let (start, limit) = bounds(range.as_ref());
        // SAFETY: the database is ours; the bounds are null or live through the call.
        unsafe { fb_store_compact(self.raw.as_ptr(), start, limit) }
    }

    pub(in crate::leveldb) fn compact_level(&self, level: u8, range: Option<(&[u8], &[u8])>) {
        let range = range.map(|(start, limit)| (Bytes::new(start), Bytes::new(limit)));
        let (start, limit) = bounds(range.as_ref());
        // SAFETY: the database is ours; the level is below the last one; the bounds are null or live
        // through the call.
        unsafe { fb_store_compact_level(self.raw.as_ptr(), level.into(), start, limit) }
    }

    pub(in crate::leveldb) fn property(&self, name: &str) -> Option<String> {
        let name = CString::new(name).ok()?;
        let mut known = 0;
        let value = collect(|sink| {
            // SAFETY: the database is ours; name and sink are used only during the call.
            known = unsafe { fb_store_property(self.raw.as_ptr(), name.as_ptr(), sink) };
        });
        (known != 0).then(|| String::from_utf8_lossy(&value).into_owned())
    }

    pub(in crate::leveldb) fn hold_snapshot(&self) {
        // SAFETY: the database is ours.
        unsafe { fb_store_hold_snapshot(self.raw.as_ptr()) }
    }

    pub(in crate::leveldb) fn counts(&self) -> Counts {
        let mut raw = RawCounts::default();
        // SAFETY: the database is ours; the counts are filled during the call.
        unsafe { fb_store_counts_of(self.raw.as_ptr(), &raw mut raw) };
        let RawCounts { created, asked, denied, reads, read_bytes, opened } = raw;
        Counts { created, asked, denied, reads, read_bytes, opened }
    }

    pub(in crate::leveldb) fn table_reads(&self) -> Vec<(u64, u64)> {
        // SAFETY: the database is ours; the sink is used only during the call.
        let bytes = collect(|sink| unsafe { fb_store_table_reads(self.raw.as_ptr(), sink) });
        let (numbers, _) = bytes.as_chunks::<8>();
        let numbers: Vec<_> = numbers.iter().map(|bytes| u64::from_ne_bytes(*bytes)).collect();
        let (pairs, _) = numbers.as_chunks::<2>();
        pairs.iter().map(|[table, reads]| (*table, *reads)).collect()
    }
}

/// Returns pointers to both bounds, or null pointers without bounds. They are valid as long as `range` is.
fn bounds(range: Option<&(Bytes, Bytes)>) -> (*const Bytes, *const Bytes) {
    range.map_or((ptr::null(), ptr::null()), |(start, limit)| (ptr::from_ref(start), ptr::from_ref(limit)))
}

impl Drop for Store {
    fn drop(&mut self) {
        // SAFETY: it came from `open` and is closed once.
        unsafe { fb_store_close(self.raw.as_ptr()) }
    }
}

pub(in crate::leveldb) fn repair(folder: &Path, options: &StoreOptions) -> Result<()> {
    let path = CString::new(folder.as_os_str().as_bytes())?;
    let policy = policy_of(options)?;
    let options = RawOptions::new(options, policy.as_ref());
    // SAFETY: path, options, policy and sink are used only during the call.
    check(|error| unsafe { fb_store_repair(path.as_ptr(), &options, error) })
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}
