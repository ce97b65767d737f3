//! The functions of `shim/speed.cc`: loops over LevelDB's functions.

use std::fmt;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use anyhow::{Result, ensure};

use super::table::RawTableOptions;
use super::{Bytes, Sink, bits_per_key, check, collect};
use crate::leveldb::TableOptions;

/// `fb_speed_query`
#[repr(C)]
struct RawQuery {
    offset: u64,
    key: Bytes,
}

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
    fn fb_speed_build(bits_per_key: i32, keys: *const Bytes, count: usize, per_filter: usize, to: Sink);
    fn fb_speed_ask(bits_per_key: i32, block: Bytes, queries: *const RawQuery, count: usize, to: *mut u8);
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
}

/// Keys or values in the form that the other side takes.
pub struct Slices<'a>(Vec<Bytes>, PhantomData<&'a [u8]>);

impl<'a> Slices<'a> {
    /// Borrows the bytes, which do not move.
    pub fn new(slices: &[&'a [u8]]) -> Self {
        Self(slices.iter().map(|slice| Bytes::new(slice)).collect(), PhantomData)
    }
}

/// Queries, each the offset of a data block and a key, in the form that the other side takes.
pub struct Queries<'a>(Vec<RawQuery>, PhantomData<&'a [u8]>);

impl<'a> Queries<'a> {
    /// Borrows the keys, which do not move.
    pub fn new(queries: &[(u64, &'a [u8])]) -> Self {
        let raw = |&(offset, key): &(u64, &[u8])| RawQuery { offset, key: Bytes::new(key) };
        Self(queries.iter().map(raw).collect(), PhantomData)
    }
}

/// Builds the filter block with `per_filter` keys for each 2 KiB of data blocks.
pub fn build(bits: u32, keys: &Slices<'_>, per_filter: usize) -> Vec<u8> {
    let Slices(keys, _) = keys;
    let bits = bits_per_key(Some(bits));
    // SAFETY: keys and sink live through the call.
    collect(|block| unsafe { fb_speed_build(bits, keys.as_ptr(), keys.len(), per_filter, block) })
}

/// Sets `answers` to one byte for each query: 1 if the key may match, otherwise 0.
pub fn ask(bits: u32, block: &[u8], queries: &Queries<'_>, answers: &mut Vec<u8>) {
    let Queries(queries, _) = queries;
    answers.resize(queries.len(), 0);
    let (bits, count, to) = (bits_per_key(Some(bits)), queries.len(), answers.as_mut_ptr());
    // SAFETY: everything lives through the call, and there is a byte for each query.
    unsafe { fb_speed_ask(bits, Bytes::new(block), queries.as_ptr(), count, to) };
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

impl fmt::Debug for Slices<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Slices").field(&self.0.len()).finish()
    }
}

impl fmt::Debug for Queries<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Queries").field(&self.0.len()).finish()
    }
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
