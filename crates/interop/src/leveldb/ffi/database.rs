//! The functions of `shim/database.cc`.

use std::ffi::{CString, c_char};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{self, NonNull};

use anyhow::Result;

use super::policy::{Policy, RawPolicy};
use super::{Bytes, EntryFn, EntrySink, Sink, bits_per_key, check, collect, entry_sink, with_sink};
use crate::leveldb::Script;
use crate::leveldb::{DatabaseOptions, Filter};

/// `fb_db_options`
#[repr(C)]
struct RawDatabaseOptions {
    write_buffer_size: u64,
    max_file_size: u64,
    block_size: u64,
    policy: *const RawPolicy,
    bits_per_key: i32,
    compression: i32,
    reverse_order: u8,
    paranoid_checks: u8,
    reuse_logs: u8,
}

impl RawDatabaseOptions {
    /// Makes the options. They are valid as long as `policy` is.
    fn new(from: &DatabaseOptions, policy: Option<&Policy>) -> Self {
        let built_in = if let Filter::BuiltIn(bits) = from.filter { Some(bits) } else { None };
        Self {
            write_buffer_size: from.write_buffer_size as u64,
            max_file_size: from.max_file_size as u64,
            block_size: from.block_size as u64,
            policy: policy.map_or(ptr::null(), Policy::as_ptr),
            bits_per_key: bits_per_key(built_in),
            compression: from.compression as i32,
            reverse_order: from.reverse_order.into(),
            paranoid_checks: from.paranoid_checks.into(),
            reuse_logs: from.reuse_logs.into(),
        }
    }
}

#[repr(C)]
struct RawDatabase {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    fn fb_db_open(path: *const c_char, options: *const RawDatabaseOptions, error: Sink) -> *mut RawDatabase;
    fn fb_db_write(db: *mut RawDatabase, script: Bytes, error: Sink) -> u8;
    fn fb_db_get(db: *mut RawDatabase, key: Bytes, found: Sink, error: Sink) -> u8;
    fn fb_db_scan(db: *mut RawDatabase, entries: EntrySink, error: Sink) -> u8;
    fn fb_db_compact(db: *mut RawDatabase, start: *const Bytes, limit: *const Bytes);
    fn fb_db_property(db: *mut RawDatabase, name: *const c_char, value: Sink) -> u8;
    fn fb_db_hold_snapshot(db: *mut RawDatabase);
    fn fb_db_close(db: *mut RawDatabase);
    fn fb_db_repair(path: *const c_char, options: *const RawDatabaseOptions, error: Sink) -> u8;
}

pub(in crate::leveldb) struct Database {
    raw: NonNull<RawDatabase>,
    /// The other side uses the policy until the database is closed.
    _policy: Option<Policy>,
}

impl Database {
    pub(in crate::leveldb) fn open(folder: &Path, options: &DatabaseOptions) -> Result<Self> {
        let path = CString::new(folder.as_os_str().as_bytes())?;
        let policy = Policy::of(options)?;
        let options = RawDatabaseOptions::new(options, policy.as_ref());
        let mut raw = ptr::null_mut();
        check(|error| {
            // SAFETY: path and options are copied; the policy they point to is dropped after the
            // database.
            raw = unsafe { fb_db_open(path.as_ptr(), &options, error) };
            u8::from(!raw.is_null())
        })?;
        Ok(Self { raw: NonNull::new(raw).expect("checked above"), _policy: policy })
    }

    pub(in crate::leveldb) fn write(&self, script: &Script) -> Result<()> {
        // SAFETY: the database is ours; `WriteBatch` produces only complete operations.
        check(|error| unsafe { fb_db_write(self.raw.as_ptr(), Bytes::new(script.as_slice()), error) })
    }

    pub(in crate::leveldb) fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut value = None;
        with_sink(&mut |bytes| value = Some(bytes.to_vec()), |found| {
            // SAFETY: the database is ours; key and sinks are used only during the call.
            check(|error| unsafe { fb_db_get(self.raw.as_ptr(), Bytes::new(key), found, error) })
        })?;
        Ok(value)
    }

    pub(in crate::leveldb) fn scan(&self, mut entry: &mut EntryFn<'_>) -> Result<()> {
        let entries = entry_sink(&raw mut entry);
        // SAFETY: the database is ours; the sinks are used only during the call.
        check(|error| unsafe { fb_db_scan(self.raw.as_ptr(), entries, error) })
    }

    pub(in crate::leveldb) fn compact(&self, range: Option<(&[u8], &[u8])>) {
        let range = range.map(|(start, limit)| (Bytes::new(start), Bytes::new(limit)));
        let (start, limit) = match &range {
            Some((start, limit)) => (ptr::from_ref(start), ptr::from_ref(limit)),
            None => (ptr::null(), ptr::null()),
        };
        // SAFETY: the database is ours; the bounds are null or live through the call.
        unsafe { fb_db_compact(self.raw.as_ptr(), start, limit) }
    }

    pub(in crate::leveldb) fn hold_snapshot(&self) {
        // SAFETY: the database is ours.
        unsafe { fb_db_hold_snapshot(self.raw.as_ptr()) }
    }

    pub(in crate::leveldb) fn property(&self, name: &str) -> Option<String> {
        let name = CString::new(name).ok()?;
        let mut known = 0;
        // SAFETY: the database is ours; name and sink are used only during the call.
        let value = collect(|sink| known = unsafe { fb_db_property(self.raw.as_ptr(), name.as_ptr(), sink) });
        (known != 0).then(|| String::from_utf8_lossy(&value).into_owned())
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // SAFETY: it came from `open` and is closed once.
        unsafe { fb_db_close(self.raw.as_ptr()) }
    }
}

pub(in crate::leveldb) fn repair(folder: &Path, options: &DatabaseOptions) -> Result<()> {
    let path = CString::new(folder.as_os_str().as_bytes())?;
    let policy = Policy::of(options)?;
    let options = RawDatabaseOptions::new(options, policy.as_ref());
    // SAFETY: path, options, policy and sink are used only during the call.
    check(|error| unsafe { fb_db_repair(path.as_ptr(), &options, error) })
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").finish_non_exhaustive()
    }
}
