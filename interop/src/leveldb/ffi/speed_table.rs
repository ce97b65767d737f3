//! The functions of `shim/speed_table.cc`.

use std::ffi::{CString, c_char};
use std::fmt;
use std::marker::PhantomData;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr::{self, NonNull};

use anyhow::{Result, ensure};

use super::speed::Slices;
use super::table::RawTableOptions;
use super::{Bytes, Sink, check};
use crate::leveldb::TableOptions;

#[repr(C)]
struct RawTable {
    _opaque: [u8; 0],
}

/// `fb_speed_lookup`
#[repr(C)]
struct RawLookup {
    table: usize,
    key: Bytes,
}

unsafe extern "C" {
    fn fb_speed_write(
        options: *const RawTableOptions,
        keys: *const Bytes,
        values: *const Bytes,
        count: usize,
        to: *mut u8,
        capacity: usize,
        size: *mut u64,
        error: Sink,
    ) -> u8;
    fn fb_speed_table_open(options: *const RawTableOptions, contents: Bytes, error: Sink) -> *mut RawTable;
    fn fb_speed_table_get(
        tables: *const *mut RawTable,
        lookups: *const RawLookup,
        count: usize,
        bytes: *mut u64,
        error: Sink,
    ) -> u8;
    fn fb_speed_table_free(table: *mut RawTable);
    fn fb_speed_walk(table: Bytes, times: u64, bytes: *mut u64, error: Sink) -> u8;
    fn fb_speed_walk_file(path: *const c_char, bytes: *mut u64, error: Sink) -> u8;
}

/// Writes a table of plain keys into `to`, which is long enough. Returns the table's size.
///
/// # Panics
///
/// Panics if `options` is for internal keys, or unless there is a value for each key.
pub fn write(options: &TableOptions, keys: &Slices<'_>, values: &Slices<'_>, to: &mut [u8]) -> Result<usize> {
    assert!(!options.internal_keys, "plain keys");
    let (keys, values) = (&keys.0, &values.0);
    assert_eq!(keys.len(), values.len(), "a value for each key");
    let (mut size, count) = (0, keys.len());
    let (options, capacity) = (options.into(), to.len());
    let (keys, values, to) = (keys.as_ptr(), values.as_ptr(), to.as_mut_ptr());
    // SAFETY: everything lives through the call, and no more than `capacity` bytes are written.
    check(|error| unsafe { fb_speed_write(&options, keys, values, count, to, capacity, &mut size, error) })?;
    Ok(usize::try_from(size)?)
}

/// LevelDB's `Table` over a file in memory, which it reads without copying.
pub struct Table<'a> {
    raw: NonNull<RawTable>,
    contents: PhantomData<&'a [u8]>,
}

impl<'a> Table<'a> {
    /// Opens a table of plain keys. Panics if `options` is for internal keys.
    pub fn open(options: &TableOptions, contents: &'a [u8]) -> Result<Self> {
        assert!(!options.internal_keys, "plain keys");
        let mut raw = ptr::null_mut();
        check(|error| {
            // SAFETY: the options are copied, and the contents outlive the table.
            raw = unsafe { fb_speed_table_open(&options.into(), Bytes::new(contents), error) };
            u8::from(!raw.is_null())
        })?;
        Ok(Self { raw: NonNull::new(raw).expect("a table, or an error"), contents: PhantomData })
    }
}

impl Drop for Table<'_> {
    fn drop(&mut self) {
        // SAFETY: it came from `open` and is dropped once.
        unsafe { fb_speed_table_free(self.raw.as_ptr()) }
    }
}

/// Keys, each with the number of the table in which it is looked up.
pub struct Lookups<'a>(Vec<RawLookup>, PhantomData<&'a [u8]>);

impl<'a> Lookups<'a> {
    /// Borrows the keys, which do not move.
    pub fn new(lookups: &[(usize, &'a [u8])]) -> Self {
        let raw = |&(table, key): &(usize, &[u8])| RawLookup { table, key: Bytes::new(key) };
        Self(lookups.iter().map(raw).collect(), PhantomData)
    }

    /// Looks each key up by `Table::InternalGet`. Returns the number of bytes of the values found.
    pub fn get(&self, tables: &[Table<'_>]) -> Result<u64> {
        let Self(lookups, _) = self;
        ensure!(lookups.iter().all(|lookup| lookup.table < tables.len()), "a table for each key");
        let tables: Vec<_> = tables.iter().map(|table| table.raw.as_ptr()).collect();
        let (mut bytes, count) = (0, lookups.len());
        let (tables, lookups) = (tables.as_ptr(), lookups.as_ptr());
        // SAFETY: tables, keys and the place for the sum live through the call, and each number is
        // a table's.
        check(|error| unsafe { fb_speed_table_get(tables, lookups, count, &mut bytes, error) })?;
        Ok(bytes)
    }
}

/// Opens the table and walks it `times` times, with checksums. Returns the number of bytes of keys
/// and values.
pub fn walk(table: &[u8], times: u64) -> Result<u64> {
    let mut bytes = 0;
    // SAFETY: the table, the place for the sum and the sink live through the call.
    check(|error| unsafe { fb_speed_walk(Bytes::new(table), times, &mut bytes, error) })?;
    Ok(bytes)
}

/// Opens the table at `path` as LevelDB opens files, and walks it with checksums. Returns the
/// number of bytes of keys and values.
pub fn walk_file(path: &Path) -> Result<u64> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let mut bytes = 0;
    // SAFETY: the path, the place for the sum and the sink live through the call.
    check(|error| unsafe { fb_speed_walk_file(path.as_ptr(), &mut bytes, error) })?;
    Ok(bytes)
}

impl fmt::Debug for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").finish_non_exhaustive()
    }
}

impl fmt::Debug for Lookups<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lookups").field(&self.0.len()).finish()
    }
}
