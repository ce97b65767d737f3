//! The functions of `shim/table.cc`, `shim/order.cc` and `shim/walk.cc`.

use std::ffi::{CString, c_char};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{self, NonNull};

use anyhow::{Result, anyhow};

use super::{
    Bytes, EntryFn, EntrySink, Sink, SinkFn, Source, SourceFn, bits_per_key, check, collect, entry_sink,
    sink, source,
};
use crate::leveldb::Script;
use crate::leveldb::TableOptions;

type Entry = (Vec<u8>, Vec<u8>);

/// `fb_table_options`
#[repr(C)]
pub(super) struct RawTableOptions {
    block_size: u64,
    restart_interval: i32,
    compression: i32,
    bits_per_key: i32,
    internal_keys: u8,
    verify_checksums: u8,
}

impl From<&TableOptions> for RawTableOptions {
    fn from(from: &TableOptions) -> Self {
        assert!(from.restart_interval >= 1, "LevelDB asserts a restart interval of at least 1");
        Self {
            block_size: from.block_size as u64,
            restart_interval: i32::try_from(from.restart_interval).expect("a small restart interval"),
            compression: from.compression as i32,
            bits_per_key: bits_per_key(from.bits_per_key),
            internal_keys: from.internal_keys.into(),
            verify_checksums: from.verify_checksums.into(),
        }
    }
}

#[repr(C)]
struct RawBuilder {
    _opaque: [u8; 0],
}

#[repr(C)]
struct RawTable {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    fn fb_table_builder_new(options: *const RawTableOptions, file: Sink) -> *mut RawBuilder;
    fn fb_table_builder_add(builder: *mut RawBuilder, entries: Bytes);
    fn fb_table_builder_file_size(builder: *const RawBuilder) -> u64;
    fn fb_table_builder_finish(builder: *mut RawBuilder, error: Sink) -> u8;
    fn fb_table_builder_free(builder: *mut RawBuilder);
    fn fb_table_open(options: *const RawTableOptions, file: Source, len: u64, error: Sink) -> *mut RawTable;
    fn fb_table_scan(table: *mut RawTable, entries: EntrySink, error: Sink) -> u8;
    fn fb_table_seek(table: *mut RawTable, key: Bytes, found: EntrySink, error: Sink) -> u8;
    fn fb_table_get(table: *mut RawTable, key: Bytes, found: EntrySink, error: Sink) -> u8;
    fn fb_table_filter_counts(table: *const RawTable, asked: *mut u64, denied: *mut u64);
    fn fb_table_free(table: *mut RawTable);
}

pub(in crate::leveldb) struct TableBuilder<'a> {
    raw: NonNull<RawBuilder>,
    /// From `Box::into_raw`: the other side holds this pointer too.
    file: *mut Box<SinkFn<'a>>,
}

impl<'a> TableBuilder<'a> {
    pub(in crate::leveldb) fn new(options: &TableOptions, file: Box<SinkFn<'a>>) -> Self {
        let file = Box::into_raw(Box::new(file));
        // SAFETY: the options are copied; `file` is freed only after the builder.
        let raw = unsafe { fb_table_builder_new(&options.into(), sink(file)) };
        Self { raw: NonNull::new(raw).expect("new returns no null"), file }
    }

    pub(in crate::leveldb) fn add(&mut self, entries: &Script) {
        // SAFETY: `Entries` holds pairs of byte strings; the builder is ours and not finished.
        unsafe { fb_table_builder_add(self.raw.as_ptr(), Bytes::new(entries.as_slice())) }
    }

    pub(in crate::leveldb) fn file_size(&self) -> u64 {
        // SAFETY: the builder is ours.
        unsafe { fb_table_builder_file_size(self.raw.as_ptr()) }
    }

    pub(in crate::leveldb) fn finish(self) -> Result<()> {
        // SAFETY: the builder is ours, and is finished only once, since this takes it.
        check(|error| unsafe { fb_table_builder_finish(self.raw.as_ptr(), error) })
    }
}

impl Drop for TableBuilder<'_> {
    fn drop(&mut self) {
        // SAFETY: both came from `new` and are dropped once, the user of the other first.
        unsafe {
            fb_table_builder_free(self.raw.as_ptr());
            drop(Box::from_raw(self.file));
        }
    }
}

pub(in crate::leveldb) struct Table<'a> {
    raw: NonNull<RawTable>,
    /// From `Box::into_raw`: the other side holds this pointer too.
    file: *mut Box<SourceFn<'a>>,
}

impl<'a> Table<'a> {
    pub(in crate::leveldb) fn open(
        options: &TableOptions,
        len: u64,
        file: Box<SourceFn<'a>>,
    ) -> Result<Self> {
        let file = Box::into_raw(Box::new(file));
        let mut raw = ptr::null_mut();
        let opened = check(|error| {
            // SAFETY: the options are copied; `file` is freed only after the table.
            raw = unsafe { fb_table_open(&options.into(), source(file), len, error) };
            u8::from(!raw.is_null())
        });
        match (opened, NonNull::new(raw)) {
            (Ok(()), Some(raw)) => Ok(Self { raw, file }),
            (opened, _) => {
                // SAFETY: no table was made that would use it.
                drop(unsafe { Box::from_raw(file) });
                Err(opened.expect_err("no table, so an error"))
            }
        }
    }

    pub(in crate::leveldb) fn scan(&self, mut entry: &mut EntryFn<'_>) -> Result<()> {
        let entries = entry_sink(&raw mut entry);
        // SAFETY: the table is ours; the sinks are used only during the call.
        check(|error| unsafe { fb_table_scan(self.raw.as_ptr(), entries, error) })
    }

    pub(in crate::leveldb) fn seek(&self, key: &[u8]) -> Result<Option<Entry>> {
        // SAFETY: the table is ours; key and sinks are used only during the call.
        find(|found, error| unsafe { fb_table_seek(self.raw.as_ptr(), Bytes::new(key), found, error) })
    }

    pub(in crate::leveldb) fn get(&self, key: &[u8]) -> Result<Option<Entry>> {
        // SAFETY: the table is ours; key and sinks are used only during the call.
        find(|found, error| unsafe { fb_table_get(self.raw.as_ptr(), Bytes::new(key), found, error) })
    }

    pub(in crate::leveldb) fn filter_counts(&self) -> (u64, u64) {
        let (mut asked, mut denied) = (0, 0);
        // SAFETY: the table is ours and the places are valid.
        unsafe { fb_table_filter_counts(self.raw.as_ptr(), &mut asked, &mut denied) };
        (asked, denied)
    }
}

impl Drop for Table<'_> {
    fn drop(&mut self) {
        // SAFETY: both came from `open` and are dropped once, the user of the other first.
        unsafe {
            fb_table_free(self.raw.as_ptr());
            drop(Box::from_raw(self.file));
        }
    }
}

/// Calls a function that returns at most one entry.
fn find(call: impl FnOnce(EntrySink, Sink) -> u8) -> Result<Option<Entry>> {
    let mut found = None;
    let mut keep = |key: &[u8], value: &[u8]| {
        found = Some((key.to_vec(), value.to_vec()));
        false
    };
    let mut keep: &mut EntryFn<'_> = &mut keep;
    let entries = entry_sink(&raw mut keep);
    check(|error| call(entries, error))?;
    Ok(found)
}

impl fmt::Debug for TableBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableBuilder").field("file_size", &self.file_size()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("filter_counts", &self.filter_counts()).finish_non_exhaustive()
    }
}

unsafe extern "C" {
    fn fb_order_compare(internal_keys: u8, a: Bytes, b: Bytes) -> i32;
    fn fb_order_separator(internal_keys: u8, start: Bytes, limit: Bytes, key: Sink);
    fn fb_order_successor(internal_keys: u8, of: Bytes, key: Sink);
    fn fb_internal_key_debug_string(key: Bytes, text: Sink);
}

pub(in crate::leveldb) fn internal_key_debug_string(key: &[u8]) -> Vec<u8> {
    // SAFETY: only reads the bytes, however many; the sink is used only during the call.
    collect(|text| unsafe { fb_internal_key_debug_string(Bytes::new(key), text) })
}

pub(in crate::leveldb) fn compare(internal_keys: bool, a: &[u8], b: &[u8]) -> i32 {
    // SAFETY: only reads the bytes; `KeyOrder` checks that internal keys have their last 8 bytes.
    unsafe { fb_order_compare(internal_keys.into(), Bytes::new(a), Bytes::new(b)) }
}

pub(in crate::leveldb) fn separator(internal_keys: bool, start: &[u8], limit: &[u8]) -> Vec<u8> {
    // SAFETY: as `compare`; the sink is used only during the call.
    collect(|key| unsafe {
        fb_order_separator(internal_keys.into(), Bytes::new(start), Bytes::new(limit), key)
    })
}

pub(in crate::leveldb) fn successor(internal_keys: bool, of: &[u8]) -> Vec<u8> {
    // SAFETY: as `compare`; the sink is used only during the call.
    collect(|key| unsafe { fb_order_successor(internal_keys.into(), Bytes::new(of), key) })
}

#[repr(C)]
struct RawWalk {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    fn fb_walk_table(contents: Bytes, internal_keys: u8, verify: u8, error: Sink) -> *mut RawWalk;
    fn fb_walk_database(path: *const c_char, error: Sink) -> *mut RawWalk;
    fn fb_walk_run(walk: *mut RawWalk, steps: Bytes, renew: u8, answers: Sink);
    fn fb_walk_offset_of(walk: *const RawWalk, key: Bytes) -> u64;
    fn fb_walk_free(walk: *mut RawWalk);
}

pub(in crate::leveldb) struct Walk(NonNull<RawWalk>);

impl Walk {
    pub(in crate::leveldb) fn table(contents: &[u8], internal_keys: bool, verify: bool) -> Result<Self> {
        Self::new(|error| {
            // SAFETY: the contents are copied, the sink is used only during the call.
            unsafe { fb_walk_table(Bytes::new(contents), internal_keys.into(), verify.into(), error) }
        })
    }

    pub(in crate::leveldb) fn database(folder: &Path) -> Result<Self> {
        let path = CString::new(folder.as_os_str().as_bytes())?;
        // SAFETY: the path is copied, the sink is used only during the call.
        Self::new(|error| unsafe { fb_walk_database(path.as_ptr(), error) })
    }

    fn new(open: impl FnOnce(Sink) -> *mut RawWalk) -> Result<Self> {
        let mut raw = None;
        check(|error| {
            raw = NonNull::new(open(error));
            raw.is_some().into()
        })?;
        raw.map(Self).ok_or_else(|| anyhow!("no walk and no error"))
    }

    pub(in crate::leveldb) fn run(&mut self, steps: &Script, renew: bool) -> Vec<u8> {
        // SAFETY: the walk is ours; the script holds whole steps; the sink is used only during the call.
        collect(|answers| unsafe {
            fb_walk_run(self.0.as_ptr(), Bytes::new(steps.as_slice()), renew.into(), answers);
        })
    }

    pub(in crate::leveldb) fn offset_of(&self, key: &[u8]) -> u64 {
        // SAFETY: the walk is ours, and is one over a table.
        unsafe { fb_walk_offset_of(self.0.as_ptr(), Bytes::new(key)) }
    }
}

impl Drop for Walk {
    fn drop(&mut self) {
        // SAFETY: it came from `new` and is freed once.
        unsafe { fb_walk_free(self.0.as_ptr()) }
    }
}

impl fmt::Debug for Walk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Walk")
    }
}
