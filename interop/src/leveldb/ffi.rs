//! Everything unsafe: the functions of `shim/abi.h` and owners for what they create.

use std::ffi::{CString, c_char, c_void};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::slice;

use anyhow::{Result, anyhow};

use super::options::{RawDatabaseOptions, RawTableOptions};
use super::script::Script;
use super::{DatabaseOptions, TableOptions};

pub(super) type SinkFn<'a> = dyn FnMut(&[u8]) + 'a;
pub(super) type SourceFn<'a> = dyn Fn(u64, &mut [u8]) -> bool + 'a;
pub(super) type EntryFn<'a> = dyn FnMut(&[u8], &[u8]) -> bool + 'a;
type Entry = (Vec<u8>, Vec<u8>);

/// `fb_bytes`
#[repr(C)]
#[derive(Clone, Copy)]
struct Bytes {
    data: *const u8,
    size: usize,
}

impl Bytes {
    fn new(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr(), size: bytes.len() }
    }

    /// # Safety
    ///
    /// What it points to must be valid and unchanged for `'a`.
    unsafe fn as_slice<'a>(self) -> &'a [u8] {
        if self.size == 0 {
            return &[]; // The pointer may be null.
        }
        // SAFETY: promised by the caller.
        unsafe { slice::from_raw_parts(self.data, self.size) }
    }
}

/// `fb_sink`, `fb_source` or `fb_entries`: a function to call back, and the boxed closure that it calls.
#[repr(C)]
struct Callback<F> {
    context: *mut c_void,
    function: F,
}

type Sink = Callback<extern "C" fn(*mut c_void, Bytes)>;
type Source = Callback<extern "C" fn(*mut c_void, u64, usize, *mut u8) -> u8>;
type EntrySink = Callback<extern "C" fn(*mut c_void, Bytes, Bytes) -> u8>;

/// `to` must stay where it is, and unused by others, while the callback is in use.
fn sink(to: *mut Box<SinkFn<'_>>) -> Sink {
    extern "C" fn append(context: *mut c_void, piece: Bytes) {
        // SAFETY: `sink` made the context from such a box, which nobody else uses meanwhile.
        let to = unsafe { &mut *context.cast::<Box<SinkFn<'_>>>() };
        // SAFETY: the shim passes bytes that live through the call.
        to(unsafe { piece.as_slice() });
    }
    Sink { context: to.cast(), function: append }
}

/// `from` must stay where it is while the callback is in use.
fn source(from: *mut Box<SourceFn<'_>>) -> Source {
    extern "C" fn read(context: *mut c_void, offset: u64, size: usize, to: *mut u8) -> u8 {
        // SAFETY: `source` made the context from such a box, which is only ever shared.
        let from = unsafe { &*context.cast::<Box<SourceFn<'_>>>() };
        // SAFETY: LevelDB passes a buffer of this size; zeroing it makes it a valid slice.
        let to = unsafe {
            ptr::write_bytes(to, 0, size);
            slice::from_raw_parts_mut(to, size)
        };
        from(offset, to).into()
    }
    Source { context: from.cast(), function: read }
}

/// `to` must stay where it is, and unused by others, while the callback is in use.
fn entry_sink(to: *mut &mut EntryFn<'_>) -> EntrySink {
    extern "C" fn entry(context: *mut c_void, key: Bytes, value: Bytes) -> u8 {
        // SAFETY: `entry_sink` made the context from such a reference, which nobody else uses meanwhile.
        let to = unsafe { &mut *context.cast::<&mut EntryFn<'_>>() };
        // SAFETY: the shim passes keys and values that live through the call.
        let (key, value) = unsafe { (key.as_slice(), value.as_slice()) };
        to(key, value).into()
    }
    EntrySink { context: to.cast(), function: entry }
}

/// Calls a function that may fail, and returns the message it gave as an error.
fn check(call: impl FnOnce(Sink) -> u8) -> Result<()> {
    let mut succeeded = 0;
    let message = collect(|error| succeeded = call(error));
    if succeeded != 0 { Ok(()) } else { Err(anyhow!("LevelDB: {}", String::from_utf8_lossy(&message))) }
}

/// Calls a function that gives bytes.
fn collect(call: impl FnOnce(Sink)) -> Vec<u8> {
    let mut bytes = Vec::new();
    with_sink(&mut |piece| bytes.extend_from_slice(piece), call);
    bytes
}

fn with_sink<R>(to: &mut SinkFn<'_>, call: impl FnOnce(Sink) -> R) -> R {
    let mut to: Box<SinkFn<'_>> = Box::new(to);
    call(sink(&raw mut to))
}

#[repr(C)]
struct RawBuilder {
    _opaque: [u8; 0],
}
#[repr(C)]
struct RawTable {
    _opaque: [u8; 0],
}
#[repr(C)]
struct RawDatabase {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    fn fb_hash(data: Bytes, seed: u32) -> u32;
    fn fb_bloom_create(bits_per_key: i32, keys: Bytes, filter: Sink);
    fn fb_bloom_match(bits_per_key: i32, key: Bytes, filter: Bytes) -> u8;
    fn fb_filter_blocks_build(script: Bytes, blocks: Sink);
    fn fb_filter_blocks_query(script: Bytes, answers: Sink);

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

    fn fb_db_open(path: *const c_char, options: *const RawDatabaseOptions, error: Sink) -> *mut RawDatabase;
    fn fb_db_write(db: *mut RawDatabase, script: Bytes, error: Sink) -> u8;
    fn fb_db_get(db: *mut RawDatabase, key: Bytes, found: Sink, error: Sink) -> u8;
    fn fb_db_scan(db: *mut RawDatabase, entries: EntrySink, error: Sink) -> u8;
    fn fb_db_compact(db: *mut RawDatabase, start: *const Bytes, limit: *const Bytes);
    fn fb_db_property(db: *mut RawDatabase, name: *const c_char, value: Sink) -> u8;
    fn fb_db_close(db: *mut RawDatabase);
    fn fb_db_repair(path: *const c_char, options: *const RawDatabaseOptions, error: Sink) -> u8;
}

pub(super) fn hash(data: &[u8], seed: u32) -> u32 {
    // SAFETY: reads the bytes only.
    unsafe { fb_hash(Bytes::new(data), seed) }
}

pub(super) fn bloom_create(bits_per_key: i32, keys: &Script) -> Vec<u8> {
    // SAFETY: the caller's script holds byte strings; the sink is used during the call only.
    collect(|filter| unsafe { fb_bloom_create(bits_per_key, Bytes::new(keys.as_slice()), filter) })
}

pub(super) fn bloom_match(bits_per_key: i32, key: &[u8], filter: &[u8]) -> bool {
    // SAFETY: reads the bytes only, and within them whatever the filter holds.
    unsafe { fb_bloom_match(bits_per_key, Bytes::new(key), Bytes::new(filter)) != 0 }
}

pub(super) fn build_filter_blocks(script: &Script, block: &mut SinkFn<'_>) {
    // SAFETY: `BlockScript` lets only whole sequences of operations arise; the sink is used during the call only.
    with_sink(block, |blocks| unsafe { fb_filter_blocks_build(Bytes::new(script.as_slice()), blocks) });
}

pub(super) fn query_filter_blocks(script: &Script) -> Vec<u8> {
    // SAFETY: `QueryScript` lets only whole sequences of operations arise; the sink is used during the call only.
    collect(|answers| unsafe { fb_filter_blocks_query(Bytes::new(script.as_slice()), answers) })
}

pub(super) struct TableBuilder<'a> {
    raw: NonNull<RawBuilder>,
    /// From `Box::into_raw`: the other side holds this pointer too.
    file: *mut Box<SinkFn<'a>>,
}

impl<'a> TableBuilder<'a> {
    pub(super) fn new(options: &TableOptions, file: Box<SinkFn<'a>>) -> Self {
        let file = Box::into_raw(Box::new(file));
        // SAFETY: the options are copied; `file` is freed only after the builder.
        let raw = unsafe { fb_table_builder_new(&options.into(), sink(file)) };
        Self { raw: NonNull::new(raw).expect("new returns no null"), file }
    }

    pub(super) fn add(&mut self, entries: &Script) {
        // SAFETY: `Entries` holds pairs of byte strings; the builder is ours and not finished.
        unsafe { fb_table_builder_add(self.raw.as_ptr(), Bytes::new(entries.as_slice())) }
    }

    pub(super) fn file_size(&self) -> u64 {
        // SAFETY: the builder is ours.
        unsafe { fb_table_builder_file_size(self.raw.as_ptr()) }
    }

    pub(super) fn finish(self) -> Result<()> {
        // SAFETY: the builder is ours and, since this takes it, not finished before.
        check(|error| unsafe { fb_table_builder_finish(self.raw.as_ptr(), error) })
    }
}

impl Drop for TableBuilder<'_> {
    fn drop(&mut self) {
        // SAFETY: both came from `new` and are dropped once, the one that uses the other first.
        unsafe {
            fb_table_builder_free(self.raw.as_ptr());
            drop(Box::from_raw(self.file));
        }
    }
}

pub(super) struct Table<'a> {
    raw: NonNull<RawTable>,
    /// From `Box::into_raw`: the other side holds this pointer too.
    file: *mut Box<SourceFn<'a>>,
}

impl<'a> Table<'a> {
    pub(super) fn open(options: &TableOptions, len: u64, file: Box<SourceFn<'a>>) -> Result<Self> {
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

    pub(super) fn scan(&self, mut entry: &mut EntryFn<'_>) -> Result<()> {
        let entries = entry_sink(&raw mut entry);
        // SAFETY: the table is ours; the sinks are used during the call only.
        check(|error| unsafe { fb_table_scan(self.raw.as_ptr(), entries, error) })
    }

    pub(super) fn seek(&self, key: &[u8]) -> Result<Option<Entry>> {
        // SAFETY: the table is ours; key and sinks are used during the call only.
        find(|found, error| unsafe { fb_table_seek(self.raw.as_ptr(), Bytes::new(key), found, error) })
    }

    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Entry>> {
        // SAFETY: the table is ours; key and sinks are used during the call only.
        find(|found, error| unsafe { fb_table_get(self.raw.as_ptr(), Bytes::new(key), found, error) })
    }

    pub(super) fn filter_counts(&self) -> (u64, u64) {
        let (mut asked, mut denied) = (0, 0);
        // SAFETY: the table is ours and the places are valid.
        unsafe { fb_table_filter_counts(self.raw.as_ptr(), &mut asked, &mut denied) };
        (asked, denied)
    }
}

impl Drop for Table<'_> {
    fn drop(&mut self) {
        // SAFETY: both came from `open` and are dropped once, the one that uses the other first.
        unsafe {
            fb_table_free(self.raw.as_ptr());
            drop(Box::from_raw(self.file));
        }
    }
}

/// Calls a function that gives at most one entry.
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

pub(super) struct Database(NonNull<RawDatabase>);

impl Database {
    pub(super) fn open(folder: &Path, options: &DatabaseOptions) -> Result<Self> {
        let path = CString::new(folder.as_os_str().as_bytes())?;
        let mut raw = ptr::null_mut();
        check(|error| {
            // SAFETY: path and options are copied.
            raw = unsafe { fb_db_open(path.as_ptr(), &options.into(), error) };
            u8::from(!raw.is_null())
        })?;
        Ok(Self(NonNull::new(raw).expect("checked above")))
    }

    pub(super) fn write(&self, script: &Script) -> Result<()> {
        // SAFETY: the database is ours; `WriteBatch` lets only whole operations arise.
        check(|error| unsafe { fb_db_write(self.0.as_ptr(), Bytes::new(script.as_slice()), error) })
    }

    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut value = None;
        with_sink(&mut |bytes| value = Some(bytes.to_vec()), |found| {
            // SAFETY: the database is ours; key and sinks are used during the call only.
            check(|error| unsafe { fb_db_get(self.0.as_ptr(), Bytes::new(key), found, error) })
        })?;
        Ok(value)
    }

    pub(super) fn scan(&self, mut entry: &mut EntryFn<'_>) -> Result<()> {
        let entries = entry_sink(&raw mut entry);
        // SAFETY: the database is ours; the sinks are used during the call only.
        check(|error| unsafe { fb_db_scan(self.0.as_ptr(), entries, error) })
    }

    pub(super) fn compact(&self, range: Option<(&[u8], &[u8])>) {
        let range = range.map(|(start, limit)| (Bytes::new(start), Bytes::new(limit)));
        let (start, limit) = match &range {
            Some((start, limit)) => (ptr::from_ref(start), ptr::from_ref(limit)),
            None => (ptr::null(), ptr::null()),
        };
        // SAFETY: the database is ours; the bounds are null or live through the call.
        unsafe { fb_db_compact(self.0.as_ptr(), start, limit) }
    }

    pub(super) fn property(&self, name: &str) -> Option<String> {
        let name = CString::new(name).ok()?;
        let mut known = 0;
        // SAFETY: the database is ours; name and sink are used during the call only.
        let value = collect(|sink| known = unsafe { fb_db_property(self.0.as_ptr(), name.as_ptr(), sink) });
        (known != 0).then(|| String::from_utf8_lossy(&value).into_owned())
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // SAFETY: it came from `open` and is closed once.
        unsafe { fb_db_close(self.0.as_ptr()) }
    }
}

pub(super) fn repair(folder: &Path, options: &DatabaseOptions) -> Result<()> {
    let path = CString::new(folder.as_os_str().as_bytes())?;
    // SAFETY: path and options are copied; the sink is used during the call only.
    check(|error| unsafe { fb_db_repair(path.as_ptr(), &options.into(), error) })
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

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").finish_non_exhaustive()
    }
}
