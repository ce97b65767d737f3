//! Our filter policies in the form of LevelDB's: `fb_policy`, and the functions of `shim/filter.cc`.

use std::ffi::{CString, c_char, c_void};
use std::slice;

use anyhow::Result;
use filterblock::{FilterPolicy as _, KeyBuf, SharedPolicy};

use super::{Bytes, Sink, SinkFn, collect, with_sink};
use crate::leveldb::{DatabaseOptions, Filter, Script};

#[repr(C)]
pub(super) struct RawPolicy {
    context: *mut c_void,
    name: *const c_char,
    create: extern "C" fn(*mut c_void, *const *const u8, *const usize, usize, Sink),
    key_may_match: extern "C" fn(*mut c_void, Bytes, Bytes) -> u8,
}

/// A policy, with the pointers that the other side needs to call it.
pub(super) struct Policy {
    /// From `Box::into_raw`: the other side holds these pointers too.
    raw: *mut RawPolicy,
    policy: *mut SharedPolicy,
    _name: CString,
}

impl Policy {
    /// Makes the policy of ours that the options name, if they name one.
    pub(super) fn of(options: &DatabaseOptions) -> Result<Option<Self>> {
        let Filter::Policy(policy) = &options.filter else { return Ok(None) };
        Self::new(policy).map(Some)
    }

    pub(super) fn new(policy: &SharedPolicy) -> Result<Self> {
        let name = CString::new(policy.name())?;
        let policy = Box::into_raw(Box::new(SharedPolicy::clone(policy)));
        let raw = RawPolicy { context: policy.cast(), name: name.as_ptr(), create, key_may_match };
        Ok(Self { raw: Box::into_raw(Box::new(raw)), policy, _name: name })
    }

    pub(super) fn as_ptr(&self) -> *const RawPolicy {
        self.raw
    }
}

impl Drop for Policy {
    fn drop(&mut self) {
        // SAFETY: both came from `new`, are dropped once, and their users are gone.
        unsafe {
            drop(Box::from_raw(self.raw));
            drop(Box::from_raw(self.policy));
        }
    }
}

extern "C" fn create(
    context: *mut c_void,
    keys: *const *const u8,
    sizes: *const usize,
    count: usize,
    filter: Sink,
) {
    // SAFETY: `Policy::new` made the context from such a policy, which is only ever shared, also
    // between threads.
    let policy = unsafe { &*context.cast::<SharedPolicy>() };
    // SAFETY: LevelDB passes two arrays of `count` elements, which describe keys that live through
    // the call.
    let keys: KeyBuf = unsafe {
        let keys = slice::from_raw_parts(keys, count);
        let sizes = slice::from_raw_parts(sizes, count);
        keys.iter().zip(sizes).map(|(&data, &size)| Bytes { data, size }.as_slice()).collect()
    };
    let mut bytes = Vec::new();
    // LevelDB cannot be told about an error, and a missing filter would deny every key.
    policy.create_filter(keys.as_keys(), &mut bytes).expect("a filter of these keys");
    (filter.function)(filter.context, Bytes::new(&bytes));
}

extern "C" fn key_may_match(context: *mut c_void, key: Bytes, filter: Bytes) -> u8 {
    // SAFETY: `Policy::new` made the context from such a policy, which is only ever shared, also
    // between threads.
    let policy = unsafe { &*context.cast::<SharedPolicy>() };
    // SAFETY: LevelDB passes bytes that live through the call.
    let (key, filter) = unsafe { (key.as_slice(), filter.as_slice()) };
    policy.key_may_match(key, filter).into()
}

unsafe extern "C" {
    fn fb_hash(data: Bytes, seed: u32) -> u32;
    fn fb_bloom_create(bits_per_key: i32, keys: Bytes, filter: Sink);
    fn fb_bloom_match(bits_per_key: i32, key: Bytes, filter: Bytes) -> u8;
    fn fb_filter_blocks_build(script: Bytes, blocks: Sink);
    fn fb_filter_blocks_query(script: Bytes, answers: Sink);
}

pub(in crate::leveldb) fn hash(data: &[u8], seed: u32) -> u32 {
    // SAFETY: only reads the bytes.
    unsafe { fb_hash(Bytes::new(data), seed) }
}

pub(in crate::leveldb) fn bloom_create(bits_per_key: i32, keys: &Script) -> Vec<u8> {
    // SAFETY: the caller's script holds byte strings; the sink is used only during the call.
    collect(|filter| unsafe { fb_bloom_create(bits_per_key, Bytes::new(keys.as_slice()), filter) })
}

pub(in crate::leveldb) fn bloom_match(bits_per_key: i32, key: &[u8], filter: &[u8]) -> bool {
    // SAFETY: only reads the bytes, and stays within them whatever the filter holds.
    unsafe { fb_bloom_match(bits_per_key, Bytes::new(key), Bytes::new(filter)) != 0 }
}

pub(in crate::leveldb) fn build_filter_blocks(script: &Script, block: &mut SinkFn<'_>) {
    // SAFETY: `BlockScript` produces only complete sequences of operations; the sink is used only
    // during the call.
    with_sink(block, |blocks| unsafe { fb_filter_blocks_build(Bytes::new(script.as_slice()), blocks) });
}

pub(in crate::leveldb) fn query_filter_blocks(script: &Script) -> Vec<u8> {
    // SAFETY: `QueryScript` produces only complete sequences of operations; the sink is used only
    // during the call.
    collect(|answers| unsafe { fb_filter_blocks_query(Bytes::new(script.as_slice()), answers) })
}
