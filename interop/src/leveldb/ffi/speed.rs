//! The functions of `shim/speed.cc`.

use std::fmt;
use std::marker::PhantomData;

use super::{Bytes, Sink, bits_per_key, collect};

pub use super::speed_table::{Lookups, Table, walk, walk_file, write};

/// `fb_speed_policy`
#[repr(C)]
struct RawPolicy {
    bits_per_key: i32,
    internal_keys: u8,
}

/// `fb_speed_query`
#[repr(C)]
struct RawQuery {
    offset: u64,
    key: Bytes,
}

unsafe extern "C" {
    fn fb_speed_build(
        policy: *const RawPolicy,
        keys: *const Bytes,
        count: usize,
        per_filter: usize,
        to: Sink,
    );
    fn fb_speed_ask(
        policy: *const RawPolicy,
        block: Bytes,
        queries: *const RawQuery,
        count: usize,
        to: *mut u8,
    );
    fn fb_speed_ask_tables(
        policy: *const RawPolicy,
        blocks: *const Bytes,
        tables: usize,
        queries: *const RawQuery,
        count: usize,
        to: *mut u8,
    );
    fn fb_speed_dry_run(queries: *const RawQuery, count: usize, to: *mut u8);
}

/// Keys or blocks in the form that the other side takes.
pub struct Slices<'a>(pub(super) Vec<Bytes>, PhantomData<&'a [u8]>);

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

/// Loops over LevelDB's filter blocks with one policy.
pub struct Loops(RawPolicy);

impl Loops {
    /// Makes loops with this many bits a key, over internal keys or plain ones.
    pub fn new(bits: u32, internal_keys: bool) -> Self {
        Self(RawPolicy { bits_per_key: bits_per_key(Some(bits)), internal_keys: internal_keys.into() })
    }

    /// Builds the filter block with `per_filter` keys for each 2 KiB of data blocks.
    pub fn build(&self, keys: &Slices<'_>, per_filter: usize) -> Vec<u8> {
        let Slices(keys, _) = keys;
        // SAFETY: policy, keys and sink live through the call.
        collect(|block| unsafe { fb_speed_build(&self.0, keys.as_ptr(), keys.len(), per_filter, block) })
    }

    /// Sets `answers` to one byte for each query: 1 if the key may match, otherwise 0.
    pub fn ask(&self, block: &[u8], queries: &Queries<'_>, answers: &mut Vec<u8>) {
        let Queries(queries, _) = queries;
        answers.resize(queries.len(), 0);
        // SAFETY: everything lives through the call, and there is a byte for each query.
        unsafe {
            fb_speed_ask(&self.0, Bytes::new(block), queries.as_ptr(), queries.len(), answers.as_mut_ptr())
        };
    }

    /// Sets `answers` to one byte for each query: the number of blocks in which the key may match.
    pub fn ask_tables(&self, blocks: &Slices<'_>, queries: &Queries<'_>, answers: &mut Vec<u8>) {
        let (Slices(blocks, _), Queries(queries, _)) = (blocks, queries);
        answers.resize(queries.len(), 0);
        let (policy, to) = (&raw const self.0, answers.as_mut_ptr());
        // SAFETY: everything lives through the call, and there is a byte for each query.
        unsafe {
            fb_speed_ask_tables(policy, blocks.as_ptr(), blocks.len(), queries.as_ptr(), queries.len(), to)
        };
    }
}

/// Reads each query, and asks nothing. Panics if a key is empty.
pub fn dry_run(queries: &Queries<'_>, answers: &mut Vec<u8>) {
    let Queries(queries, _) = queries;
    answers.resize(queries.len(), 0);
    assert!(queries.iter().all(|query| query.key.size > 0), "the first byte is read");
    // SAFETY: everything lives through the call, and there is a byte for each query.
    unsafe { fb_speed_dry_run(queries.as_ptr(), queries.len(), answers.as_mut_ptr()) };
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

impl fmt::Debug for Loops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Loops").field(&self.0.bits_per_key).finish()
    }
}
